// A published figure in the view Design: what becomes of it with each parameter a little less, and a little more.

import { fill, h } from "../dom.js";
import { number, withUnit } from "../numbers.js";
import { ask } from "../server.js";
import { effectBars, Studies } from "./design-study.js";

const BY = [5, 10, 20, 50];
const ROLES = {
  predicted: "nothing that was chosen for a published performance binds it",
  transferred: "bound by a parameter that was fitted to another figure",
  informed: "bound by a value that was chosen with such results in view",
  restated: "bound by a value that restates a specification or a limit",
  fitted: "a parameter was fitted to it, or to another figure of the same measurement",
};

export class FigureStudy extends Studies {
  async load() {
    this.offered ??= await ask("/api/design/offered");
    this.figure = h("select", { "aria-label": "Published figure", onchange: () => this.tellFigure() });
    this.by = h(
      "select",
      { "aria-label": "By how much parameters are varied", onchange: () => this.name() },
      BY.map((percent) => h("option", { value: percent }, `by ${percent} %`)),
    );
    this.by.value = 10;
    this.length = h(
      "select",
      { "aria-label": "Length of the tests" },
      h("option", { value: "whole" }, "whole tests"),
      h("option", { value: "quick" }, "10 s a test"),
    );
    this.roles = this.offered.roles.map(({ name, usual }) =>
      h("label", h("input", { type: "checkbox", value: name, checked: usual }), ` ${name}`),
    );
    this.about = h("p.published");
    this.start = h("button.primary", { type: "button", onclick: () => this.measure() });
    this.way = h("p.soft", { role: "status" });
    this.found = h("div.found");
    this.axes = [];
  }

  async show(kind, known, scale) {
    if (!this.offered) await this.load();
    this.kind = kind;
    this.known = known;
    const name = this.asked().model;
    if (this.of !== name) {
      const figures = await ask(`/api/design/figures?${new URLSearchParams({ drive: name })}`);
      // Another model may have been chosen meanwhile.
      if (name !== this.asked().model) return;
      [this.of, this.figures] = [name, figures];
      const option = (one) => h("option", { value: one.id }, `${one.id} ${words(one)}, ${one.state}`);
      fill(this.figure, figures.map(option));
    }
    if (!this.figures.length) {
      fill(this.element, h("p.soft", "No published figure follows from this model."));
      return;
    }
    this.name();
    this.tellFigure();
    const small =
      scale === 1
        ? null
        : h(
            "p.soft",
            `Measured on drives of 1/${scale} of the size, of which nothing was published: how far a figure moves ` +
              "says something, what it is doesn't.",
          );
    fill(
      this.element,
      h(
        "p.soft",
        "The figure is measured as drivelab figures does it, with each number of the model a little less and a " +
          "little more (whole numbers by one at least), one at a time; what is 0 is off, and stays so.",
      ),
      small,
      h("div.row.filters", this.figure, this.by, this.length),
      this.about,
      h("fieldset.roles", h("legend", "Parameters that are varied, by where their values come from"), this.roles),
      h("div.row", this.start, this.way),
      this.found,
    );
    this.draw();
  }

  name() {
    this.start.textContent = `Vary each parameter by ${this.by.value} %`;
  }

  tellFigure() {
    const one = this.figures.find((figure) => figure.id === this.figure.value);
    if (one) fill(this.about, ...described(one));
  }

  order() {
    const roles = this.roles.map((label) => label.firstChild).filter((box) => box.checked);
    return {
      kind: "figure",
      ...this.asked(),
      figure: this.figure.value,
      roles: roles.map((box) => box.value),
      by_percent: Number(this.by.value),
      quick: this.length.value === "quick",
    };
  }

  async measure() {
    if (!this.order().roles.length) this.refuse("Choose at least one kind of parameter.");
    else await super.measure();
  }

  took({ order }) {
    this.figure.value = order.figure;
    this.by.value = order.by_percent;
    this.length.value = order.quick ? "quick" : "whole";
    for (const { firstChild } of this.roles) firstChild.checked = order.roles.includes(firstChild.value);
    this.name();
    this.tellFigure();
  }

  async draw() {
    if (this.result?.order.kind !== this.kind || this.result.order.model !== this.of) {
      fill(this.found);
      return;
    }
    const { title, figure, rows, left_out: leftOut, notes = [] } = this.result;
    const side = (row, name) =>
      row[`${name}_modelled`] === null
        ? null
        : {
            // Of a figure that is 0 there are no per cents, but it may become something.
            percent: row[`${name}_percent`] ?? (row[`${name}_modelled`] === row.modelled ? 0 : null),
            to: row[`${name}_varied`],
            becomes: withUnit(row[`${name}_modelled`], figure.unit),
          };
    const effects = rows.map((row) => ({ ...row, less: side(row, "less"), more: side(row, "more") }));
    const error = figure.error_ratio;
    const small = this.result.order.scale !== 1;
    const way = error < 0 ? "below" : "above";
    const off = error === null || small ? "" : ` (${number(Math.abs(100 * error))} % ${way} what was published)`;
    fill(
      this.found,
      h("h3", `${figure.id}, ${words(figure)}: what it follows from`),
      h(
        "p.soft",
        `${title}. As the drive is: ${number(figure.modelled)} ${figure.unit}${off}. ` +
          "Beside the bars: what the parameter was set to, what the figure becomes, and the change.",
      ),
      notes.map((note) => h("p.soft.note", `Note: ${note}.`)),
      effectBars(effects, leftOut),
      this.script(),
    );
  }

  file() {
    return `${this.result.order.model}-${this.result.order.figure}.csv`;
  }
}

const words = (figure) => figure.metric.replaceAll("_", " ");

/** Published value and unit, the role of what is modelled, how both are taken, and the source. */
function described(one) {
  const judged =
    one.role === "none"
      ? `not judged${one.reason ? `: ${one.reason}` : ""}`
      : [h("b.role", one.role), ROLES[one.role] ? ` (${ROLES[one.role]})` : null];
  const more = [one.formula && `Modelled as ${one.formula}`, one.note, `Published in ${one.source}`];
  return [
    h("b", `${one.published} ${one.unit}`),
    ` ${words(one)}, ${one.drive}, ${one.state}: `,
    judged,
    more.filter(Boolean).map((text) => h("small", `${text}.`)),
  ];
}
