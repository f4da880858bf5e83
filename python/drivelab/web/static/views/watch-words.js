// A watched drive in words: legend, what happens now, the pages of a block, all dies as a table.

import { h } from "../dom.js";
import { number, time } from "./watch-plots.js";

const MIB = 2 ** 20;
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

/** One sentence on what the drive does, from what a frame says of the time since the one before. */
export function nowSentence(said) {
  const at = h("b", `${clock(said.now_s)}: `);
  const words = workWords(said, at);
  // Of a served drive clients are others: what they have under way is said.
  if (said.inside !== undefined)
    words.push(` ${said.inside} ${said.inside === 1 ? "command is" : "commands are"} under way.`);
  return words;
}

function workWords(said, at) {
  if (!said.is_on) return [at, "the power is off."];
  if (said.paused) return [at, "the drive stands still."];
  const seconds = said.since_s;
  if (!seconds) return [at];
  const host = said.host_write_bytes / MIB / seconds;
  const parts = Object.fromEntries(
    Object.entries(said.program_bytes).map(([name, count]) => [name, count / MIB / seconds]),
  );
  const moved = parts.cleaning + parts.wear;
  const folded =
    parts.folding > 0.01 ? `${number(parts.folding)} MiB/s go from blocks with one bit a cell to native ones` : "";
  if (said.workload === "idle" || (!host && !said.host_read_bytes))
    return [
      at,
      folded
        ? `nobody asks for anything; the drive uses the time and folds its cache: ${folded}.`
        : moved > 0.01
          ? `nobody asks for anything; the drive uses the time and moves ${number(moved)} MiB/s to make room.`
          : "nobody asks for anything, and the drive has nothing to do.",
    ];
  if (!host && total(parts) > 0.01)
    return [
      at,
      `the host only reads: ${number(said.host_read_bytes / MIB / seconds)} MiB/s, on average ` +
        `${time(said.latency.mean_us)} each, beside ${number(total(parts))} MiB/s of the drive's own programs.`,
    ];
  if (!host)
    return [
      at,
      `the host only reads: ${number(said.host_read_bytes / MIB / seconds)} MiB/s, on average ` +
        `${time(said.latency.mean_us)} each. Nothing is programmed.`,
    ];
  if (said.merges > 0)
    return [
      at,
      `the host writes ${number(host)} MiB/s; to store it ${said.merges} ` +
        `${said.merges === 1 ? "superblock was" : "superblocks were"} merged: read, erased and written anew, ` +
        `${number(total(parts))} MiB/s of programs.`,
    ];
  if (folded) return [at, `the host writes ${number(host)} MiB/s, and the cache is folded beside it: ${folded}.`];
  if (moved < host / 50)
    return [
      at,
      `the host writes ${number(host)} MiB/s, and the drive programs little more: ` +
        `${said.free_blocks.toLocaleString("en")} blocks are free, there is nothing to clean.`,
    ];
  return [
    at,
    `the host writes ${number(host)} MiB/s. To find room the drive moves ${number(moved / host)} pages for ` +
      `each page of the host, and erases ${number(said.erases / seconds)} blocks a second; ` +
      `${said.free_blocks.toLocaleString("en")} of them are free.`,
  ];
}
const total = (parts) => Object.values(parts).reduce((a, b) => a + b, 0);

/** The drive's clock. */
export function clock(seconds) {
  if (seconds < 120) return `${seconds.toFixed(seconds < 10 ? 3 : 1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
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
