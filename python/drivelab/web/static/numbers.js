// Numbers as they are read: three digits, thousands apart, units behind a narrow blank.

const NBSP = "\u00a0";
const digits = (count) => new Intl.NumberFormat("en", { maximumSignificantDigits: count });
const three = digits(3);
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** 0.0123, 12.3, 12,345: three digits, and all of the whole part. */
export function number(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "—";
  return Math.abs(value) >= 1000 ? whole.format(value) : three.format(value);
}

/** 12k, 3.4M: for axes. */
export function compact(value) {
  const size = Math.abs(value);
  if (size >= 1e6) return `${three.format(value / 1e6)}M`;
  if (size >= 1e4) return `${three.format(value / 1e3)}k`;
  return three.format(value);
}

/** A number with its unit; times are us, and told in what reads best. */
export function withUnit(value, unit) {
  if (unit === "us" || unit === "µs") return time(value);
  return unit ? `${number(value)}${NBSP}${unit}` : number(value);
}

/** Microseconds in ns, µs, ms or s. */
export function time(us) {
  if (us === null || us === undefined) return "—";
  const [scale, unit] = us < 1 && us > 0 ? [1e3, "ns"] : us < 1e3 ? [1, "µs"] : us < 1e6 ? [1e-3, "ms"] : [1e-6, "s"];
  return `${three.format(us * scale)}${NBSP}${unit}`;
}

/** Bytes in B, kB, MB, GB or TB. */
export function bytes(count) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let at = 0;
  for (; count >= 1000 && at < units.length - 1; at++) count /= 1000;
  return `${!at || count >= 100 ? count.toFixed(0) : count.toFixed(1)} ${units[at]}`;
}

/** A span of the reader's own time: "about 3 min". */
export function span(seconds) {
  if (seconds < 1.5) return "about a second";
  if (seconds < 90) return `about ${Math.round(seconds)}${NBSP}s`;
  if (seconds < 5400) return `about ${Math.round(seconds / 60)}${NBSP}min`;
  return `about ${three.format(seconds / 3600)}${NBSP}h`;
}

/** "1 test", "3 tests". */
export function counted(count, noun) {
  return `${whole.format(count)} ${noun}${count === 1 ? "" : "s"}`;
}
