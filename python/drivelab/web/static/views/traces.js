// Traces: one of the folder or of the reader's own, replayed on chosen drives; which of them suits it.

import { unknownPart } from "../address.js";
import { fill, h, say, sheet } from "../dom.js";
import * as jobs from "../jobs.js";
import { bytes, counted, number, time } from "../numbers.js";
import { ask, send } from "../server.js";
import { resultsOf } from "./traces-results.js";

const FIRST = ["intel-x25-m-g1-80gb", "ocz-vertex-120gb", "crucial-m4-256gb", "samsung-pm9a3-960gb"];
const PACINGS = {
  arrival: "as they came: when the trace says",
  closed: "as fast as it goes, 32 at once",
};
const KEYS = ["trace", "run"];

export async function show(root) {
  const [offered, { drives }] = await Promise.all([
    ask("/api/traces"),
    ask("/api/drives"),
    sheet("/static/views/traces.css"),
  ]);
  return new View(
    root,
    offered,
    drives.filter((drive) => drive.family),
  );
}

class View {
  constructor(root, offered, drives) {
    this.offered = offered;
    this.drives = drives;
    this.chosen = FIRST.filter((name) => drives.some((drive) => drive.name === name));
    // Until somebody chooses here, the form is that of the results below it, or of what is being measured.
    this.isUntouched = true;
    this.problem = h("p.warning", { role: "alert", hidden: true });
    this.trace = h("select", { "aria-label": "Trace", onchange: () => this.go({ trace: this.trace.value, run: [] }) });
    this.file = h("input", {
      type: "file",
      "aria-label": "A trace of your own",
      onchange: () => this.take(this.file.files[0]),
    });
    this.about = h("p.about", { role: "status" });
    this.picked = h("ul.picked", { "aria-label": "Drives to compare" });
    this.more = h(
      "select",
      { "aria-label": "Add a drive", onchange: () => this.add(this.more.value) },
      h("option", { value: "" }, "Add a drive…"),
      this.families().map(([family, own]) =>
        h(
          "optgroup",
          { label: family },
          own.map((drive) => h("option", { value: drive.name }, drive.title)),
        ),
      ),
    );
    const options = (list) => list.map(([value, title]) => h("option", { value }, title));
    this.state = h(
      "select",
      { "aria-label": "State of the drives", onchange: () => this.touch() },
      options(offered.states.map((name) => [name, name])),
    );
    this.state.value = offered.state;
    this.pacing = h(
      "select",
      { "aria-label": "Requests come", onchange: () => this.touch() },
      options(Object.entries(PACINGS)),
    );
    this.start = h("button.primary", { type: "button", onclick: () => this.replay() });
    this.jobList = h("div.job-list", { hidden: true });
    this.results = h("section", { "aria-label": "Results", "aria-live": "polite" });
    const megabytes = offered.bytes_max / 2 ** 20;
    root.append(
      h("h1", "Which drive suits your trace?"),
      h("p.soft", "A recorded trace, replayed on drives in one state: the same requests for each."),
      this.problem,
      h(
        "div.card.ask",
        h("h2", "1. A trace"),
        h("div.row", this.trace, h("span.soft", "or"), this.file),
        this.about,
        h(
          "p.soft",
          `Up to ${megabytes} MiB, plain or .gz, in any format that `,
          h("code", "drivelab replay"),
          " reads. Traces lie in ",
          h("code", { title: offered.folder }, "traces/"),
          " beside ",
          h("code", offered.beside),
          "; put larger ones there.",
        ),
        h("h2", "2. Drives"),
        this.picked,
        h("div.row", this.more),
        h("h2", "3. How"),
        h("div.row", h("label", "State", this.state), h("label", "Requests come", this.pacing)),
        h("div.row.go", this.start),
      ),
      this.jobList,
      this.results,
    );
    this.list();
    this.drawPicked();
    this.stopList = jobs.list(this.jobList);
    this.stopFollowing = jobs.follow((all) => this.heard(all));
  }

  families() {
    const found = Map.groupBy ? Map.groupBy(this.drives, (drive) => drive.family) : new Map();
    if (!found.size)
      for (const drive of this.drives) found.set(drive.family, [...(found.get(drive.family) ?? []), drive]);
    return [...found];
  }

  end() {
    this.stopList();
    this.stopFollowing();
  }

  touch() {
    this.isUntouched = false;
  }

  /** The form as these replays were asked for. */
  takeOver(models, state, pacing) {
    if (!this.isUntouched) return;
    this.chosen = models.filter((name) => this.drives.some((drive) => drive.name === name));
    if (this.offered.states.includes(state)) this.state.value = state;
    if (Object.hasOwn(PACINGS, pacing)) this.pacing.value = pacing;
    this.drawPicked();
  }

  refuse(reason) {
    this.problem.hidden = !reason;
    this.problem.textContent = reason;
  }

  go({ trace = this.trace.value, run = this.runs }) {
    const params = new URLSearchParams([...(trace ? [["trace", trace]] : []), ...run.map((one) => ["run", one])]);
    this.page.go(`/traces?${params}`, { replace: true });
  }

  async update(page) {
    this.page = page;
    const wanted = page.params.get("trace");
    const unknown = unknownPart(page.params, KEYS);
    const isThere = this.offered.traces.some((one) => one.name === wanted);
    if (isThere) this.trace.value = wanted;
    const missing =
      wanted && !isThere ? `trace "${wanted.slice(0, 80)}": there is none of this name in ${this.offered.folder}` : "";
    this.refuse([missing, unknown].filter(Boolean).join(". "));
    this.runs = page.params.getAll("run");
    await Promise.all([this.look(), this.drawResults()]);
  }

  list() {
    const { traces } = this.offered;
    const empty = h("option", { value: "" }, traces.length ? "Choose one…" : "There is none yet");
    const before = this.trace.value;
    fill(
      this.trace,
      empty,
      traces.map(({ name }) => h("option", { value: name }, name)),
    );
    this.trace.value = traces.some(({ name }) => name === before) ? before : "";
    this.drawStart();
  }

  /** What the chosen trace holds. */
  async look() {
    this.drawStart();
    const name = this.trace.value;
    if (!name) return fill(this.about);
    fill(this.about, "Looking…");
    try {
      const found = await ask(`/api/traces/about?${new URLSearchParams({ name })}`);
      if (name === this.trace.value) this.tell(found);
    } catch (error) {
      if (name !== this.trace.value) return null;
      fill(this.about);
      this.refuse(error.message);
    }
    return null;
  }

  tell(found) {
    const parts = ["read", "write", "trim"]
      .filter((way) => found[way].ios)
      .map((way) => `${counted(found[way].ios, way)} (${bytes(found[way].bytes)})`);
    const flushes = found.flush.ios ? [counted(found.flush.ios, "flush").replace("flushs", "flushes")] : [];
    const within = found.duration_s ? `in ${time(found.duration_s * 1e6)}` : "at one instant";
    const notes = found.notes.map((note) => `${note[0].toUpperCase()}${note.slice(1)}.`);
    fill(
      this.about,
      [
        `Format ${found.format}: ${[...parts, ...flushes].join(", ")} ${within}, over ${bytes(found.end_bytes)}.`,
        ...notes,
        "What lies beyond a drive's end is folded into it.",
      ].join(" "),
    );
  }

  async take(file) {
    this.refuse("");
    if (!file) return;
    if (file.size > this.offered.bytes_max) {
      this.refuse(
        `${file.name}: ${number(file.size / 2 ** 20)} MiB; allowed: ${this.offered.bytes_max / 2 ** 20}. ` +
          `Larger ones can be put into ${this.offered.folder}.`,
      );
      return;
    }
    fill(this.about, "Sending, and looking…");
    const name =
      file.name
        .replace(/[^A-Za-z0-9._-]/g, "_")
        .replace(/^[^A-Za-z0-9]+/, "")
        .slice(0, 80) || "trace";
    try {
      const found = await send(`/api/traces?${new URLSearchParams({ name })}`, file);
      this.offered = await ask("/api/traces");
      this.list();
      this.trace.value = name;
      this.tell(found);
      say(`${name} is there`);
      this.go({ trace: name, run: [] });
    } catch (error) {
      fill(this.about);
      this.refuse(error.message);
    }
    this.file.value = "";
  }

  add(name) {
    this.touch();
    this.more.value = "";
    if (name && !this.chosen.includes(name) && this.chosen.length < this.offered.limit) this.chosen.push(name);
    this.drawPicked();
  }

  drawPicked() {
    const title = (name) => this.drives.find((drive) => drive.name === name)?.title ?? name;
    const drop = (name) => {
      this.touch();
      this.chosen = this.chosen.filter((one) => one !== name);
      this.drawPicked();
      this.more.focus();
    };
    fill(
      this.picked,
      this.chosen.map((name) =>
        h(
          "li",
          title(name),
          h("button.quiet", { type: "button", "aria-label": `Without ${title(name)}`, onclick: () => drop(name) }, "×"),
        ),
      ),
    );
    this.more.disabled = this.chosen.length >= this.offered.limit;
    this.drawStart();
  }

  drawStart() {
    this.start.disabled = !this.trace.value || !this.chosen.length;
    this.start.textContent = `Replay on ${counted(this.chosen.length, "drive")}`;
  }

  async replay() {
    this.refuse("");
    const order = {
      kind: "replay",
      trace: this.trace.value,
      models: this.chosen,
      state: this.state.value,
      pacing: this.pacing.value,
    };
    try {
      this.mine = (await jobs.measure(order)).id;
    } catch (error) {
      this.refuse(error.message);
    }
  }

  /** What was asked for here leads to its results, also on a page that was loaded anew meanwhile. */
  heard(all) {
    if (!this.page) return;
    for (const job of all.filter((one) => one.kind === "replay" && one.order.trace === this.trace.value)) {
      if (["waiting", "running"].includes(job.state)) {
        this.mine = job.id;
        this.takeOver(job.order.models, job.order.state, job.order.pacing);
      }
      if (job.id === this.mine && job.state === "done") {
        this.mine = null;
        say("The replays are done");
        this.go({ run: job.runs.map(String) });
      }
    }
  }

  async drawResults() {
    const runs = this.runs;
    if (!runs.length) return fill(this.results);
    try {
      const found = await ask(`/api/traces/results?${new URLSearchParams(runs.map((run) => ["run", run]))}`);
      if (runs !== this.runs) return null;
      fill(this.results, resultsOf(found));
      const [{ pacing }] = found;
      // A hard disk has one state, new, whichever was asked for.
      const { state } = found.find((row) => row.state !== "new") ?? found[0];
      const models = found.map((row) => row.model);
      this.takeOver(models, state, pacing);
    } catch (error) {
      if (runs !== this.runs) return null;
      this.refuse(error.message);
    }
    return null;
  }
}
