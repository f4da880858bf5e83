// Which drive is watched, and in what state: the address says it, a form changes it.

import { h } from "../dom.js";
import { bytes } from "../numbers.js";
import { ask } from "../server.js";

const FIRST = { model: "intel-x25-m-g1-80gb", state: "filled", workload: "random-writes" };
const NUMBERS = ["spare_percent", "fill_percent", "divisor"];
const SIZES = [
  [1, "as the drive"],
  [8, "an 8th"],
  [64, "a 64th"],
];

const STEADY = "steady";
/** Before the name of a served drive in the list of models, whose names have no colon. */
const SERVED = "served:";
const POWER_COST =
  "A drive whose power can be cut keeps what a recovery reads, 10 to 20 bytes of memory for each KiB of flash, and " +
  "works half as fast.";

/** What the address asks for, whatever it is: the server says what of it can't be. */
export function choiceOf(params) {
  const given = [...params].filter(([, value]) => value !== "");
  const asked = given.map(([key, value]) => [key, NUMBERS.includes(key) && isFinite(value) ? Number(value) : value]);
  return Object.fromEntries(params.get("served") ? asked : [...Object.entries(FIRST), ...asked]);
}

/** A drive in a line. */
export function summary(watching, layout) {
  const dies = layout.die.length;
  const channels = new Set(layout.die.map((_, i) => `${layout.member[i]}.${layout.channel[i]}`)).size;
  const flash =
    `${layout.block_count.toLocaleString("en")} blocks on ${dies} dies, ${channels} ` +
    `${channels === 1 ? "channel" : "channels"}`;
  if (watching.served)
    return [
      h("b", watching.title),
      ` · ${bytes(watching.capacity_bytes)} · ${watching.served}, as it is served: only looked at · ${flash}`,
    ];
  const fill =
    watching.state === "filled" && watching.fill_percent < 100
      ? `filled to ${watching.fill_percent} %`
      : watching.state;
  const more = [
    bytes(watching.capacity_bytes),
    fill,
    `${watching.spare_percent.toFixed(1)} % effective spare area`,
    ...(watching.power === STEADY ? [] : [`power can be cut, ${watching.capacitor ? "capacitor" : "no capacitor"}`]),
    flash,
  ];
  return [h("b", watching.title), ` · ${more.join(" · ")}`];
}

/** A form; `done` gets what was chosen as the address has it. */
export async function choiceForm(models, served, choice, done) {
  const form = h("form.watch-form.card");
  const options = (list, chosen) =>
    list.map(([value, title]) =>
      h("option", { value: String(value), selected: String(value) === String(chosen ?? "") }, title),
    );
  const families = [...new Set(models.map((model) => model.family))];
  const model = h(
    "select",
    { name: "model" },
    served.length
      ? h(
          "optgroup",
          { label: "Being served" },
          options(
            served.map((name) => [SERVED + name, name]),
            choice.served && SERVED + choice.served,
          ),
        )
      : null,
    families.map((family) =>
      h(
        "optgroup",
        { label: family },
        options(
          models.filter((one) => one.family === family).map((one) => [one.name, one.title]),
          choice.model,
        ),
      ),
    ),
  );
  const asked = choice.served ? SERVED + choice.served : choice.model;
  if (![...model.options].some((option) => option.value === asked)) model.value = FIRST.model;
  const rest = h("fieldset", { style: { display: "contents" } });
  let drawn = 0;
  const draw = async (chosen) => {
    // Nothing is typed into fields that are about to be replaced, and the last model asked for counts.
    const mine = ++drawn;
    rest.disabled = true;
    rest.hidden = model.value.startsWith(SERVED);
    if (rest.hidden) {
      rest.replaceChildren();
      return;
    }
    const about = await ask(`/api/watch/models/${encodeURIComponent(model.value)}`);
    if (mine !== drawn) return;
    rest.disabled = false;
    const number = (name, title, attributes) => h("label", title, h("input", { type: "number", name, ...attributes }));
    rest.replaceChildren(
      h(
        "label",
        "State",
        h(
          "select",
          { name: "state" },
          options(
            about.states.map((state) => [state.name, state.name]),
            chosen.state,
          ),
        ),
      ),
      number("fill_percent", "How full, % (state filled)", {
        min: "1",
        max: "100",
        step: "1",
        value: String(chosen.fill_percent ?? 100),
      }),
      number("spare_percent", "Spare area, %", {
        min: "0.5",
        max: "400",
        step: "any",
        value: String(chosen.spare_percent ?? ""),
        placeholder: `${about.spare_percent} as it is`,
      }),
      h(
        "label",
        "Blocks to clean are chosen",
        h(
          "select",
          { name: "victims", disabled: about.victims.length === 0 },
          about.victims.length
            ? options(
                about.victims.map((name) => [
                  name === about.victim ? "" : name,
                  name === about.victim ? `${name} (as it is)` : name,
                ]),
                chosen.victims,
              )
            : options([["", "not by this drive: it merges"]], ""),
        ),
      ),
      h("label", "Size", h("select", { name: "divisor" }, options(SIZES, chosen.divisor ?? 1))),
      h(
        "label",
        "Workload",
        h(
          "select",
          { name: "workload" },
          options(
            about.workloads.map((one) => [one.name, one.title]),
            chosen.workload,
          ),
        ),
      ),
      h(
        "label",
        "Power",
        h(
          "select",
          { name: "power", title: POWER_COST },
          options(
            about.powers.map((one) => [one.name, one.title]),
            chosen.power ?? STEADY,
          ),
        ),
      ),
    );
  };
  model.addEventListener("change", () => draw({ ...FIRST, ...choice, spare_percent: "", victims: "" }));
  form.append(
    h("label", "Drive", model),
    rest,
    h("div.row", h("button.primary", { type: "submit" }, "Watch this drive")),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const given = [...new FormData(form)].filter(([, value]) => value !== "");
    const found = Object.fromEntries(given);
    if (found.model.startsWith(SERVED)) {
      done({ served: found.model.slice(SERVED.length) });
      return;
    }
    if (found.divisor === "1") delete found.divisor;
    if (found.power === STEADY) delete found.power;
    if (found.fill_percent === "100") delete found.fill_percent;
    done(found);
  });
  await draw(choice);
  return form;
}
