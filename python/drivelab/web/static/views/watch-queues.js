// Submission queues of a watched drive: what waits in each of them, and how much of its room the controller has filled.

import { fill, h } from "../dom.js";

const SAMPLE_MS = 150;

export class Queues {
  constructor() {
    this.element = h("section.queues", { "aria-label": "Queues", hidden: true });
  }

  /** Another drive is there; one with a single line of commands has nothing to show here. */
  begin({ queues, room }) {
    this.room = room;
    this.element.hidden = !(queues > 1);
    this.rows = [];
    this.used = 0;
    this.inside = bar("In the controller", room);
    this.list = h("ol");
    const about = h("small.soft", `${queues} submission queues; those that the workload uses`);
    fill(this.element, h("h2", "Queues"), this.inside.element, this.list, about);
  }

  take({ queues }) {
    const now = performance.now();
    if (!queues || now - (this.at ?? 0) < SAMPLE_MS) return;
    this.at = now;
    this.inside.set(queues.inside);
    // Queues are numbered as the jobs are: the last that held a command is the last that is drawn.
    this.used = Math.max(this.used, queues.waiting.findLastIndex((count) => count > 0) + 1);
    this.most = Math.max(this.most ?? 1, ...queues.waiting);
    while (this.rows.length < this.used) {
      this.rows.push(bar(`Queue ${this.rows.length + 1}`));
      this.list.append(h("li", this.rows.at(-1).element));
    }
    this.rows.forEach((row, i) => row.set(queues.waiting[i], this.most));
  }

  /** Another workload: other queues. */
  clear() {
    this.rows = [];
    this.used = 0;
    this.most = 1;
    fill(this.list);
  }
}

function bar(title, room = null) {
  const filled = h("i", { "aria-hidden": "true" });
  const count = h("b", "0");
  return {
    element: h(
      "div.queue",
      h("span", title),
      h("span.way", filled),
      h("span.count", count, room ? ` of ${room}` : " waiting"),
    ),
    set(value, most = room) {
      count.textContent = String(value);
      filled.style.setProperty("width", `${Math.min(100, (100 * value) / most)}%`);
    },
  };
}
