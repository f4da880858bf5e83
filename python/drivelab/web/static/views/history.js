// History: what a database holds, run by run; a number of a test from run to run; reports.

import { fill, h, say, scrolling, sheet } from "../dom.js";
import { counted, number, withUnit } from "../numbers.js";
import { Plot } from "../plot.js";
import { ask } from "../server.js";

const COLOURS = ["new", "used", "tortured", "trimmed", "passed", "other"];

const took = (seconds) => (seconds < 90 ? `${number(seconds)}\u00a0s` : `${number(seconds / 60)}\u00a0min`);

/**
 * What names how a row was made: engine, scale, what was set, length of the tests. Drives that differ in more, as those
 * of two files do, have the beginning of their hash beside it.
 */
function madeBy(rows) {
  const named = (row) =>
    [
      `engine ${row.engine_version}`,
      row.scale && `1/${row.scale}`,
      ...row.settings,
      row.quick ? "quick" : row.unabridged && "unabridged",
    ]
      .filter(Boolean)
      .join(", ");
  return (row) => {
    const name = named(row);
    const isOne = rows.every((other) => other.hash === row.hash || named(other) !== name);
    return isOne ? name : `${name}, parameters ${row.hash.slice(0, 8)}`;
  };
}

/** What tells a row's job, or replay, from others of its name: options that not all of them have alike. */
function unlike(rows) {
  return (row) => {
    const others = rows.filter(({ job, direction }) => job === row.job && direction === row.direction);
    return Object.entries(row.options)
      .filter(([key, value]) => others.some(({ options }) => options[key] !== value))
      .map(([key, value]) => `${key}=${value}`);
  };
}

export async function show(root, page) {
  const [known] = await Promise.all([ask("/api/history"), sheet("/static/views/history.css")]);
  return new View(root, page, known);
}

class View {
  constructor(root, page, known) {
    this.known = known;
    this.page = page;
    this.table = h("div.runs");
    this.course = h("section.course", { "aria-labelledby": "course-title" });
    this.filter = h("input", {
      type: "search",
      name: "filter",
      placeholder: "Drive, command, tag, engine…",
      "aria-label": "Filter the runs",
      value: page.params.get("filter") ?? "",
    });
    this.filter.addEventListener("input", () => this.typed());
    this.count = h("output.soft");
    root.append(
      h("h1", "History"),
      h("p.soft", `${counted(known.runs.length, "run")} in `, h("code", known.database)),
      h(
        "div.row.filters",
        this.filter,
        this.count,
        h("button", { type: "button", onclick: () => this.compare() }, "Compare the chosen"),
      ),
      this.table,
      this.course,
    );
    this.draw();
    this.chooser();
    this.update(page);
  }

  end() {
    this.gone = true;
    this.plot?.end();
  }

  typed() {
    const params = new URLSearchParams(this.page.params);
    if (this.filter.value) params.set("filter", this.filter.value);
    else params.delete("filter");
    this.page.go(`/history?${params}`, { replace: true });
  }

  update(page) {
    this.page = page;
    const text = page.params.get("filter") ?? "";
    if (this.filter.value !== text) this.filter.value = text;
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of this.rows) {
      row.place.hidden = !words.every((word) => row.words.includes(word));
      shown += row.place.hidden ? 0 : 1;
    }
    this.count.textContent = words.length ? `${shown} of ${this.rows.length}` : "";
    this.drawCourse();
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

  /** Drive, test, state and number; each list holds what there is of those before. */
  chooser() {
    const select = (name, title) => h("select", { name, "aria-label": title, onchange: () => this.chosen() });
    this.lists = {
      model: select("model", "Drive"),
      test: select("test", "Test and state"),
      number: select("number", "Number"),
    };
    this.drawn = h("div");
    this.problems = h("div");
    fill(
      this.course,
      h("h2", { id: "course-title" }, "A number over the runs"),
      h("div.row", Object.values(this.lists)),
      this.problems,
      this.drawn,
    );
    this.course.hidden = !this.known.runs.length;
    // Of small versions the drive's own title: each scale has a line of its own.
    const titled = ({ model, title }) => [model, title.replace(/ \(1\/\d+\)$/, "")];
    const models = new Map(this.known.runs.flatMap((run) => run.drives.map(titled)));
    const wanted = this.page.params.get("model");
    fill(
      this.lists.model,
      [...models].map(([name, title]) => h("option", { value: name, selected: name === wanted }, title)),
    );
    this.fillTests();
    fill(
      this.lists.number,
      Object.entries(this.known.numbers).map(([name, { title, unit }]) =>
        h(
          "option",
          { value: name, selected: name === this.page.params.get("number") },
          unit && unit !== "us" ? `${title}, ${unit}` : title,
        ),
      ),
    );
  }

  fillTests() {
    this.testsOf = this.lists.model.value;
    const found = new Map();
    for (const run of this.known.runs) {
      for (const drive of run.drives)
        if (drive.model === this.lists.model.value)
          for (const [test, state] of drive.tests) found.set(`${test}\n${state}`, `${test}, ${state}`);
    }
    const wanted = this.page.params.get("test");
    fill(
      this.lists.test,
      [...found].sort().map(([key, title]) => h("option", { value: key, selected: key === wanted }, title)),
    );
  }

  chosen() {
    const params = new URLSearchParams(this.page.params);
    if (this.testsOf !== this.lists.model.value) this.fillTests();
    for (const [name, list] of Object.entries(this.lists)) params.set(name, list.value);
    this.page.go(`/history?${params}`, { replace: true });
  }

  /** What the address asks for and no run has; shown is something else. */
  drawProblems() {
    const { params } = this.page;
    const isMissed = ([name, list]) => params.has(name) && params.get(name) !== list.value;
    const missed = Object.entries(this.lists).filter(isMissed);
    fill(
      this.problems,
      missed.map(([name, list]) => {
        const asked = params.get(name).slice(0, 80).replace("\n", ", ");
        const shown = list.selectedOptions[0]?.textContent ?? "nothing";
        return h("p.warning", { role: "alert" }, `${name} "${asked}": no run here has it; shown is ${shown}`);
      }),
    );
  }

  async drawCourse() {
    this.drawProblems();
    if (this.course.hidden || !this.lists.test.value) return;
    const [test, state] = this.lists.test.value.split("\n");
    const query = new URLSearchParams({ model: this.lists.model.value, test, state, number: this.lists.number.value });
    if (`${query}` === this.query) return;
    this.query = `${query}`;
    const rows = (await ask(`/api/history/number?${query}`)).filter((row) => row.value !== null);
    if (this.gone || this.query !== `${query}`) return;
    this.plot?.end();
    this.plot = null;
    if (!rows.length) {
      fill(this.drawn, h("p.soft", "No run has this number."));
      return;
    }
    const { title, unit } = this.known.numbers[this.lists.number.value];
    const runs = [...new Set(rows.map((row) => row.run_id))];
    const ticks = runs.map((run, index) => ({ at: index, text: `${run}` }));
    const jobs = new Set(rows.map((row) => row.job));
    const made = madeBy(rows);
    const asked = unlike(rows);
    // What isn't of one kind is no line: a drive beside its variation, reads beside writes, blocks of 4k beside 64k.
    const line = (row) =>
      [made(row), jobs.size > 1 && row.job, ...asked(row), row.direction, row.span && `first ${row.span}`]
        .filter(Boolean)
        .join(", ");
    const lines = [...new Set(rows.map(line))];
    fill(this.drawn);
    const about = (at) => {
      const row = rows.find((item) => item.run_id === runs[Math.round(at)]);
      return row ? `run ${row.run_id}, ${made(row)}` : "";
    };
    this.plot = new Plot(this.drawn, {
      title: `${title}, by run`,
      subtitle: `${test}, ${state}; a line for each engine, scale, parameters, length, options, direction and span`,
      x: { ticks, text: about, pad: 0.5 },
      y: { unit },
      height: 220,
    });
    this.plot.set(
      lines.map((name, index) => {
        const own = rows.flatMap((row) => (line(row) === name ? [[runs.indexOf(row.run_id), row.value]] : []));
        return {
          name,
          colour: COLOURS[index % COLOURS.length],
          x: own.map(([at]) => at),
          y: own.map(([, value]) => value),
          dots: true,
        };
      }),
    );
    this.drawn.append(
      h(
        "details",
        h("summary", "As a table"),
        scrolling(
          "Numbers",
          h(
            "table",
            h(
              "thead",
              h(
                "tr",
                h("th.n", { scope: "col" }, "Run"),
                h("th", { scope: "col" }, "Of"),
                h("th", { scope: "col" }, "Parameters"),
                h("th.n", { scope: "col" }, title),
              ),
            ),
            h(
              "tbody",
              rows.map((row) =>
                h(
                  "tr",
                  h("td.n", row.run_id),
                  h("td", line(row)),
                  h("td", h("code", row.hash.slice(0, 12))),
                  h("td.n", unit ? withUnit(row.value, unit) : number(row.value)),
                ),
              ),
            ),
          ),
        ),
      ),
    );
  }
}
