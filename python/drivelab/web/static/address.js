// What of an address a view doesn't know: it is told, and not passed over.

import { h } from "./dom.js";

const SHOWN_LETTERS = 40;

/** The first part behind the question mark that is none of `keys`, in words; "" if there is none. */
export function unknownPart(params, keys) {
  const unknown = [...params.keys()].find((key) => !keys.includes(key));
  if (unknown === undefined) return "";
  const allowed = keys.length ? keys.join(", ") : "nothing";
  return `"${unknown.slice(0, SHOWN_LETTERS)}" is unknown in the address of this page. Allowed: ${allowed}`;
}

/** A value of the address that isn't possible, in words. */
export function wrongPart(key, value, allowed) {
  return `${key} "${value.slice(0, SHOWN_LETTERS)}" of the address: allowed: ${allowed}`;
}

/** These words as a warning; nothing of none. */
export function warning(words) {
  return words ? h("p.warning", { role: "alert" }, words) : null;
}
