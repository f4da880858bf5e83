// History: what a database holds, run by run, with a number from run to run below; reports.

import { unknownPart, warning } from "../address.js";
import { fill, h, say, sheet } from "../dom.js";
import { counted, number } from "../numbers.js";
import { ask } from "../server.js";
import { Course } from "./history-course.js";

const KEYS = ["filter", "model", "test", "number"];
const took = (seconds) => (seconds < 90 ? `${number(seconds)}\u00a0s` : `${number(seconds / 60)}\u00a0min`);

export async function show(root, page) {
  const [known] = await Promise.all([ask("/api/history"), sheet("/static/views/history.css")]);
  return new View(root, page, known);
}

class View {
  constructor(root, page, known) {
    this.known = known;
    this.page = page;
    this.table = h("div.runs");
    this.course = new Course(known, page);
    this.filter = h("input", {
      type: "search",
      name: "filter",
      placeholder: "Drive, command, tag, engine…",
      "aria-label": "Filter the runs",
      value: page.params.get("filter") ?? "",
    });
    this.filter.addEventListener("input", () => this.typed());
    this.count = h("output.soft");
    this.odd = h("div");
    root.append(
      h("h1", "History"),
      h("p.soft", `${counted(known.runs.length, "run")} in `, h("code", known.database)),
      h(
        "div.row.filters",
        this.filter,
        this.count,
        h("button", { type: "button", onclick: () => this.compare() }, "Compare the chosen"),
      ),
      this.odd,
      this.table,
      this.course.element,
    );
    this.draw();
  }

  end() {
    this.course.end();
  }

  typed() {
    const params = new URLSearchParams(this.page.params);
    if (this.filter.value) params.set("filter", this.filter.value);
    else params.delete("filter");
    this.page.go(`/history?${params}`, { replace: true });
  }

  update(page) {
    this.page = page;
    fill(this.odd, warning(unknownPart(page.params, KEYS)));
    const text = page.params.get("filter") ?? "";
    if (this.filter.value !== text) this.filter.value = text;
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of this.rows) {
      row.place.hidden = !words.every((word) => row.words.includes(word));
      shown += row.place.hidden ? 0 : 1;
    }
    this.count.textContent = words.length ? `${shown} of ${this.rows.length}` : "";
    this.course.update(page);
  }

  draw() {
    this.rows = this.known.runs.map((run) => this.row(run));
    fill(
      this.table,
      this.rows.length
        ? h(
            "div.list",
            { tabIndex: 0, role: "region", "aria-label": "Runs" },
            h(
              "table",
              h(
                "thead",
                h(
                  "tr",
                  h("th", { scope: "col" }, h("span.away", "Chosen")),
                  ["Run", "Drives", "Tags"].map((head) => h("th", { scope: "col" }, head)),
                  h("th.n", { scope: "col" }, "Tests"),
                  h("th.n", { scope: "col" }, "Seed"),
                  h("th", { scope: "col" }, "Engine"),
                  h("th.n", { scope: "col" }, "Took"),
                  h("th", { scope: "col" }, "Command"),
                  h("th", { scope: "col" }, h("span.away", "Report")),
                ),
              ),
              h(
                "tbody",
                this.rows.map((row) => row.place),
              ),
            ),
          )
        : h(
            "p.card",
            "No runs yet. Choose drives in ",
            h("a", { href: "/compare" }, "Compare"),
            " and measure them, or record some on the command line: ",
            h("code", `drivelab review MODEL --database ${this.known.database}`),
          ),
    );
  }

  row(run) {
    const tags = h("span.tags");
    const row = { run, words: "", place: null };
    const describe = () => {
      row.words = [
        run.run,
        run.kind,
        run.engine,
        run.command_line,
        run.quick ? "quick" : "",
        ...run.tags,
        ...run.drives.flatMap((drive) => [drive.title, drive.model]),
      ]
        .join(" ")
        .toLowerCase();
    };
    this.drawTags(run, tags, describe);
    describe();
    const tests = run.drives.reduce((sum, drive) => sum + drive.tests.length, 0);
    const [first, ...others] = run.drives;
    row.box = h("input", { type: "checkbox", "aria-label": `Choose run ${run.run}` });
    row.place = h(
      "tr",
      { "data-run": run.run },
      h("td", row.box),
      h("td.n", run.run),
      h(
        "th",
        { scope: "row", title: run.drives.map((drive) => drive.title).join(", ") },
        first?.title ?? "",
        others.length ? h("small", ` and ${others.length} more`) : null,
      ),
      h("td", tags),
      h("td.n", tests),
      h("td.n", run.seed),
      h("td", run.engine, run.quick ? h("small", " quick") : null),
      h("td.n", run.wall_s === null ? "—" : took(run.wall_s)),
      h("td.command", h("code", { title: run.command_line }, run.command_line)),
      h(
        "td",
        run.kind === "review"
          ? h(
              "button",
              { type: "button", "aria-label": `Report of run ${run.run}`, onclick: () => this.report(run) },
              "Report",
            )
          : h("small", run.kind),
      ),
    );
    return row;
  }

  drawTags(run, place, changed) {
    const set = async (tags) => {
      run.tags = await ask(`/api/history/${run.run}/tags`, { method: "POST", body: tags });
      say(`Tags of run ${run.run}: ${run.tags.join(", ") || "none"}`);
      this.drawTags(run, place, changed);
      changed();
    };
    const focus = () => place.querySelector("input").focus();
    const field = h("input.tag-field", {
      type: "text",
      maxLength: 40,
      placeholder: "tag",
      "aria-label": `Tag run ${run.run}`,
      autocomplete: "off",
    });
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !field.value.trim()) return;
      event.preventDefault();
      set([...run.tags, field.value.trim()]).then(focus);
    });
    fill(
      place,
      run.tags.map((tag) =>
        h(
          "span.tag",
          tag,
          h(
            "button.quiet",
            {
              type: "button",
              "aria-label": `Take ${tag} off run ${run.run}`,
              // The button goes, and would take the focus with it.
              onclick: () => set(run.tags.filter((other) => other !== tag)).then(focus),
            },
            "×",
          ),
        ),
      ),
      field,
    );
  }

  async report(run) {
    // Opened at once: browsers let only a click open a window.
    const tab = window.open("about:blank", "_blank");
    try {
      const { address } = await ask(`/api/history/${run.run}/report`, { method: "POST" });
      if (tab) tab.location = address;
      else location.assign(address);
    } catch (error) {
      tab?.close();
      throw error;
    }
  }

  compare() {
    const chosen = this.rows
      .filter((row) => row.box.checked)
      .flatMap(({ run }) => run.drives.map((drive) => `${drive.model}~${run.run}`));
    const { limit } = this.known;
    if (!chosen.length || chosen.length > limit) {
      const held = chosen.length ? `${counted(chosen.length, "drive")} in the chosen runs` : "Choose runs first";
      this.count.textContent = chosen.length ? `${held}; ${limit} at most are compared` : held;
      say(this.count.textContent);
      return;
    }
    const params = new URLSearchParams(chosen.map((name) => ["drive", name]));
    this.page.go(`/compare?${params}`);
  }
}
