// Watch: a drive's flash as a picture while it works.

import { fill, h, say, sheet } from "../dom.js";
import { ask, socket, whenBack } from "../server.js";
import { choiceForm, choiceOf, summary } from "./watch-choice.js";
import { VIEWS } from "./watch-colours.js";
import { Controls } from "./watch-controls.js";
import { Pace, readFrame } from "./watch-frames.js";
import { Picture } from "./watch-picture.js";
import { Instruments } from "./watch-plots.js";
import { Power } from "./watch-power.js";
import { Queues } from "./watch-queues.js";
import { dieTable, legend, nowSentence, pagesOf } from "./watch-words.js";

const KEY = "drivelab.watch";
const CHOSEN = "drivelab.watched";
const SLOW_MS = 1000;
/** For so long the picture shows what a recovery has read. */
const READ_MS = 6000;

/** What a reader of another page comes back to: a drive by this key. */
function ownKey() {
  const kept = sessionStorage.getItem(KEY);
  if (kept) return kept;
  const made = crypto.randomUUID().replaceAll("-", "");
  sessionStorage.setItem(KEY, made);
  return made;
}

/** What the drive of this tab was asked to be. Its workload is left out: that is changed while it works. */
const chosen = (choice) => JSON.stringify({ ...choice, workload: undefined });

export async function show(root, page) {
  const [models, served] = await Promise.all([
    ask("/api/watch/models"),
    ask("/api/watch/served"),
    sheet("/static/views/watch.css"),
  ]);
  const watch = new Watch(root, page, models, served);
  watch.connect();
  return watch;
}

class Watch {
  constructor(root, page, models, served) {
    this.served = served;
    this.page = page;
    this.choice = choiceOf(page.params);
    this.controls = new Controls((command) => this.send(command));
    this.pace = new Pace(() => this.send({ want: true }));
    this.about = h("p.about");
    this.form = h("div", { hidden: true });
    const other = h(
      "button",
      { type: "button", "aria-expanded": "false", onclick: () => this.toggleForm() },
      "Another drive",
    );
    this.other = other;
    this.models = models;
    this.now = h("p.now");
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
    this.veil = h("div.veil", { role: "status" });
    this.stage = h("div.stage", this.map, this.overlay, this.veil);
    this.told = h("p.told", { "aria-live": "polite" });
    this.pages = h("section", { hidden: true, "aria-label": "Pages of a block" });
    this.table = h("div.scroll");
    this.details = h(
      "details",
      { ontoggle: () => this.drawSlow(true) },
      h("summary", "The same as a table"),
      this.table,
    );
    const dials = h("div.dials");
    this.queues = new Queues();
    this.power = new Power();
    fill(
      root,
      h("div.watch-head", h("h1", "Watch"), this.about, other),
      this.form,
      this.controls.element,
      this.power.element,
      dials,
      this.queues.element,
      h("div.watch-bar", this.tabs, this.legend),
      this.now,
      this.stage,
      this.told,
      h("div.under", this.pages, this.details),
    );
    this.dials = new Instruments(dials);
    this.picture = new Picture(this.map, this.overlay);
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    this.listen();
  }

  listen() {
    this.leave = new AbortController();
    const { signal } = this.leave;
    addEventListener("theme", () => this.recolour(), { signal });
    this.map.addEventListener(
      "pointermove",
      (event) => this.point(this.picture.blockAt(event.offsetX, event.offsetY)),
      { signal },
    );
    this.map.addEventListener("pointerleave", () => this.point(null), { signal });
    this.map.addEventListener("click", (event) => this.open(this.picture.blockAt(event.offsetX, event.offsetY)), {
      signal,
    });
    this.map.addEventListener("keydown", (event) => this.key(event), { signal });
    this.sizes = new ResizeObserver(() => this.fit());
    this.sizes.observe(this.stage);
  }

  // Talking to the drive

  connect() {
    this.line = socket(`/socket/watch/${ownKey()}`);
    this.line.addEventListener("message", ({ data }) =>
      typeof data === "string" ? this.hear(JSON.parse(data)) : this.take(data),
    );
    this.line.addEventListener("close", () => {
      if (!this.gone) this.stopWaiting = whenBack(() => this.connect());
    });
  }

  send(message) {
    if (this.line.readyState === WebSocket.OPEN) this.line.send(JSON.stringify(message));
  }

  hear(said) {
    if (said.idle) this.start(this.choice);
    if (said.again) this.comeBack();
    if ("preparing" in said) this.wait(said.preparing);
    if (said.watching) this.begin(said);
    if (said.did) this.controls.stand(said);
    if (said.did === "workload") this.queues.clear();
    if (said.cut || said.recovery) this.lose(said);
    if (said.block) this.openPages(said.block);
    if (said.error && !this.veil.hidden) fill(this.veil, h("p", said.error));
    else if (said.error) this.controls.refuse(said.error);
    if (said.failed) fill(this.veil, h("p", said.failed));
  }

  /** The power has gone, or is back. */
  lose(said) {
    this.power.hear(said);
    this.markRead(said.recovery?.blocks ?? []);
    if (said.recovery) {
      this.dials.clear();
      this.queues.clear();
    }
    this.fit();
  }

  markRead(blocks) {
    clearTimeout(this.reading);
    if (blocks.length) this.reading = setTimeout(() => this.markRead([]), READ_MS);
    this.picture.read = blocks;
    this.picture.drawOverlay();
    this.drawSlow(true);
  }

  /** This tab has a drive: it is the one to watch if the address asks for no other. */
  comeBack() {
    const asksForNone = [...this.page.params.keys()].length === 0;
    if (!asksForNone && sessionStorage.getItem(CHOSEN) !== chosen(this.choice)) {
      this.start(this.choice);
      return;
    }
    this.isAttached = true;
    this.send({ want: true });
  }

  start(choice) {
    this.choice = choice;
    this.isAttached = false;
    this.wait(0);
    this.dials.clear();
    this.send({ start: { ...choice, speed: this.controls.speed } });
  }

  wait(share) {
    this.veil.hidden = false;
    const bar = h("progress", { max: "1", "aria-label": "Preparing the drive" });
    bar.value = share;
    fill(this.veil, h("span", `Preparing the drive: ${Math.round(100 * share)} %`), bar);
  }

  begin({ watching, layout }) {
    this.veil.hidden = true;
    const isNew = JSON.stringify(layout) !== JSON.stringify(this.layout);
    if (isNew || !this.picture.blocks) this.picture.begin(layout);
    if (isNew) this.queues.begin(layout);
    this.layout = layout;
    fill(this.about, summary(watching, layout));
    this.controls.begin(watching);
    this.power.begin(watching);
    for (const tab of this.tabs.children) tab.hidden = !this.has(tab.dataset.view);
    this.look(this.has(this.picture.view) ? this.picture.view : "pages");
    this.fit();
    if (this.isAttached) return;
    sessionStorage.setItem(CHOSEN, chosen(this.choice));
    this.send({ want: true });
  }

  take(buffer) {
    if (this.gone || !this.picture.blocks) return;
    this.pace.take();
    const frame = readFrame(buffer);
    this.picture.take(frame, this.still.matches);
    this.controls.stand(frame.said);
    this.stage.classList.toggle("off", !frame.said.is_on);
    // Most frames have blocks and no numbers.
    if (frame.said.now_s === undefined) return;
    this.dials.take(frame.said);
    this.queues.take(frame.said);
    this.last = frame.said;
    this.drawSlow();
  }

  /** What is read, not watched, changes once a second. */
  drawSlow(atOnce = false) {
    const now = performance.now();
    if (!this.last || (!atOnce && now - (this.slowAt ?? 0) < SLOW_MS)) return;
    this.slowAt = now;
    fill(this.now, nowSentence(this.last));
    fill(this.legend, legend(this.picture, this.layout));
    this.tell();
    if (this.details.open) fill(this.table, dieTable(this.picture.blocks, this.last));
  }

  // Looking

  /** Whether this drive has what a view shows. */
  has(view) {
    const { needs } = VIEWS[view];
    return !needs || this.layout[needs];
  }

  look(name) {
    this.picture.show(name);
    for (const tab of this.tabs.children) tab.setAttribute("aria-pressed", String(tab.dataset.view === name));
    if (this.layout) fill(this.legend, legend(this.picture, this.layout));
  }

  recolour() {
    this.picture.recolour();
    this.dials.draw();
    if (this.layout) fill(this.legend, legend(this.picture, this.layout));
    if (this.block) this.openPages(this.block);
  }

  fit() {
    const width = this.stage.clientWidth;
    const top = this.stage.getBoundingClientRect().top + scrollY;
    // Tiles of two pixels are worth a little scrolling.
    const height = Math.max(660, innerHeight - top - 40);
    const room = this.picture.room;
    if (width && (!room || !this.picture.plan || room.width !== width || Math.abs(room.height - height) > 60))
      this.picture.arrange({ width, height });
    this.dials.draw();
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

  /** A screen reader speaks whatever is written here: nothing is that hasn't changed. */
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
  }

  open(block) {
    if (block === null) return;
    this.picture.chosen = block;
    this.picture.drawOverlay();
    const { member, die, block: number } = this.picture.blocks.place(block);
    this.send({ do: "block", member, die, block: number });
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

  async toggleForm() {
    this.form.hidden = !this.form.hidden;
    this.other.setAttribute("aria-expanded", String(!this.form.hidden));
    if (this.form.hidden) return;
    fill(
      this.form,
      await choiceForm(this.models, this.served, this.choice, (choice) => {
        this.form.hidden = true;
        this.other.setAttribute("aria-expanded", "false");
        const asked = new URLSearchParams(choice);
        this.start(choiceOf(asked));
        this.page.go(`/watch?${asked}`, { replace: true });
        say("Another drive is prepared");
      }),
    );
    this.form.querySelector("select, input").focus();
  }

  // The frame of the page

  update(page) {
    this.page = page;
    const choice = choiceOf(page.params);
    // Not after `toggleForm`, which changes the address and starts the drive itself.
    if (JSON.stringify(choice) !== JSON.stringify(this.choice)) this.start(choice);
  }

  end() {
    this.gone = true;
    this.stopWaiting?.();
    clearTimeout(this.reading);
    this.leave.abort();
    this.sizes.disconnect();
    // One that isn't open yet can't be closed without a complaint.
    if (this.line.readyState === WebSocket.CONNECTING) this.line.addEventListener("open", () => this.line.close());
    else this.line.close();
  }
}
