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

/**
 * What can be shown, by name: a title, whether all blocks change colour with every frame, and what a drive must have
 * for it.
 */
export const VIEWS = {
  pages: { title: "Pages", moving: false },
  erases: { title: "Erases", moving: true },
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
    this.glow = rgb(this.theme.glow);
    this.css = { erases: orient(CIVIDIS), age: orient(VIRIDIS) };
  }

  /** By mode: the colour of a block of which so many 255ths are written. */
  cellTables(modes) {
    const free = rgb(this.theme.free);
    return modes.map((mode) =>
      Uint32Array.from({ length: 256 }, (_, written) =>
        packed(
          mixed([
            [written / 255, rgb(this.theme.cells[mode])],
            [1 - written / 255, free],
          ]),
        ),
      ),
    );
  }

  roleTables(roles) {
    return {
      roles: Uint32Array.from(roles, (role) => packed(rgb(this.theme.roles[role] ?? "#888888"))),
      streams: Uint32Array.from({ length: 256 }, (_, i) =>
        packed(rgb(this.theme.streams[i % this.theme.streams.length])),
      ),
    };
  }
}

const UNIT = (c) => [c & 255, (c >> 8) & 255, (c >> 16) & 255];

/** Paints blocks into pixels, one each; of `index` only, or all. The bounds of the scale, if the view has one. */
export function paint(view, blocks, colours, pixels, places, index) {
  const count = index ? index.length : blocks.count;
  const each = index ? (i) => index[i] : (i) => i;
  const { valid, written, eraseCount, role, stream, mode, born, layout } = blocks;
  if (view === "pages") {
    for (let i = 0; i < count; i++) {
      const b = each(i);
      pixels[places[b]] = colours.pages[(written[b] << 8) | valid[b]];
    }
    return null;
  }
  if (view === "erases") {
    let [least, most] = [65535, 0];
    for (let b = 0; b < blocks.count; b++) {
      if (eraseCount[b] < least) least = eraseCount[b];
      if (eraseCount[b] > most) most = eraseCount[b];
    }
    const scale = most > least ? 255 / (most - least) : 0;
    for (let b = 0; b < blocks.count; b++) pixels[places[b]] = colours.erases[((eraseCount[b] - least) * scale) | 0];
    return [least, most];
  }
  if (view === "age") {
    // Of equal width are factors of two: what was just written differs from what was written a little earlier.
    const perDie = layout.blocks_per_die;
    let most = 1;
    for (let b = 0, next = 0; b < blocks.count; b++) {
      if (b % perDie === 0) next = blocks.next[layout.member[b / perDie]];
      if (written[b]) most = Math.max(most, (next - born[b]) >>> 0);
    }
    const scale = 255 / Math.log2(most + 1);
    for (let b = 0, next = 0; b < blocks.count; b++) {
      if (b % perDie === 0) next = blocks.next[layout.member[b / perDie]];
      pixels[places[b]] = written[b]
        ? colours.ages[255 - ((Math.log2(((next - born[b]) >>> 0) + 1) * scale) | 0)]
        : colours.empty;
    }
    return [0, most];
  }
  if (view === "cells") {
    const tables = colours.cellTables(layout.modes);
    for (let i = 0; i < count; i++) {
      const b = each(i);
      pixels[places[b]] = written[b] ? tables[mode[b]][written[b]] : colours.empty;
    }
    return null;
  }
  const tables = colours.roleTables(layout.roles);
  for (let i = 0; i < count; i++) {
    const b = each(i);
    pixels[places[b]] = stream[b] === 255 ? tables.roles[role[b]] : tables.streams[stream[b]];
  }
  return null;
}

/** Paints what was just erased over what is there. */
export function paintGlow(blocks, colours, pixels, places) {
  for (const b of blocks.glowing) {
    const share = blocks.glow[b] / GLOW_FRAMES;
    const under = UNIT(pixels[places[b]]);
    pixels[places[b]] = packed(
      mixed([
        [share, colours.glow],
        [1 - share, under],
      ]),
    );
  }
}
