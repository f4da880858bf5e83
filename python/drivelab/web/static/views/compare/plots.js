// Plots of a comparison: over time, over position, and latencies on an axis of nines.

import { h } from "../../dom.js";
import { time } from "../../numbers.js";
import { Plot } from "../../plot.js";

const SHOWN = 4;
const SAME_SIZE_RATIO = 1.02;
const HINT =
  "Drag to zoom, double-click for everything. Keys on a plot: arrows, + and −, Escape. Plots of a kind move together.";

/** Draws `make(host, test)` of the first tests, and of all when asked. */
function some(host, title, tests, make, drawn) {
  if (!tests.length) return;
  const grid = h("div.plots");
  host.append(h("h3", title), grid);
  const add = (test) => drawn.push(...make(grid, test));
  tests.slice(0, SHOWN).forEach(add);
  if (tests.length <= SHOWN) return;
  const button = h(
    "button.more",
    { type: "button" },
    `Show ${tests.length - SHOWN} more tests, of smaller differences`,
  );
  button.addEventListener("click", () => {
    tests.slice(SHOWN).forEach(add);
    button.remove();
  });
  host.append(button);
}

const lines = (test, sides, of) =>
  test.lines.flatMap((line, index) => {
    const found = line && of(line, index);
    return found && found.y.length ? [{ name: sides[index].letter, colour: sides[index].colour, ...found }] : [];
  });

export function times(host, { tests }, sides, drawn) {
  const course = (key) => (line) => ({ x: line[key].map((_, i) => (i + 0.5) * line.interval_s), y: line[key] });
  const long = tests.filter((test) => test.lines.some((line) => line && line.mib_per_s.length > 1));
  if (long.length) host.append(h("p.soft", HINT));
  some(
    host,
    "Over time",
    long,
    (grid, test) => {
      const x = { title: "Time", unit: "s" };
      const through = new Plot(grid, {
        title: test.title,
        subtitle: `${test.state}, throughput`,
        x,
        y: { unit: "MiB/s" },
        group: "time",
      });
      through.set(lines(test, sides, course("mib_per_s")));
      const slow = new Plot(grid, {
        title: test.title,
        subtitle: `${test.state}, longest latency`,
        x,
        y: { unit: "us", log: true, text: time },
        group: "time",
      });
      slow.set(lines(test, sides, course("latency_max_us")));
      return [through, slow];
    },
    drawn,
  );
}

export function positions(host, { tests, capacities_bytes: sizes }, sides, drawn) {
  const alike = Math.max(...sizes) <= Math.min(...sizes) * SAME_SIZE_RATIO;
  const zoned = tests.filter((test) => test.lines.some((line) => line && line.zones_mb_per_s.length > 1));
  some(
    host,
    "By position on the drive",
    zoned,
    (grid, test) => {
      const plot = new Plot(grid, {
        title: test.title,
        subtitle: `${test.state}, throughput`,
        x: { title: "Position", unit: alike ? "GB" : "% of the drive" },
        y: { unit: "MB/s" },
        group: "position",
      });
      plot.set(
        lines(test, sides, (line, index) => {
          const whole = alike ? sizes[index] / 1e9 : 100;
          const count = line.zones_mb_per_s.length;
          return { x: line.zones_mb_per_s.map((_, i) => ((i + 0.5) * whole) / count), y: line.zones_mb_per_s };
        }),
      );
      return [plot];
    },
    drawn,
  );
}

const nines = (percent) => -Math.log10(1 - percent / 100);
const LEVELS = [50, 90, 99, 99.9, 99.99];
const END = 5;

export function latencies(host, { tests }, sides, drawn) {
  const known = tests.filter((test) => test.lines.some((line) => line?.percentiles.length));
  if (known.length) host.dataset.latencies = known.length;
  const ticks = [...LEVELS.map((level) => ({ at: nines(level), text: `${level} %` })), { at: END, text: "longest" }];
  const words = (at) =>
    ticks.reduce((best, tick) => (Math.abs(tick.at - at) < Math.abs(best.at - at) ? tick : best)).text;
  some(
    host,
    "Latencies: each step is one more nine",
    known,
    (grid, test) => {
      const plot = new Plot(grid, {
        title: test.title,
        subtitle: `${test.state}, share of requests that took at most`,
        x: { ticks, text: words },
        y: { unit: "us", log: true, text: time },
        group: "latency",
      });
      plot.set(
        lines(test, sides, (line) => {
          const points = line.percentiles.map(([level, us]) => [nines(level), us]);
          if (line.max_us != null) points.push([END, line.max_us]);
          return { x: points.map(([x]) => x), y: points.map(([, y]) => y), dots: true };
        }),
      );
      return [plot];
    },
    drawn,
  );
}
