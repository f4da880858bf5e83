// What the page asks its server for. The token comes with the address that the server printed, behind
// the #, is kept for this origin alone, and goes with every request as a header.

const KEY = "drivelab.token";
const AGAIN_MS = 1000;
/** The kind of notice that says that there are too many WebSockets. */
const FULL = "full";
/** The code with which a WebSocket is closed for which there is no room, as in web/security.py. */
const TRY_LATER = 1013;

/** Takes the token out of the address. */
export function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!given) return;
  localStorage.setItem(KEY, given);
  history.replaceState(history.state, "", location.pathname + location.search);
}

const token = () => localStorage.getItem(KEY) || "";

/** A request that was refused, or a server that doesn't answer (status 0). */
export class ServerError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/**
 * The answer to GET, or to `method`; `body` is sent as JSON. Throws ServerError.
 *
 * What was asked for by anything but GET is on its way even if the page is left in the same moment.
 */
export async function ask(path, { method = "GET", body, signal } = {}) {
  return (await answer(path, { method, body, signal })).json();
}

/** The same as bytes, to be saved or shown. */
export async function blob(path, options = {}) {
  return (await answer(path, options)).blob();
}

/** Sends a file as it is; the answer. A page that is left meanwhile has not sent it. */
export async function send(path, file) {
  return (await answer(path, { method: "POST", file })).json();
}

async function answer(path, { method = "GET", body, file, signal }) {
  const headers = { "x-drivelab-token": token() };
  if (body !== undefined) headers["content-type"] = "application/json";
  let found;
  try {
    const sent = body === undefined ? file : JSON.stringify(body);
    found = await fetch(path, { method, headers, body: sent, signal, keepalive: method !== "GET" && !file });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    notice("The server doesn't answer. This page goes on when it does.");
    throw new ServerError(0, "the server doesn't answer");
  }
  if (found.ok) {
    notice("");
    return found;
  }
  const reason = await found.json().then(
    (told) => told.error,
    () => found.statusText,
  );
  if (found.status === 401)
    notice(
      "This page has no token for its server, or one of an earlier start: open the address that `drivelab " +
        "web` printed.",
    );
  throw new ServerError(found.status, reason);
}

/** A WebSocket below /socket/: JSON in text, or bytes. One for which there is no room is closed with a reason. */
export function socket(path) {
  const place = new URL(path, location.href);
  place.protocol = "ws:";
  const made = new WebSocket(place, ["drivelab", `token.${token()}`]);
  made.binaryType = "arraybuffer";
  // One for which there is no room is opened, too.
  made.addEventListener("message", () => (notice(""), notice("", FULL)), { once: true });
  return made;
}

/** Why there is no room for a WebSocket, of its event `close`; "" if it closed for anything else. */
export const noRoom = ({ code, reason }) => (code === TRY_LATER ? reason : "");

/**
 * Calls `again` once the server takes this page's token; returns what ends the waiting (`true`: it is waited anew).
 * That there was no room for the WebSocket that `closed` (its event) stands above the page: asking tells the rest.
 */
export function whenBack(again, closed) {
  if (closed) notice(noRoom(closed), FULL);
  let refused = null;
  let timer = setTimeout(attempt, AGAIN_MS);
  async function attempt() {
    const tried = token();
    try {
      // A token that was refused is never right again; another tab may be given the new one, which is this one's too.
      if (tried !== refused) {
        await ask("/api/views");
        if (timer) again();
        return;
      }
    } catch (error) {
      if (error.status === 401) refused = tried;
    }
    if (timer) timer = setTimeout(attempt, AGAIN_MS);
  }
  return (goesOn = false) => {
    if (!goesOn) notice("", FULL);
    clearTimeout(timer);
    timer = null;
  };
}

/** The address whose view couldn't be drawn; "": none. */
let undrawn = "";

/** A view couldn't be drawn: if the server didn't answer, it is when the server does (app.js hears of it). */
export function drawWhenBack(error) {
  if (error.status !== 0) return;
  if (!undrawn)
    whenBack(() => {
      const address = undrawn;
      undrawn = "";
      dispatchEvent(new CustomEvent("server-back", { detail: address }));
    });
  undrawn = location.href;
}

const told = new Map();

/** A line above everything; nothing hides it. Of each kind there is one at a time. */
export function notice(text, kind = "") {
  told.set(kind, text);
  const all = [...told.values()].filter(Boolean).join(" ");
  const line = document.getElementById("notice");
  line.hidden = !all;
  if (line.textContent !== all) line.textContent = all;
}

/** Saves an answer as a file. */
export async function save(path, name) {
  const place = URL.createObjectURL(await blob(path));
  Object.assign(document.createElement("a"), { href: place, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(place), 10_000);
}
