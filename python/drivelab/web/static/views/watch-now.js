// What a watched drive does: a line of the same span of time as its dials, with what makes the flash program more than
// the host writes, or less (web/watch_causes.py).

import { h } from "../dom.js";
import { number, programmed, time } from "./watch-plots.js";

const MIB = 2 ** 20;
/** Causes of less than this share of what is written, or programmed, are not worth a word. */
const LEAST = 0.02;

const MORE = {
  completing: (span, { unit_bytes }) =>
    `, as a write of ${size(span.host_write_bytes / span.host_write_commands)} changes only a part of a map unit of ` +
    size(unit_bytes) +
    (span.units_completed ? ` (${span.units_completed.toLocaleString("en")} were read first)` : ""),
  merging: ({ merges }) => ` to write superblocks anew, row by row${merges ? ` (${some(merges, "merge")})` : ""}`,
  cleaning: (span) => ` to move valid pages out of the way (${some(span.erases, "block")} erased, ${free(span)})`,
  folding: () => " to fold the cache: from one bit a cell into native blocks",
  wear: () => " to even out wear",
  map: () => " for the map",
  parity: () => " for parity",
  padding: () => " left empty, in pages that were programmed before they were full",
  compression: () => ", as data takes whole granules",
  pages: () => " in pages with the host's data",
  buffer: () => " from the write buffer, where it had waited",
};
const LESS = {
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
  if (!said.is_on) return "the power is off.";
  if (!span?.since_s) return said.paused ? "the drive stands still." : "";
  const length = span.since_s < 120 ? time(1e6 * span.since_s) : clock(span.since_s);
  const work = span.host_write_bytes ? written(span, layout) : unwritten(span, said, layout);
  return `${said.paused ? "the drive stands still. In its" : "in the"} last ${length} ${work}`;
}

/** The host wrote. */
function written(span, layout) {
  const [host, flash] = [span.host_write_bytes, programmed(span)];
  const reasons = causes(span, layout, host, (share) => number(share), Math.max(host, flash));
  const amount = `the host wrote ${rate(span, host)}, the flash programmed ${rate(span, flash)}, `;
  const cells = span.slc_bytes
    ? ` Of the host's data ${Math.round((100 * span.slc_bytes) / span.program_bytes.host)} % went into the cache.`
    : "";
  if (reasons.length)
    return `${amount}${number(flash / host)} times as much. For each byte of the host ${reasons.join("; ")}.${cells}`;
  const moved = ["cleaning", "merging", "folding", "wear"].some((name) => span.causes[name] > 0);
  const inOrder = span.switches ? `${some(span.switches, "superblock")} filled in order, ` : "";
  const nothing = `${inOrder}${moved ? "hardly anything" : "nothing"} had to be moved, ${free(span)}`;
  return `${amount}about as much: ${nothing}.${cells}`;
}

/** The host wrote nothing. */
function unwritten(span, said, layout) {
  const flash = programmed(span);
  const reasons = causes(span, layout, MIB * span.since_s, (share) => `${number(share)} MiB/s`, flash);
  const own = reasons.length ? `The flash programmed ${rate(span, flash)}: ${reasons.join("; ")}.` : "";
  const nothing = span.erases ? `${some(span.erases, "block")} erased.` : "Nothing was programmed.";
  if (span.host_read_bytes) {
    const each = span.latency.ios ? `, on average ${time(span.latency.mean_us)} each` : "";
    return `the host only read: ${rate(span, span.host_read_bytes)}${each}. ${own || nothing}`;
  }
  // A drive may take longer for a command than this.
  const asked = said.inside === undefined ? said.workload !== "idle" : said.inside > 0;
  if (asked) return `no command of the host got on. ${own || nothing}`;
  return `nobody asked for anything. ${own || (span.erases ? nothing : "The drive had nothing to do.")}`;
}

/** The largest causes in words, each as a share of `whole`; `all` is what small ones are measured by. */
function causes(span, layout, whole, text, all) {
  const found = Object.entries(span.causes).sort(([, a], [, b]) => Math.abs(b) - Math.abs(a));
  const differs = Math.abs(programmed(span) - span.host_write_bytes) >= LEAST * span.host_write_bytes;
  return found
    .filter(([, bytes], i) => Math.abs(bytes) >= LEAST * all || (differs && i === 0))
    .map(([name, bytes]) =>
      bytes > 0
        ? `${text(bytes / whole)}${span.host_write_bytes ? " more" : ""}${MORE[name](span, layout)}`
        : `${text(-bytes / whole)} less, ${LESS[name](span, layout)}`,
    );
}

const rate = (span, count) => `${number(count / MIB / span.since_s)} MiB/s`;
const some = (count, one) => `${count.toLocaleString("en")} ${one}${count === 1 ? "" : "s"}`;
const free = (span) => `${span.free_blocks.toLocaleString("en")} free`;
const size = (count) => (count < 1024 ? `${Math.round(count)} B` : `${Number((count / 1024).toPrecision(3))} KiB`);

/** The drive's clock. */
export function clock(seconds) {
  if (seconds < 120) return `${seconds.toFixed(seconds < 10 ? 3 : 1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
