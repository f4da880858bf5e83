// A watched drive in words: legend, the pages of a block, all dies as a table. What happens now: watch-now.js.

import { h } from "../dom.js";

const swatch = (colour, text) => h("span", h("i", { style: { background: colour } }), text);

/** What the colours of the picture mean. */
export function legend(picture, layout) {
  const { theme, css } = picture.colours;
  const [least, most] = picture.bounds ?? [0, 0];
  const ramp = (stops) => h("i.ramp", { style: { background: `linear-gradient(to right, ${stops.join(", ")})` } });
  const erased = [
    swatch(theme.glow, "erased just now"),
    picture.read.length ? swatch("var(--accent)", "all its pages read by the recovery") : null,
  ];
  switch (picture.view) {
    case "erases":
      return [h("span", `erased ${least} times`), ramp(css.erases), h("span", `${most} times`)];
    case "age":
      return [
        swatch(theme.empty, "erased"),
        h("span", "first page programmed just now"),
        ramp([...css.age].reverse()),
        h("span", `${most.toLocaleString("en")} programs of the drive ago (each step of the scale: twice as long)`),
      ];
    case "roles": {
      const streams = new Set(picture.blocks ? picture.blocks.stream : []);
      streams.delete(255);
      const roles = layout.roles.filter((role) => role !== "open" || !streams.size);
      return [
        ...roles.map((role) => swatch(theme.roles[role], role)),
        ...[...streams]
          .sort()
          .map((stream) => swatch(theme.streams[stream % theme.streams.length], `open for stream ${stream}`)),
        erased,
      ];
    }
    case "cells":
      return [
        swatch(theme.cells.slc, "one bit a cell: the SLC cache, and the map's journal"),
        swatch(theme.cells.native, "as many bits a cell as the part is made for"),
        swatch(theme.free, "free"),
        erased,
      ];
    default:
      return [
        h("span", "of a block's pages invalid: 0 %"),
        h("i.ramp", { style: { background: `linear-gradient(to right, ${theme.invalid.join(", ")})` } }),
        h("span", "100 % (in the middle 20 %)"),
        swatch(theme.free, "free"),
        erased,
      ];
  }
}

const STATES = ["free", "valid", "invalid"];

/** The pages of a block: a square each, and the same as sentences. */
export function pagesOf(block, theme, close) {
  const { states, units } = block;
  const counts = STATES.map((_, state) => states.filter((one) => one === state).length);
  const squares = states.map((state, i) =>
    h(`i.${STATES[state]}`, { title: `unit ${i}: ${STATES[state]}${units[i] >= 0 ? `, logical ${units[i]}` : ""}` }),
  );
  const grid = h(
    "div.pages",
    {
      role: "img",
      "aria-label": runs(states),
      style: { "--page-free": theme.free, "--page-valid": theme.invalid[0], "--page-invalid": theme.invalid[4] },
    },
    squares,
  );
  return [
    h(
      "div.row",
      h("h2", `Block ${block.block} of die ${block.die}${block.member ? ` of member ${block.member}` : ""}`),
      h("button.quiet", { type: "button", onclick: close }, "Close"),
    ),
    h(
      "p",
      `As it was when you opened it: ${counts[1]} valid, ${counts[2]} invalid, ${counts[0]} free of ` +
        `${states.length} map units.`,
    ),
    grid,
  ];
}

/** Units in words: neighbours of a kind together. */
function runs(states) {
  const found = [];
  for (const [i, state] of states.entries()) {
    const last = found[found.length - 1];
    if (last && last.state === state) last.to = i;
    else found.push({ state, from: i, to: i });
  }
  const shown = found
    .slice(0, 24)
    .map(({ state, from, to }) => `${from === to ? from : `${from} to ${to}`} ${STATES[state]}`);
  return `Units ${shown.join(", ")}${found.length > 24 ? " and so on" : ""}`;
}

/** Every die in a row: what the picture shows, for who doesn't see it. */
export function dieTable(blocks, said) {
  const { layout } = blocks;
  const perDie = layout.blocks_per_die;
  const rows = layout.die.map((die, at) => {
    const sums = { valid: 0, written: 0, erases: 0, free: 0 };
    for (let b = at * perDie; b < (at + 1) * perDie; b++) {
      sums.valid += blocks.valid[b];
      sums.written += blocks.written[b];
      sums.erases += blocks.eraseCount[b];
      sums.free += layout.roles[blocks.role[b]] === "free" ? 1 : 0;
    }
    const share = (part) => ((100 * part) / 255 / perDie).toFixed(1);
    const cells = [
      layout.channel[at],
      sums.free,
      share(sums.valid),
      share(sums.written - sums.valid),
      share(perDie * 255 - sums.written),
      (sums.erases / perDie).toFixed(1),
      Math.round(100 * said.dies_busy[at]),
    ];
    return h(
      "tr",
      h("th", { scope: "row" }, `${layout.member[layout.member.length - 1] ? `${layout.member[at]}.` : ""}${die}`),
      cells.map((cell) => h("td.n", String(cell))),
    );
  });
  const heads = [
    "Die",
    "Channel",
    "Free blocks",
    "Valid, %",
    "Invalid, %",
    "Free, %",
    "Erases of a block, mean",
    "At work, %",
  ];
  return h(
    "table",
    h("caption.away", "Every die of the drive"),
    h(
      "thead",
      h(
        "tr",
        heads.map((text, i) => h(i ? "th.n" : "th", { scope: "col" }, text)),
      ),
    ),
    h("tbody", rows),
  );
}
