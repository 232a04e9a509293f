// What runs say beside one another: which is the strongest, how to know better, and in what they differ.

import { command, el } from "/app/dom.js";
import { quoted } from "/app/runcards.js";
import { gamesOf, kindOf, mean, meanOf, percent, scoreText } from "/app/scores.js";
import { settingsList, settingsOf } from "/app/settings.js";

// How many games in each ruleset tell two networks apart that are some points of 100 from one another.
const GAMES = 400;

// How much further a difference must reach than the interval of 95 % of one pair, where the best of so many runs is sought: after
// Bonferroni, for all their pairs together.
const FURTHER = [1, 1, 1, 1.222, 1.346, 1.432, 1.498];

// Of how many pairs that differ in one section alone it is told.
const PAIRS = 3;

// Compares runs in a ruleset, or where that is "" in all that they share; null where there is only one run.
export function comparison(runs, ruleset) {
  if (runs.length < 2) return null;
  const told = scores(runs, ruleset);
  // The tables have the same order: the strongest first.
  const order = [...told.found.map(({ run }) => run), ...runs.filter((run) => !told.found.some((one) => one.run === run))];
  return el("section", { class: "card", "aria-label": "Comparison" }, el("h2", {}, "Comparison"), ...strongest(runs, ruleset, told, bySeed(order, told.found)), differences(order, told.found));
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

// Says which run is the strongest, if one is, and how to know where that is open; then what is `known` of the settings.
function strongest(runs, ruleset, { measured, shared, found }, known) {
  const where = ruleset ? ` in ${ruleset}` : "";
  if (measured.length < 2) return [el("p", {}, `At least two of the runs must have been measured${where} before their strength can be compared.`)];
  if (!found.length) return [el("p", {}, `The runs were measured against different opponents or in different rulesets: their scores${where} cannot be compared.`, duel(measured, ruleset ? [ruleset] : []))];
  const [best, ...others] = found;
  const behind = ({ mean }) => differenceOf(best.mean, mean, FURTHER[found.length]);
  const isClear = (one) => behind(one).lower > 0;
  const name = ({ run, mean }) => `${run.name} (${percent(mean.score)} %)`;
  const list = (some) => some.map(name).join(", ");
  const names = (some) => some.map((run) => run.name).join(", ");
  const [below, open] = [others.filter(isClear), others.filter((one) => !isClear(one))];
  const other = measured.filter((run) => !found.some((one) => one.run === run));
  const inRuleset = (id) => {
    const [next] = others.toSorted((one, other) => other.run.about.verdicts[id].score - one.run.about.verdicts[id].score);
    return { id, next, ...differenceOf(best.run.about.verdicts[id], next.run.about.verdicts[id], FURTHER[found.length]) };
  };
  const [lead] = shared.map(inRuleset).sort((one, other) => other.lower - one.lower);
  const changing = found.filter(({ run }) => new Set(shared.map((id) => run.about.verdicts[id].generation)).size > 1);
  const said = [
    shared.length > 1 ? `Over all ${shared.length} rulesets together:` : `In ${shared[0]}:`,
    open.length ? `${name(best)} has the highest score.` : `${name(best)} is clearly stronger than ${list(below)}${measured.some(({ about }) => about.is_running) ? ", so far" : ""}.`,
    open.length && below.length ? `Clearly below: ${list(below)}.` : "",
    open.length ? `Too few games to tell it from ${list(open)}.` : "",
    shared.length > 1 && lead.lower > 0 ? `Its clearest lead is in ${lead.id}: ${differenceText(lead)} points over ${lead.next.run.name}, which is next there.` : "",
    found.length > 2 ? `Among ${found.length} runs a difference must be ${FURTHER[found.length].toFixed(1)} times as large as between two, since the best is sought, and the intervals of the differences are so much wider.` : "",
    found.length === 2 && !open.length ? "If you chose these two by their scores among others, draw those too: the intervals are then as wide as such a choice needs." : "",
    changing.length ? `Measured at different generations in different rulesets: ${list(changing)}.` : "",
    other.length ? `Measured in another way, and not compared: ${names(other)}.` : "",
    measured.length < runs.length ? `Not measured${where}: ${names(runs.filter((run) => !measured.includes(run)))}.` : "",
  ];
  const cell = (verdict) => [scoreText(verdict), el("span", { class: "soft below" }, `${percent(verdict.draws / gamesOf(verdict))} % drawn`)];
  const rows = [
    ...shared.map((id) => [id, ...found.map(({ run }) => cell(run.about.verdicts[id]))]),
    shared.length > 1 ? ["all together", ...found.map(({ mean }) => scoreText(mean))] : null,
    [`points less than ${best.run.name}`, "–", ...others.map((one) => differenceText(behind(one)))],
  ];
  return [
    el("p", {}, said.filter(Boolean).join(" "), open.length ? duel([best.run, open[0].run], shared) : null), known,
    tableOf("Scores by ruleset", "Ruleset, with 95 % intervals", found.map(({ run }) => run), rows.filter(Boolean)),
  ];
}

// The difference of two independent scores, with its interval of 95 %, `further` times as wide.
function differenceOf(one, other, further) {
  const reach = (upper, lower) => further * Math.hypot(upper.upper - upper.score, lower.score - lower.lower);
  const score = one.score - other.score;
  return { score, lower: score - reach(other, one), upper: score + reach(one, other) };
}

const differenceText = ({ score, lower, upper }) => `${percent(score)} [${percent(lower)}, ${percent(upper)}]`;

// A table that has a column for each run, and rows of a name and the cells; on a phone each row stands for itself.
function tableOf(label, head, runs, rows) {
  return el("div", { class: "wide" }, el("table", { "aria-label": label, class: "stacks" },
    el("thead", {}, el("tr", {}, el("th", { scope: "col", class: "text" }, head), runs.map(({ name, color }) => el("th", { scope: "col" }, el("span", { class: `swatch ${color}` }), name)))),
    el("tbody", {}, rows.map(([name, ...cells]) => el("tr", {}, el("th", { scope: "row" }, name), cells.map((cell, at) => el("td", { "data-label": runs[at].name }, cell)))))));
}

// Says how two runs are measured against each other in what they share, where both have a network.
function duel([first, second], shared) {
  const rulesets = shared.length ? shared : first.about.rulesets.filter((id) => second.about.rulesets.includes(id));
  if (![first, second].every(({ about }) => about.model) || !rulesets.length) return null;
  const agents = [first, second].map(({ about }) => quoted(`net:${about.path},sims=64`)).join(" ");
  return [` To know, let ${first.name} and ${second.name} play each other: `, command(`latrunculi match ${agents} --ruleset ${rulesets.join(",")} --games ${GAMES}`), rulesets.length > 1 ? " (so many in each ruleset)" : ""];
}

// Says what runs of the same settings tell of these: with one of each, chance in the training is not seen.
function bySeed(runs, found) {
  const configured = runs.filter(({ about }) => about.config);
  const groups = [...Map.groupBy(configured, ({ about: { config: { seed, ...others } } }) => JSON.stringify(others)).values()];
  const said = groups.filter((group) => group.length > 1).map((group) => {
    const own = found.filter(({ run }) => group.includes(run)).map((one) => one.mean.score);
    const spread = own.length > 1 ? `: ${percent(mean(own))} % on average, from ${percent(Math.min(...own))} to ${percent(Math.max(...own))}` : "";
    return `${group.map(({ name }) => name).join(", ")} have the same settings but for the seed${spread}.`;
  });
  if (groups.length > 1) {
    said.push(`${said.length ? "Others were" : "Each of these settings was"} trained once: the intervals hold for these networks, and chance in the training comes on top. To compare settings, train each with three seeds or more.`);
    const alone = pairsOf(configured).map((pair) => ({ pair, apart: apartIn(pair) })).filter(({ apart }) => apart.length);
    const scoreOf = (run) => found.find((one) => one.run === run)?.mean;
    said.push(...alone.slice(0, PAIRS).map(({ pair: [one, other], apart }) => {
      const difference = scoreOf(one) && scoreOf(other) ? differenceOf(scoreOf(one), scoreOf(other), 1) : null;
      const points = difference ? `: ${one.name} has ${differenceText(difference)} points more${difference.lower > 0 ? "" : ", too few games to tell them apart"}` : "";
      return `${one.name} and ${other.name} differ in ${apart.join(" and ")} alone, besides the seed${points}.`;
    }));
    if (!alone.length) said.push("No two of them differ in one section of the settings alone: which settings matter, these runs do not tell.");
  }
  return said.length ? el("p", {}, said.join(" ")) : null;
}

const pairsOf = (runs) => runs.flatMap((one, at) => runs.slice(at + 1).map((other) => [one, other]));

// The settings of runs in rows, each a name and the values. One that has parts in one run may be a word in another: it is one setting.
function rowsOf(runs) {
  const settings = runs.map(({ about }) => settingsOf(about.config));
  const isPart = (name, _, names) => names.some((other) => name.startsWith(`${other}.`));
  const names = [...new Set(settings.flatMap((one) => [...one.keys()]))].filter((...one) => !isPart(...one));
  const parts = (one, name) => [...one].filter(([key]) => key.startsWith(`${name}.`)).map(([key, value]) => `${key.slice(name.length + 1)} ${value}`);
  return names.map((name) => [name, ...settings.map((one) => one.get(name) ?? (parts(one, name).join(", ") || "not set"))]);
}

const isCommon = ([, ...values]) => new Set(values).size === 1;

// The settings in which two runs differ, besides the seed, if all are in one section; else none.
function apartIn(pair) {
  const apart = rowsOf(pair).filter((row) => row[0] !== "seed" && !isCommon(row)).map(([name]) => name);
  return new Set(apart.map((name) => name.replace(/\.[^.]*$/, ""))).size === 1 ? apart : [];
}

// A table of the settings in which runs differ, with their scores above them and the seed below, and a list of those that all have. Runs whose settings cannot be read are left out.
function differences(all, found) {
  const runs = all.filter(({ about }) => about.config);
  if (runs.length < 2) return null;
  const rows = rowsOf(runs);
  const [common, differing] = [rows.filter(isCommon), rows.filter((row) => !isCommon(row))];
  const shown = differing.toSorted(([one], [other]) => (one === "seed") - (other === "seed"));
  const score = ({ name }) => found.find(({ run }) => run.name === name)?.mean.score;
  if (found.length) shown.unshift(["score, %", ...runs.map((run) => (score(run) === undefined ? "–" : percent(score(run))))]);
  return [
    differing.length ? tableOf("Settings that differ", "Setting that differs", runs, shown) : el("p", {}, "They have the same settings."),
    common.length ? settingsList(`${common.length} settings that all of them have`, common) : null,
  ];
}
