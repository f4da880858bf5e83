// Design: a model's parameters in a form; the variation measured beside the original; saved as a file.

import { unknownPart, wrongPart } from "../address.js";
import { fill, h, say, sheet } from "../dom.js";
import * as jobs from "../jobs.js";
import { ask, drawWhenBack, save } from "../server.js";
import { FigureStudy } from "./design-figure.js";
import { ParameterForm } from "./design-form.js";
import { Studies } from "./design-study.js";

const SCALES = [1, 16, 64];
/** `other` is the size that is come back to from a figure. */
const KEYS = ["drive", "set", "scale", "part", "study", "other"];
const USUAL_SCALE = "64";
const TESTS = ["four corners"];
const PARTS = {
  parameters: "Parameters",
  sensitivity: "What follows from what",
  figure: "A published figure",
  sweep: "Sweep",
};

export async function show(root) {
  const [{ drives }] = await Promise.all([
    ask("/api/drives"),
    sheet("/static/views/design.css"),
    sheet("/static/views/compare.css"),
  ]);
  return new View(
    root,
    drives.filter((drive) => drive.family),
  );
}

/** Whether a text of the address is one of the list's values. */
const isScale = (text) => SCALES.map(String).includes(text);

/** What of an address is not of this page, and is left out. */
function odd(params) {
  const unknown = unknownPart(params, KEYS);
  if (unknown) return unknown;
  const part = params.get("part");
  if (part !== null && !Object.hasOwn(PARTS, part)) return wrongPart("part", part, Object.keys(PARTS).join(", "));
  const study = params.get("study");
  if (study !== null && !/^[0-9a-f]{16}$/.test(study)) return wrongPart("study", study, "the name of one");
  const alone = params.getAll("set").find((text) => !text.includes("="));
  if (alone !== undefined) return wrongPart("set", alone, "KEY=VALUE");
  const scale = params.get("scale");
  if (scale === null || isScale(scale)) return "";
  return `scale "${scale.slice(0, 20)}" of the address: not one of ${SCALES.join(", ")}; shown is the usual one`;
}

class View {
  constructor(root, drives) {
    this.drives = drives;
    this.problem = h("p.warning", { role: "alert", hidden: true });
    this.model = h(
      "select",
      { "aria-label": "Model", onchange: () => this.go({ settings: new Map() }) },
      drives.map((drive) => h("option", { value: drive.name }, drive.title)),
    );
    this.scale = h(
      "select",
      { "aria-label": "Size of the measured drives", onchange: () => this.go({ scale: this.scale.value }) },
      SCALES.map((by) => h("option", { value: by }, by === 1 ? "full size" : `1/${by} of its size`)),
    );
    this.form = new ParameterForm((item, value) => this.change(item, value));
    this.jobList = h("div.job-list", { hidden: true });
    this.summary = h("div.card.summary");
    this.tabs = h(
      "div.tabs",
      { role: "group", "aria-label": "What is shown" },
      Object.entries(PARTS).map(([name, title]) =>
        h("button", { type: "button", "data-part": name, onclick: () => this.turn(name) }, title),
      ),
    );
    const place = {
      asked: () => ({ model: this.model.value, settings: this.words(), scale: Number(this.scale.value) }),
      begun: (study) => this.go({ study }),
      refuse: (reason) => this.refuse(reason),
    };
    this.panels = [new Studies(place), new FigureStudy(place)];
    root.append(
      h("h1", "Design a drive"),
      h("div.row.filters", this.model, this.scale, this.tabs, this.form.filter),
      this.problem,
      this.jobList,
      h("div.design", h("div", this.form.element, ...this.panels.map((panel) => panel.element)), this.summary),
    );
    this.stopList = jobs.list(this.jobList);
    this.stopFollowing = jobs.follow((all) => {
      this.jobs = all;
      if (this.part !== "parameters") this.studies.heard(all);
      // While they go on there is news several times a second, and a button that is pressed stays where it is.
      if (this.known && this.standing() !== this.drawnStanding) this.drawSummary();
    });
  }

  refuse(reason) {
    this.problem.hidden = !reason;
    this.problem.textContent = reason;
    this.form.accept();
  }

  end() {
    this.stopList();
    this.stopFollowing();
  }

  async update(page) {
    this.page = page;
    const drive =
      page.params.get("drive") ??
      (this.drives.find((item) => item.name === "intel-x25-m-g1-80gb") ?? this.drives[0]).name;
    this.model.value = drive;
    this.part = Object.hasOwn(PARTS, page.params.get("part") ?? "") ? page.params.get("part") : "parameters";
    this.scale.value = page.params.get("scale") ?? "";
    this.odd = odd(page.params);
    const other = page.params.get("other");
    this.other = isScale(other) ? other : USUAL_SCALE;
    if (!this.scale.value) this.scale.value = this.part === "figure" ? "1" : USUAL_SCALE;
    this.settings = new Map(
      page.params
        .getAll("set")
        .filter((text) => text.includes("="))
        .map((text) => [text.slice(0, text.indexOf("=")), text.slice(text.indexOf("=") + 1)]),
    );
    this.query = new URLSearchParams([["drive", drive], ...this.words().map((text) => ["set", text])]);
    const query = `${this.query}`;
    const scale = this.scale.value;
    try {
      const known = await ask(`/api/design?${query}&scale=${scale}`);
      if (query !== `${this.query}` || scale !== this.scale.value) return;
      // As it was, in other words: "16k" for 16384.
      const same = known.parameters.filter((item) => this.settings.has(item.key) && item.value === item.original);
      if (same.length) {
        const settings = new Map([...this.settings].filter(([key]) => !same.some((item) => item.key === key)));
        this.go({ settings, study: page.params.get("study") });
        return;
      }
      this.refuse(this.odd);
      this.isRefused = false;
      this.accepted = new Map(this.settings);
      this.known = known;
      this.form.show(known, this.settings);
      this.drawSummary();
      await this.drawPart();
    } catch (error) {
      if (query !== `${this.query}` || scale !== this.scale.value) return;
      this.refuse(error.message);
      this.isRefused = true;
      drawWhenBack(error);
      if (this.known?.name !== drive) await this.drawOriginal(drive, query);
      else if (this.known) this.drawSummary();
      if (query === `${this.query}` && error.status === 400 && this.known)
        this.form.mark(error.message, this.settings, this.accepted);
    }
  }

  /** The form of a page that was opened with a value that is refused, so that it can be mended there. */
  async drawOriginal(drive, query) {
    const known = await ask(`/api/design?${new URLSearchParams({ drive })}`).catch(() => null);
    if (query !== `${this.query}`) return;
    this.known = known;
    this.accepted = new Map();
    if (!known) {
      this.form.clear();
      fill(this.summary);
      return;
    }
    this.form.show(known, this.settings);
    this.drawSummary();
    await this.drawPart();
  }

  /** The form, or one of the studies. */
  async drawPart() {
    const isForm = this.part === "parameters";
    for (const tab of this.tabs.children) tab.setAttribute("aria-pressed", String(tab.dataset.part === this.part));
    this.form.hide(!isForm);
    for (const panel of this.panels) panel.element.hidden = isForm || panel !== this.studies;
    if (isForm) return;
    await this.studies.show(this.part, this.known, Number(this.scale.value));
    await this.studies.fetch(this.page.params.get("study"));
    if (this.jobs) this.studies.heard(this.jobs);
  }

  words() {
    return [...this.settings].map(([key, value]) => `${key}=${value}`);
  }

  /** The panel of the part that is shown. */
  get studies() {
    return this.panels[this.part === "figure" ? 1 : 0];
  }

  /** Shows another part: figures were published of drives of full size, which the others needn't be of. */
  turn(part) {
    if (part === this.part) return;
    if (part === "figure") this.go({ part, scale: "1", other: this.scale.value });
    else this.go(this.part === "figure" ? { part, scale: this.other } : { part });
  }

  go({ settings = this.settings, scale = this.scale.value, part = this.part, study = null, other = this.other }) {
    const params = new URLSearchParams([
      ["drive", this.model.value],
      ...[...settings].map(([key, value]) => ["set", `${key}=${value}`]),
      ["scale", scale],
      ...(part === "parameters" ? [] : [["part", part]]),
      ...(study ? [["study", study]] : []),
      ...(part === "figure" ? [["other", other]] : []),
    ]);
    this.page.go(`/design?${params}`, { replace: true });
  }

  change(item, value) {
    const settings = new Map(this.settings);
    if (value === "" || value === String(item.original)) settings.delete(item.key);
    else settings.set(item.key, value);
    this.go({ settings });
  }

  /** How far the two measurements are, as far as the summary tells. */
  standing() {
    const jobs = [this.measured(this.words()), this.measured([])];
    return JSON.stringify([Boolean(this.jobs), ...jobs.map((job) => job && [job.id, job.state, job.run])]);
  }

  /** What is changed, what follows, and what to do with it. */
  drawSummary() {
    this.drawnStanding = this.standing();
    const changed = [...this.settings];
    const measured = this.measured(this.words());
    const original = this.measured([]);
    const running = [measured, original].some((job) => job && ["waiting", "running"].includes(job.state));
    const ready = measured?.run && original?.run;
    fill(
      this.summary,
      h("h2", this.known.title),
      changed.length
        ? h(
            "ul.changes",
            changed.map(([key, value]) =>
              h(
                "li",
                h("code", key),
                h("span", `${this.form.item(key)?.original ?? "left out"} → ${this.comesTo(key, value)}`),
                h(
                  "button.quiet",
                  {
                    type: "button",
                    "aria-label": `Back to the original: ${key}`,
                    onclick: () => this.change({ key, original: null }, ""),
                  },
                  "×",
                ),
              ),
            ),
          )
        : h("p.soft", "Nothing is changed yet."),
      h(
        "dl",
        this.known.facts.map(([title, now, before]) => [
          h("dt", title),
          h("dd", now, now === before ? null : h("small", ` was ${before}`)),
        ]),
      ),
      this.known.notes.map((note) => h("p.soft", `${note}.`)),
      h(
        "div.row",
        h(
          "button.primary",
          {
            type: "button",
            disabled: !changed.length || running || !this.jobs || this.isRefused,
            onclick: () => this.measure(),
          },
          running ? "Measuring…" : "Measure beside the original",
        ),
        h(
          "button",
          {
            type: "button",
            disabled: this.isRefused,
            onclick: () => save(`/api/design/model.toml?${this.query}`, `${this.known.name}.toml`),
          },
          "Save as TOML",
        ),
      ),
      ready && changed.length
        ? h(
            "p",
            h(
              "a",
              {
                href: `/compare?${new URLSearchParams([
                  ["drive", `${this.known.name}~${original.run}`],
                  ["drive", `${this.known.name}~${measured.run}`],
                ])}`,
              },
              "Compare with the original",
            ),
          )
        : null,
      h(
        "p.soft",
        this.isRefused
          ? "What follows, measurements and the file are of values that are allowed: mend the one that isn't."
          : "A quick review of four corners, 10 s a test.",
      ),
    );
  }

  /** What was typed, with the number that it comes to: GB are powers of 1024. */
  comesTo(key, value) {
    const item = this.isRefused ? null : this.form.item(key);
    const differs = item?.kind === "number" && item.value !== null && String(item.value) !== value;
    return differs ? `${value} (${item.value})` : value;
  }

  /** The newest job of these settings. */
  measured(words) {
    const wanted = JSON.stringify([...words].sort());
    return (this.jobs ?? [])
      .filter(
        ({ kind, order }) =>
          kind === "review" &&
          order.quick &&
          order.models.length === 1 &&
          order.models[0] === this.model.value &&
          order.scale === Number(this.scale.value) &&
          JSON.stringify([...order.settings].sort()) === wanted,
      )
      .filter((job) => ["waiting", "running", "done"].includes(job.state))
      .pop();
  }

  async measure() {
    const order = { models: [this.model.value], tests: TESTS, quick: true, scale: Number(this.scale.value) };
    try {
      const wanted = [[], this.words()].filter((words) => !this.measured(words));
      if (wanted.length) await jobs.measureTogether(wanted.map((settings) => ({ ...order, settings })));
      say("Measuring the original and the variation");
    } catch (error) {
      this.problem.hidden = false;
      this.problem.textContent = error.message;
    }
  }
}
