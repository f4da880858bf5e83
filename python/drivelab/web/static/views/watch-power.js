// Power cuts of a watched drive: what each met, and what the drive did when the power came back.

import { fill, h } from "../dom.js";
import { bytes } from "../numbers.js";

/** Cuts that are kept to be compared: of other drives of this tab, too. */
const ROWS = 8;
const count = (value) => value.toLocaleString("en");
const some = (value, one, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`;

/** Seconds in the unit that fits. */
function duration(seconds) {
  if (seconds >= 1) return `${seconds.toPrecision(3)} s`;
  return seconds >= 0.001 ? `${(1000 * seconds).toPrecision(3)} ms` : `${(1e6 * seconds).toPrecision(3)} µs`;
}

/** The power is off: what was in memory then. */
export function cutWords({ cut, capacitor }) {
  const size = bytes(cut.answered_units * cut.unit_bytes);
  const held = cut.answered_units
    ? `The write buffer held ${size} that the host believes written. ` +
      (capacitor ? "Its capacitor saves them at the last moment. " : "It is plain memory: that is gone. ")
    : "Of what the host believes written nothing was in memory only. ";
  const torn = [
    cut.torn_programs ? some(cut.torn_programs, "program") : "",
    cut.torn_erases ? some(cut.torn_erases, "erase") : "",
  ].filter(Boolean);
  const broken = torn.length ? `Broken off: ${torn.join(" and ")}. ` : "";
  return `${held}${broken}The map was in memory, and is gone.`;
}

/** The power is back: what was read, and what is lost. */
export function recoveryWords({ cut, recovery, capacitor }) {
  const covered = recovery.had_checkpoint
    ? `The checkpoint of the map covers ${some(recovery.blocks_covered, "block")}, of each only the last page is read. `
    : "There is no checkpoint of the map. ";
  const lost = recovery.lost_units
    ? `Lost are ${bytes(recovery.lost_bytes)} that the host had its answers for; no flush had covered them.`
    : capacitor && recovery.held_units
      ? "Nothing is lost that the host had its answer for: the capacitor kept it."
      : "Nothing is lost that the host had its answer for.";
  return (
    `Recovery took ${duration(recovery.duration_s)} of the drive's time. ${covered}` +
    `Of ${some(recovery.blocks_read, "block")} programmed since, marked in the picture, all pages were read: ` +
    `${count(recovery.pages_read)}. ${lost}` +
    (cut.unanswered_units ? ` ${some(cut.unanswered_units, "unit")} on the way had no answer yet.` : "")
  );
}

const COLUMNS = [
  ["Drive", ({ title }) => title],
  ["Write buffer", ({ capacitor }) => (capacitor ? "capacitor" : "forgets")],
  ["Power failed after, s", ({ cut }) => cut.at_s.toFixed(3)],
  ["In the buffer, answered", ({ cut }) => bytes(cut.answered_units * cut.unit_bytes)],
  ["Lost", ({ recovery }) => (recovery ? bytes(recovery.lost_bytes) : "–")],
  ["Programs, erases broken off", ({ cut }) => `${cut.torn_programs}, ${cut.torn_erases}`],
  ["Pages read", ({ recovery }) => (recovery ? count(recovery.pages_read) : "–")],
  ["Recovery", ({ recovery }) => (recovery ? duration(recovery.duration_s) : "–")],
];

export class Power {
  constructor() {
    this.rows = [];
    this.words = h("p", { role: "status" });
    this.table = h("div.scroll", { tabindex: "0", role: "region", "aria-label": "Power cuts until now" });
    this.element = h("section.power", { hidden: true, "aria-label": "Power cuts" }, this.words, this.table);
  }

  /** Another drive is there. */
  begin(watching) {
    this.watching = watching;
    this.words.textContent = "";
    this.draw();
  }

  /** What the server says of a cut or of a recovery. */
  hear(said) {
    if (said.cut) {
      const { title, capacitor } = this.watching;
      this.rows = [{ title, capacitor, cut: said.cut }, ...this.rows].slice(0, ROWS);
      this.words.textContent = `Power is off. ${cutWords(this.rows[0])}`;
    } else if (said.recovery) {
      // After a reload this tab has not heard of the cut.
      if (!this.rows.length || this.rows[0].recovery) return;
      this.rows[0].recovery = said.recovery;
      this.words.textContent = recoveryWords(this.rows[0]);
    }
    this.draw();
  }

  draw() {
    this.element.hidden = !this.rows.length;
    fill(
      this.table,
      h(
        "table",
        h("thead", h("tr", COLUMNS.map(([title]) => h("th", { scope: "col" }, title)))),
        h("tbody", this.rows.map((row) => h("tr", COLUMNS.map(([, of]) => h("td", of(row)))))),
      ),
    );
  }
}
