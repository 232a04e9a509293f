// What runs say beside one another: which is the strongest, how to know better, and in what they differ.

import { el } from "/app/dom.js";
import { gamesOf, kindOf, meanOf, percent, quoted, scoreText } from "/app/runcards.js";

// How many games tell two networks apart that are some points of 100 from one another.
const GAMES = 400;

// How much further a difference must reach than the interval of 95 % of one pair, where the best of so many runs is sought: after
// Bonferroni, for all their pairs together.
const FURTHER = [1, 1, 1, 1.222, 1.346, 1.432, 1.498];

// Compares runs in a ruleset, or where that is "" in all that they share; null where there is only one run.
export function comparison(runs, ruleset) {
  if (runs.length < 2) return null;
  return el("section", { class: "card", "aria-label": "Comparison" }, el("h2", {}, "Comparison"), ...strongest(runs, ruleset), differences(runs));
}

// Returns the runs that were `measured`, in a ruleset if one is asked for; the `found` scores of those that were measured in the same way,
// the largest part of them, the best first: the means over the rulesets that these share, which are `shared`.
function scores(runs, ruleset) {
  const own = ({ about }) => Object.entries(about.verdicts).filter(([id]) => [id, ""].includes(ruleset)).map(([id, verdict]) => [id, kindOf(verdict)]);
  const measured = runs.filter((run) => own(run).length);
  const sharedBy = ([first, ...others]) => own(first).filter(([id, kind]) => others.every((run) => own(run).some((one) => one[0] === id && one[1] === kind))).map(([id]) => id);
  const isComparable = measured.length > 1 && sharedBy(measured).length;
  const [largest = []] = [...Map.groupBy(measured, (run) => JSON.stringify(own(run).sort())).values()].sort((one, other) => other.length - one.length);
  const alike = isComparable ? measured : largest;
  const shared = alike.length > 1 ? sharedBy(alike) : [];
  const found = shared.length ? alike.map((run) => ({ run, mean: meanOf(shared.map((id) => run.about.verdicts[id])) })) : [];
  return { measured, shared, found: found.sort((one, other) => other.mean.score - one.mean.score) };
}

// Says which run is the strongest, if one is, and how to know where that is open.
function strongest(runs, ruleset) {
  const { measured, shared, found } = scores(runs, ruleset);
  const where = ruleset ? ` in ${ruleset}` : "";
  if (measured.length < 2) return [el("p", {}, `At least two of the runs must have been measured${where} before their strength can be compared.`)];
  if (!found.length) return [el("p", {}, `The runs were measured against different opponents or in different rulesets: their scores${where} cannot be compared.`, duel(measured, ruleset ? [ruleset] : []))];
  const [best, ...others] = found;
  const isClear = ({ mean }) => best.mean.score - mean.score > FURTHER[found.length] * Math.hypot(best.mean.score - best.mean.lower, mean.upper - mean.score);
  const name = ({ run, mean }) => `${run.name} (${percent(mean.score)} %)`;
  const list = (some) => some.map(name).join(", ");
  const names = (some) => some.map((run) => run.name).join(", ");
  const [below, open] = [others.filter(isClear), others.filter((one) => !isClear(one))];
  const other = measured.filter((run) => !found.some((one) => one.run === run));
  const said = [
    shared.length > 1 ? `Over all ${shared.length} rulesets together:` : `In ${shared[0]}:`,
    open.length ? `${name(best)} has the highest score.` : `${name(best)} is clearly stronger than ${list(below)}${measured.some(({ about }) => about.is_running) ? ", so far" : ""}.`,
    open.length && below.length ? `Clearly below: ${list(below)}.` : "",
    open.length ? `Too few games to tell it from ${list(open)}.` : "",
    found.length > 2 ? `Among ${found.length} runs a difference must be ${FURTHER[found.length].toFixed(1)} times as large as between two, since the best is sought.` : "",
    other.length ? `Measured in another way, and not compared: ${names(other)}.` : "",
    measured.length < runs.length ? `Not measured${where}: ${names(runs.filter((run) => !measured.includes(run)))}.` : "",
  ];
  const shown = runs.filter((run) => found.some((one) => one.run === run));
  return [el("p", {}, said.filter(Boolean).join(" "), open.length ? duel([best.run, open[0].run], shared) : null), shared.length > 1 ? byRuleset(shown, shared) : null];
}

// A table of the scores in each ruleset, and of the games that were drawn.
function byRuleset(runs, shared) {
  const cell = (verdict) => [scoreText(verdict), el("span", { class: "soft below" }, `${percent(verdict.draws / gamesOf(verdict))} % drawn`)];
  return el("div", { class: "wide" }, el("table", { "aria-label": "Scores by ruleset" },
    el("thead", {}, el("tr", {}, el("th", { scope: "col", class: "text" }, "Ruleset"), runs.map(({ name, color }) => el("th", { scope: "col" }, el("span", { class: `swatch ${color}` }), name)))),
    el("tbody", {}, shared.map((id) => el("tr", {}, el("th", { scope: "row" }, id), runs.map(({ about }) => el("td", {}, cell(about.verdicts[id]))))))));
}

// Says how two runs are measured against each other, where both have a network and a ruleset in common.
function duel([first, second], shared) {
  const rulesets = shared.length ? shared : first.about.rulesets.filter((id) => second.about.rulesets.includes(id));
  if (![first, second].every(({ about }) => about.model) || !rulesets.length) return null;
  const agents = [first, second].map(({ about }) => quoted(`net:${about.path},sims=64`)).join(" ");
  return [` To know${rulesets.length > 1 ? ` in one ruleset, for example ${rulesets[0]}` : ""}, let ${first.name} and ${second.name} play each other: `, el("code", {}, `latrunculi match ${agents} --ruleset ${rulesets[0]} --games ${GAMES}`)];
}

// Writes a setting; numbers of 32 bits without the digits that they do not have.
const settingText = (value) => (typeof value === "string" ? value : JSON.stringify(typeof value === "number" ? Number(value.toPrecision(6)) : value));

// Returns the settings of a configuration by their names.
function settingsOf(config, prefix = "") {
  return Object.entries(config ?? {}).flatMap(([key, value]) =>
    (value && typeof value === "object" && !Array.isArray(value) ? settingsOf(value, `${prefix}${key}.`) : [[prefix + key, settingText(value)]]));
}

// A table of the settings in which runs differ, and a list of those that all have. Runs whose settings cannot be read are left out.
function differences(all) {
  const runs = all.filter(({ about }) => about.config);
  if (runs.length < 2) return null;
  const settings = runs.map(({ about }) => new Map(settingsOf(about.config)));
  const names = [...new Set(settings.flatMap((one) => [...one.keys()]))];
  const isCommon = (name) => new Set(settings.map((one) => one.get(name))).size === 1;
  const common = names.filter(isCommon);
  const differing = names.filter((name) => !isCommon(name));
  const table = () => el("table", { "aria-label": "Settings that differ" },
    el("thead", {}, el("tr", {}, el("th", { scope: "col", class: "text" }, "Setting that differs"), runs.map(({ name, color }) => el("th", { scope: "col" }, el("span", { class: `swatch ${color}` }), name)))),
    el("tbody", {}, differing.map((name) => el("tr", {}, el("th", { scope: "row" }, name), settings.map((one) => el("td", {}, one.get(name) ?? "–"))))));
  return [
    differing.length ? el("div", { class: "wide" }, table()) : el("p", {}, "They have the same settings."),
    common.length ? el("details", {}, el("summary", {}, `${common.length} settings that all of them have`),
      el("dl", { class: "settings" }, common.flatMap((name) => [el("dt", {}, name), el("dd", {}, settings[0].get(name))]))) : null,
  ];
}
