// Elements are built, never parsed: no text of a model or a result can become markup.

const SVG = "http://www.w3.org/2000/svg";

/** h("button.quiet", {onclick, "aria-label": "..."}, "text", child, [children]); null is nothing. */
export function h(name, ...rest) {
  const [tag, ...classes] = name.split(".");
  return filled(document.createElement(tag || "div"), classes, rest);
}

/** The same for SVG. */
export function s(name, ...rest) {
  const [tag, ...classes] = name.split(".");
  return filled(document.createElementNS(SVG, tag), classes, rest);
}

function filled(element, classes, rest) {
  if (classes.length) element.classList.add(...classes);
  const [first] = rest;
  if (first && typeof first === "object" && !(first instanceof Node) && !Array.isArray(first)) {
    rest.shift();
    for (const [key, value] of Object.entries(first)) set(element, key, value);
  }
  element.append(...rest.flat(Infinity).filter((child) => child != null && child !== false));
  return element;
}

function set(element, key, value) {
  if (value == null || value === false) return;
  if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
  // Custom properties and styles go by the object model, which the content security policy allows.
  else if (key === "style") for (const [name, text] of Object.entries(value)) element.style.setProperty(name, text);
  else if (key in element && typeof value !== "string") element[key] = value;
  else if (key === "value") element.value = value;
  else element.setAttribute(key, value === true ? "" : value);
}

/** Replaces what is in an element. */
export function fill(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return element;
}

/** Tells a screen reader what has changed. */
export function say(text) {
  document.getElementById("said").textContent = text;
}

const sheets = new Map();

/** Loads a style sheet once; resolves when it counts. */
export function sheet(href) {
  if (!sheets.has(href)) {
    sheets.set(
      href,
      new Promise((loaded) => {
        document.head.append(h("link", { rel: "stylesheet", href, onload: loaded, onerror: loaded }));
      }),
    );
  }
  return sheets.get(href);
}

/** A place that scrolls sideways where it has to; then the keyboard reaches it, by this name. */
export function scrolling(name, ...children) {
  const place = h("div.scroll", ...children);
  new ResizeObserver(() => {
    const wide = place.scrollWidth > place.clientWidth + 1;
    for (const [key, value] of Object.entries({ tabindex: "0", role: "region", "aria-label": name })) {
      if (wide) place.setAttribute(key, value);
      else place.removeAttribute(key);
    }
  }).observe(place);
  return place;
}
