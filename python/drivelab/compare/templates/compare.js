// Links plots that share layout.meta.link: one zoom along the x axis, one pointer.
"use strict";
(() => {
  const specs = JSON.parse(document.getElementById("specs").textContent);
  const groups = new Map();
  for (const [id, spec] of Object.entries(specs)) {
    const name = spec.layout && spec.layout.meta && spec.layout.meta.link;
    const canvas = document.getElementById(id);
    if (!name || !canvas) continue;
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(canvas);
  }
  let busy = false; // what follows a plot doesn't lead in turn

  const others = (group, canvas) => group.filter((other) => other !== canvas && other.layout);
  const zoom = (group, canvas, event) => {
    if (busy) return;
    let range = null;
    if ("xaxis.range[0]" in event) range = [event["xaxis.range[0]"], event["xaxis.range[1]"]];
    else if (event["xaxis.range"]) range = event["xaxis.range"];
    else if (!event["xaxis.autorange"]) return;
    busy = true;
    const change = range ? { "xaxis.range": range } : { "xaxis.autorange": true };
    Promise.all(others(group, canvas).map((other) => Plotly.relayout(other, change)))
      .finally(() => { busy = false; });
  };
  const nearest = (trace, x) => {
    let best = -1;
    for (let i = 0; i < trace.x.length; i += 1) {
      if (best < 0 || Math.abs(trace.x[i] - x) < Math.abs(trace.x[best] - x)) best = i;
    }
    return best;
  };
  const point = (group, canvas, event) => {
    if (busy || !event.points.length) return;
    busy = true;
    const x = event.points[0].x;
    for (const other of others(group, canvas)) {
      const at = other.data
        .map((trace, curveNumber) => ({ curveNumber, pointNumber: nearest(trace, x) }))
        .filter((item) => item.pointNumber >= 0);
      // A plot that is out of sight isn't worth the work.
      const box = other.getBoundingClientRect();
      if (at.length && box.bottom > 0 && box.top < innerHeight) Plotly.Fx.hover(other, at);
    }
    busy = false;
  };

  const attach = () => {
    for (const group of groups.values()) {
      for (const canvas of group) {
        // What lies in closed details isn't drawn yet.
        if (!canvas.on || "linked" in canvas.dataset) continue;
        canvas.dataset.linked = "";
        canvas.on("plotly_relayout", (event) => zoom(group, canvas, event));
        canvas.on("plotly_hover", (event) => point(group, canvas, event));
        canvas.on("plotly_unhover", () => {
          if (!busy) others(group, canvas).forEach((other) => Plotly.Fx.unhover(other));
        });
      }
    }
  };
  attach();
  // They are drawn a frame after they open, on a slow machine later.
  document.addEventListener("toggle", () => [100, 500, 2000].forEach((ms) => setTimeout(attach, ms)), true);
})();
