// A comparison, drawn. Every number, text and verdict comes from the server.

import { h, scrolling } from "../../dom.js";
import { counted } from "../../numbers.js";
import { blob } from "../../server.js";

const ARROWS = { higher: "↑ more is better", lower: "↓ less is better" };

/** A state; of sides that were in several ("new / used") in the colour of the first. */
const stateMark = (state) => h(`span.state.st-${state.split(" ")[0]}`, state);

export function refusal(text, force) {
  const isForced = (line) => line.startsWith("--force");
  const all = text.split("\n");
  const [first, ...lines] = all.filter((line) => !isForced(line));
  return h(
    "div.card.refusal",
    { role: "alert" },
    h("h2", "These results can't be compared"),
    h(
      "ul",
      lines.map((line) => h("li", line.replace(/^\s*- /, ""))),
    ),
    lines.length ? null : h("p", first),
    all.some(isForced) ? h("button", { type: "button", onclick: force }, "Compare all the same") : null,
  );
}

export function banner({ problems, forced }) {
  if (!problems.length) return null;
  return h(
    "aside.problems",
    { "aria-label": "What to know before comparing" },
    h(
      "ul",
      problems.map((problem) =>
        h(
          problem.refused ? "li.refused" : "li",
          problem.refused && h("b", forced ? "Compared by force. " : "Left out. "),
          problem.sentence,
        ),
      ),
    ),
  );
}

/** What results say of their measurement. */
export const notes = ({ notes: told }) =>
  h("ul", told.map(({ text, whose }) => h("li", text, h("small.soft", ` (${whose})`))));

export function contents(sections) {
  return h(
    "nav.contents",
    { "aria-label": "Sections" },
    sections.map((section) => h("a", { href: `#${section.id}` }, section.firstChild.textContent)),
  );
}

export function findings({ findings: found }) {
  if (!found.length) return h("p", "The drives don't differ in any test.");
  return h(
    "ul.findings",
    found.map((item) => h("li", h("b", item.figure), h("div", h("p", item.sentence), h("small", item.detail)))),
  );
}

export function overview({ overview: rows, sides }) {
  const SHOWN = 14;
  const list = h(
    "ul.overview",
    rows.map((row, index) =>
      h(
        "li",
        { hidden: index >= SHOWN },
        h("span.name", row.title, " ", h("small", `${row.state}, ${row.what}`)),
        h(
          "span.lanes",
          row.marks.map((mark) =>
            h(
              `span.lane.c-${mark.colour}${mark.at < 0 ? ".left" : ""}`,
              { style: { "--at": Math.abs(mark.at).toFixed(4) } },
              h("span.bar"),
              h("span.value", mark.text, h("span.away", ` ${mark.label}`)),
            ),
          ),
        ),
      ),
    ),
  );
  return [
    h(
      "p.soft",
      `Against ${sides[0].letter} ${sides[0].label}, on a logarithmic scale: to the right is better, to the ` +
        "left worse.",
    ),
    list,
    more(list, rows.length - SHOWN, "differences"),
  ];
}

function more(list, count, what) {
  if (count <= 0) return null;
  const button = h("button.more", { type: "button" }, `Show ${count} more ${what}`);
  button.addEventListener("click", () => {
    for (const item of list.children) item.hidden = false;
    button.remove();
  });
  return button;
}

/** By group of tests: a card for each test and state, its headline as bars. */
export function bars({ tests, sides }) {
  const groups = [...new Set(tests.map((test) => test.group))];
  return [
    legend(sides),
    ...groups.map((group) => [
      h("h3.group", group),
      h(
        "div.cards",
        tests.filter((test) => test.group === group && test.headline !== null).map((test) => card(test, sides)),
      ),
    ]),
  ];
}

export function legend(sides) {
  return h(
    "p.key",
    sides.map((side) => h("span", h(`b.letter.c-${side.colour}`, side.letter), side.label)),
  );
}

function card(test, sides) {
  const metric = test.metrics[test.headline];
  const kinds = [false, true].map((disk) => sides.filter((side) => side.disk === disk)).filter((of) => of.length);
  return h(
    "article.test",
    h("header", h("h4", test.title), stateMark(test.state)),
    h(
      "p.metric",
      metric.title,
      metric.unit && metric.unit !== "us" ? `, ${metric.unit}` : "",
      h("small", ARROWS[metric.better] ?? ""),
    ),
    kinds.map((of, index) => [
      kinds.length > 1 ? h("p.kind", index ? "Hard disks" : "Flash drives") : null,
      track(metric, of, sides),
    ]),
    h("details", h("summary", "All numbers"), numbers(test, sides)),
  );
}

/** Bars of one kind of drive; the longest of its values and published figures is full. */
function track(metric, of, sides) {
  const spread = (index) => metric.plus_minus?.[index] ?? 0;
  const ends = of.flatMap(({ letter }) => {
    const index = sides.findIndex((side) => side.letter === letter);
    return [
      (metric.values[index] ?? 0) + spread(index),
      ...metric.published.filter((item) => item.side === index).map((item) => item.value),
    ];
  });
  const longest = Math.max(...ends, 0) || 1;
  return h(
    "ul.bars",
    of.map((side) => {
      const index = sides.indexOf(side);
      const value = metric.values[index];
      const delta = index ? metric.deltas[index - 1] : null;
      const figures = metric.published.filter((item) => item.side === index);
      return h(
        `li.c-${side.colour}`,
        h("b.letter", { title: side.label }, side.letter),
        h(
          "span.track",
          value === null ? null : h("span.fill", { style: { "--share": Math.max(0, value / longest).toFixed(4) } }),
          spread(index)
            ? h("span.interval", {
                style: {
                  "--from": ((value - spread(index)) / longest).toFixed(4),
                  "--to": ((value + spread(index)) / longest).toFixed(4),
                },
              })
            : null,
          figures.map((item) =>
            h(
              "span.mark",
              {
                style: { "--share": (item.value / longest).toFixed(4) },
                title: `published: ${item.text} [${item.id}]`,
              },
              h("span.away", `published ${item.text}`),
            ),
          ),
        ),
        h("span.value", metric.texts[index]),
        h(`span.delta${delta?.mood ? `.${delta.mood}` : ""}`, delta?.text ?? ""),
        figures.length
          ? h("small.published", `published ${figures.map((item) => `${item.text} [${item.id}]`).join(", ")}`)
          : null,
      );
    }),
  );
}

function numbers(test, sides) {
  return scrolling(
    `Numbers of ${test.title}, ${test.state}`,
    h(
      "table",
      h(
        "thead",
        h(
          "tr",
          h("th", { scope: "col" }, "Metric"),
          sides.map((side) => h("th.n", { scope: "col" }, side.letter)),
          sides.slice(1).map((side) => h("th.n", { scope: "col" }, `${side.letter} to A`)),
        ),
      ),
      h(
        "tbody",
        test.metrics.map((metric) =>
          h(
            "tr",
            h("th", { scope: "row" }, metric.title, " ", h("small", metric.better ? ARROWS[metric.better][0] : "")),
            metric.texts.map((text) => h("td.n", text)),
            metric.deltas.map((delta) => h(`td.n${delta.mood ? `.${delta.mood}` : ""}`, delta.text)),
          ),
        ),
      ),
    ),
  );
}

/** Charts of compound tests, drawn by the server as pictures, when they come into sight. */
export function pictures(tests, comparison, key, drawn) {
  const theme = () => (getComputedStyle(document.documentElement).colorScheme === "dark" ? "dark" : "light");
  const places = [];
  let gone = false;
  const load = async (image) => {
    image.dataset.theme = theme();
    const picture = await blob(`/api/compare/chart.svg?${key}&id=${image.dataset.chart}&theme=${theme()}`);
    if (gone) return;
    URL.revokeObjectURL(image.src);
    image.src = URL.createObjectURL(picture);
  };
  const watcher = new IntersectionObserver(
    (seen) => {
      for (const item of seen) if (item.isIntersecting && item.target.dataset.theme !== theme()) load(item.target);
    },
    { rootMargin: "400px" },
  );
  const again = () =>
    places.forEach((image) => {
      watcher.unobserve(image);
      watcher.observe(image);
    });
  addEventListener("theme", again);
  drawn.push({
    end: () => {
      gone = true;
      watcher.disconnect();
      removeEventListener("theme", again);
      places.forEach((image) => URL.revokeObjectURL(image.src));
    },
  });
  return [
    legend(comparison.sides),
    ...tests.map((test) =>
      h(
        "div.many",
        h("h3", test.title, " ", stateMark(test.state)),
        numbers(test, comparison.sides),
        h(
          "div.pictures",
          test.charts.map((chart) => {
            const image = h("img", { alt: `${chart.title}: chart of the numbers above`, "data-chart": chart.id });
            places.push(image);
            watcher.observe(image);
            return image;
          }),
        ),
      ),
    ),
  ];
}

export function specifications({ specifications: groups, shared_specifications: shared, sides }) {
  const columns = sides.map((side) => [h(`b.letter.c-${side.colour}`, side.letter), " ", side.label]);
  const count = shared.reduce((sum, group) => sum + group.rows.length, 0);
  return [
    groups.length ? specificationTable("Specifications", columns, groups) : h("p.soft", "No parameter differs."),
    count
      ? h(
          "details.shared",
          h("summary", `${counted(count, "parameter")} that ${count === 1 ? "is" : "are"} the same on all sides`),
          specificationTable("Specifications that are the same", ["All sides"], shared),
        )
      : null,
  ];
}

/** One column of values for each of `columns`. */
function specificationTable(title, columns, groups) {
  return scrolling(
    title,
    h(
      "table.specifications",
      h(
        "thead",
        h(
          "tr",
          h("th", { scope: "col" }, "Parameter"),
          columns.map((column) => h("th.n", { scope: "col" }, column)),
        ),
      ),
      groups.map(({ group, rows }) =>
        h(
          "tbody",
          h("tr.group", h("th", { colSpan: columns.length + 1, scope: "rowgroup" }, group)),
          rows.map((row) =>
            h(
              "tr",
              h("th", { scope: "row" }, /[._]/.test(row.key) ? h("code", row.key) : row.key),
              columns.map((_, index) => h("td.n", row.texts[index])),
            ),
          ),
        ),
      ),
    ),
  );
}

export function source({ sides, left_out: left, command_line: command }, missing) {
  return [
    scrolling(
      "Runs",
      h(
        "table",
        h(
          "thead",
          h(
            "tr",
            ["Drive", "Model", "Capacity", "Results of", "Seed", "Engine", "Made by"].map((head) =>
              h("th", { scope: "col" }, head),
            ),
          ),
        ),
        h(
          "tbody",
          sides.map((side) =>
            h(
              "tr",
              h("th", { scope: "row" }, h(`b.letter.c-${side.colour}`, side.letter), " ", side.label),
              h("td", h("code", side.model)),
              h("td", side.capacity),
              h("td", side.source),
              h("td.n", side.seed),
              h("td", side.engine),
              h("td", h("code", side.made_by)),
            ),
          ),
        ),
      ),
    ),
    left.length
      ? h(
          "details",
          h("summary", `${left.length} left out, with the reasons`),
          scrolling(
            "Left out",
            h(
              "table",
              h(
                "thead",
                h(
                  "tr",
                  ["Test", "State", "Why"].map((head) => h("th", { scope: "col" }, head)),
                ),
              ),
              h(
                "tbody",
                left.map((item) =>
                  h("tr", h("th", { scope: "row" }, item.title), h("td", item.state), h("td", item.reason)),
                ),
              ),
            ),
          ),
        )
      : null,
    command
      ? h("p.soft", "On the command line, with all drives of these runs: ", h("code", command))
      : h("p.soft", `No command line gives this comparison: ${missing}.`),
  ];
}
