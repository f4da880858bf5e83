// Measurements that pages started: a list that every view may show, live over a WebSocket.

import { fill, h, say } from "./dom.js";
import { span } from "./numbers.js";
import { ask, socket, whenBack } from "./server.js";

const REST_MS = 5000;
const listeners = new Set();
let jobs = null;
let line = null;
let stopWaiting = () => {};

/** Calls `heard(jobs)` now and with every change; returns what ends that. */
export function follow(heard) {
  listeners.add(heard);
  if (jobs) heard(jobs);
  connect();
  return () => {
    listeners.delete(heard);
    // The next view may want it, and one that isn't open yet can't be closed without a complaint.
    setTimeout(rest, REST_MS);
  };
}

function rest() {
  if (listeners.size) return;
  stopWaiting();
  if (line?.readyState !== WebSocket.OPEN) return;
  const ended = line;
  line = null;
  ended.close();
}

function connect() {
  if (line || !listeners.size) return;
  const mine = (line = socket("/socket/jobs"));
  mine.addEventListener("message", (event) => {
    jobs = JSON.parse(event.data);
    for (const heard of listeners) heard(jobs);
  });
  mine.addEventListener("close", (closed) => {
    if (line !== mine) return;
    line = null;
    stopWaiting(true);
    stopWaiting = whenBack(connect, closed);
  });
}

/** Queues a measurement; the order is that of web/order.py. */
export async function measure(order) {
  const job = await ask("/api/jobs", { method: "POST", body: order });
  say(`Queued: ${job.title}`);
  return job;
}

/** Queues several, all of them or none: nobody who leaves the page now has half of them. */
export async function measureTogether(orders) {
  const queued = await ask("/api/jobs/together", { method: "POST", body: orders });
  say(`Queued: ${queued.map((job) => job.title).join("; ")}`);
  return queued;
}

export async function cancel(job) {
  await ask(`/api/jobs/${job.id}`, { method: "DELETE" });
  say(`Cancelled: ${job.title}`);
}

/** Whether somebody should read how a job ended: it failed, or some of its tests did. */
const isTold = (job) => job.state === "failed" || (job.state === "done" && job.error !== "");

/** Draws the jobs that wait or run, and those of which something failed, into `host`; returns what ends that. */
export function list(host) {
  const rows = new Map();
  const place = fill(host, h("ul.jobs", { "aria-label": "Measurements" })).firstChild;
  const seen = new Set();
  const drop = (id) => {
    rows.get(id)?.remove();
    rows.delete(id);
  };
  return follow((all) => {
    const first = seen.size === 0 && !rows.size;
    // A server that was started again knows nothing of the jobs before.
    const known = new Set(all.map((job) => job.id));
    for (const id of [...rows.keys()].filter((id) => !known.has(id))) drop(id);
    for (const job of all) {
      const open = job.state === "waiting" || job.state === "running";
      // What ended before this page looked is history.
      if (first && !open) seen.add(job.id);
      if (seen.has(job.id) || (!isTold(job) && !open)) {
        drop(job.id);
        continue;
      }
      if (!rows.has(job.id)) {
        rows.set(
          job.id,
          row(job, () => seen.add(job.id)),
        );
        place.append(rows.get(job.id));
      }
      update(rows.get(job.id), job, () => {
        seen.add(job.id);
        drop(job.id);
      });
    }
    host.hidden = !rows.size;
  });
}

function row(job) {
  return h(
    "li",
    { "data-job": job.id },
    h("span.what", { title: job.command_line }, job.title),
    h("progress", { max: 1, value: 0, "aria-label": job.title }),
    h("span.how"),
    h("button", { type: "button" }),
  );
}

function update(place, job, dismiss) {
  const [, bar, how, button] = place.children;
  place.dataset.state = job.state;
  bar.hidden = isTold(job);
  bar.value = job.share;
  const left = job.left_s === null ? "" : `, ${span(job.left_s)} left`;
  how.textContent =
    {
      waiting: "waiting",
      running: job.share ? `${Math.floor(job.share * 100)} %${left}` : "preparing",
      failed: `failed: ${job.error}`,
      done: `done; without a result: ${job.error}`,
    }[job.state] ?? job.state;
  how.title = job.doing.join(", ");
  button.textContent = isTold(job) ? "Dismiss" : "Cancel";
  button.setAttribute("aria-label", `${button.textContent}: ${job.title}`);
  button.onclick = () => (isTold(job) ? dismiss() : cancel(job));
}
