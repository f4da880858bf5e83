// Colours of blocks: five ways to look at them. Every scale is told apart by colour-blind readers: from blue over pale
// yellow to orange (as ColorBrewer's), cividis, viridis, and Okabe and Ito's colours where there is no order.

const CIVIDIS = [
  "#00224e",
  "#123570",
  "#3b496c",
  "#575d6d",
  "#707173",
  "#8a8678",
  "#a59c74",
  "#c3b369",
  "#e1cc55",
  "#fee838",
];
const VIRIDIS = [
  "#440154",
  "#482878",
  "#3e4989",
  "#31688e",
  "#26828e",
  "#1f9e89",
  "#35b779",
  "#6ece58",
  "#b5de2b",
  "#fde725",
];

const THEMES = {
  light: {
    free: "#edf0f2",
    glow: "#111111",
    empty: "#edf0f2",
    invalid: ["#0b4f8a", "#2f83bd", "#8cc0dc", "#f5d77e", "#f2a33c", "#d9601a", "#8f2d04"],
    roles: {
      free: "#e6eaee",
      open: "#d55e00",
      closed: "#7fb2d6",
      emptied: "#8b3a86",
      log: "#c9a400",
      metadata: "#79838e",
      failed: "#111111",
    },
    streams: ["#d55e00", "#009e73", "#cc79a7", "#e0a800", "#005a8c", "#7a4fb0"],
    cells: { native: "#7fb2d6", slc: "#d55e00" },
  },
  dark: {
    free: "#20262b",
    glow: "#ffffff",
    empty: "#20262b",
    invalid: ["#1d5f9c", "#3d93cc", "#93c9e3", "#f7dd8c", "#f7ab47", "#ea6f25", "#b23c0c"],
    roles: {
      free: "#22282e",
      open: "#ff8a3c",
      closed: "#31688e",
      emptied: "#d996d4",
      log: "#e5cf4d",
      metadata: "#76808b",
      failed: "#ffffff",
    },
    streams: ["#ff8a3c", "#2fc79a", "#e59ac4", "#f0cf3a", "#6cc0f5", "#b794e8"],
    cells: { native: "#31688e", slc: "#ff8a3c" },
  },
};

/** Shares of invalid pages at which the scale has its colours: a few of them say most of a block. */
export const INVALID_SHARES = [0, 0.04, 0.1, 0.2, 0.4, 0.7, 1];
export const GLOW_FRAMES = 10;
/** Logarithms are looked up by as many of a number's highest bits. */
const LOG_BITS = 14;
const LOGS = Float32Array.from({ length: 1 << LOG_BITS }, (_, i) => Math.log2(i));

/**
 * What can be shown, by name: a title, whether all blocks change colour with every frame, and what a drive must have
 * for it.
 */
export const VIEWS = {
  pages: { title: "Pages", moving: false },
  erases: { title: "Erases", moving: false },
  age: { title: "Age", moving: true },
  roles: { title: "Roles", moving: false },
  cells: { title: "Cells", moving: false, needs: "cache" },
};

const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
const packed = ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
// Mixed in light, not in its code: between blue and orange lies no mud.
const mixed = (parts) =>
  [0, 1, 2].map((i) => Math.round(Math.sqrt(parts.reduce((sum, [share, c]) => sum + share * c[i] * c[i], 0))));

/** The colour of a share on a scale whose colours are at these places. */
function between(scale, places, share) {
  let low = 0;
  while (low < places.length - 2 && share > places[low + 1]) low++;
  const along = (share - places[low]) / (places[low + 1] - places[low]);
  return mixed([
    [1 - along, scale[low]],
    [along, scale[low + 1]],
  ]);
}

function ramp(stops, count) {
  const colours = stops.map(rgb);
  return Array.from({ length: count }, (_, i) => {
    const at = (i / (count - 1)) * (colours.length - 1);
    const low = Math.min(Math.floor(at), colours.length - 2);
    return mixed([
      [low + 1 - at, colours[low]],
      [at - low, colours[low + 1]],
    ]);
  });
}

/** Colours of a theme: tables that are looked up for every block. */
export class Colours {
  constructor(isDark) {
    this.theme = THEMES[isDark ? "dark" : "light"];
    const [free, scale] = [rgb(this.theme.free), this.theme.invalid.map(rgb)];
    this.pages = new Uint32Array(65536);
    for (let written = 0; written < 256; written++) {
      for (let valid = 0; valid <= written; valid++) {
        const colour = between(scale, INVALID_SHARES, written ? 1 - valid / written : 0);
        this.pages[(written << 8) | valid] = packed(
          mixed([
            [written / 255, colour],
            [1 - written / 255, free],
          ]),
        );
      }
    }
    // On a light page much is dark, on a dark page much is light.
    const orient = (stops) => (isDark ? stops : [...stops].reverse());
    this.erases = Uint32Array.from(ramp(orient(CIVIDIS), 256), packed);
    this.ages = Uint32Array.from(ramp(orient(VIRIDIS), 256), packed);
    this.empty = packed(rgb(this.theme.empty));
    // By red, green and blue: for each number of frames that a block still glows, and each value under it.
    this.glow = rgb(this.theme.glow).map((channel) =>
      Uint8Array.from({ length: (GLOW_FRAMES + 1) * 256 }, (_, i) => {
        const share = (i >> 8) / GLOW_FRAMES;
        return Math.round(Math.sqrt(share * channel ** 2 + (1 - share) * (i & 255) ** 2));
      }),
    );
    this.css = { erases: orient(CIVIDIS), age: orient(VIRIDIS) };
  }

  /** What colours of a drive's words are: tables that are made once for a layout. */
  begin(layout) {
    const free = rgb(this.theme.free);
    this.cells = layout.modes.map((mode) =>
      Uint32Array.from({ length: 256 }, (_, written) =>
        packed(
          mixed([
            [written / 255, rgb(this.theme.cells[mode])],
            [1 - written / 255, free],
          ]),
        ),
      ),
    );
    this.roles = Uint32Array.from(layout.roles, (role) => packed(rgb(this.theme.roles[role] ?? "#888888")));
    this.streams = Uint32Array.from({ length: 256 }, (_, i) =>
      packed(rgb(this.theme.streams[i % this.theme.streams.length])),
    );
  }
}

/**
 * Paints blocks into pixels, one each; of `index` only, or all. The bounds of the scale, if the view has one: others
 * than `bounds`, which were those before, are another colour for all.
 */
export function paint(view, blocks, colours, pixels, places, index, bounds) {
  const painted = index ?? blocks.all;
  const count = painted.length;
  const { valid, written, role, stream, mode } = blocks;
  if (view === "erases") return paintErases(blocks, colours, pixels, places, index, bounds);
  if (view === "age") return paintAges(blocks, colours, pixels, places);
  if (view === "pages") {
    const { pages } = colours;
    for (let i = 0; i < count; i++) {
      const b = painted[i];
      pixels[places[b]] = pages[(written[b] << 8) | valid[b]];
    }
  } else if (view === "cells") {
    const { cells, empty } = colours;
    for (let i = 0; i < count; i++) {
      const b = painted[i];
      pixels[places[b]] = written[b] ? cells[mode[b]][written[b]] : empty;
    }
  } else {
    const { roles, streams } = colours;
    for (let i = 0; i < count; i++) {
      const b = painted[i];
      pixels[places[b]] = stream[b] === 255 ? roles[role[b]] : streams[stream[b]];
    }
  }
  return null;
}

function paintErases({ all, eraseCount }, { erases }, pixels, places, index, bounds) {
  let [least, most] = [65535, 0];
  for (let b = 0; b < eraseCount.length; b++) {
    if (eraseCount[b] < least) least = eraseCount[b];
    if (eraseCount[b] > most) most = eraseCount[b];
  }
  const isSame = bounds && bounds[0] === least && bounds[1] === most;
  const painted = index && isSame ? index : all;
  const scale = most > least ? 255 / (most - least) : 0;
  for (let i = 0; i < painted.length; i++) {
    const b = painted[i];
    pixels[places[b]] = erases[((eraseCount[b] - least) * scale) | 0];
  }
  return [least, most];
}

function paintAges({ born, written, layout, next }, { ages, empty }, pixels, places) {
  // Of equal width are factors of two: what was just written differs from what was written a little earlier.
  const perDie = layout.blocks_per_die;
  const dies = layout.member.map((member, die) => [next[member] >>> 0, die * perDie]);
  let most = 1;
  for (const [now, first] of dies) {
    for (let b = first; b < first + perDie; b++) {
      const age = (now - born[b]) >>> 0;
      if (age > most && written[b]) most = age;
    }
  }
  const scale = 255 / Math.log2(most + 1);
  for (const [now, first] of dies) {
    for (let b = first; b < first + perDie; b++) {
      const programs = (now - born[b] + 1) >>> 0;
      const less = Math.max(0, 32 - LOG_BITS - Math.clz32(programs));
      pixels[places[b]] = written[b] ? ages[255 - (((LOGS[programs >>> less] + less) * scale) | 0)] : empty;
    }
  }
  return [0, most];
}

/** Paints what was just erased over what is there. */
export function paintGlow({ glow, glowing }, { glow: [reds, greens, blues] }, pixels, places) {
  for (let i = 0; i < glowing.length; i++) {
    const [place, bright] = [places[glowing[i]], glow[glowing[i]] << 8];
    const under = pixels[place];
    const [red, green, blue] = [under & 255, (under >> 8) & 255, (under >> 16) & 255];
    const [r, g, b] = [reds[bright | red], greens[bright | green], blues[bright | blue]];
    pixels[place] = ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
  }
}
