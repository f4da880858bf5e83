// The picture: every block of a drive is a tile, dies are panels, channels are columns.

import { Colours, GLOW_FRAMES, paint, paintGlow, VIEWS } from "./watch-colours.js";
import { Blocks } from "./watch-frames.js";

const GAP = 6;
const HEAD = 16;
const BUSY = 4;
/** Below this size tiles touch each other, in device pixels. */
const LINED = 4;

/** Where panels and tiles are, in device pixels: the largest tiles with which all fit. */
export function arrangement(layout, width, height, ratio) {
  const panels = layout.die.length;
  const keys = layout.die.map((_, i) => `${layout.member[i]}.${layout.channel[i]}`);
  const channels = [...new Set(keys)];
  // A drive of few channels has its dies side by side.
  const byChannel = channels.length >= 4;
  const columns = byChannel ? channels.length : Math.min(panels, width / ratio < 600 ? 4 : 8);
  const seen = {};
  const spots = keys.map((key, i) => {
    if (!byChannel) return { column: i % columns, row: Math.floor(i / columns) };
    seen[key] = (seen[key] ?? -1) + 1;
    return { column: channels.indexOf(key), row: seen[key] };
  });
  const rows = Math.max(...spots.map((spot) => spot.row)) + 1;
  const [head, busy] = [HEAD * ratio, BUSY * ratio];
  const gap = Math.max(2, Math.round((width / ratio < 600 ? GAP / 2 : GAP) * ratio));
  const room = Math.floor((width - gap * (columns - 1)) / columns);
  const fits = (sx, sy) => {
    const across = Math.max(1, Math.floor(room / sx));
    const down = Math.ceil(layout.blocks_per_die / across);
    return { across, down, sx, sy, tall: rows * (down * sy + busy + gap) + head };
  };
  let best = fits(1, 1);
  for (let size = Math.min(48 * ratio, room); size >= 1; size--) {
    const found = [fits(size, size), fits(size + 1, size)].find(
      (one) => one.tall <= height && one.across * one.sx <= room,
    );
    if (found) {
      best = found;
      break;
    }
  }
  // Few blocks need no more columns than there are.
  const across = Math.min(best.across, layout.blocks_per_die);
  const step = {
    x: (byChannel ? room : Math.min(room, Math.max(across * best.sx, 44 * ratio))) + gap,
    y: best.down * best.sy + busy + gap,
  };
  return {
    ...best,
    across,
    columns,
    rows,
    gap,
    head,
    busy,
    spots,
    step,
    byChannel,
    width,
    height: head + rows * step.y,
  };
}

/** Draws a drive into a canvas, and knows which block is where. */
export class Picture {
  constructor(canvas, overlay) {
    this.canvas = canvas;
    this.overlay = overlay;
    this.context = canvas.getContext("2d");
    this.tiles = document.createElement("canvas");
    this.view = "pages";
    this.pointed = null;
    this.chosen = null;
    /** Blocks of which a recovery has read all pages. */
    this.read = [];
    this.recolour();
  }

  /** The colours of the page have changed. */
  recolour() {
    // Of the page, not of the canvas, which may not be part of it yet.
    const page = getComputedStyle(document.documentElement);
    this.dark = page.colorScheme.includes("dark");
    this.colours = new Colours(this.dark);
    this.style = getComputedStyle(this.canvas);
    // Asked for once: with every frame it would have the browser look at all styles.
    [this.ink, this.rule] = ["--accent", "--grid"].map((name) => page.getPropertyValue(name));
    this.isWhole = true;
    if (!this.blocks) return;
    this.colours.begin(this.blocks.layout);
    this.arrange(this.room);
  }

  begin(layout) {
    this.blocks = new Blocks(layout);
    this.colours.begin(layout);
    this.busy = new Float32Array(layout.die.length);
    this.pointed = this.chosen = null;
    this.read = [];
    if (this.room) this.arrange(this.room);
  }

  /** Fits the picture into so many CSS pixels. */
  arrange(room) {
    this.room = room;
    if (!this.blocks) return;
    const ratio = Math.min(2, Math.max(1, Math.round(devicePixelRatio)));
    const { layout } = this.blocks;
    const plan = (this.plan = arrangement(layout, Math.floor(room.width * ratio), room.height * ratio, ratio));
    this.ratio = ratio;
    for (const one of [this.canvas, this.overlay]) {
      Object.assign(one, { width: plan.width, height: plan.height });
      one.style.setProperty("width", `${plan.width / ratio}px`);
      one.style.setProperty("height", `${plan.height / ratio}px`);
    }
    this.tiles.width = plan.columns * plan.across;
    this.tiles.height = plan.rows * plan.down;
    this.tileContext = this.tiles.getContext("2d");
    this.image = this.tileContext.createImageData(this.tiles.width, this.tiles.height);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.places = new Uint32Array(this.blocks.count);
    for (let block = 0; block < this.blocks.count; block++) {
      const die = Math.floor(block / layout.blocks_per_die);
      const at = block % layout.blocks_per_die;
      const { column, row } = plan.spots[die];
      const y = row * plan.down + Math.floor(at / plan.across);
      this.places[block] = y * this.tiles.width + column * plan.across + (at % plan.across);
    }
    this.isWhole = true;
    this.drawOverlay();
    this.draw();
  }

  show(view) {
    this.view = view;
    this.isWhole = true;
    this.draw();
  }

  /** Takes a frame in, and draws it. The bounds of the view's scale. */
  take(frame, reducedMotion) {
    const index = this.blocks.take(frame, reducedMotion ? 0 : GLOW_FRAMES);
    const faded = this.blocks.fade();
    if (frame.said.dies_busy) this.busy.set(frame.said.dies_busy);
    if (index === null || VIEWS[this.view].moving) this.isWhole = true;
    if (!this.plan) return;
    if (!this.isWhole && faded.length) this.repaint(faded);
    this.draw(index);
  }

  repaint(index) {
    const { view, blocks, colours, pixels, places } = this;
    this.bounds = paint(view, blocks, colours, pixels, places, index, this.bounds) ?? this.bounds;
  }

  draw(index = null) {
    if (!this.blocks?.drawn || !this.plan) return;
    if (this.isWhole || index?.length !== 0) this.repaint(this.isWhole ? null : index);
    this.isWhole = false;
    paintGlow(this.blocks, this.colours, this.pixels, this.places);
    this.tileContext.putImageData(this.image, 0, 0);
    const { context, plan } = this;
    context.imageSmoothingEnabled = false;
    // Nothing is cleared: what is drawn covers what was.
    plan.spots.forEach((spot, die) => {
      const [x, y] = this.corner(die);
      const [w, h] = [plan.across, plan.down];
      context.drawImage(this.tiles, spot.column * w, spot.row * h, w, h, x, y, w * plan.sx, h * plan.sy);
      const [below, tall] = [y + h * plan.sy + this.ratio, 2 * this.ratio];
      context.fillStyle = this.rule;
      context.fillRect(x, below, w * plan.sx, tall);
      context.fillStyle = this.ink;
      context.fillRect(x, below, Math.round(w * plan.sx * this.busy[die]), tall);
    });
  }

  /** Names of channels, lines between large tiles, and which block is meant. */
  drawOverlay() {
    const { plan, ratio } = this;
    if (!plan) return;
    const context = this.overlay.getContext("2d");
    context.clearRect(0, 0, plan.width, plan.height);
    const [paper, soft, ink] = ["--paper", "--soft", "--ink"].map((name) => this.style.getPropertyValue(name));
    context.fillStyle = soft;
    context.font = `${11 * ratio}px ${this.style.fontFamily}`;
    const { layout } = this.blocks;
    plan.spots.forEach((spot, die) => {
      const [x, y] = this.corner(die);
      if (spot.row === 0) {
        const number = plan.byChannel ? layout.channel[die] : layout.die[die];
        const long = plan.step.x > 80 * ratio ? (plan.byChannel ? "channel " : "die ") : "";
        context.fillText(`${long}${number}`, x, plan.head - 5 * ratio);
      }
      if (plan.sx < LINED * ratio || plan.sy < LINED * ratio) return;
      context.fillStyle = paper;
      const line = Math.max(1, Math.round(Math.min(plan.sx, plan.sy) / 12));
      for (let i = 0; i <= plan.across; i++) context.fillRect(x + i * plan.sx - line / 2, y, line, plan.down * plan.sy);
      for (let i = 0; i <= plan.down; i++) context.fillRect(x, y + i * plan.sy - line / 2, plan.across * plan.sx, line);
      context.fillStyle = soft;
    });
    context.fillStyle = this.style.getPropertyValue("--accent");
    context.globalAlpha = 0.75;
    for (const block of this.read) context.fillRect(...this.spot(block), plan.sx, plan.sy);
    context.globalAlpha = 1;
    for (const [block, width] of [
      [this.chosen, 3],
      [this.pointed, 2],
    ]) {
      if (block === null) continue;
      const [x, y] = this.spot(block);
      const pad = Math.max(1, width - 1) * ratio;
      context.strokeStyle = paper;
      context.lineWidth = (width + 2) * ratio;
      context.strokeRect(x - pad, y - pad, plan.sx + 2 * pad, plan.sy + 2 * pad);
      context.strokeStyle = ink;
      context.lineWidth = width * ratio;
      context.strokeRect(x - pad, y - pad, plan.sx + 2 * pad, plan.sy + 2 * pad);
    }
  }

  corner(die) {
    const { plan } = this;
    const { column, row } = plan.spots[die];
    return [column * plan.step.x, plan.head + row * plan.step.y];
  }

  /** A block's corner on the canvas. */
  spot(block) {
    const { layout } = this.blocks;
    const [x, y] = this.corner(Math.floor(block / layout.blocks_per_die));
    const at = block % layout.blocks_per_die;
    return [x + (at % this.plan.across) * this.plan.sx, y + Math.floor(at / this.plan.across) * this.plan.sy];
  }

  /** The block at a place of the canvas in CSS pixels, or null. */
  blockAt(cssX, cssY) {
    const { plan, ratio } = this;
    if (!plan) return null;
    const [x, y] = [cssX * ratio, cssY * ratio - plan.head];
    const [column, row] = [Math.floor(x / plan.step.x), Math.floor(y / plan.step.y)];
    const die = plan.spots.findIndex((spot) => spot.column === column && spot.row === row);
    if (die < 0) return null;
    const [i, j] = [Math.floor((x - column * plan.step.x) / plan.sx), Math.floor((y - row * plan.step.y) / plan.sy)];
    const at = j * plan.across + i;
    const { blocks_per_die: perDie } = this.blocks.layout;
    return i >= 0 && i < plan.across && j >= 0 && at < perDie ? die * perDie + at : null;
  }

  /** The block that an arrow key leads to. */
  moved(block, key) {
    const { plan, blocks } = this;
    const perDie = blocks.layout.blocks_per_die;
    const steps = {
      ArrowLeft: -1,
      ArrowRight: 1,
      ArrowUp: -plan.across,
      ArrowDown: plan.across,
      PageUp: -perDie,
      PageDown: perDie,
    };
    if (key === "Home") return 0;
    if (key === "End") return blocks.count - 1;
    if (!(key in steps)) return null;
    return Math.max(0, Math.min(blocks.count - 1, (block ?? -steps[key]) + steps[key]));
  }
}
