// Rankings of many drives: which rows and bars are shown, and in which order.
"use strict";
(() => {
  const form = document.querySelector("form.filter");
  const charts = [...document.querySelectorAll("details.ranking")];
  const ranks = new Map();
  charts.forEach((chart) => [...chart.querySelectorAll("li")].forEach((row, index) => ranks.set(row, index)));
  const orders = {
    result: (a, b) => ranks.get(a) - ranks.get(b),
    family: (a, b) => a.dataset.place - b.dataset.place || ranks.get(a) - ranks.get(b),
    name: (a, b) => a.dataset.name.localeCompare(b.dataset.name),
  };
  const checked = (name) => new Set([...form.querySelectorAll(`input[name=${name}]:checked`)].map((box) => box.value));

  const apply = () => {
    const families = checked("family");
    const states = checked("state");
    const words = form.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const order = orders[form.order.value];
    const named = new Set();
    for (const chart of charts) {
      const list = chart.querySelector("ol");
      const rows = [...list.children].sort(order);
      for (const row of rows) {
        const lanes = [...row.querySelectorAll(".track")];
        for (const lane of lanes) {
          const state = lane.dataset.state;
          lane.hidden = state.startsWith("published") ? !states.has("published") : state !== "" && !states.has(state);
        }
        const family = row.dataset.family;
        const wanted = family === "published" ? states.has("published") : families.has(family);
        row.hidden = !wanted || !words.every((word) => row.dataset.name.includes(word)) || lanes.every((lane) => lane.hidden);
        if (!row.hidden) named.add(row.dataset.name);
      }
      list.append(...rows);
    }
    form.querySelector("output").textContent = `${named.size} drives shown`;
  };

  const openDrive = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (target instanceof HTMLDetailsElement) target.open = true;
  };

  form.hidden = false;
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.open.addEventListener("click", () => charts.forEach((chart) => { chart.open = true; }));
  form.close.addEventListener("click", () => charts.forEach((chart) => { chart.open = false; }));
  addEventListener("hashchange", openDrive);
  openDrive();
  apply();
})();
