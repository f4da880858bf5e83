// Which drives: a searchable list behind a text field, and all of them as a table where none is chosen.

import { fill, h, say, scrolling } from "../../dom.js";
import { counted, number } from "../../numbers.js";

const SHOWN_MAX = 12;
const FAMILIES = {
  "page-map": "Page map",
  "coarse-page-map": "Coarse page map",
  "superblock-map": "Superblock map with merges",
  "log-block-map": "Log blocks",
  "compressed-map": "Compressing",
  "raid-0": "RAID-0",
  "hard-disk": "Hard disks",
  "": "Other",
};

function matching(drives, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const of = (drive) =>
    [drive.name, drive.title, drive.controller_name, drive.family, drive.firmware, drive.released]
      .map((text) => text ?? "")
      .join(" ")
      .toLowerCase();
  return drives.filter((drive) => words.every((word) => of(drive).includes(word)));
}

/** A combobox: type, choose with arrows and Enter, or by a click; `known()` is what there is by then. */
export function chooser(known, chosen, add) {
  const options = h("ul", { id: "drives-found", role: "listbox", "aria-label": "Drives", hidden: true });
  const input = h("input", {
    type: "text",
    role: "combobox",
    placeholder: "Add a drive…",
    "aria-label": "Add a drive",
    "aria-controls": "drives-found",
    "aria-expanded": "false",
    "aria-autocomplete": "list",
    autocomplete: "off",
    spellcheck: false,
  });
  let found = [];
  let at = -1;
  const close = () => {
    options.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
    at = -1;
  };
  const mark = (to) => {
    at = (to + found.length) % found.length;
    [...options.children].forEach((item, index) => item.setAttribute("aria-selected", String(index === at)));
    input.setAttribute("aria-activedescendant", `drive-${at}`);
    options.children[at]?.scrollIntoView({ block: "nearest" });
  };
  const open = () => {
    const free = known().drives.filter((drive) => !chosen.includes(drive.name));
    found = matching(free, input.value).slice(0, SHOWN_MAX);
    fill(
      options,
      found.map((drive, index) =>
        h(
          "li",
          {
            id: `drive-${index}`,
            role: "option",
            "aria-selected": "false",
            onpointerdown: (event) => {
              event.preventDefault();
              add(drive.name);
            },
          },
          h("span", drive.title),
          h("small", drive.kinds.length ? "measured" : "no results yet"),
        ),
      ),
    );
    options.hidden = !found.length;
    input.setAttribute("aria-expanded", String(!options.hidden));
    at = -1;
    if (input.value) say(counted(found.length, "drive"));
  };
  input.addEventListener("input", open);
  input.addEventListener("focus", open);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (options.hidden) open();
      if (found.length) mark(at + (event.key === "ArrowDown" ? 1 : at < 0 ? 0 : -1));
    } else if (event.key === "Enter" && found.length && !options.hidden) {
      event.preventDefault();
      add(found[Math.max(0, at)].name);
    } else if (event.key === "Escape") close();
  });
  return h("div.chooser", input, options);
}

/** Every drive, by family, with what there is of it. */
export function table(known, add) {
  const body = h("div");
  const draw = (text) => {
    const found = matching(known.drives, text);
    const families = [...new Set(found.map((drive) => drive.family))];
    fill(
      body,
      found.length
        ? scrolling(
            "Drives",
            h(
              "table.drives",
              h(
                "thead",
                h(
                  "tr",
                  ["Drive", "Controller", "Released"].map((head) => h("th", { scope: "col" }, head)),
                  h("th.n", { scope: "col" }, "Capacity, GB"),
                  h("th.n", { scope: "col" }, "Price, USD"),
                  h("th", { scope: "col" }, "Results"),
                ),
              ),
              families.map((family) =>
                h(
                  "tbody",
                  h("tr.group", h("th", { colSpan: 6, scope: "rowgroup" }, FAMILIES[family] ?? family)),
                  found
                    .filter((drive) => drive.family === family)
                    .map((drive) =>
                      h(
                        "tr",
                        h(
                          "th",
                          { scope: "row" },
                          h("button.link", { type: "button", onclick: () => add(drive.name) }, drive.title),
                        ),
                        h("td", drive.controller_name ?? ""),
                        h("td", drive.released ?? ""),
                        h("td.n", drive.user_capacity_bytes ? number(drive.user_capacity_bytes / 1e9) : "—"),
                        h("td.n", drive.price_usd ? number(drive.price_usd) : "—"),
                        h(
                          "td",
                          drive.kinds.length
                            ? drive.kinds.map((kind) => kind.title).join("; ")
                            : h("span.soft", "none yet"),
                        ),
                      ),
                    ),
                ),
              ),
            ),
          )
        : h("p.soft", "No drive has all of these words."),
    );
  };
  const field = h("input.filter", {
    type: "search",
    placeholder: "Name, controller, firmware, year…",
    "aria-label": "Filter the drives",
  });
  field.addEventListener("input", () => draw(field.value));
  draw("");
  const measured = known.drives.filter((drive) => drive.kinds.length).length;
  return h(
    "div.all-drives",
    h(
      "p.soft",
      `${counted(known.drives.length, "drive")}, ${measured} of them measured in `,
      h("code", known.database),
      ". Choose two or more; what isn't measured yet can be from here.",
    ),
    field,
    body,
  );
}
