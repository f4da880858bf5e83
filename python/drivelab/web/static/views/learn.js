// Learn: lessons that show one operation of the flash at a time.

import { unknownPart, warning, wrongPart } from "../address.js";
import { fill, h, sheet } from "../dom.js";
import { ask, drawWhenBack, save } from "../server.js";
import { Player } from "./lesson.js";

export async function show(root) {
  await sheet("/static/views/lesson.css");
  return new Learn(root);
}

/** What of the address is none of the lesson's steps and choices. */
function odd(record, params) {
  const unknown = unknownPart(params, ["step", ...record.knobs.map((knob) => knob.name)]);
  if (unknown) return unknown;
  for (const { name, choices } of record.knobs) {
    const value = params.get(name);
    const allowed = choices.map(([choice]) => choice);
    if (value !== null && !allowed.includes(value)) return wrongPart(name, value, allowed.join(", "));
  }
  const step = params.get("step");
  if (step === null) return "";
  const chosen = record.knobs.map(({ name, choices }) => params.get(name) ?? choices[0][0]);
  const last = record.variants[chosen.join(",")].length - 1;
  return /^\d{1,9}$/.test(step) && Number(step) <= last ? "" : wrongPart("step", step, `0 to ${last}`);
}

class Learn {
  constructor(root) {
    this.root = root;
  }

  async update(page) {
    // What is fetched meanwhile is drawn as the newest address has it.
    this.page = page;
    const [name] = page.path;
    if (this.drawn && name === this.name) {
      this.warn(page);
      return;
    }
    this.stop();
    this.record = null;
    this.warned = h("div");
    this.drawn = true;
    this.name = name;
    try {
      if (name) await this.lesson(name);
      else await this.list();
    } catch (error) {
      if (this.name !== name) return;
      fill(this.root, h("h1", "Learn"), h("p", error.message));
      drawWhenBack(error);
    }
  }

  async list() {
    const lessons = await ask("/api/lessons");
    if (this.name) return;
    const cards = lessons.map((lesson, i) =>
      h(
        "li",
        h("a.card", { href: `/learn/${lesson.name}` }, h("h2", `${i + 1}. ${lesson.title}`), h("p", lesson.about)),
      ),
    );
    fill(
      this.root,
      h("h1", "Learn"),
      this.warned,
      h(
        "p.soft",
        "Drives of a few pages, one operation of their flash at a time, from the engine that measures the large ones.",
      ),
      h("ol.lessons", cards),
    );
    this.warn(this.page);
  }

  async lesson(name) {
    const record = await ask(`/api/lessons/${encodeURIComponent(name)}`);
    if (this.gone || this.name !== name) return;
    const stage = h("div");
    const file = h(
      "button",
      { type: "button", onclick: () => save(`/api/lessons/${encodeURIComponent(name)}/page`, `${name}.html`) },
      "Save as a file",
    );
    fill(
      this.root,
      h("p", h("a", { href: "/learn" }, "All lessons")),
      h("h1", record.title),
      h("p", record.about),
      this.warned,
      stage,
      h("p.row", file, h("span.soft", "one HTML file that works anywhere")),
    );
    this.record = record;
    const { page } = this;
    this.warn(page);
    this.player = new Player(stage, record, Object.fromEntries(page.params), (place) =>
      page.go(`/learn/${name}?${new URLSearchParams(place)}`, { replace: true }),
    );
  }

  /** Says what of the address isn't of the lesson, or of the list of them. */
  warn({ params }) {
    fill(this.warned, warning(this.record ? odd(this.record, params) : unknownPart(params, [])));
  }

  end() {
    this.gone = true;
    this.stop();
  }

  stop() {
    this.player?.stop();
    this.player = null;
  }
}
