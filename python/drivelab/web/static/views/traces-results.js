// What replays of one trace found, drive beside drive.

import { h, scrolling } from "../dom.js";
import { number, time } from "../numbers.js";

/** Least share of reads of nothing that is worth a word. */
const UNMAPPED_NOTED = 0.01;

/** A mean over reads and writes: what a program that issues them waits for. */
function mean(row) {
  const ways = Object.values(row.directions);
  const ios = ways.reduce((sum, way) => sum + way.ios, 0);
  return ios ? ways.reduce((sum, way) => sum + way.mean_us * way.ios, 0) / ios : null;
}

/** Which drive's worst is least, for reads and for writes: a mean hides a drive that stutters. */
function tails(sorted) {
  const [best] = sorted;
  const told = ["read", "write"].flatMap((way) => {
    const with99 = sorted.filter((row) => typeof row.directions[way]?.p99_us === "number");
    if (with99.length < 2 || !with99.includes(best)) return [];
    const least = with99.reduce((a, b) => (b.directions[way].p99_us < a.directions[way].p99_us ? b : a));
    const [own, other] = [best, least].map((row) => row.directions[way]);
    const longest = (of) => `the longest took ${time(of.max_us)}`;
    const plain = `99 % of its ${way}s are answered within ${time(own.p99_us)}, ${longest(own)}`;
    return least === best || own.p99_us < 1.05 * other.p99_us
      ? [`${plain}.`]
      : [`${plain}; ${least.title} does better there: ${time(other.p99_us)}, ${longest(other)}.`];
  });
  return told.join(" ");
}

/** What replays of one trace found, rows as /api/traces/results has them: a verdict, a table, a way to the details. */
export function resultsOf(rows) {
  const sorted = [...rows].sort((a, b) => mean(a) - mean(b));
  const [best, next] = sorted;
  const most = Math.max(...sorted.map(mean));
  const times = next ? mean(next) / mean(best) : null;
  const verdict = next
    ? h(
        "p.verdict",
        h("b", best.title),
        ` answers soonest: a request takes ${time(mean(best))} in the mean, ` +
          (times >= 1.005 ? `${number(times)} times as long on the next one.` : "and hardly longer on the next one."),
        ` ${tails(sorted)}`,
      )
    : null;
  const ways = ["read", "write"].filter((way) => rows.some((row) => row.directions[way]));
  const heads = [
    "Drive",
    "Mean of all",
    "",
    ...ways.flatMap((way) => [`${way}: mean`, `${way}: 99 %`, `${way}: longest`]),
    "MiB per busy second",
    "Write amplification",
  ];
  const cell = (way, key) => (row) => h("td.n", row.directions[way] ? time(row.directions[way][key]) : "—");
  const body = sorted.map((row) =>
    h(
      "tr",
      h("th", { scope: "row", title: row.command_line }, row.title),
      h("td.n", time(mean(row))),
      h("td.share", h("i", { "aria-hidden": "true", style: { "--wide": `${(100 * mean(row)) / most}%` } })),
      ways.flatMap((way) => ["mean_us", "p99_us", "max_us"].map((key) => cell(way, key)(row))),
      h("td.n", number(row.mib_per_busy_s)),
      h("td.n", row.write_amplification === null ? "—" : number(row.write_amplification)),
    ),
  );
  const head = h(
    "tr",
    heads.map((text, i) => h(i ? "th.n" : "th", { scope: "col" }, text || h("span.away", "as a bar"))),
  );
  const compare = new URLSearchParams(rows.map((row) => ["drive", `${row.model}~${row.run}`]));
  const [{ trace, pacing }] = rows;
  const inStates = [...new Set(rows.map((row) => row.state))].join(" and ");
  const ofMap = rows.some((row) => row.map_read_bytes) ? ", or only for the map itself" : "";
  const nothing = Math.max(...rows.map((row) => row.unmapped_read_share ?? 0));
  return [
    h("h2", `${trace}, drives ${inStates}, ${pacing === "closed" ? "as fast as it goes" : "as it was recorded"}`),
    verdict,
    nothing > UNMAPPED_NOTED
      ? h(
          "p.warning",
          `Up to ${number(100 * nothing)} % of what was read was never written on these drives: ` +
            `such reads touch no flash${ofMap}. In the states filled and used everything is written.`,
        )
      : null,
    scrolling("Results", h("table.replays", h("caption.away", "Every drive"), h("thead", head), h("tbody", body))),
    rows.length > 1
      ? h(
          "p",
          h("a", { href: `/compare?${compare}` }, "Compare them in detail"),
          ": percentiles, specifications, exports",
        )
      : null,
  ];
}
