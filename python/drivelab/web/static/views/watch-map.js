// The blocks of a drive to look at: by colour, by place, one by one, and as a table.

import { fill, h, say, scrolling } from "../dom.js";
import { VIEWS } from "./watch-colours.js";
import { Picture } from "./watch-picture.js";
import { dieTable, legend, pagesOf } from "./watch-words.js";

/** For so long the picture shows what a recovery has read. */
const READ_MS = 6000;
/** The picture is at least so high: tiles of two pixels are worth a little scrolling. */
const LEAST_HEIGHT = 660;

export class BlockMap {
  /** `open` is called with the place of a block whose pages are asked for. */
  constructor(open) {
    this.ask = open;
    this.layout = this.block = null;
    this.isLive = false;
    this.legend = h("div.legend");
    this.tabs = h(
      "div.tabs",
      { role: "group", "aria-label": "Colours of the blocks" },
      Object.entries(VIEWS).map(([name, view]) =>
        h(
          "button",
          {
            type: "button",
            "data-view": name,
            "aria-pressed": String(name === "pages"),
            onclick: () => this.look(name),
          },
          view.title,
        ),
      ),
    );
    this.map = h("canvas.map", {
      tabindex: "0",
      role: "application",
      "aria-label":
        "Blocks of the drive. Arrow keys move from block to block, Page Up and Page Down from die to die, " +
        "Enter opens a block's pages.",
    });
    this.overlay = h("canvas.overlay", { "aria-hidden": "true" });
    /** What lies over the picture while there is nothing to look at. */
    this.veil = h("div.veil", { role: "status" });
    this.bar = h("div.watch-bar", this.tabs, this.legend);
    this.stage = h("div.stage", this.map, this.overlay, this.veil);
    this.told = h("p.told");
    this.pages = h("section", { hidden: true, "aria-label": "Pages of a block" });
    this.table = scrolling("Every die of the drive");
    this.details = h("details", h("summary", "The same as a table"), this.table);
    this.under = h("div.under", this.pages, this.details);
    this.picture = new Picture(this.map, this.overlay);
    this.map.addEventListener("pointermove", (event) =>
      this.point(this.picture.blockAt(event.offsetX, event.offsetY)),
    );
    this.map.addEventListener("pointerleave", () => this.point(null));
    this.map.addEventListener("click", (event) => this.open(this.picture.blockAt(event.offsetX, event.offsetY)));
    this.map.addEventListener("keydown", (event) => this.key(event));
  }

  clear() {
    this.layout = this.block = null;
    fill(this.legend);
    fill(this.told);
    fill(this.table);
    this.pages.hidden = true;
    this.stage.classList.add("empty");
  }

  /** Of a drive at work, or of one that has been: then nothing of it can be opened. */
  setLive(isLive) {
    this.isLive = isLive;
    for (const tab of this.tabs.children) tab.disabled = !this.layout;
  }

  begin(layout, isNew) {
    if (isNew || !this.picture.blocks) this.picture.begin(layout);
    this.layout = layout;
    this.stage.classList.remove("empty");
    for (const tab of this.tabs.children) tab.hidden = !this.has(tab.dataset.view);
    this.look(this.has(this.picture.view) ? this.picture.view : "pages");
  }

  /** A frame, with motion unless the reader wants none. */
  take(frame, isStill) {
    this.picture.take(frame, isStill);
    this.stage.classList.toggle("off", !frame.said.is_on);
  }

  /** What is read, not watched: `span` is what went on in the last second, if that is known. */
  drawSlow(span) {
    this.drawLegend();
    this.tell();
    if (this.details.open && span) fill(this.table, dieTable(this.picture.blocks, span));
  }

  drawLegend() {
    if (this.layout) fill(this.legend, legend(this.picture, this.layout));
  }

  markRead(blocks) {
    clearTimeout(this.reading);
    if (blocks.length) this.reading = setTimeout(() => this.markRead([]), READ_MS);
    this.picture.read = blocks;
    this.picture.drawOverlay();
    if (this.isLive) this.drawLegend();
  }

  /** Whether this drive has what a view shows. */
  has(view) {
    const { needs } = VIEWS[view];
    return !needs || this.layout[needs];
  }

  look(name) {
    this.picture.show(name);
    for (const tab of this.tabs.children) tab.setAttribute("aria-pressed", String(tab.dataset.view === name));
    this.drawLegend();
  }

  recolour() {
    this.picture.recolour();
    this.drawLegend();
    if (this.block) this.openPages(this.block);
  }

  /** Arranges the blocks in the room that there is. */
  fit() {
    const width = this.stage.clientWidth;
    const top = this.stage.getBoundingClientRect().top + scrollY;
    const height = Math.max(LEAST_HEIGHT, innerHeight - top - 40);
    const room = this.picture.room;
    if (width && (!room || !this.picture.plan || room.width !== width || Math.abs(room.height - height) > 60))
      this.picture.arrange({ width, height });
  }

  point(block) {
    if (this.picture.pointed === block) return;
    this.picture.pointed = block;
    this.picture.drawOverlay();
    this.tell();
  }

  tell() {
    const block = this.picture.pointed;
    if (!this.picture.blocks?.drawn) return;
    if (block === null) {
      this.tellOf("", "Point at a block, or move with the arrow keys; a click or Enter opens its pages.");
      return;
    }
    const { where, role, pages, wear, age } = this.picture.blocks.words(block);
    this.tellOf(where, ` · ${[role, pages, wear, age].filter(Boolean).join(" · ")}`);
  }

  /** What the pointed block is like changes with the drive; a screen reader hears of it when keys move there. */
  tellOf(where, words) {
    if (this.told.textContent !== where + words) fill(this.told, where ? h("b", where) : null, words);
  }

  key(event) {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.open(this.picture.pointed);
      return;
    }
    const block = this.picture.blocks && this.picture.moved(this.picture.pointed, event.key);
    if (block === null || block === undefined) return;
    event.preventDefault();
    this.point(block);
    say(this.told.textContent);
  }

  open(block) {
    if (block === null || !this.isLive) return;
    this.picture.chosen = block;
    this.picture.drawOverlay();
    this.ask(this.picture.blocks.place(block));
  }

  openPages(block) {
    this.block = block;
    this.pages.hidden = false;
    fill(
      this.pages,
      pagesOf(block, this.picture.colours.theme, () => {
        this.pages.hidden = true;
        this.block = this.picture.chosen = null;
        this.picture.drawOverlay();
      }),
    );
  }

  end() {
    clearTimeout(this.reading);
  }
}
