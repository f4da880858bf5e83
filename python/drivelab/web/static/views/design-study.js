// Studies in the view Design: how a number follows from each parameter, and sweeps over one or two of them.

import { fill, h, say, scrolling } from "../dom.js";
import * as jobs from "../jobs.js";
import { number, withUnit } from "../numbers.js";
import { ask, blob, save } from "../server.js";

/** Effects below so many per cent are told, not drawn. */
export const LEAST = 0.05;
const SHOWN = 12;

/** Values that a reader typed; what parts them is no space in front of a unit. */
const parts = (text) =>
  text
    .split(/[,;]+|(?<!\d)\s+|\s+(?=[\d.+-])/)
    .map((one) => one.trim())
    .filter(Boolean);

export class Studies {
  /**
   * `asked` gives {model, settings, scale} as the form has them; `begun` hears of the name of a study that was begun,
   * `refuse` why something can't be.
   */
  constructor({ asked, begun, refuse }) {
    this.asked = asked;
    this.begun = begun;
    this.refuse = refuse;
    this.element = h("section.study", { "aria-label": "Studies" });
  }

  async load() {
    this.offered ??= await ask("/api/design/offered");
    const select = (label, items) =>
      h(
        "select",
        { "aria-label": label, onchange: () => this.draw() },
        items.map(({ name, title }) => h("option", { value: name }, title)),
      );
    this.job = select("What is measured", this.offered.jobs);
    this.state = select(
      "State of the drive",
      this.offered.states.map((name) => ({ name, title: name })),
    );
    this.state.value = "used";
    this.metric = select("Number that is drawn", this.offered.metrics);
    this.axes = [1, 2].map((place) => this.axis(place));
    this.start = h("button.primary", { type: "button", onclick: () => this.measure() });
    this.way = h("p.soft", { role: "status" });
    this.found = h("div.found");
  }

  axis(place) {
    const key = h("select", { "aria-label": `Parameter ${place}`, onchange: () => this.suggest(place) });
    const values = h("input", {
      type: "text",
      placeholder: "4, 8, 16",
      autocomplete: "off",
      "aria-label": `Values of parameter ${place}`,
      "aria-describedby": `values-${place}-why`,
    });
    const why = h("p.refused", { id: `values-${place}-why`, hidden: true });
    return { key, values, why };
  }

  /** Draws one of the two kinds for a model's parameters. */
  async show(kind, known, scale) {
    if (!this.offered) await this.load();
    this.kind = kind;
    this.known = known;
    const keys = known.parameters.filter((item) => item.kind !== "text" && item.value !== null);
    for (const [place, { key }] of this.axes.entries()) {
      const before = key.value;
      const options = [
        ...this.offered.job_keys,
        // Those that the model names itself are among its own.
        ...this.offered.drive_keys.filter((name) => !keys.some((item) => item.key === name)),
        ...keys.map((item) => item.key),
      ];
      fill(
        key,
        place ? h("option", { value: "" }, "nothing else") : null,
        options.map((name) => h("option", { value: name }, name)),
      );
      key.value = options.includes(before) ? before : place ? "" : "spare_ratio";
      if (!key.value && !place) key.value = options[0];
      if (!this.axes[place].values.value) this.suggest(place + 1);
    }
    const isSweep = kind === "sweep";
    this.start.textContent = isSweep ? "Measure the sweep" : "Vary each parameter by 10 %";
    const { points_max: pointsMax, values_max: valuesMax } = this.offered;
    const about = isSweep
      ? `Every combination of the values: ${valuesMax} of each parameter and ${pointsMax} points at most.`
      : "Each number of the model 10 % less and 10 % more (whole numbers by one at least), one at a time.";
    const size = scale === 1 ? "at full size" : `on drives of 1/${scale} of the size`;
    fill(
      this.element,
      h("p.soft", `${about} Measured ${size}; a script does the same with dl.${isSweep ? "sweep" : "vary"}.`),
      h(
        "div.row.filters",
        h("label", "Job", this.job),
        h("label", "State", this.state),
        h("label", "Drawn", this.metric),
      ),
      isSweep ? this.axes.map(({ key, values, why }) => h("div.row.axis", key, values, why)) : null,
      h("div.row", this.start, this.way),
      this.found,
    );
    this.draw();
  }

  suggest(place) {
    const { key, values } = this.axes[place - 1];
    const item = this.known.parameters.find((one) => one.key === key.value);
    if (!key.value) values.value = "";
    else if (item?.kind === "choice") values.value = item.choices.join(", ");
    else if (key.value === "job.iodepth") values.value = "1, 4, 16, 64";
    else if (key.value === "job.bs") values.value = "4k, 16k, 64k";
    else if (key.value === "spare_ratio") values.value = "0.07, 0.15, 0.28, 0.5";
    else if (item) {
      const least = item.whole ? Math.max(1, Math.round(item.value / 2)) : item.value / 2;
      values.value = [...new Set([least, item.value, item.value * 2])].join(", ");
    }
    values.disabled = !key.value;
  }

  order() {
    const axes = this.axes
      .filter(({ key }) => key.value)
      .map(({ key, values }) => ({ key: key.value, values: parts(values.value) }));
    const order = { kind: this.kind, ...this.asked(), job: this.job.value, state: this.state.value };
    return this.kind === "sweep" ? { ...order, axes } : order;
  }

  async measure() {
    this.refuse("");
    for (const { values, why } of this.axes) refused(values, why, "");
    try {
      this.own = this.study = (await jobs.measure(this.order())).study;
      this.begun(this.study);
    } catch (error) {
      this.refuse(error.message);
      for (const { key, values, why } of this.kind === "sweep" ? this.axes : [])
        if (key.value && names(error.message, key.value)) refused(values, why, error.message);
    }
  }

  /** Hears of all jobs: how far the study is that this page asked for. */
  heard(all) {
    this.jobs = all;
    const job = this.tell();
    if (job?.state === "done") this.fetch(job.study);
  }

  /** Says how far the study is; its job, if the server knows one. */
  tell() {
    if (!this.offered || !this.study || !this.jobs) return null;
    const job = this.jobs.findLast((one) => one.study === this.study);
    const states = {
      running: "Measuring…",
      waiting: "Waiting…",
      failed: job?.error,
      cancelled: "Cancelled.",
      done: "",
    };
    // A server that was started again knows of no job before, and what was not done then is not there.
    const lost = "Not here: the server ended before it was done, or it was measured elsewhere. Measure it again.";
    const told = job ? states[job.state] : this.missing === this.study ? lost : "";
    if (this.way.textContent !== told) this.way.textContent = told;
    return job;
  }

  /** Draws the study of a name, if it is there: it stays when the server was started again. */
  async fetch(id) {
    this.study = id;
    if (!this.offered || !id || this.result?.id === id || this.fetching === id) return;
    this.fetching = id;
    try {
      const found = await ask(`/api/design/studies/${encodeURIComponent(id)}`);
      // One that is still measured isn't there yet.
      this.missing = found ? null : id;
      if (found) {
        this.result = { id, ...found };
        // What was begun here has its form, in which the next one may be prepared by now.
        if (found.order.kind === this.kind && id !== this.own) this.took(found);
        say("The study is there");
        await this.draw();
      }
    } catch (error) {
      this.refuse(error.message);
    } finally {
      this.fetching = null;
      this.tell();
    }
  }

  /** The form says what a study measured. */
  took({ order }) {
    [this.job.value, this.state.value] = [order.job, order.state];
    if (order.kind !== "sweep") return;
    for (const [place, { key, values }] of this.axes.entries()) {
      const { key: name = "", values: asked = [] } = order.axes[place] ?? {};
      key.value = name;
      values.value = asked.join(", ");
      values.disabled = !name;
    }
  }

  async draw() {
    if (this.result?.order.kind !== this.kind) {
      fill(this.found);
      return;
    }
    if (this.kind === "sweep") await this.drawSweep();
    else this.drawEffects();
  }

  async drawSweep() {
    const { id, title, rows, keys } = this.result;
    const theme =
      document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    const query = new URLSearchParams({ metric: this.metric.value, theme });
    const drawn = URL.createObjectURL(await blob(`/api/design/studies/${id}/chart.svg?${query}`));
    const metric = this.metric.selectedOptions[0].textContent;
    const picture = h("img.drawn", { src: drawn, alt: `${title}: ${metric}. The table below has the numbers.` });
    picture.addEventListener("load", () => URL.revokeObjectURL(drawn), { once: true });
    const heads = [...keys, "direction", metric];
    const cells = rows
      .filter((row) => row[this.metric.value] !== null)
      .map((row) =>
        h(
          "tr",
          keys.map((key) => h("td", String(row[key]))),
          h("td", row.direction),
          h("td.n", number(row[this.metric.value])),
        ),
      );
    const head = h(
      "tr",
      heads.map((text, i) => h(i < heads.length - 1 ? "th" : "th.n", { scope: "col" }, text)),
    );
    fill(
      this.found,
      h("h3", title),
      picture,
      scrolling(title, h("table", h("thead", head), h("tbody", cells))),
      this.script(),
    );
  }

  /** Bars to the left and right of nothing: a parameter a little less, and a little more. */
  drawEffects() {
    const { title, rows, left_out: leftOut } = this.result;
    const metric = this.metric.value;
    const base = new Map(rows.filter((row) => !row.key).map((row) => [row.direction, row[metric]]));
    const effects = new Map();
    for (const row of rows.filter((one) => one.key && one[metric] !== null && base.get(one.direction))) {
      const effect = effects.get(row.key) ?? { key: row.key, unit: row.unit, value: row.value, less: null, more: null };
      effect[row.side] = { percent: 100 * (row[metric] / base.get(row.direction) - 1), to: row.varied };
      effects.set(row.key, effect);
    }
    const sorted = [...effects.values()].sort((a, b) => size(b) - size(a));
    const name = this.metric.selectedOptions[0].textContent;
    const values = [...base]
      .filter(([, value]) => value !== null)
      .map(([direction, value]) => `${number(value)} (${direction})`)
      .join(", ");
    fill(
      this.found,
      h("h3", `${name}: what it follows from`),
      h(
        "p.soft",
        `${title}. As the drive is: ${values || "not measured by this job"}. ` +
          "Bars are the change in per cent; what is written beside them is what the parameter was set to.",
      ),
      effectBars(sorted, leftOut),
      this.script(),
    );
  }

  script() {
    return h(
      "p.soft.row",
      h("span", "In a script: ", h("code", this.result.script)),
      h(
        "button",
        { type: "button", onclick: () => save(`/api/design/studies/${this.result.id}/rows.csv`, this.file()) },
        "Save as CSV",
      ),
    );
  }

  /** The name of the file with what was measured. */
  file() {
    return `${this.result.order.model}-${this.result.order.kind}.csv`;
  }
}

/** Whether a reason is about a parameter. */
export function names(reason, key) {
  return reason.split(/[^\w.]+/).some((word) => word.replace(/\.$/, "") === key);
}

/** Says beside a field why its value is refused, without the file that the reason begins with; or that it isn't. */
export function refused(field, why, reason) {
  why.hidden = !reason;
  why.textContent = reason.replace(/^\S+: /, "");
  if (reason) field.setAttribute("aria-invalid", "true");
  else field.removeAttribute("aria-invalid");
}

const size = (effect) => Math.max(...[effect.less, effect.more].map((one) => Math.abs(one?.percent ?? 0)));

/**
 * Bars of effects, the largest first: {key, role, unit, value, less, more}, each side {percent, to, becomes} or null;
 * what moves next to nothing is counted, and what is left out is listed with its reason.
 */
export function effectBars(sorted, leftOut) {
  const isLeftOut = (key, side) => leftOut.some((item) => item.key === key && item.side === side);
  const hasNoPercent = (effect) => [effect.less, effect.more].some((one) => one?.percent === null);
  const drawn = sorted.filter((effect) => size(effect) >= LEAST || hasNoPercent(effect));
  const most = (drawn.length && size(drawn[0])) || 1;
  const bars = (list) =>
    h(
      list.some((effect) => effect.less?.becomes ?? effect.more?.becomes) ? "ol.effects.becomes" : "ol.effects",
      list.map((effect) => bar(effect, most, isLeftOut)),
    );
  return [
    drawn.length ? bars(drawn.slice(0, SHOWN)) : null,
    drawn.length > SHOWN ? h("details", h("summary", `${drawn.length - SHOWN} more`), bars(drawn.slice(SHOWN))) : null,
    h("p.soft", `${sorted.length - drawn.length} of ${sorted.length} parameters move it by less than ${LEAST} %.`),
    leftOut.length
      ? h(
          "details",
          h("summary", `${leftOut.length} variation${leftOut.length === 1 ? " is" : "s are"} left out`),
          h(
            "ul",
            leftOut.map((item) => h("li", h("code", item.key), ` ${item.side}: ${item.reason}`)),
          ),
        )
      : null,
  ];
}

function bar(effect, most, isLeftOut) {
  const side = (name) => {
    const one = effect[name];
    if (!one) return h(`span.${name}`, h("small", isLeftOut(effect.key, name) ? "left out" : "no number"));
    const beside = [`${number(one.to)}: `, one.becomes];
    if (one.percent === null) return h(`span.${name}`, h("small", beside));
    const text = `${one.percent > 0 ? "+" : one.percent < 0 ? "−" : ""}${number(Math.abs(one.percent))}\u00a0%`;
    const wide = `${(46 * Math.abs(one.percent)) / most}%`;
    const way = one.percent < 0 ? "fall" : "rise";
    return h(
      `span.${name}`,
      h(`i.${way}`, { "aria-hidden": "true", style: { "--wide": wide } }),
      h("small", beside, one.becomes ? ", " : null, h("b", text)),
    );
  };
  return h(
    "li",
    h(
      "span.key",
      h("code", effect.key),
      h("small", [withUnit(effect.value, effect.unit), effect.role].filter(Boolean).join(", ")),
    ),
    side("less"),
    side("more"),
  );
}
