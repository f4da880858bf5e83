// A lesson: steps of a small drive, one operation of its flash at a time. The same code is in the page and in a file
// that was exported; it needs nothing but the record of the lesson.

import { fill, h } from "../dom.js";

const KINDS = {
  host: "Host",
  read: "Read",
  program: "Program",
  erase: "Erase",
  cut: "Power off",
  on: "Power on",
  look: "",
};
const PLAY_MS = 1800;
/** Of a page that units share: what is given out. */
const PARTS = 2;
/** What the drawn things are called, by medium; `meters` are numbers of a step. */
const MEDIA = {
  flash: {
    block: "Block",
    pages: "Pages of block",
    memory: "In the drive's memory",
    states: { erased: "erased", valid: "valid", invalid: "invalid", torn: "torn" },
    wear: (count, mode) =>
      ` ${mode === "slc" ? "one bit a cell, " : ""}${count === 1 ? "erased once" : `erased ${count} times`}`,
    meters: (step) => {
      // While a command is under way some of its pages aren't programmed yet.
      const isDone = step.kind === "look" || (step.kind === "host" && step.seconds > 0);
      const amplification =
        step.host_pages && (isDone || step.programmed_pages >= step.host_pages)
          ? (step.programmed_pages / step.host_pages).toFixed(2)
          : "–";
      return [
        ["Pages of the host", step.host_pages],
        ["Pages programmed", step.programmed_pages],
        ["Copies read", step.reads],
        ["Erases", step.erases],
        ["Write amplification", amplification],
      ];
    },
  },
  disk: {
    block: "Track",
    pages: "Places of track",
    memory: "Waiting",
    states: { free: "", read: "read", waiting: "waiting" },
    wear: () => "",
    meters: (step) => [
      ["Reads done", step.reads],
      ["Seconds until now", Number(step.command_s.toPrecision(4))],
      ["Seconds a read", step.reads ? (step.command_s / step.reads).toFixed(2) : "–"],
    ],
  },
};
const seconds = (value) => `${Number(value.toPrecision(4))} s`;

export class Player {
  /** `place` is {step, KNOB: value}; `moved` hears of every change of it. */
  constructor(root, record, place, moved) {
    this.record = record;
    this.words = MEDIA[record.medium];
    this.moved = moved;
    this.values = record.knobs.map((knob) =>
      knob.choices.some(([value]) => value === place[knob.name]) ? place[knob.name] : knob.choices[0][0],
    );
    this.at = 0;
    this.knobs = h(
      "div.row.knobs",
      record.knobs.map((knob, i) => this.knob(knob, i)),
    );
    this.title = h("h2.command");
    this.clock = h("output.clock");
    this.say = h("p.say", { "aria-live": "polite" });
    this.flash = h(`div.flash.${record.medium}`);
    this.cache = h("p.cache");
    this.meters = h("dl.meters");
    this.slider = h("input", {
      type: "range",
      min: "0",
      step: "1",
      "aria-label": "Step",
      oninput: () => this.go(Number(this.slider.value)),
    });
    this.count = h("span.soft");
    this.back = h("button", { type: "button", onclick: () => this.go(this.at - 1) }, "Back");
    this.next = h("button.primary", { type: "button", onclick: () => this.go(this.at + 1) }, "Next");
    this.play = h("button", { type: "button", onclick: () => this.toggle() }, "Play");
    this.ending = h("section.ending", { "aria-label": "What to take home, and what to predict" });
    this.stage = h(
      "div.lesson-stage",
      {
        tabindex: "0",
        role: "group",
        "aria-label": "The drive. Arrow keys go from step to step.",
        onkeydown: (event) => this.key(event),
      },
      h("div.row.heading", this.title, this.clock),
      this.say,
      this.flash,
      this.cache,
      this.meters,
    );
    fill(
      root,
      this.knobs,
      this.stage,
      h("div.row.steps", this.back, this.next, this.play, this.slider, this.count),
      this.ending,
    );
    this.draw(this.bounded(Number(place.step) || 0));
  }

  get steps() {
    return this.record.variants[this.values.join(",")];
  }

  bounded(at) {
    return Math.max(0, Math.min(this.steps.length - 1, at));
  }

  knob(knob, i) {
    const select = h(
      "select",
      { "aria-label": knob.title, onchange: () => this.choose(i, select.value) },
      knob.choices.map(([value, title]) => h("option", { value, selected: value === this.values[i] }, title)),
    );
    return h("label", knob.title, select);
  }

  choose(i, value) {
    this.values[i] = value;
    this.knobs.querySelectorAll("select")[i].value = value;
    this.stop();
    this.go(0);
  }

  go(at) {
    this.draw(this.bounded(at));
    this.moved({
      step: this.at,
      ...Object.fromEntries(this.record.knobs.map((knob, i) => [knob.name, this.values[i]])),
    });
  }

  key(event) {
    const to = { ArrowRight: this.at + 1, ArrowLeft: this.at - 1, Home: 0, End: Infinity }[event.key];
    if (to === undefined || event.target !== this.stage) return;
    event.preventDefault();
    this.go(to);
  }

  toggle() {
    if (this.timer) return this.stop();
    if (this.at === this.steps.length - 1) this.go(0);
    this.play.textContent = "Stop";
    this.timer = setInterval(() => (this.at < this.steps.length - 1 ? this.go(this.at + 1) : this.stop()), PLAY_MS);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.play.textContent = "Play";
  }

  draw(at) {
    this.at = at;
    const { steps } = this;
    const step = steps[at];
    this.title.textContent = step.title;
    this.clock.textContent = step.command_s ? seconds(step.command_s) : "";
    fill(this.say, KINDS[step.kind] ? h(`b.kind.${step.kind}`, KINDS[step.kind]) : null, ` ${step.say}`);
    fill(
      this.flash,
      step.blocks.map((block) => blockOf(block, step, this.words)),
    );
    this.flash.classList.toggle("several", step.blocks.length > 1);
    const { memory } = this.words;
    fill(
      this.cache,
      step.cache.length ? [`${memory}: `, step.cache.map((label) => h("span.chip", label))] : `${memory}: nothing`,
    );
    fill(
      this.meters,
      this.words.meters(step).map(([name, value]) => h("div", h("dt", name), h("dd", String(value)))),
    );
    Object.assign(this.slider, { max: String(steps.length - 1), value: String(at) });
    this.count.textContent = `step ${at + 1} of ${steps.length}`;
    this.back.disabled = at === 0;
    this.next.disabled = at === steps.length - 1;
    const isLast = at === steps.length - 1;
    if (isLast && !this.ended) fill(this.ending, this.endingOf());
    this.ended ||= isLast;
    this.ending.hidden = !this.ended;
  }

  endingOf() {
    const { closing, predictions } = this.record;
    return [
      h("h2", "To take home"),
      h("p", closing),
      h("h2", "Now you"),
      predictions.map((prediction, i) => this.prediction(prediction, i)),
    ];
  }

  prediction(prediction, number) {
    const told = h("p.verdict", { role: "status" });
    const see = h(
      "button",
      { type: "button", hidden: true, onclick: () => this.see(prediction.look) },
      "See it happen",
    );
    const choose = (at) => {
      fill(told, h("b", at === prediction.answer ? "Right. " : "Not so. "), prediction.told);
      see.hidden = false;
    };
    const choices = prediction.choices.map((text, at) =>
      h("label", h("input", { type: "radio", name: `prediction-${number}`, onchange: () => choose(at) }), text),
    );
    return h("fieldset.prediction.card", h("legend", prediction.question), choices, told, see);
  }

  see(values) {
    this.record.knobs.forEach((knob, i) => values[knob.name] !== undefined && this.choose(i, values[knob.name]));
    this.stage.scrollIntoView({ block: "start" });
    this.stage.focus({ preventScroll: true });
  }
}

function blockOf({ number, erase_count: eraseCount, mode, pages }, step, words) {
  const touched = new Set(step.touched.filter(([block]) => block === number).map(([, page]) => page));
  const cells = pages.map((page, i) => {
    const classes = [
      page.state,
      ...(page.deleted ? ["deleted"] : []),
      ...(touched.has(i) ? ["touched", step.kind] : []),
    ];
    const state = words.states[page.state];
    const isEmpty = page.state === "erased" || page.state === "free";
    if (page.parts) return partsOf(page, i, classes);
    const said = isEmpty ? state : `${page.deleted ? "valid, but deleted by the host" : state}: ${page.label}`;
    return h(
      `li.${classes.join(".")}`,
      { title: `page ${i}: ${said}` },
      h("span", isEmpty ? "" : page.label),
      h("small", page.deleted ? "deleted by the host" : state),
    );
  });
  const block = h(
    "div.block",
    h("p", `${words.block} ${number}`, h("small", words.wear(eraseCount, mode))),
    h("ol", { "aria-label": `${words.pages} ${number}` }, cells),
  );
  // So narrow a page says by its frame that it is erased; its title says it, too.
  if (pages.length > 6) block.classList.add("many");
  if (touched.has(-1)) block.classList.add("touched");
  return block;
}

/** A page that several units of the host share: each as wide as what it takes of the page. */
function partsOf(page, number, classes) {
  const taken = page.parts.reduce((sum, part) => sum + part.parts, 0);
  const said = page.parts.map((part) => (part.trimmed ? `${part.label}, deleted but kept` : part.label)).join("; ");
  const title = `page ${number}: ${page.state === "erased" ? "erased" : said || "nothing that is wanted"}`;
  const wide = (parts) => ({ style: { "flex-grow": String(parts) } });
  const rest = taken < PARTS ? h("i", wide(PARTS - taken)) : null;
  const units = page.parts.map((part) => h(part.trimmed ? "span.held" : "span", wide(part.parts), part.label));
  return h(`li.parted.${classes.join(".")}`, { title }, units, page.state === "erased" ? null : rest);
}
