// Draws the charts of a page in its colours: when they come into sight, and again when the colour
// scheme, the width or the medium changes. Pointing reads values, dragging zooms along x, the
// buttons above hide lines; with the keyboard: arrows, + and -, Escape.
"use strict";
(async () => {
  const unpack = async (text) => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
  };
  const library = document.createElement("script");
  library.textContent = await unpack(document.getElementById("library").textContent);
  document.head.append(library);
  const { schema, config, charts } = JSON.parse(await unpack(document.getElementById("charts").textContent));
  const size = parseFloat(getComputedStyle(document.body).fontSize) / 16; // larger on walls
  for (const key of ["labelFontSize", "titleFontSize"]) config.axis[key] *= size;
  config.legend.disable = true; // the buttons above are one
  const root = document.documentElement;
  const printWidth = 340; // px; half of a printed page
  const dragMin = 8; // px; less is a click
  const margin = 800; // px out of sight that are drawn
  const drawn = new Map();

  const resolve = (value, style) => {
    if (typeof value === "string" && /^\$[a-z]+$/.test(value)) {
      return style.getPropertyValue("--" + value.slice(1)).trim();
    }
    if (Array.isArray(value)) return value.map((item) => resolve(item, style));
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolve(item, style)]));
    }
    return value;
  };

  const rowsOf = (columns) => {
    const names = Object.keys(columns);
    return names.length ? columns[names[0]].map((_, row) => Object.fromEntries(names.map((name) => [name, columns[name][row]]))) : [];
  };

  // Values in words, as in the tables.
  const number = (value) => Number(value.toPrecision(4)).toLocaleString("en-US", { maximumSignificantDigits: 4 });
  const scaled = (value, steps) => {
    const [size, unit] = steps.find(([least]) => Math.abs(value) >= least) || steps[steps.length - 1];
    return `${number(value / size)} ${unit}`;
  };
  const writers = {
    latency: (value) => scaled(value, [[1e6, "s"], [1e3, "ms"], [1, "µs"], [1e-3, "ns"]]),
    bytes: (value) => scaled(value, [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]]),
    nines: (value, axis) => value === axis.longest ? "longest" : `${Number((100 - 10 ** (2 - value)).toPrecision(7))} % under`,
  };
  const words = (value, axis) => {
    if (typeof value !== "number") return value === null || value === undefined ? "—" : String(value);
    const writer = writers[axis.labels];
    return writer ? writer(value, axis) : `${number(value)}${axis.unit ? " " + axis.unit : ""}`;
  };

  const element = (kind, css, parent, text = "") => {
    const made = document.createElement(kind);
    made.className = css;
    made.textContent = text;
    parent.append(made);
    return made;
  };

  // The compiled plot follows its rows, and the range that was zoomed to.
  const completed = (chart, compiled) => {
    compiled.data.find((each) => each.name === "rows").values = chart.rows.map((row) => ({ ...row }));
    if (chart.meta.along) {
      compiled.signals = [...(compiled.signals || []), { name: "range", value: null }];
      compiled.scales.find((scale) => scale.name === "x").domainRaw = { signal: "range" };
    }
    return compiled;
  };

  const draw = async (id, width) => {
    const canvas = document.getElementById(id);
    const chart = charts[id];
    // What lies in closed details is drawn when they are opened.
    if (!canvas || canvas.closest("details:not([open])")) return;
    chart.rows = chart.rows || rowsOf(chart.columns);
    const state = (drawn.get(id) || { state: { hidden: [], range: null } }).state;
    const style = getComputedStyle(root);
    const place = document.createElement("div");
    place.className = chart.meta.along ? "along" : "";
    // The words of the whole are on the outside.
    place.setAttribute("aria-hidden", "true");
    const spec = {
      ...resolve(chart.spec, style),
      $schema: schema,
      data: { name: "rows" },
      autosize: { type: "fit", contains: "padding" },
      width: width || canvas.clientWidth || 480,
      height: canvas.clientHeight || 200,
    };
    const item = { id, canvas, chart, state, view: null, at: null };
    const old = drawn.get(id);
    drawn.set(id, item);
    // Without eval, so that the page can forbid it.
    const { view } = await window.drawing(place, spec, {
      mode: "vega-lite", renderer: "svg", actions: false, tooltip: false, hover: false, ast: true,
      config: resolve(config, style), patch: (compiled) => completed(chart, compiled),
    });
    if (old && old.view) old.view.finalize();
    if (drawn.get(id) !== item) return; // it was drawn anew meanwhile
    item.view = view;
    if (state.hidden.length) view.signal("hidden", state.hidden);
    if (state.range) view.signal("range", state.range);
    view.run();
    canvas.replaceChildren(place);
    view.addEventListener("pointermove", (_, mark) => { if (!chart.meta.along) explain(item, mark); });
    offerWhole(item);
  };
  const drawAll = (width) => Object.keys(charts).forEach((id) => draw(id, width));

  // Reading values.
  const clear = (item) => {
    item.at = null;
    item.canvas.querySelectorAll(".pointer, .reading").forEach((old) => old.remove());
  };
  const linked = (item) => {
    const link = item.chart.meta.link;
    return link ? [...drawn.values()].filter((other) => other.view && other.chart.meta.link === link) : [item];
  };
  const inSight = (item) => {
    const box = item.canvas.getBoundingClientRect();
    return box.bottom > 0 && box.top < innerHeight;
  };
  const note = (item, left, top, parts) => {
    const box = element("div", "reading", item.canvas);
    for (const [text, tone] of parts) {
      const line = element("p", "", box, text);
      if (tone) line.style.setProperty("--tone", tone);
    }
    const right = left > item.canvas.clientWidth / 2;
    box.style.left = `${Math.max(0, right ? left - box.offsetWidth - 10 : left + 10)}px`;
    box.style.top = `${Math.max(0, Math.min(top, item.canvas.clientHeight - box.offsetHeight))}px`;
  };
  const tones = (item) => {
    const scale = item.view.scale("color");
    return (name) => (name !== "" && scale && item.chart.rows.length ? scale(name) : "");
  };
  const nearest = (item, x) => {
    const best = new Map();
    const scale = item.view.scale("x");
    const [low, high] = scale.domain();
    for (const row of item.chart.rows) {
      if (item.state.hidden.includes(row.s) || row.y === null || row.x < low || row.x > high) continue;
      const old = best.get(row.s);
      if (!old || Math.abs(scale(row.x) - scale(x)) < Math.abs(scale(old.x) - scale(x))) best.set(row.s, row);
    }
    return [...best.values()];
  };
  const read = (item, x) => {
    clear(item);
    const rows = nearest(item, x);
    if (!rows.length) return;
    const { view, chart: { meta } } = item;
    const scale = view.scale("x");
    const first = rows.reduce((a, b) => (Math.abs(scale(a.x) - scale(x)) <= Math.abs(scale(b.x) - scale(x)) ? a : b));
    item.at = first.x;
    const [ox, oy] = view.origin();
    const left = ox + scale(first.x);
    const rule = element("div", "pointer", item.canvas);
    Object.assign(rule.style, { left: `${left}px`, top: `${oy}px`, height: `${view.height()}px` });
    const tone = tones(item);
    const many = rows.length > 1 || rows[0].s !== "";
    const lines = rows.map((row) => {
      const value = words(row.y, meta.y) + ("low" in row && row.low !== null ? ` (${words(row.low, meta.y)} to ${words(row.high, meta.y)})` : "");
      const away = row.x === first.x ? "" : ` at ${words(row.x, meta.x)}`;
      return [`${row.s ? row.s + " " : ""}${value}${row.t ? " " + row.t : ""}${away}`, many ? tone(row.s) : ""];
    });
    note(item, left, oy, [[words(first.x, meta.x), ""], ...lines]);
  };
  const told = {
    heat: (row) => `${row.t}: ${row.x}, ${row.y}`,
    density: (row, x, y) => `${number(row.v)} requests: ${words(row.x, x)} to ${words(row.x2, x)}, ${words(row.y, y)} to ${words(row.y2, y)}`,
    diagonal: (row, x, y) => `${row.t}: ${x.title.toLowerCase()} ${words(row.x, x)}, ${y.title.toLowerCase()} ${words(row.y, y)}`,
    other: (row, x, y) => `${row.s ? row.s + " " : ""}${words(row.y, y)}${row.t ? ` (${row.t})` : ""}, ${words(row.x, x)}`,
  };
  const explain = (item, mark) => {
    clear(item);
    const row = mark && mark.datum;
    if (!row || !mark.mark || mark.mark.role !== "mark" || row.x === undefined) return;
    const { x, y, kind } = item.chart.meta;
    const text = told[kind || "other"](row, x, y);
    const [ox, oy] = item.view.origin();
    const box = mark.bounds;
    note(item, ox + (box.x1 + box.x2) / 2, oy + box.y1 - 30, [[text, row.s ? tones(item)(row.s) : ""]]);
  };

  // Zoom along x, together with all that are linked.
  const zoom = (item, range) => {
    for (const other of linked(item)) {
      other.state.range = range;
      clear(other);
      other.view.signal("range", range).run();
      offerWhole(other);
    }
  };
  const offerWhole = (item) => {
    item.canvas.querySelectorAll(".whole").forEach((old) => old.remove());
    if (!item.state.range) return;
    const button = element("button", "whole", item.canvas, "show all");
    button.type = "button";
    button.addEventListener("click", () => zoom(item, null));
  };
  const near = (item, factor) => {
    const scale = item.view.scale("x");
    const [left, right] = scale.range();
    const middle = item.at === null ? (left + right) / 2 : scale(item.at);
    const half = (right - left) / 2 * factor;
    zoom(item, factor > 1 && !item.state.range ? null : [scale.invert(middle - half), scale.invert(middle + half)]);
  };

  const itemOf = (event) => {
    const canvas = event.target instanceof Element && event.target.closest(".canvas");
    const item = canvas ? drawn.get(canvas.id) : undefined;
    return item && item.view ? item : undefined;
  };
  const plotX = (item, event) => event.clientX - item.canvas.getBoundingClientRect().left - item.view.origin()[0];
  let drag = null;
  let pointed = null;
  const leave = () => {
    if (pointed) linked(pointed).forEach(clear);
    pointed = null;
  };
  document.addEventListener("pointermove", (event) => {
    if (drag) {
      const [from, to] = [drag.from, plotX(drag.item, event)].map((x) => Math.max(0, Math.min(drag.item.view.width(), x))).sort((a, b) => a - b);
      const [ox, oy] = drag.item.view.origin();
      drag.box = drag.box || element("div", "range", drag.item.canvas);
      Object.assign(drag.box.style, { left: `${ox + from}px`, width: `${to - from}px`, top: `${oy}px`, height: `${drag.item.view.height()}px` });
      Object.assign(drag, { low: from, high: to });
      return;
    }
    const item = itemOf(event);
    if (item !== pointed) leave();
    if (!item) return;
    pointed = item;
    if (!item.chart.meta.along) return;
    const x = item.view.scale("x").invert(plotX(item, event));
    linked(item).filter(inSight).forEach((other) => read(other, x));
  });
  document.addEventListener("pointerdown", (event) => {
    const item = itemOf(event);
    if (!item || !item.chart.meta.along || event.button !== 0 || event.pointerType === "touch" || event.target.closest("button")) return;
    event.preventDefault();
    item.canvas.focus({ preventScroll: true });
    leave();
    drag = { item, from: plotX(item, event), low: 0, high: 0, box: null };
  });
  document.addEventListener("pointerup", () => {
    if (!drag) return;
    const { item, low, high, box } = drag;
    drag = null;
    if (box) box.remove();
    if (high - low < dragMin) return;
    const scale = item.view.scale("x");
    zoom(item, [scale.invert(low), scale.invert(high)]);
  });
  document.addEventListener("dblclick", (event) => {
    const item = itemOf(event);
    if (item && item.state.range) zoom(item, null);
  });
  document.addEventListener("pointerleave", leave);
  document.addEventListener("focusout", (event) => { if (itemOf(event)) linked(itemOf(event)).forEach(clear); });
  document.addEventListener("keydown", (event) => {
    const item = itemOf(event);
    if (!item || !item.chart.meta.along || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step) {
      const [low, high] = item.view.scale("x").domain();
      const places = [...new Set(item.chart.rows.map((row) => row.x))].filter((x) => x >= low && x <= high).sort((a, b) => a - b);
      const index = item.at === null ? (step > 0 ? -1 : places.length) : places.indexOf(item.at);
      const next = places[Math.max(0, Math.min(places.length - 1, index + step))];
      if (next !== undefined) linked(item).forEach((other) => read(other, next));
      // Screen readers are told what the reading says.
      const reading = item.canvas.querySelector(".reading");
      if (reading) reading.setAttribute("role", "status");
    } else if (event.key === "+" || event.key === "=") near(item, 0.5);
    else if (event.key === "-") near(item, 2);
    else if (event.key === "Escape") zoom(item, null);
    else return;
    event.preventDefault();
  });

  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element && event.target.closest(".series button");
    if (!button) return;
    const shown = button.getAttribute("aria-pressed") === "true";
    button.setAttribute("aria-pressed", String(!shown));
    const id = button.getAttribute("aria-controls");
    const hidden = [...button.parentElement.querySelectorAll("button[aria-pressed=false]")].map((each) => each.textContent);
    const item = drawn.get(id);
    if (!item || !item.view) return;
    item.state.hidden = hidden;
    clear(item);
    item.view.signal("hidden", hidden).run();
  });

  // What comes into sight is drawn; what was drawn follows its width.
  const sight = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting && !drawn.has(target.id)) draw(target.id);
    }
  }, { rootMargin: `${margin}px` });
  const widths = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const item = drawn.get(target.id);
      if (!item || !item.view || !target.clientWidth || root.classList.contains("printing")) continue;
      clear(item);
      item.view.width(target.clientWidth).run();
    }
  });
  for (const id of Object.keys(charts)) {
    const canvas = document.getElementById(id);
    if (!canvas) continue;
    // What is in sight at once doesn't wait for an event.
    const box = canvas.getBoundingClientRect();
    if (box.height && box.top < innerHeight + margin) draw(id);
    sight.observe(canvas);
    widths.observe(canvas);
  }

  let closed = [];
  addEventListener("beforeprint", () => {
    root.classList.add("printing");
    // Many drives' details would be hundreds of pages: of those only what is open is printed.
    closed = "many" in root.dataset ? [] : [...document.querySelectorAll("details:not([open])")];
    closed.forEach((details) => { details.open = true; });
    drawAll(printWidth);
  });
  const redraw = () => [...drawn.keys()].forEach((id) => draw(id));
  addEventListener("afterprint", () => {
    root.classList.remove("printing");
    closed.forEach((details) => { details.open = false; });
    redraw();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  root.dataset.charts = "ready"; // whatever a reader does from now on is heard
})();
