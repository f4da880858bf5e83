// The frame around the views: menu, theme, and which view the address names.
//
// A view is a module views/NAME.js with `show(root, page)`, which draws into `root`, an element of its own
// that leaves the page with it, and may return an object with `update(page)`, called with its first address and
// whenever that changes within the view, and `end()`, called before it goes. `page` has `path` (parts behind
// /NAME/), `params` (URLSearchParams) and `go(address, {replace})`. What the server takes long for is asked for in
// `update`: what a reader changes before `show` is done begins the view anew.

import { fill, h, say } from "./dom.js";
import { ask, drawWhenBack, notice, takeToken } from "./server.js";

const root = document.getElementById("view");
const menu = document.getElementById("menu");
let views = [];
let current = { name: null, shown: null };
// What `route` drew last.
let address = null;

/** Goes to an address within the page. */
export function go(to, { replace = false } = {}) {
  if (to === here()) return;
  history[replace ? "replaceState" : "pushState"](null, "", to);
  route();
}

const here = () => location.pathname + location.search;

async function route() {
  address = here();
  const [name, ...path] = location.pathname.split("/").filter(Boolean).map(decodeURIComponent);
  const named = views.find((item) => item.name === (name || views[0].name));
  const view = path.length <= named?.path_parts_max ? named : undefined;
  const page = { path, params: new URLSearchParams(location.search), go };
  for (const link of menu.children) {
    if (link.dataset.name === view?.name) {
      link.setAttribute("aria-current", "page");
      // On a phone the menu is wider than the window.
      const [seen, own] = [menu, link].map((item) => item.getBoundingClientRect());
      menu.scrollLeft += Math.max(0, own.right - seen.right) - Math.max(0, seen.left - own.left);
    } else link.removeAttribute("aria-current");
  }
  if (view && current.name === view.name && current.shown?.update) {
    current.shown.update(page);
    return;
  }
  current.shown?.end?.();
  const mine = (current = { name: view?.name ?? null, shown: null });
  if (!view) {
    document.title = "No such page · drivelab";
    fill(root, h("h1", "There is no such page"));
    return;
  }
  document.title = `${view.title} · drivelab`;
  root.dataset.view = view.name;
  const first = address;
  // What a view that was left draws late, it draws into an element that nobody sees.
  const place = h("div");
  try {
    const module = await import(`/static/views/${view.name}.js`);
    if (mine !== current) return;
    fill(root, place);
    mine.shown = (await module.show(place, page)) ?? null;
    if (mine === current) await mine.shown?.update?.(page);
    else mine.shown?.end?.();
  } catch (error) {
    // What fails of an address that was left is nothing against the one that is shown.
    if (mine !== current || (mine.shown && address !== first)) return;
    // A view that isn't there can't be updated: the next address of it begins anew.
    mine.shown?.end?.();
    current = { name: null, shown: null };
    fill(root, failed(view, error));
    drawWhenBack(error);
    return;
  }
  if (mine === current) say(view.title);
}

function failed(view, error) {
  // A module that couldn't be loaded is asked for again only by a page that is loaded anew.
  const again = h("button", { type: "button", onclick: () => location.reload() }, "Try again");
  return [h("h1", view.title), h("p.warning", { role: "alert" }, `This can't be shown: ${error.message}.`), again];
}

function followLinks(event) {
  const link = event.target.closest?.("a[href]");
  if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (link.origin !== location.origin || link.target || link.hasAttribute("download")) return;
  const skips = link.classList.contains("skip");
  if (!skips && link.getAttribute("href").startsWith("#")) return;
  event.preventDefault();
  // By itself a browser moves the focus to a place of the page with its next frame, after a Tab that comes before.
  if (!skips) go(link.pathname + link.search);
  root.focus({ preventScroll: true });
  scrollTo(0, 0);
}

function themes() {
  const button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (document.documentElement.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
  const draw = () => {
    button.textContent = dark() ? "Light" : "Dark";
    button.setAttribute("aria-label", dark() ? "Use the light theme" : "Use the dark theme");
    dispatchEvent(new CustomEvent("theme"));
  };
  button.addEventListener("click", () => {
    const next = dark() ? "light" : "dark";
    localStorage.setItem("drivelab.theme", next);
    document.documentElement.dataset.theme = next;
    draw();
  });
  system.addEventListener("change", draw);
  draw();
}

async function start() {
  takeToken();
  themes();
  document.addEventListener("click", followLinks);
  // Also sent where only the part behind # changed: what is drawn stays, and what of it has the focus.
  addEventListener("popstate", () => {
    if (here() !== address) route();
  });
  try {
    views = await ask("/api/views");
  } catch (error) {
    // Without a token only another address helps.
    if (error.status !== 401) setTimeout(start.again, 2000);
    return;
  }
  fill(
    menu,
    views.map((view) => h("a", { href: `/${view.name}`, "data-name": view.name }, view.title)),
  );
  await route();
}
start.again = async () => {
  try {
    await ask("/api/views");
    location.reload();
  } catch {
    setTimeout(start.again, 2000);
  }
};
// What a click asked for and nobody caught; of these two states the notice has more to say.
addEventListener("unhandledrejection", ({ reason }) => {
  if (reason?.status !== 0 && reason?.status !== 401) notice(reason?.message ?? String(reason));
});
addEventListener("hashchange", () => {
  if (location.hash.includes("token=")) {
    takeToken();
    location.reload();
  }
});
// What couldn't be drawn is drawn anew, if it is still what is shown.
addEventListener("server-back", ({ detail }) => {
  if (!views.length || detail !== location.href) return;
  current.shown?.end?.();
  current = { name: null, shown: null };
  route();
});
start();
