// The index of tests: what is searched for stays.
"use strict";
for (const index of document.querySelectorAll(".index")) {
  const field = index.querySelector("input");
  const rows = [...index.querySelectorAll("li")];
  const apply = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) row.hidden = !words.every((word) => row.dataset.words.includes(word));
    const shown = rows.filter((row) => !row.hidden);
    index.querySelector("output").textContent = words.length ? `${shown.length} of ${rows.length}` : "";
    return shown;
  };
  field.addEventListener("input", apply);
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    const [first] = apply();
    if (first) location.hash = first.querySelector("a").hash;
  });
}
