// Watch: a drive's flash as a picture while it works.

import { fill, h, say, sheet } from "../dom.js";
import { ask, noRoom, socket, whenBack } from "../server.js";
import { choiceForm, choiceOf, summary } from "./watch-choice.js";
import { Controls } from "./watch-controls.js";
import { Pace, readFrame } from "./watch-frames.js";
import { BlockMap } from "./watch-map.js";
import { clock, nowWords } from "./watch-now.js";
import { Instruments } from "./watch-plots.js";
import { Power } from "./watch-power.js";
import { Queues } from "./watch-queues.js";

const KEY = "drivelab.watch";
const CHOSEN = "drivelab.watched";

/** What a reader of another page comes back to: a drive by this key. */
function ownKey() {
  const kept = sessionStorage.getItem(KEY);
  if (kept) return kept;
  const made = crypto.randomUUID().replaceAll("-", "");
  sessionStorage.setItem(KEY, made);
  return made;
}

const ENDED =
  "This is a new drive, from its beginning. The one that this tab watched has ended: its server was started again, " +
  "or nobody looked at it for two minutes.";

/** What the drive of this tab was asked to be. Its workload is left out: that is changed while it works. */
const chosen = (choice) => JSON.stringify({ ...choice, workload: undefined });

export async function show(root, page) {
  await sheet("/static/views/watch.css");
  const watch = new Watch(root, page);
  watch.connect();
  return watch;
}

class Watch {
  constructor(root, page) {
    this.root = root;
    this.page = page;
    this.choice = choiceOf(page.params);
    this.controls = new Controls((command) => this.send(command));
    this.pace = new Pace(() => this.send({ want: true }));
    this.about = h("p.about");
    this.notes = h("div", { "aria-label": "Notes", role: "group" });
    this.form = h("div", { hidden: true });
    const other = h(
      "button",
      { type: "button", "aria-expanded": "false", onclick: () => this.toggleForm() },
      "Another drive",
    );
    this.other = other;
    this.news = h("p.warning.watch-news", { role: "status", hidden: true });
    this.now = h("p.now");
    this.map = new BlockMap(({ member, die, block }) => this.send({ do: "block", member, die, block }));
    this.map.details.addEventListener("toggle", () => this.drawSlow());
    const dials = h("div.dials");
    this.queues = new Queues();
    this.power = new Power();
    fill(
      root,
      h("div.watch-head", h("h1", "Watch"), this.about, other),
      this.notes,
      this.news,
      this.form,
      this.controls.element,
      this.power.element,
      dials,
      this.queues.element,
      this.map.bar,
      this.now,
      this.map.stage,
      this.map.told,
      this.map.under,
    );
    this.dials = new Instruments(dials);
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    this.listen();
    this.clear();
    this.setLive(false);
  }

  listen() {
    this.leave = new AbortController();
    const { signal } = this.leave;
    addEventListener("theme", () => this.recolour(), { signal });
    this.sizes = new ResizeObserver(() => this.fit());
    this.sizes.observe(this.map.stage);
  }

  // Talking to the drive

  connect() {
    const line = (this.line = socket(`/socket/watch/${ownKey()}`));
    this.taken = false;
    line.addEventListener("message", ({ data }) => {
      // What an earlier line still brings is about a drive that this page has given up.
      if (line !== this.line) return;
      if (typeof data === "string") this.hear(JSON.parse(data));
      else this.take(data);
    });
    line.addEventListener("close", (closed) => {
      if (this.gone || line !== this.line || this.taken) return;
      const [none, lost] = ["There is no connection to the server yet.", "The connection to the server is lost."];
      this.stand(noRoom(closed) ? none : lost);
      this.stopWaiting = whenBack(() => this.connect(), closed);
    });
  }

  send(message) {
    if (this.line.readyState === WebSocket.OPEN) this.line.send(JSON.stringify(message));
  }

  hear(said) {
    if (said.idle) this.begins();
    if (said.again) this.comeBack();
    if (said.elsewhere) this.giveUp();
    if ("preparing" in said) this.wait(said.preparing);
    if (said.watching) this.begin(said);
    if (said.did) this.controls.stand(said);
    if (said.did === "workload") this.queues.clear();
    if (said.cut || said.recovery) this.lose(said);
    if (said.block) this.map.openPages(said.block);
    if (said.refused) this.refuse(said.refused);
    if (said.full || said.failed) this.stand(said.full || said.failed, "Try again", () => this.start(this.choice));
    if (said.error) this.controls.refuse(said.error);
  }

  /** The server has no drive of this tab: a new one begins. If there was one, that is said. */
  begins() {
    const before = sessionStorage.getItem(CHOSEN);
    const hadIt = before !== null && (this.asksForNone() || before === chosen(this.choice));
    this.start(hadIt ? this.before() : this.choice);
    if (hadIt) this.announce(ENDED, true);
  }

  /** The choice of this tab's last drive, with the workload that is asked for. */
  before() {
    const { workload } = this.choice;
    const before = JSON.parse(sessionStorage.getItem(CHOSEN));
    if (!before) return this.choice;
    return before.served || !workload ? before : { ...before, workload };
  }

  asksForNone() {
    return [...this.page.params.keys()].length === 0;
  }

  /** News stay until another drive is chosen, or they are closed. */
  announce(text, closes = false) {
    this.news.hidden = !text;
    if (!text) this.root.classList.remove("refused");
    const close = h("button.quiet", { type: "button", onclick: () => this.announce("") }, "Close");
    fill(this.news, text, closes ? close : null);
  }

  /** Nothing here is of a drive at work: why not, and what can be done. What it showed last is greyed. */
  stand(why, title, act) {
    this.setLive(false);
    this.map.veil.hidden = false;
    const last = this.layout && this.last ? ` This is how the drive was at ${clock(this.last.now_s)}.` : "";
    fill(
      this.map.veil,
      h("p", why + last),
      title ? h("button", { type: "button", onclick: act }, title) : null,
    );
    if (last) fill(this.now, h("b", "Not at work: "), `picture and numbers are of ${clock(this.last.now_s)}.`);
  }

  setLive(isLive) {
    this.isLive = isLive;
    this.controls.enable(isLive);
    this.root.classList.toggle("ended", !isLive);
    this.map.setLive(isLive);
  }

  /** Another page has taken the drive over, as a copy of this tab does. */
  giveUp() {
    this.taken = true;
    this.stand("Another tab watches this drive now.", "Watch it here", () => {
      this.line.close();
      this.connect();
    });
  }

  /** The address asks for what can't be: something else can be chosen. */
  refuse(why) {
    this.clear();
    this.setLive(false);
    this.root.classList.add("refused");
    this.announce(why);
    if (this.form.hidden) this.toggleForm({ takesFocus: false });
  }

  /** The power has gone, or is back. */
  lose(said) {
    this.power.hear(said);
    this.map.markRead(said.recovery?.blocks ?? []);
    if (said.recovery) {
      this.dials.clear();
      this.queues.clear();
    }
    this.fit();
  }

  /** This tab has a drive: it is the one to watch if the address asks for no other. */
  comeBack() {
    if (!this.asksForNone() && sessionStorage.getItem(CHOSEN) !== chosen(this.choice)) {
      this.start(this.choice);
      return;
    }
    this.choice = this.before();
    this.isAttached = true;
    this.send({ want: true });
  }

  start(choice) {
    this.choice = choice;
    this.isAttached = this.taken = false;
    this.announce("");
    this.wait(0);
    this.send({ start: choice, speed: this.controls.speed });
  }

  /** A drive is prepared: of the one before nothing is left. */
  wait(share) {
    if (this.layout || share === 0) this.clear();
    this.setLive(false);
    this.map.veil.hidden = false;
    const bar = h("progress", { max: "1", "aria-label": "Preparing the drive" });
    bar.value = share;
    fill(this.map.veil, h("span", `Preparing the drive: ${Math.round(100 * share)} %`), bar);
  }

  clear() {
    this.layout = this.last = this.span = null;
    this.dials.clear();
    fill(this.about);
    fill(this.notes);
    fill(this.now);
    this.map.clear();
    this.queues.element.hidden = true;
    this.holdNow(0);
    this.controls.element.hidden = false;
  }

  begin({ watching, layout }) {
    this.map.veil.hidden = true;
    const isNew = JSON.stringify(layout) !== JSON.stringify(this.layout);
    if (isNew) this.queues.begin(layout);
    this.layout = layout;
    this.map.begin(layout, isNew);
    this.setLive(true);
    fill(this.about, summary(watching, layout));
    fill(
      this.notes,
      (watching.notes ?? []).map((note) => h("p.soft.note", `Note: ${note}.`)),
    );
    this.controls.begin(watching);
    this.power.begin(watching);
    this.fit();
    if (this.isAttached) return;
    sessionStorage.setItem(CHOSEN, chosen(this.choice));
    this.send({ want: true });
  }

  take(buffer) {
    if (this.gone || !this.layout) return;
    this.pace.take();
    const frame = readFrame(buffer);
    this.map.take(frame, this.still.matches);
    this.controls.stand(frame.said);
    // Most frames have blocks and no numbers.
    if (frame.said.now_s === undefined) return;
    this.dials.take(frame.said);
    this.queues.take(frame.said);
    const { said } = frame;
    const stood = !this.last || this.last.paused !== said.paused || this.last.is_on !== said.is_on;
    this.last = said;
    if (said.span) {
      this.span = said.span;
      this.dials.show(this.span);
    }
    if (said.span || stood) this.drawSlow();
  }

  /** What is read, not watched, changes once a second, and all of it together. */
  drawSlow() {
    if (!this.last || !this.isLive) return;
    fill(this.now, nowWords(this.span, this.last, this.layout));
    this.holdNow(Math.max(this.nowHeight, this.now.offsetHeight));
    this.map.drawSlow(this.span);
  }

  /** The picture below doesn't move with every line more or less. */
  holdNow(height) {
    this.nowHeight = height;
    this.now.style.setProperty("min-height", height ? `${height}px` : "");
  }

  recolour() {
    this.map.recolour();
    this.dials.draw();
  }

  fit() {
    const width = this.map.stage.clientWidth;
    if (width !== this.width) this.holdNow(0);
    this.width = width;
    this.map.fit();
    this.dials.draw();
  }

  async toggleForm({ takesFocus = true } = {}) {
    this.form.hidden = !this.form.hidden;
    this.other.setAttribute("aria-expanded", String(!this.form.hidden));
    if (this.form.hidden) return;
    const close = () => {
      this.form.hidden = true;
      this.other.setAttribute("aria-expanded", "false");
    };
    const choose = (choice) => {
      close();
      const asked = new URLSearchParams(choice);
      this.start(choiceOf(asked));
      this.page.go(`/watch?${asked}`, { replace: true });
      say("Another drive is prepared");
    };
    try {
      const [models, served] = await Promise.all([ask("/api/watch/models"), ask("/api/watch/served")]);
      fill(this.form, await choiceForm(models, served, this.choice, choose));
    } catch (error) {
      close();
      throw error;
    }
    if (takesFocus) this.form.querySelector("select, input").focus();
  }

  // The frame of the page

  update(page) {
    this.page = page;
    if (this.asksForNone()) return;
    const choice = choiceOf(page.params);
    // Not after `toggleForm`, which changes the address and starts the drive itself.
    if (JSON.stringify(choice) !== JSON.stringify(this.choice)) this.start(choice);
  }

  end() {
    this.gone = true;
    this.stopWaiting?.();
    this.map.end();
    this.leave.abort();
    this.sizes.disconnect();
    // One that isn't open yet can't be closed without a complaint.
    if (this.line.readyState === WebSocket.CONNECTING) this.line.addEventListener("open", () => this.line.close());
    else this.line.close();
  }
}
