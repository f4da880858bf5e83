// The strip of instruments: a number and how it went, from the frames of a watched drive.

import { fill, h } from "../dom.js";

const SAMPLES = 240;
const SAMPLE_MS = 150;
const MIB = 2 ** 20;

const sum = (parts, of) => parts.reduce((total, part) => total + of(part), 0);
const mean = (parts, of) => sum(parts, of) / parts.length;
/** Bytes, for every purpose. */
export const programmed = (said) => Object.values(said.program_bytes).reduce((a, b) => a + b, 0);
const perSecond = (parts, of) => {
  const seconds = sum(parts, (said) => said.since_s);
  return seconds > 0 ? sum(parts, of) / seconds : null;
};
const byRequests = (parts, of) => {
  const ios = sum(parts, (said) => said.latency.ios);
  return ios ? sum(parts, (said) => (said.latency.ios ? of(said.latency) * said.latency.ios : 0)) / ios : null;
};

/** Three digits, or so. */
export function number(value) {
  if (value == null || !isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size >= 1e4) return Math.round(value).toLocaleString("en").replaceAll(",", " ");
  if (size < 0.1 && size >= 0.001) return value.toPrecision(2);
  return size >= 99.95 ? value.toFixed(0) : size >= 9.995 ? value.toFixed(1) : value.toFixed(2);
}

/** Microseconds in the unit that fits. */
export function time(us) {
  if (us == null) return "–";
  if (us >= 1e6) return `${number(us / 1e6)} s`;
  return us >= 1e3 ? `${number(us / 1e3)} ms` : `${number(us)} µs`;
}

const PARTS = ["queueing", "link", "firmware", "flash", "cleaning"];

/** What is shown: of each line a name, a colour of the palette, and its value over some frames. */
const INSTRUMENTS = [
  {
    title: "Writes, MiB/s",
    unit: "",
    text: number,
    lines: [
      ["host", "--new", (parts) => perSecond(parts, (said) => said.host_write_bytes / MIB)],
      ["flash", "--used", (parts) => perSecond(parts, (said) => programmed(said) / MIB)],
    ],
  },
  {
    title: "Write amplification",
    unit: "",
    text: number,
    least: 1,
    lines: [
      [
        "flash per host byte",
        "--used",
        (parts) => {
          const host = sum(parts, (said) => said.host_write_bytes);
          return host ? sum(parts, programmed) / host : null;
        },
      ],
    ],
  },
  {
    title: "Free blocks",
    unit: "",
    text: (value) => (value == null ? "–" : Math.round(value).toLocaleString("en")),
    lines: [["free", "--trimmed", (parts) => parts[parts.length - 1].free_blocks]],
  },
  {
    title: "Latency",
    unit: "",
    text: time,
    log: true,
    lines: [
      ["mean", "--new", (parts) => byRequests(parts, (latency) => latency.mean_us)],
      ["99 %", "--tortured", (parts) => byRequests(parts, (latency) => latency.p99_us)],
    ],
  },
  {
    title: "Where the time goes",
    unit: "",
    text: (share) => (share == null ? "–" : `${Math.round(100 * share)} %`),
    stacked: true,
    lines: PARTS.map((name, i) => [
      name,
      `--${name}`,
      (parts) => byRequests(parts, (latency) => (latency.mean_us ? latency.parts_us[i] / latency.mean_us : 0)),
    ]),
  },
  {
    title: "Dies at work",
    unit: "%",
    text: number,
    most: 100,
    lines: [
      [
        "busy",
        "--accent",
        (parts) =>
          parts.some((said) => said.since_s) ? 100 * mean(parts, (said) => mean(said.dies_busy, (busy) => busy)) : null,
      ],
    ],
  },
];

/** All instruments: `take` numbers for their lines as they come, `show` a span of them, `clear` for another drive. */
export class Instruments {
  constructor(root) {
    this.dials = INSTRUMENTS.map((about) => new Dial(about));
    fill(
      root,
      this.dials.map((dial) => dial.element),
    );
    this.gathered = [];
    this.at = 0;
  }

  take(said) {
    this.gathered.push(said);
    const now = performance.now();
    if (now - this.at < SAMPLE_MS) return;
    this.at = now;
    const moved = this.gathered.some((one) => one.since_s > 0);
    if (moved) for (const dial of this.dials) dial.add(this.gathered);
    this.gathered = [];
  }

  show(span) {
    for (const dial of this.dials) dial.show(span);
  }

  clear() {
    this.gathered = [];
    for (const dial of this.dials) dial.clear();
  }

  draw() {
    for (const dial of this.dials) dial.draw();
  }
}

class Dial {
  constructor(about) {
    this.about = about;
    this.values = about.lines.map(() => []);
    this.numbers = about.lines.map(() => h("b", "–"));
    this.canvas = h("canvas", { "aria-hidden": "true" });
    const lines = about.lines.map(([name, colour], i) => {
      const dot = h("i", { style: { background: `var(${colour})` } });
      return h(
        "span.reading",
        dot,
        about.lines.length > 1 ? h("span.name", name) : null,
        this.numbers[i],
        about.unit ? h("small", ` ${about.unit}`) : null,
      );
    });
    this.element = h(
      "section.dial",
      { "aria-label": about.title },
      h("h2", about.title),
      h("div.readings", lines),
      this.canvas,
    );
    if (about.stacked) this.element.classList.add("stacked");
  }

  clear() {
    for (const values of this.values) values.length = 0;
    for (const shown of this.numbers) shown.textContent = "–";
    this.draw();
  }

  add(parts) {
    this.about.lines.forEach(([, , of], i) => {
      const value = of(parts);
      const values = this.values[i];
      values.push(value);
      if (values.length > SAMPLES) values.shift();
    });
    this.draw();
  }

  show(span) {
    this.about.lines.forEach(([, , of], i) => {
      this.numbers[i].textContent = this.about.text(of([span]));
    });
  }

  draw() {
    const { canvas, about } = this;
    const ratio = Math.max(1, devicePixelRatio);
    const [width, height] = [canvas.clientWidth, canvas.clientHeight].map((size) => Math.round(size * ratio));
    if (!width) return;
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    const context = canvas.getContext("2d");
    const style = getComputedStyle(canvas);
    context.clearRect(0, 0, width, height);
    context.fillStyle = style.getPropertyValue("--grid");
    context.fillRect(0, height - ratio, width, ratio);
    const x = (at, count) => width - ((count - 1 - at) / (SAMPLES - 1)) * width;
    if (about.stacked) return this.stack(context, style, x, height);
    const scale = about.log ? Math.log : (value) => value;
    const known = this.values
      .flat()
      .filter((value) => value != null && (!about.log || value > 0))
      .map(scale);
    if (!known.length) return;
    const most = about.most ?? Math.max(...known, about.least ?? -Infinity);
    const least = about.log ? Math.min(...known) - 0.3 : Math.min(about.least ?? 0, ...known);
    const y = (value) => height - 2 * ratio - ((scale(value) - least) / (most - least || 1)) * (height - 5 * ratio);
    about.lines.forEach(([, colour], i) => {
      context.strokeStyle = style.getPropertyValue(colour);
      context.lineWidth = 1.5 * ratio;
      context.lineJoin = "round";
      context.beginPath();
      let open = false;
      this.values[i].forEach((value, at) => {
        if (value == null || (about.log && value <= 0)) return void (open = false);
        context[open ? "lineTo" : "moveTo"](x(at, this.values[i].length), y(value));
        open = true;
      });
      context.stroke();
    });
  }

  stack(context, style, x, height) {
    const count = this.values[0].length;
    for (let at = 0; at < count; at++) {
      let below = height;
      const [left, right] = [x(at - 0.5, count), x(at + 0.5, count)];
      this.about.lines.forEach(([, colour], i) => {
        const tall = (this.values[i][at] ?? 0) * height;
        context.fillStyle = style.getPropertyValue(colour);
        context.fillRect(left, below - tall, right - left + 0.5, tall);
        below -= tall;
      });
    }
  }
}
