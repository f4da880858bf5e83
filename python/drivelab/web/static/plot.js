// Lines over time, position or anything else, on a canvas: thousands of points, and again with every frame
// where they come live. Plots of one `group` zoom together and share the pointer.
//
//   const plot = new Plot(host, { title, x: { title, unit, ticks, pad }, y: { unit, log }, group, height });
//   plot.set([{ name: "A", colour: "new", x: [...], y: [...] }]);   // null in y is a gap
//   plot.end();
//
// Keys on a focused plot: arrows move the pointer, + and - zoom, Escape shows everything.

import { h } from "./dom.js";
import { compact, withUnit } from "./numbers.js";

const groups = new Map();
const LEFT = 52;
const RIGHT = 10;
const TOP = 8;
const BOTTOM = 22;

export class Plot {
  constructor(host, { title, subtitle = "", x, y, group = null, height = 170, zero = true }) {
    Object.assign(this, { x, y, zero, height, lines: [], view: null, at: null, group });
    this.canvas = h("canvas", { tabIndex: 0, role: "img", style: { height: `${height}px` } });
    this.readout = h("p.readout", { "aria-live": "off" });
    this.title = title;
    this.figure = h(
      "figure.plot",
      h("figcaption", title, subtitle && [" ", h("small", subtitle)]),
      this.canvas,
      this.readout,
    );
    host.append(this.figure);
    if (group) groups.set(group, [...(groups.get(group) ?? []), this]);
    this.listen();
  }

  /** Replaces the lines. */
  set(lines) {
    this.lines = lines;
    this.canvas.setAttribute("aria-label", this.words());
    this.draw();
  }

  end() {
    this.sizes.disconnect();
    removeEventListener("theme", this.redraw);
    if (this.group)
      groups.set(
        this.group,
        groups.get(this.group).filter((plot) => plot !== this),
      );
  }

  peers() {
    return this.group ? groups.get(this.group) : [this];
  }

  listen() {
    this.redraw = () => this.draw();
    addEventListener("theme", this.redraw);
    this.sizes = new ResizeObserver(this.redraw);
    this.sizes.observe(this.canvas);
    const on = (name, heard) => this.canvas.addEventListener(name, heard);
    const place = (event) => this.toX(event.clientX - this.canvas.getBoundingClientRect().left);
    let from = null;
    on("pointerdown", (event) => {
      from = event.button === 0 ? place(event) : null;
      if (event.pointerType === "mouse") this.canvas.setPointerCapture(event.pointerId);
    });
    on("pointermove", (event) => this.point(place(event), from));
    on("pointerup", (event) => {
      const to = place(event);
      const [low, high] = this.range();
      if (from !== null && Math.abs(to - from) > (high - low) / 100)
        this.zoom([Math.min(from, to), Math.max(from, to)]);
      from = null;
    });
    on("pointerleave", () => this.point(null));
    on("dblclick", () => this.zoom(null));
    on("keydown", (event) => this.key(event));
    on("blur", () => this.point(null));
  }

  key(event) {
    const [low, high] = this.range();
    const step = (high - low) / 50;
    const at = this.at ?? (low + high) / 2;
    const keys = {
      ArrowRight: () => this.point(Math.min(high, at + step)),
      ArrowLeft: () => this.point(Math.max(low, at - step)),
      "+": () => this.zoom([at - (at - low) / 2, at + (high - at) / 2]),
      "-": () => this.zoom([low - (high - low) / 2, high + (high - low) / 2]),
      Escape: () => this.zoom(null),
    };
    const act = keys[event.key === "=" ? "+" : event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.readout.setAttribute("aria-live", "polite");
    act();
  }

  /** The pointer of all plots of the group; `from`: what is dragged over. */
  point(at, from = null) {
    for (const plot of this.peers()) {
      plot.at = at;
      plot.from = from;
      plot.draw();
    }
  }

  zoom(view) {
    for (const plot of this.peers()) {
      const [low, high] = plot.extent();
      plot.view = view && (view[0] > low || view[1] < high) ? [Math.max(low, view[0]), Math.min(high, view[1])] : null;
      if (plot.view && plot.view[1] <= plot.view[0]) plot.view = null;
      plot.draw();
    }
  }

  extent() {
    let [low, high] = [Infinity, -Infinity];
    for (const line of this.lines) {
      if (!line.x.length) continue;
      low = Math.min(low, line.x[0]);
      high = Math.max(high, line.x[line.x.length - 1]);
    }
    if (this.zero && low > 0 && !this.x.ticks) low = 0;
    if (this.x.pad && low <= high) [low, high] = [low - this.x.pad, high + this.x.pad];
    return high > low ? [low, high] : [Number.isFinite(low) ? low : 0, (Number.isFinite(low) ? low : 0) + 1];
  }

  range() {
    return this.view ?? this.extent();
  }

  toX(px) {
    const [low, high] = this.range();
    const width = this.canvas.clientWidth - LEFT - RIGHT;
    return low + ((high - low) * Math.min(width, Math.max(0, px - LEFT))) / width;
  }

  heights() {
    const [from, to] = this.range();
    let [low, high] = [Infinity, -Infinity];
    for (const line of this.lines) {
      for (let i = 0; i < line.x.length; i += 1) {
        const value = line.y[i];
        if (value === null || !(value > 0 || !this.y.log) || line.x[i] < from || line.x[i] > to) continue;
        if (value < low) low = value;
        if (value > high) high = value;
      }
    }
    if (low > high) return this.y.log ? [1, 10] : [0, 1];
    if (this.y.log) return [10 ** Math.floor(Math.log10(low)), 10 ** Math.ceil(Math.log10(high * 1.0001))];
    return [Math.min(0, low), high === 0 ? 1 : high * 1.06];
  }

  draw() {
    const { clientWidth: width } = this.canvas;
    if (!width) return;
    const dots = devicePixelRatio || 1;
    const pen = this.canvas.getContext("2d");
    this.canvas.width = Math.round(width * dots);
    this.canvas.height = Math.round(this.height * dots);
    pen.scale(dots, dots);
    const style = getComputedStyle(this.canvas);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim() || name;
    const [from, to] = this.range();
    const [low, high] = this.heights();
    const plane = { left: LEFT, right: width - RIGHT, top: TOP, bottom: this.height - BOTTOM };
    const log = this.y.log ? Math.log10 : (value) => value;
    const px = (x) => plane.left + ((x - from) / (to - from)) * (plane.right - plane.left);
    const py = (y) => plane.bottom - ((log(y) - log(low)) / (log(high) - log(low))) * (plane.bottom - plane.top);
    pen.font = `12px ${style.fontFamily}`;
    this.axes(pen, colour, plane, px, py, [from, to], [low, high]);
    pen.save();
    pen.beginPath();
    pen.rect(plane.left, plane.top - 2, plane.right - plane.left, plane.bottom - plane.top + 4);
    pen.clip();
    if (this.from != null && this.at != null) {
      pen.fillStyle = colour("band");
      pen.fillRect(px(this.from), plane.top, px(this.at) - px(this.from), plane.bottom - plane.top);
    }
    for (const line of this.lines) this.line(pen, colour(line.colour), line, px, py, [from, to]);
    this.pointer(pen, colour, plane, px, py, [from, to]);
    pen.restore();
  }

  axes(pen, colour, plane, px, py, [from, to], [low, high]) {
    pen.lineWidth = 1;
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    for (const value of this.y.log ? decades(low, high) : ticks(low, high, 4)) {
      const y = Math.round(py(value)) + 0.5;
      pen.strokeStyle = colour("grid");
      pen.beginPath();
      pen.moveTo(plane.left, y);
      pen.lineTo(plane.right, y);
      pen.stroke();
      pen.fillStyle = colour("soft");
      pen.fillText(this.y.text ? this.y.text(value) : compact(value), plane.left - 6, y);
    }
    pen.textBaseline = "top";
    const marks =
      this.x.ticks ??
      ticks(from, to, Math.max(2, (plane.right - plane.left) / 90)).map((at) => ({ at, text: compact(at) }));
    let free = -Infinity;
    marks.forEach(({ at, text }, index) => {
      if (at < from - 1e-9 || at > to + 1e-9) return;
      const last = index === marks.length - 1 && !this.x.ticks;
      const words = last && this.x.unit ? `${text} ${this.x.unit}` : text;
      const wide = pen.measureText(words).width;
      const x = Math.min(plane.right - wide / 2 + RIGHT - 1, Math.max(plane.left + (index ? -LEFT : 0) / 2, px(at)));
      if (x - wide / 2 < free + 6) return;
      free = x + wide / 2;
      pen.textAlign = "center";
      pen.fillText(words, x, plane.bottom + 6);
    });
    pen.strokeStyle = colour("axis");
    pen.beginPath();
    pen.moveTo(plane.left, plane.bottom + 0.5);
    pen.lineTo(plane.right, plane.bottom + 0.5);
    pen.stroke();
  }

  line(pen, stroke, { x, y, dots, dash }, px, py, [from, to]) {
    pen.strokeStyle = stroke;
    pen.fillStyle = stroke;
    pen.lineWidth = 1.75;
    pen.lineJoin = "round";
    pen.setLineDash(dash ?? []);
    pen.beginPath();
    let open = false;
    for (let i = 0; i < x.length; i += 1) {
      const value = y[i];
      const shown = value !== null && !(this.y.log && !(value > 0));
      // One point beyond each end, so that lines leave the plot.
      if ((x[i + 1] ?? x[i]) < from || (x[i - 1] ?? x[i]) > to) {
        open = false;
        continue;
      }
      if (shown && open) pen.lineTo(px(x[i]), py(value));
      else if (shown) pen.moveTo(px(x[i]), py(value));
      open = shown;
    }
    pen.stroke();
    pen.setLineDash([]);
    if (!dots && x.length > 1) return;
    for (let i = 0; i < x.length; i += 1) {
      if (y[i] === null) continue;
      pen.beginPath();
      pen.arc(px(x[i]), py(y[i]), 3, 0, 7);
      pen.fill();
    }
  }

  pointer(pen, colour, plane, px, py, [from, to]) {
    const parts = [];
    if (this.at !== null && this.at >= from && this.at <= to) {
      pen.strokeStyle = colour("axis");
      pen.lineWidth = 1;
      pen.beginPath();
      pen.moveTo(Math.round(px(this.at)) + 0.5, plane.top);
      pen.lineTo(Math.round(px(this.at)) + 0.5, plane.bottom);
      pen.stroke();
      for (const line of this.lines) {
        const i = nearest(line.x, this.at);
        const value = i === null ? null : line.y[i];
        if (value === null || value === undefined) continue;
        pen.fillStyle = colour(line.colour);
        pen.beginPath();
        pen.arc(px(line.x[i]), py(value), 3.5, 0, 7);
        pen.fill();
        parts.push(
          h(
            "span",
            h(`i.dot.c-${line.colour}`),
            line.name && `${line.name} `,
            this.y.text ? this.y.text(value) : withUnit(value, this.y.unit),
          ),
        );
      }
      const mark = this.x.ticks && this.x.text ? this.x.text(this.at) : withUnit(this.at, this.x.unit);
      parts.unshift(h("span", mark));
    } else {
      for (const line of this.lines) if (line.name) parts.push(h("span", h(`i.dot.c-${line.colour}`), line.name));
      if (this.y.unit && !this.y.text) parts.push(h("span", this.y.unit));
    }
    this.readout.replaceChildren(...parts);
  }

  words() {
    const about = this.lines.map((line) => {
      const known = Array.from(line.y).filter((value) => value !== null);
      if (!known.length) return "";
      const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
      const text = (value) => withUnit(value, this.y.unit);
      return (
        `${line.name || this.title}: from ${text(known.reduce((a, b) => Math.min(a, b)))} to ` +
        `${text(known.reduce((a, b) => Math.max(a, b)))}, mean ${text(mean)}`
      );
    });
    return `${this.title}. ${about.filter(Boolean).join("; ")}`;
  }
}

function nearest(xs, at) {
  if (!xs.length) return null;
  let [low, high] = [0, xs.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (xs[middle] <= at) low = middle;
    else high = middle;
  }
  return at - xs[low] <= xs[high] - at ? low : high;
}

function ticks(low, high, count) {
  const rough = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((by) => by * power).find((by) => by >= rough) ?? rough;
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + step * 1e-9; at += step)
    found.push(Number(at.toPrecision(12)));
  return found;
}

function decades(low, high) {
  const found = [];
  for (let at = low; at <= high * 1.0001; at *= 10) found.push(at);
  return found.length > 6 ? found.filter((_, index) => index % 2 === 0) : found;
}
