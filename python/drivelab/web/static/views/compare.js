// Compare: drives are chosen by the address, which can be shared; everything else follows from it.

import { unknownPart, warning } from "../address.js";
import { fill, h, say, sheet } from "../dom.js";
import * as jobs from "../jobs.js";
import { ask, drawWhenBack, save } from "../server.js";
import { chooser, table } from "./compare/choosing.js";
import * as parts from "./compare/parts.js";
import { latencies, positions, times } from "./compare/plots.js";

/** The server judges them once drives are chosen. */
const KEYS = ["drive", "kind", "test", "state", "force"];
const LACKED_SHOWN = 3;
const TOLD_MS = 2000;

/** What a reader of the page knows a control by: it is another element when it is drawn anew. */
const nameOf = (item) => item.getAttribute("aria-label") || item.getAttribute("name") || item.textContent;

export async function show(root) {
  const [known] = await Promise.all([ask("/api/drives"), sheet("/static/views/compare.css")]);
  return new View(root, known);
}

class View {
  constructor(root, known) {
    this.root = root;
    this.known = known;
    this.drawn = [];
    this.key = null;
    this.queue = [];
    this.chips = h("ul.chips", { "aria-label": "Drives that are compared" });
    this.choice = h("div.row.choice");
    this.tools = h("div.row.tools");
    this.top = h("div.top", h("h1", "Compare drives"), this.choice, this.tools);
    this.jobs = h("div.job-list", { hidden: true });
    this.body = h("div.compared");
    root.append(this.top, this.jobs, this.body);
    this.stopJobs = jobs.list(this.jobs);
    const done = new Set();
    // What was done before this view opened is no news; `follow` may tell of it at once.
    this.first = true;
    this.stopFollowing = jobs.follow((all) => this.finished(all, done));
  }

  end() {
    this.gone = true;
    this.clear();
    this.stopJobs();
    this.stopFollowing();
  }

  clear() {
    for (const plot of this.drawn.splice(0)) plot.end();
  }

  /** New results change what there is to see. */
  async finished(all, done) {
    this.queue = all.filter((job) => ["waiting", "running"].includes(job.state));
    const fresh = all.filter((job) => job.state === "done" && !done.has(job.id));
    for (const job of fresh) done.add(job.id);
    if (this.first) {
      this.first = false;
      return;
    }
    if (!fresh.length) return;
    const lost = (job) => (job.error ? ` (without a result: ${job.error})` : "");
    say(`Measured: ${fresh.map((job) => job.title + lost(job)).join("; ")}`);
    const known = await ask("/api/drives");
    if (this.gone) return;
    this.known = known;
    this.key = null;
    await this.update(this.page);
  }

  async update(page) {
    this.page = page;
    const key = page.params.toString();
    if (key === this.key) return;
    this.key = key;
    const choice = page.params.getAll("drive");
    const focused = document.activeElement;
    if (this.root.contains(focused)) this.focused = nameOf(focused);
    this.drawHead(choice);
    if (!choice.length) {
      this.clear();
      fill(
        this.body,
        warning(unknownPart(page.params, KEYS)),
        table(this.known, (name) => this.add(name)),
      );
      return;
    }
    this.body.setAttribute("aria-busy", "true");
    let found;
    try {
      found = await ask(`/api/compare?${key}`);
    } catch (error) {
      if (key !== this.key) return;
      this.refused(error);
      drawWhenBack(error);
      return;
    } finally {
      this.body.removeAttribute("aria-busy");
    }
    if (this.gone || key !== this.key) return;
    this.clear();
    this.drawHead(choice, found);
    fill(this.body, this.missing(found), found.refusal && parts.refusal(found.refusal, () => this.set("force", "1")));
    if (found.comparison) this.draw(found.comparison, found.no_command);
    else if (choice.length === 1)
      this.body.append(
        h("p", "One drive is chosen; add another to compare it with."),
        table(this.known, (name) => this.add(name)),
      );
    this.refocus();
  }

  /** Who was at a control that is drawn anew stays there; where it went, the field for another drive is next. */
  refocus() {
    const name = this.focused;
    this.focused = null;
    if (!name || document.activeElement !== document.body) return;
    const named = [...this.top.querySelectorAll("button, input, select")].find((item) => nameOf(item) === name);
    (named ?? this.choice.querySelector("input"))?.focus({ preventScroll: true });
  }

  /** An address that asks for what there isn't, and the ways out of it. */
  refused({ message, status }) {
    const more = status === 400 ? [...this.page.params].filter(([key]) => key !== "drive") : [];
    const without = (at) =>
      new URLSearchParams([...this.page.params].filter(([key, value]) => key !== at[0] || value !== at[1]));
    this.clear();
    fill(
      this.body,
      h(
        "div.card.refusal",
        h("p", { role: "alert" }, message),
        more.length
          ? h(
              "div.row",
              more.map((at) =>
                h(
                  "button",
                  { type: "button", onclick: () => this.page.go(`/compare?${without(at)}`) },
                  `Leave out ${at.join("=")}`,
                ),
              ),
            )
          : null,
      ),
    );
  }

  /** What is chosen, and the field for another: somebody may be typing there when results come. */
  drawHead(choice, found = null) {
    const title = (name) => this.known.drives.find((drive) => drive.name === name.split("~")[0])?.title ?? name;
    if (this.chosen !== `${choice}`) {
      this.chosen = `${choice}`;
      const more =
        choice.length < this.known.limit
          ? chooser(
              () => this.known,
              choice,
              (name) => this.add(name),
            )
          : h("small", `${this.known.limit} at most`);
      fill(this.choice, this.chips, choice.length ? more : null);
    }
    const sides = found?.comparison?.sides ?? [];
    const held = found?.held.map((item) => item.key) ?? [];
    fill(
      this.chips,
      choice.map((name) => {
        const side = sides[held.indexOf(name)];
        const run = name.includes("~") ? h("small", ` run ${name.split("~")[1]}`) : null;
        return h(
          `li.chip${side ? `.c-${side.colour}` : ""}`,
          side ? h("b.letter", side.letter) : null,
          title(name),
          run,
          h(
            "button.quiet",
            { type: "button", "aria-label": `Remove ${title(name)}`, onclick: () => this.remove(name) },
            "×",
          ),
        );
      }),
    );
    fill(this.tools, choice.length ? this.toolsOf(found) : null);
  }

  toolsOf(found) {
    const { params } = this.page;
    const kinds = found?.kinds ?? [];
    const chosen = new Set(params.getAll("state"));
    const states = [...new Set(found?.held.flatMap((item) => item.states) ?? [])];
    const kind = h(
      "select",
      { name: "kind", onchange: (event) => this.set("kind", event.target.value) },
      kinds.map((one) => h("option", { value: one.id, selected: one.id === found.kind }, one.title)),
    );
    const asked = params.getAll("test").map((name) => name.replaceAll(" ", "-"));
    const isGroup = asked.length === 1 && this.known.groups.some(({ name }) => name === asked[0]);
    const tests = h(
      "select",
      { name: "test", onchange: (event) => this.set("test", event.target.value) },
      h("option", { value: "" }, "all"),
      this.known.groups.map(({ name, title }) =>
        h("option", { value: name, selected: isGroup && name === asked[0] }, title),
      ),
      // A test, or several: the address knows more than the list.
      asked.length && !isGroup ? h("option", { value: asked[0], selected: true }, asked.join(", ")) : null,
    );
    const toggle = (state) =>
      h(
        "button.toggle",
        {
          type: "button",
          "aria-pressed": String(!chosen.size || chosen.has(state)),
          onclick: () => this.toggle(state, states),
        },
        state,
      );
    const file = (form) =>
      h(
        "button",
        {
          type: "button",
          "aria-label": `Save as ${form.toUpperCase()}`,
          onclick: () => save(`/api/compare/export.${form}?${this.key}`, `compare.${form}`),
        },
        form.toUpperCase(),
      );
    return [
      kinds.length > 1 && h("label", "Measured", kind),
      h("label", "Tests", tests),
      states.length > 1 && h("div.row.states", { role: "group", "aria-label": "States" }, states.map(toggle)),
      found?.comparison &&
        h(
          "div.row.files",
          h("button", { type: "button", onclick: (event) => this.copy(event.target) }, "Copy address"),
          ["html", "csv", "json"].map(file),
        ),
    ];
  }

  /** Drives without results, tests that only others have results of, and what measures them. */
  missing(found) {
    if (!found.missing.length && !found.lacking.length) return null;
    const title = (key) => {
      const [name, run] = key.split("~");
      const known = this.known.drives.find((drive) => drive.name === name)?.title ?? name;
      return run ? `${known}, run ${run},` : known;
    };
    const chosen = ["test", "state"].some((key) => this.page.params.has(key));
    const lacks = ({ key, tests }) => {
      const more = tests.length > LACKED_SHOWN ? `; and ${tests.length - LACKED_SHOWN} more` : "";
      return `${title(key)} lacks ${tests.slice(0, LACKED_SHOWN).join("; ")}${more}. `;
    };
    return h(
      "div.card.missing",
      h(
        "div",
        h("h2", found.held.length ? "Some results are missing" : "No results yet"),
        h(
          "p",
          found.missing.length
            ? `${found.missing.map(title).join(", ")}: not measured ${found.kind ? "in this way" : "yet"}. `
            : null,
          found.lacking.map(lacks),
          found.held.length ? null : `What is measured: ${chosen ? "what is chosen above" : "what a review does"}. `,
          "Measuring goes on while you look at something else, and is recorded in the database.",
        ),
      ),
      this.starts(found),
    );
  }

  starts(found) {
    if (found.option)
      return h(
        "p",
        "These tests are started on the command line: ",
        h("code", `drivelab review MODEL ${found.option} --database ${this.known.database}`),
      );
    const models = found.missing.map((name) => name.split("~")[0]);
    const button = (words, kind, orders) =>
      h(
        `button${kind}`,
        { type: "button", onclick: (event) => this.start(event.target, orders, found.together) },
        words,
      );
    if (!found.held.length)
      return h(
        "div.row",
        found.first.map(({ words, order }, at) => button(words, at ? "" : ".primary", [order])),
      );
    const orders = [
      ...(models.length ? [{ models, ...found.held[0].again }] : []),
      ...found.lacking.flatMap((item) => item.orders),
    ];
    return h("div.row", button("Measure in the same way", ".primary", orders));
  }

  /** Queues what isn't in the queue already: of several orders some may be, after one is done. Of more than the server
   * queues together the rest is left to the next click. */
  async start(button, orders, together) {
    const queued = new Set(this.queue.map((job) => JSON.stringify(job.order)));
    const fresh = orders.filter((order) => !queued.has(JSON.stringify(order)));
    const now = fresh.slice(0, together);
    const left = fresh.length - now.length;
    button.disabled = true;
    try {
      if (now.length === 1) this.queue.push(await jobs.measure(now[0]));
      else if (now.length) this.queue.push(...(await jobs.measureTogether(now)));
      else say("All of it is waiting to be measured");
    } catch (error) {
      button.disabled = false;
      throw error;
    }
    if (!left) return;
    button.disabled = false;
    say(`Queued: ${now.length} of ${fresh.length} measurements; the same button queues more`);
  }

  draw(comparison, noCommand) {
    const section = (id, title, ...content) =>
      h("section", { id, "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title` }, title), ...content);
    const time = h("div");
    const many = comparison.tests.filter((test) => test.charts.length);
    const sections = [
      section("findings", "Findings", parts.findings(comparison)),
      comparison.overview.length && section("differences", "Differences", parts.overview(comparison)),
      section("performance", "Performance", parts.bars(comparison)),
      section("time", "Over time, position and latency", time),
      many.length && section("many", "Tests of many numbers", parts.pictures(many, comparison, this.key, this.drawn)),
      comparison.notes.length && section("notes", "What to know of the measurements", parts.notes(comparison)),
      section("specifications", "Specifications that differ", parts.specifications(comparison)),
      section("source", "Where this comes from", parts.source(comparison, noCommand)),
    ].filter(Boolean);
    this.body.append(...[parts.banner(comparison), parts.contents(sections), ...sections].filter(Boolean));
    this.plots(time, comparison);
  }

  async plots(host, comparison) {
    const key = this.key;
    const data = await ask(`/api/compare/plots?${key}`);
    if (this.gone || key !== this.key || !this.body.contains(host)) return;
    times(host, data, comparison.sides, this.drawn);
    positions(host, data, comparison.sides, this.drawn);
    latencies(host, data, comparison.sides, this.drawn);
    host.append(...(host.children.length ? [] : [h("p.soft", "None of these tests keeps a course.")]));
  }

  add(name) {
    const params = new URLSearchParams(this.page.params);
    if (params.getAll("drive").includes(name)) return;
    params.append("drive", name);
    this.page.go(`/compare?${params}`);
  }

  remove(name) {
    const params = new URLSearchParams();
    for (const [key, value] of this.page.params) if (key !== "drive" || value !== name) params.append(key, value);
    this.page.go(`/compare?${params}`);
    document.querySelector(".chooser input, .filter")?.focus();
  }

  set(key, value) {
    const params = new URLSearchParams(this.page.params);
    if (value) params.set(key, value);
    else params.delete(key);
    this.page.go(`/compare?${params}`);
  }

  toggle(state, states) {
    const params = new URLSearchParams(this.page.params);
    const chosen = new Set(params.getAll("state").length ? params.getAll("state") : states);
    if (!chosen.delete(state)) chosen.add(state);
    params.delete("state");
    if (chosen.size && chosen.size < states.length)
      for (const name of states) if (chosen.has(name)) params.append("state", name);
    this.page.go(`/compare?${params}`);
  }

  async copy(button) {
    await navigator.clipboard.writeText(location.href);
    say("The address is copied");
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy address"), TOLD_MS);
  }
}
