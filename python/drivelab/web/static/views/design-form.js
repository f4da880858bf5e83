// Design: a model's parameters as a form, each with its role, its source and what is allowed.

import { fill, h } from "../dom.js";
import { names, refused } from "./design-study.js";

/** What is said of where a value is from. */
const roleOf = (item) => (item.value === null ? "left out" : (item.role ?? (item.default ? "default" : "set")));

const group = (key) => key.split(".").slice(0, -1).join(".");

export class ParameterForm {
  /** `change` is called with a parameter and the text that it is given. */
  constructor(change) {
    this.change = change;
    this.known = null;
    this.settings = new Map();
    this.rows = new Map();
    this.element = h("div.parameters");
    this.none = h("p.soft", { role: "status", hidden: true }, "No parameter has these words.");
    this.filter = h("input", {
      type: "search",
      placeholder: "Key or meaning…",
      "aria-label": "Filter the parameters",
      oninput: () => this.sift(),
    });
  }

  /** Shows a model's parameters with what is set of them; rows stay where they are as long as the keys do. */
  show(known, settings) {
    const keys = (model) => model?.parameters.map(({ key }) => key).join();
    const isSame = this.known?.name === known.name && keys(this.known) === keys(known);
    this.known = known;
    this.settings = settings;
    if (isSame) this.refresh();
    else this.draw();
  }

  clear() {
    this.known = null;
    this.rows.clear();
    fill(this.element);
  }

  hide(isHidden) {
    this.element.hidden = this.filter.hidden = isHidden;
  }

  /** No value is refused any more. */
  accept() {
    for (const { field, why } of this.rows.values()) refused(field, why, "");
  }

  draw() {
    const groups = [...new Set(this.known.parameters.map((item) => group(item.key)))];
    this.rows.clear();
    fill(
      this.element,
      this.none,
      groups.map((name) =>
        h(
          "fieldset",
          { "data-group": name },
          h("legend", name || "drive"),
          this.known.parameters.filter((item) => group(item.key) === name).map((item) => this.row(item)),
        ),
      ),
    );
    this.sift();
  }

  row(item) {
    const id = `p-${item.key}`;
    const listen = { onchange: (event) => this.change(this.item(item.key), event.target.value.trim()) };
    const field =
      item.kind === "choice"
        ? h(
            "select",
            { id, ...listen },
            item.choices.map((choice) => h("option", { value: choice }, choice)),
          )
        : h("input", {
            id,
            type: "text",
            inputMode: item.kind === "number" ? "decimal" : "text",
            disabled: item.kind === "text",
            autocomplete: "off",
            ...listen,
          });
    field.setAttribute("aria-describedby", `${id}-why ${id}-about`);
    const why = h("p.refused", { id: `${id}-why`, hidden: true });
    const role = roleOf(item);
    const range = item.kind === "number" ? `${item.allowed.replace(/^a (whole )?number /, "")}; ` : "";
    // A source that is no citation begins with the word of its role.
    const source = item.source === "command line" ? " here" : ` ${item.source}`.replace(` ${role}`, "");
    const place = h(
      "div.parameter",
      h("label", { for: id }, h("code", item.key.split(".").pop()), h("span", item.help)),
      h("span.field", field, h("span.unit", item.unit)),
      h(
        "small",
        { id: `${id}-about` },
        range,
        h(`b.role.${item.role ?? "default"}`, role),
        h("span.source", source),
      ),
      why,
    );
    this.rows.set(item.key, { place, field, why });
    this.put(item);
    return place;
  }

  item(key) {
    return this.known.parameters.find((item) => item.key === key);
  }

  put(item) {
    const { place, field } = this.rows.get(item.key);
    const text = item.value === null ? "" : String(item.value);
    if (document.activeElement !== field || field.value !== text) field.value = text;
    field.placeholder = item.comes_to === null ? "" : String(item.comes_to);
    place.classList.toggle("changed", this.settings.has(item.key));
  }

  refresh() {
    for (const item of this.known.parameters) this.put(item);
  }

  sift() {
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const item of this.known?.parameters ?? []) {
      const text = `${item.key} ${item.help} ${roleOf(item)}`.toLowerCase();
      this.rows.get(item.key).place.hidden = !words.every((word) => text.includes(word));
    }
    const isAny = [...this.rows.values()].some(({ place }) => !place.hidden);
    this.none.hidden = isAny || !this.known;
    for (const set of this.element.querySelectorAll("fieldset"))
      set.hidden = ![...set.querySelectorAll(".parameter")].some((row) => !row.hidden);
  }

  /** Says beside a field why its value is refused: of those that the reason names, or that were not accepted before. */
  mark(reason, settings, accepted) {
    const changed = [...settings.keys()];
    const named = changed.filter((key) => names(reason, key));
    const fresh = changed.filter((key) => settings.get(key) !== accepted.get(key));
    for (const key of changed) {
      const row = this.rows.get(key);
      if (!row) continue;
      row.field.value = settings.get(key);
      row.place.classList.add("changed");
      if ((named.length ? named : fresh).includes(key)) refused(row.field, row.why, reason);
    }
  }
}
