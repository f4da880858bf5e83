// What a watched drive does: a line of the same span of time as its dials, with what makes the flash program more than
// the host writes, or less (web/watch_causes.py).

import { h } from "../dom.js";
import { number, programmed, time } from "./watch-plots.js";

const MIB = 2 ** 20;
/** Causes of less than this share of what is written, or programmed, are not worth a word. */
const LEAST = 0.02;

const MORE = {
  completing: (span, { unit_bytes }) =>
    `, as ${oneWrite(span)} changes only a part of a map unit of ${size(unit_bytes)}` +
    (span.units_completed ? ` (${many(span.units_completed)} were read first)` : ""),
  merging: ({ merges }) => ` to write superblocks anew, row by row${merges ? ` (${some(merges, "merge")})` : ""}`,
  cleaning: ({ erases, free_blocks }) =>
    ` to move valid pages out of the way (${some(erases, "block")} erased, ${many(free_blocks)} free)`,
  folding: () => " to fold the cache: from one bit a cell into native blocks",
  wear: () => " to even out wear",
  map: () => " for the map",
  parity: () => " for parity",
  log: () => " for the log of the map",
  padding: () => " left empty, in pages that were programmed before they were full",
  compression: () => ", as data takes whole granules",
  pages: () => " in pages with the host's data",
  buffer: () => " from the write buffer, where it had waited",
};
const LESS = {
  trimmed: () => "trimmed in the write buffer before it was programmed",
  overwritten: () => "replaced in the write buffer before it was programmed",
  compression: () => "saved by compression",
  pages: () => "which has not reached the flash",
  buffer: () => "which waits in the write buffer",
};

/** What happens now: `span` is what the dials show, `said` the last frame. */
export function nowWords(span, said, layout) {
  const words = [h("b", `${clock(said.now_s)}: `), state(span, said, layout)];
  // Of a served drive clients are others: what they have under way is said.
  if (said.inside !== undefined)
    words.push(` ${said.inside} ${said.inside === 1 ? "command is" : "commands are"} under way.`);
  return words;
}

function state(span, said, layout) {
  if (!span?.since_s) return !said.is_on ? "the power is off." : said.paused ? "the drive stands still." : "";
  const length = span.since_s < 120 ? time(1e6 * span.since_s) : clock(span.since_s);
  if (!said.is_on) return `the power is off. The dials are of the last ${length} before.`;
  const work = span.host_write_bytes ? written(span, layout) : unwritten(span, said, layout);
  return `${said.paused ? "the drive stands still. In its" : "in the"} last ${length} ${work}`;
}

/** The host wrote. */
function written(span, layout) {
  const [host, flash] = [span.host_write_bytes, programmed(span)];
  const amount = `the host wrote ${rate(span, host)}, the flash programmed ${rate(span, flash)}, `;
  const cells = span.slc_bytes
    ? ` Of the host's data ${Math.round((100 * span.slc_bytes) / span.program_bytes.host)} % went into the cache.`
    : "";
  const reasons = causes(span).map(([name, bytes]) =>
    bytes > 0
      ? `${number(bytes / host)} more${MORE[name](span, layout)}`
      : `${number(-bytes / host)} less, ${LESS[name](span)}`,
  );
  if (reasons.length)
    return `${amount}${number(flash / host)} times as much. For each byte of the host ${reasons.join("; ")}.${cells}`;
  const moved = ["cleaning", "merging", "folding", "wear"].some((name) => span.causes[name] > 0);
  const inOrder = span.switches ? `${some(span.switches, "superblock")} filled in order, ` : "";
  const few = moved ? "hardly anything" : "nothing";
  return `${amount}about as much: ${inOrder}${few} had to be moved, ${some(span.free_blocks, "block")} free.${cells}`;
}

/** The host wrote nothing. */
function unwritten(span, said, layout) {
  const own = ownWords(span, layout);
  const nothing = span.erases ? `${some(span.erases, "block")} erased.` : "Nothing was programmed.";
  if (span.host_read_bytes) {
    const each = span.latency.ios ? `, on average ${time(span.latency.mean_us)} each` : "";
    return `the host only read: ${rate(span, span.host_read_bytes)}${each}. ${own || nothing}`;
  }
  if (span.host_trim_bytes) return `the host only trimmed: ${rate(span, span.host_trim_bytes)}. ${own || nothing}`;
  const flushes = span.host_flush_commands;
  if (flushes) return `the host only flushed: ${some(flushes, "time")}. ${own || nothing}`;
  // A drive may take longer for a command than this.
  const asked = said.inside === undefined ? said.workload !== "idle" : said.inside > 0;
  if (asked) return `no command of the host got on. ${own || nothing}`;
  return `nobody asked for anything. ${own || (span.erases ? nothing : "The drive had nothing to do.")}`;
}

/** What the flash programmed, with all of it for the drive itself. */
function ownWords(span, layout) {
  const flash = programmed(span);
  if (!flash) return "";
  const reasons = causes(span).filter(([, bytes]) => bytes > 0);
  const words = reasons.map(([name, bytes]) => [rate(span, bytes), MORE[name](span, layout)]);
  const list = words.length === 1 ? words[0][1] : `: ${words.map((pair) => pair.join("")).join("; ")}`;
  return `The flash programmed ${rate(span, flash)}${list}.`;
}

/** The causes that are worth a word, with their bytes: the largest first. */
function causes(span) {
  const [host, flash] = [span.host_write_bytes, programmed(span)];
  const differs = Math.abs(flash - host) >= LEAST * host;
  return Object.entries(span.causes)
    .sort(([, a], [, b]) => Math.abs(b) - Math.abs(a))
    .filter(([, bytes], i) => Math.abs(bytes) >= LEAST * Math.max(host, flash) || (differs && i === 0));
}

const rate = (span, count) => `${number(count / MIB / span.since_s)} MiB/s`;
const many = (count) => count.toLocaleString("en");
const some = (count, one) => `${many(count)} ${one}${count === 1 ? "" : "s"}`;
const size = (count) => (count < 1024 ? `${Math.round(count)} B` : `${Number((count / 1024).toPrecision(3))} KiB`);
/** A write of the span; of what was written before it nobody knows the size. */
const oneWrite = ({ host_write_bytes: bytes, host_write_commands: commands }) =>
  bytes && commands ? `a write of ${size(bytes / commands)}` : "a small write";

/** The drive's clock. */
export function clock(seconds) {
  if (seconds < 120) return `${seconds.toFixed(seconds < 10 ? 3 : 1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
