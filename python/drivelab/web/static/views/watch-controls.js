// What is done to a watched drive: speed, steps, workloads, TRIM, secure erase, power cut.

import { fill, h, say } from "../dom.js";

const WORKLOADS = [
  ["random-writes", "Random writes, 4 KiB"],
  ["hot-and-cold", "Writes, a few places hot"],
  ["sequential-writes", "Sequential writes, 128 KiB"],
  ["mixed", "Reads and writes, 70 to 30"],
  ["random-reads", "Random reads, 4 KiB"],
  ["queues", "4 jobs: 3 write, 1 reads"],
  ["idle", "Nothing: left alone"],
];
const STEPS = [
  [0.0001, "100 µs"],
  [0.001, "1 ms"],
  [0.01, "10 ms"],
  [0.1, "100 ms"],
  [1, "1 s"],
];
/** Positions of the slider: ten for each factor of ten from a 1000th on; the last is as fast as it goes. */
const POSITIONS = 61;
const USUAL = 47;
const NO_CUT =
  "This drive keeps nothing that a recovery could read, so its power can't be cut: that takes memory and work. " +
  "Choose “Another drive”, and under “Power” that it can be cut.";
const NO_TRIM = "This drive takes no TRIM: neither its firmware nor its model knows the command.";

const speedAt = (position) => (position >= POSITIONS ? null : Number((10 ** (position / 10 - 3)).toPrecision(2)));

/** A speed in words: how much of the drive's time passes in a second. */
export function speedText(speed) {
  if (speed === null) return "as fast as it goes";
  if (speed >= 60) return `${round(speed / 60)} min in a second`;
  if (speed >= 1) return `${round(speed)} s in a second`;
  return speed >= 0.001 ? `${round(speed * 1000)} ms in a second` : `${round(speed * 1e6)} µs in a second`;
}
const round = (value) => Number(value.toPrecision(2)).toString();

export class Controls {
  constructor(send) {
    this.sendTo = send;
    this.paused = false;
    this.play = h(
      "button.primary.play",
      { type: "button", onclick: () => this.send({ do: this.paused ? "play" : "pause" }) },
      "Pause",
    );
    this.stepSize = h(
      "select",
      { "aria-label": "Length of a step" },
      STEPS.map(([seconds, title]) => h("option", { value: String(seconds), selected: seconds === 0.001 }, title)),
    );
    const step = h(
      "button",
      { type: "button", onclick: () => this.send({ do: "step", seconds: Number(this.stepSize.value) }) },
      "Step",
    );
    this.slider = h("input", {
      type: "range",
      min: "0",
      max: String(POSITIONS),
      step: "1",
      value: String(USUAL),
      "aria-label": "Speed",
      oninput: () => this.setSpeed(),
    });
    // The slider says it, too; what the drive reaches changes all the time.
    this.speedShown = h("output", { "aria-live": "off" });
    this.workload = h(
      "select",
      { "aria-label": "Workload", onchange: () => this.send({ do: "workload", name: this.workload.value }) },
      WORKLOADS.map(([name, title]) => h("option", { value: name }, title)),
    );
    this.range = h(
      "select",
      { "aria-label": "What is trimmed" },
      [
        ["0 100", "all"],
        ["0 50", "first half"],
        ["25 75", "middle half"],
        ["0 10", "first tenth"],
      ].map(([value, title]) => h("option", { value }, title)),
    );
    this.trim = h("button", { type: "button", onclick: () => this.doTrim() }, "TRIM");
    const erase = h("button", { type: "button", onclick: () => this.send({ do: "erase" }) }, "Secure erase");
    this.cut = h("button.cut", { type: "button", onclick: () => this.doCut() }, "Power cut");
    this.isOn = true;
    this.why = h("p.watch-why", { role: "status", hidden: true });
    this.element = h(
      "fieldset.watch-controls",
      { "aria-label": "Controls" },
      h("div", this.play, step, this.stepSize, h("label.speed", this.slider, this.speedShown)),
      h("div", this.workload),
      h("div", this.trim, this.range, erase, this.cut),
      this.why,
    );
    this.drawSpeed();
  }

  get speed() {
    return speedAt(Number(this.slider.value));
  }

  send(command) {
    this.refuse("");
    this.sendTo(command);
  }

  setSpeed() {
    this.drawSpeed();
    this.send({ do: "speed", speed: this.speed });
  }

  drawSpeed(reached) {
    const text = speedText(this.speed);
    this.slider.setAttribute("aria-valuetext", text);
    const behind = reached && (this.speed === null || reached < 0.8 * this.speed);
    fill(
      this.speedShown,
      text,
      h("small", behind ? `reaches ${speedText(reached).replace(" in a second", "")}` : "of the drive's time"),
    );
  }

  doTrim() {
    if (!this.takesTrim) {
      this.refuse(NO_TRIM);
      return;
    }
    const [from, to] = this.range.value.split(" ").map(Number);
    this.send({ do: "trim", from_percent: from, to_percent: to });
  }

  doCut() {
    if (!this.canCut) this.refuse(NO_CUT);
    else this.send({ do: this.isOn ? "cut" : "on" });
  }

  /** Whether there is a drive to do anything to. What had the focus has it again when there is. */
  enable(isLive) {
    const focused = document.activeElement;
    if (!isLive && this.element.contains(focused)) this.focused = focused;
    this.element.disabled = !isLive;
    if (!isLive) this.refuse("");
    else if (this.focused && (focused === document.body || focused === null)) this.focused.focus();
    if (isLive) this.focused = null;
  }

  /** Another drive is there. */
  begin(watching) {
    // Who uses a served drive decides what it does.
    this.element.hidden = Boolean(watching.served);
    this.canCut = watching.power !== "steady";
    if (this.canCut) this.cut.removeAttribute("aria-disabled");
    else this.cut.setAttribute("aria-disabled", "true");
    this.cut.title = this.canCut ? "" : NO_CUT;
    this.takesTrim = watching.takes_trim;
    if (this.takesTrim) this.trim.removeAttribute("aria-disabled");
    else this.trim.setAttribute("aria-disabled", "true");
    this.trim.title = this.takesTrim ? "" : NO_TRIM;
    this.range.disabled = !this.takesTrim;
  }

  /** What a frame says of itself. */
  stand(said) {
    if (said.paused !== this.paused) {
      this.paused = said.paused;
      this.play.textContent = this.paused ? "Play" : "Pause";
    }
    if (said.is_on !== this.isOn) {
      this.isOn = said.is_on;
      this.cut.textContent = this.isOn ? "Power cut" : "Power on";
      this.cut.classList.toggle("primary", !this.isOn);
    }
    if (said.workload !== this.workload.value && document.activeElement !== this.workload)
      this.workload.value = said.workload;
    this.frames = (this.frames ?? 0) + 1;
    if (this.frames % 15 === 0) this.drawSpeed(said.paused || said.workload === "idle" ? null : said.achieved);
    if (said.did && !["speed"].includes(said.did))
      say(
        {
          pause: "Paused",
          play: "Goes on",
          step: "One step",
          workload: "Another workload",
          trim: "Trimmed",
          erase: "Erased",
          cut: "The power is off",
          on: "The power is back",
        }[said.did] ?? "",
      );
  }

  refuse(text) {
    this.why.hidden = !text;
    this.why.textContent = text;
  }
}
