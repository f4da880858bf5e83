// Draws the plots in the colours of style.css, and again when the colour scheme, the width or the medium changes.
"use strict";
(() => {
  const specs = JSON.parse(document.getElementById("specs").textContent);
  const root = document.documentElement;
  const config = { displayModeBar: false, responsive: false, showTips: false };
  const printWidth = 340; // px; half of a printed page

  const resolve = (value, style) => {
    if (typeof value === "string" && /^\$[a-z]+$/.test(value)) {
      return style.getPropertyValue("--" + value.slice(1)).trim();
    }
    if (Array.isArray(value)) return value.map((item) => resolve(item, style));
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolve(item, style)]));
    }
    return value;
  };

  const draw = (width) => {
    const style = getComputedStyle(root);
    const ink = style.getPropertyValue("--soft").trim();
    for (const [id, spec] of Object.entries(specs)) {
      const canvas = document.getElementById(id);
      // What lies in closed details is drawn when they are opened.
      if (!canvas || canvas.closest("details:not([open])")) continue;
      const { data, layout } = resolve(spec, style);
      Plotly.react(canvas, data, {
        dragmode: false,
        showlegend: false,
        ...layout,
        width: width || canvas.clientWidth || 480,
        height: canvas.clientHeight || 200,
        paper_bgcolor: "rgba(0,0,0,0)",
        plot_bgcolor: "rgba(0,0,0,0)",
        font: { family: style.getPropertyValue("--font").trim(), size: 11, color: ink },
        hoverlabel: {
          bgcolor: style.getPropertyValue("--raised").trim(),
          bordercolor: style.getPropertyValue("--axis").trim(),
          font: { color: style.getPropertyValue("--ink").trim(), size: 12 },
        },
      }, config);
    }
  };

  let pending = 0;
  const redraw = () => {
    cancelAnimationFrame(pending);
    pending = requestAnimationFrame(() => draw());
  };
  let closed = [];
  const beforePrint = () => {
    root.classList.add("printing");
    // Many drives' details would be hundreds of pages: of those only what is open is printed.
    closed = "many" in root.dataset ? [] : [...document.querySelectorAll("details:not([open])")];
    closed.forEach((details) => { details.open = true; });
    draw(printWidth);
  };
  const afterPrint = () => {
    root.classList.remove("printing");
    closed.forEach((details) => { details.open = false; });
    draw();
  };

  draw();
  addEventListener("resize", redraw);
  // `toggle` doesn't bubble.
  document.addEventListener("toggle", (event) => { if (event.target.open) redraw(); }, true);
  addEventListener("beforeprint", beforePrint);
  addEventListener("afterprint", afterPrint);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
})();
