// Every table has the name of what stands above it, can be scrolled by keys where it is too wide, and comes as CSV: a
// button below it, made of what the table shows.
"use strict";
(() => {
  const words = (cell) => cell.textContent.replace(/\s+/g, " ").trim();
  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

  // Cells that span rows or columns stand in each of them.
  const grid = (table) => {
    const rows = [];
    [...table.rows].forEach((row, y) => {
      rows[y] = rows[y] || [];
      let x = 0;
      for (const cell of row.cells) {
        while (rows[y][x] !== undefined) x += 1;
        for (let down = 0; down < cell.rowSpan; down += 1) {
          rows[y + down] = rows[y + down] || [];
          for (let right = 0; right < cell.colSpan; right += 1) rows[y + down][x + right] = words(cell);
        }
      }
    });
    return rows;
  };

  const above = (table, tags) => {
    let place = table;
    while (place && !tags.test(place.tagName)) place = place.previousElementSibling || place.parentElement;
    return place ? words(place) : "table";
  };
  const label = (place) => above(place, /^(H[1-6]|SUMMARY)$/);
  const name = (table) =>
    above(table, /^H[1-6]$/).toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");

  const save = (table) => {
    // Programs that open CSV in another encoding are told by the mark.
    const text = "\ufeff" + grid(table).map((row) => row.map(quoted).join(",")).join("\r\n") + "\r\n";
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    link.download = `${name(table)}.csv`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };

  // What can't be scrolled is no place to stop at.
  const wide = new ResizeObserver((places) => {
    for (const { target } of places) {
      const scrolls = target.scrollWidth > target.clientWidth + 1;
      for (const [key, value] of [["tabindex", "0"], ["role", "region"], ["aria-label", target.dataset.label]]) {
        if (scrolls) target.setAttribute(key, value);
        else target.removeAttribute(key);
      }
    }
  });
  for (const place of document.querySelectorAll(".scroll")) {
    place.dataset.label = label(place);
    wide.observe(place);
  }

  for (const table of document.querySelectorAll("table")) {
    if (!table.caption) table.setAttribute("aria-label", label(table));
    const button = document.createElement("button");
    button.type = "button";
    button.className = "csv";
    button.textContent = "CSV";
    button.title = "Save this table as CSV";
    button.addEventListener("click", () => save(table));
    (table.closest(".scroll") || table).after(button);
  }
})();
