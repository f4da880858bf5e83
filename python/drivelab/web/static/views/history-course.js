// History: a number of a test from run to run.

import { fill, h, scrolling } from "../dom.js";
import { number, withUnit } from "../numbers.js";
import { Plot } from "../plot.js";
import { ask } from "../server.js";

const COLOURS = ["new", "used", "tortured", "trimmed", "passed", "other"];

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

export class Course {
  constructor(known, page) {
    this.known = known;
    this.page = page;
    this.element = h("section.course", { "aria-labelledby": "course-title" });
    this.fillLists();
  }

  update(page) {
    this.page = page;
    this.draw();
  }

  end() {
    this.gone = true;
    this.plot?.end();
  }

  /** Drive, test, state and number; each list holds what there is of those before. */
  fillLists() {
    const select = (name, title) => h("select", { name, "aria-label": title, onchange: () => this.chosen() });
    this.lists = {
      model: select("model", "Drive"),
      test: select("test", "Test and state"),
      number: select("number", "Number"),
    };
    this.drawn = h("div");
    this.problems = h("div");
    fill(
      this.element,
      h("h2", { id: "course-title" }, "A number over the runs"),
      h("div.row", Object.values(this.lists)),
      this.problems,
      this.drawn,
    );
    this.element.hidden = !this.known.runs.length;
    // Of small versions the drive's own title: each scale has a line of its own.
    const titled = ({ model, title }) => [model, title.replace(/ \(1\/\d+\)$/, "")];
    const models = new Map(this.known.runs.flatMap((run) => run.drives.map(titled)));
    const wanted = this.page.params.get("model");
    fill(
      this.lists.model,
      [...models].map(([name, title]) => h("option", { value: name, selected: name === wanted }, title)),
    );
    this.fillTests();
    this.fillNumbers(this.page.params.get("number"));
  }

  /** What a test tells: of many numbers its own first, and none of requests. */
  numbers() {
    const own = this.known.values[this.lists.test.value.split("\n")[0]] ?? [];
    const isTold = ([, { of_requests: ofRequests }]) => !own.length || !ofRequests;
    const fixed = Object.entries(this.known.numbers).filter(isTold);
    return new Map([...own.map((value) => [`value:${value.name}`, value]), ...fixed]);
  }

  fillNumbers(wanted) {
    this.numbersOf = this.lists.test.value;
    fill(
      this.lists.number,
      [...this.numbers()].map(([name, { title, unit }]) =>
        h("option", { value: name, selected: name === wanted }, unit && unit !== "us" ? `${title}, ${unit}` : title),
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
    if (this.numbersOf !== this.lists.test.value) this.fillNumbers(this.lists.number.value);
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

  async draw() {
    this.drawProblems();
    if (this.element.hidden || !this.lists.test.value) return;
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
    const { title, unit } = this.numbers().get(this.lists.number.value);
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
      y: { unit: unit === "us" ? "µs" : unit },
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
