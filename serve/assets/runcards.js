// What is said of training runs: a table of all, and a card for each that is drawn.

import { button, command, el } from "/app/dom.js";
import { gamesOf, generationsOf, kindOf, meanOf, percent, scoreText } from "/app/scores.js";
import { settingsList, settingsOf } from "/app/settings.js";
import { trends } from "/app/trends.js";

// How many runs the table has before all are asked for.
const FIRST = matchMedia("(max-width: 480px)").matches ? 4 : 6;
// The row that says by what matches the strength was measured.
const MEASURED = "Measured";

const whole = (number) => number.toLocaleString("en");
const plural = (number, one) => `${whole(number)} ${one}${number === 1 ? "" : "s"}`;

// Says how strong the network was when it was last measured in each ruleset, by what matches, and when that was; null before.
function strength({ verdicts, is_final, rulesets }) {
  const all = Object.values(verdicts);
  if (!all.length) return null;
  const where = all.length < rulesets.length ? `in ${all.length} of ${rulesets.length} rulesets, ` : all.length > 1 ? `in ${all.length} rulesets, ` : "";
  const against = `${where}${[...new Set(all.map(kindOf))].join(", ")}, ${plural(gamesOf(all[0]), "game")}${all.length > 1 ? " each" : ""}`;
  const [worst] = Object.entries(verdicts).toSorted(([, one], [, other]) => one.score - other.score);
  const score = all.length > 1 ? `mean${new Set(all.map(({ generation }) => generation)).size > 1 ? " of the last matches" : ""} ${scoreText(meanOf(all))}, worst ${percent(worst[1].score)} % (${worst[0]})` : scoreText(all[0]);
  return { against, when: is_final ? "final match" : generationsOf(all), score };
}

// A table of the last match in each ruleset, the worst first; none where there is one.
function rulesetTable({ verdicts, rulesets }) {
  const all = Object.entries(verdicts).toSorted(([, one], [, other]) => one.score - other.score);
  if (all.length < 2) return null;
  const heads = ["Ruleset", "Score", "Drawn", ...(all.some(([, { generation }]) => generation !== undefined) ? ["Generation", "Against itself before"] : [])];
  const cells = (id, { generation, earlier, ...verdict }) => [id, scoreText(verdict), `${percent(verdict.draws / gamesOf(verdict))} %`, generation, earlier ? `${scoreText(earlier)} of generation ${earlier.generation}` : "–"].slice(0, heads.length);
  return el("details", { open: all.length <= 6 }, el("summary", {}, `By ruleset (${all.length} of ${rulesets.length})`), el("div", { class: "wide" }, el("table", { "aria-label": "By ruleset", class: "stacks" },
    el("thead", {}, el("tr", {}, heads.map((head, at) => el("th", { scope: "col", class: at ? null : "text" }, head)))),
    el("tbody", {}, all.map(([id, verdict]) => el("tr", {}, cells(id, verdict).map((cell, at) => (at ? el("td", { "data-label": heads[at] }, cell) : el("th", { scope: "row" }, cell)))))))));
}

const rulesetsOf = ({ rulesets }) => (rulesets.length > 3 ? `${rulesets.length} rulesets` : rulesets.join(", "));

const stateOf = ({ is_running, result }) => (is_running ? "running" : result ? "finished" : "stopped");

// Writes seconds in minutes; short times with a digit behind the point.
const minutes = (seconds) => (seconds < 600 ? (seconds / 60).toFixed(1) : whole(Math.round(seconds / 60)));

// Returns how far a number has come, and how far it goes where that is known.
const ofBudget = (done, budget) => (budget ? `${done} of ${budget.toLocaleString("en")}` : done);

const scoreOf = ({ verdicts }) => meanOf(Object.values(verdicts)).score;

// In what orders runs are listed. Scores against different opponents are no order: those of one kind stand together.
export const ORDERS = {
  newest: ["the newest first", () => 0],
  score: ["by opponent, the highest score first", (one, other) => (strength(other)?.against ?? "").localeCompare(strength(one)?.against ?? "") || scoreOf(other) - scoreOf(one)],
  longest: ["the longest first", (one, other) => other.elapsed_secs - one.elapsed_secs],
  name: ["by name", (one, other) => one.name.localeCompare(other.name, "en", { numeric: true })],
};

// A table of all runs, from which those that are drawn are chosen. `colors` has the colour of each chosen one, `choose` is called
// with the name of one and whether it is to be drawn, `seek` when one is to be seen alone, `showAll` to see those that do not fit.
export function runTable(runs, colors, { isFull, isAll, choose, seek, showAll }) {
  const heads = ["Run", "State", "Rulesets", "Score [95 % interval]", "Measured", "Minutes", "Generations"];
  const shown = runs.filter(({ name }, index) => isAll || index < FIRST || colors.has(name));
  const kinds = new Set(shown.map(strength).filter(Boolean).map(({ against }) => against));
  // What is said of all is said once.
  const common = kinds.size === 1 && shown.length > 1 ? [...kinds][0] : "";
  const row = (run) => {
    const color = colors.get(run.name);
    const { score, against, when } = strength(run) ?? { score: "–" };
    const box = el("input", {
      type: "checkbox", "aria-label": `Draw ${run.name}`, checked: Boolean(color), disabled: isFull && !color, onchange: () => choose(run.name, box.checked),
    });
    const cells = [
      [stateOf(run), run.seconds_since_written === null ? "no round yet" : `${roughly(run.seconds_since_written)} ago`, run.faults.length ? el("span", { class: "fault below" }, "damaged") : null],
      [rulesetsOf(run)], [score], [[common ? "" : against, when].filter(Boolean).join(", ") || "–"],
      [run.elapsed_secs === null ? "–" : ofBudget(minutes(run.elapsed_secs), run.budget?.minutes)], [ofBudget(whole(run.generations), run.budget?.generations)],
    ];
    return el("tr", {},
      el("th", { scope: "row" }, el("span", { class: "named" }, el("label", {}, box, el("span", { class: `swatch ${color ?? "none"}` })), el("a", { href: `#runs/${encodeURIComponent(run.name)}`, onclick: seek }, run.name))),
      cells.map(([text, below, fault], at) => el("td", { class: at < 4 ? "text" : null, "data-label": heads[at + 1] }, text, below ? el("span", { class: "soft below" }, below) : null, fault)));
  };
  return el("div", {},
    el("table", { class: "stacks" },
      el("thead", {}, el("tr", {}, heads.map((head, at) => el("th", { scope: "col", class: at < 5 ? "text" : null }, head)))),
      el("tbody", {}, shown.map(row))),
    common ? el("p", { class: "soft" }, `Scores: ${common}.`) : null,
    isFull ? el("p", { class: "soft" }, `${colors.size} runs are the most that are drawn at once.`) : null,
    shown.length < runs.length ? button(`Show all ${runs.length} runs`, showAll) : null);
}

// Says what runs are and where each stands; what all have in common is said once. `play` is called with an agent, the run and a
// ruleset: the one that is chosen, if the run has it.
export function runCards(runs, play, chosen) {
  const told = ({ against, when }) => `${against}, ${when}`;
  const narrowed = (about) => (about.verdicts[chosen] ? { ...about, rulesets: [chosen], verdicts: { [chosen]: about.verdicts[chosen] } } : about);
  const settings = ({ about }) => [
    about.network ? ["Network", about.network] : null,
    about.simulations ? ["Simulations per decision", whole(about.simulations)] : null,
    ["Rulesets", rulesetsOf(about)],
    about.from ? ["Begun with", about.from] : null,
    strength(about) ? [MEASURED, told(strength(narrowed(about)))] : null,
  ].filter(Boolean);
  const isCommon = ([term, value]) => runs.length > 1 && runs.every((run) => settings(run).some(([other, same]) => other === term && same === value));
  const common = runs.length ? settings(runs[0]).filter(isCommon) : [];
  return [
    ...runs.map((run) => runCard(run, settings(run).filter((one) => !isCommon(one)), runs.length, play, run.about.rulesets.includes(chosen) ? chosen : run.about.rulesets[0], strength(narrowed(run.about))?.score)),
    common.length ? el("p", { class: "soft across" }, `All of them: ${common.map(([term, value]) => `${term.toLowerCase()} ${value}`).join(", ")}.`) : null,
  ];
}

// Of more than two runs only the strength is told at once.
function runCard(run, settings, count, play, ruleset, measuredScore) {
  const isAlone = count === 1;
  const { about, rounds } = run;
  const last = rounds.at(-1);
  const seen = last ? trends(run) : [];
  const measured = about.verdicts[ruleset] ?? Object.values(about.verdicts)[0];
  const score = measuredScore ?? (about.result && !about.is_running ? "no match was played" : "not measured yet");
  const rows = [
    ...settings.filter(([term]) => term !== MEASURED),
    // The last round may train on without games.
    ["Generations", ofBudget(whole(rounds.filter(({ games }) => games > 0).length), about.budget?.generations)],
    last ? ["Training steps", whole(last.steps_total)] : null,
    last ? ["Samples", whole(last.samples_total)] : null,
    last ? ["Time", ofBudget(duration(last.elapsed_secs), about.budget?.minutes && `${about.budget.minutes} min`)] : null,
    count > 2 ? null : [new Set(Object.values(about.verdicts).map(({ generation }) => generation)).size > 1 ? "Last matches" : "Strength", score],
    ...settings.filter(([term]) => term === MEASURED),
    ["State", state(about)],
    isAlone && about.model ? ["Measure it", command(`latrunculi match ${quoted(`net:${about.path},sims=${measured?.simulations ?? 64}`)} ${measured?.opponent ?? "alphabeta:nodes=2000"} --ruleset ${about.rulesets.length > 3 ? ruleset : about.rulesets.join(",")} --games 400`)] : null,
  ];
  const list = el("dl", {}, rows.filter(Boolean).flatMap(([term, value]) => [el("dt", {}, term), el("dd", {}, value)]));
  return el("section", { class: "card", "aria-label": run.name },
    el("h2", {}, el("span", { class: `swatch ${run.color}` }), run.name),
    faultsOf(run).map((fault) => el("p", { class: "fault" }, fault)),
    count > 2 ? el("p", { class: "soft" }, score) : null,
    count > 2 ? el("details", {}, el("summary", {}, "How far it is"), list) : list,
    isAlone ? rulesetTable(about) : null,
    seen.length ? el("details", { open: isAlone }, el("summary", {}, `What the curves say (${seen.length})`), el("ul", {}, seen.map((text) => el("li", {}, text)))) : null,
    isAlone && about.config ? settingsList("Settings", [...settingsOf(about.config)]) : null,
    el("div", { class: "row links" }, about.model ? button("Play this network", () => play(`net:${about.model},sims=64`, about.name, ruleset), { class: "main" }) : null,
      about.files.filter(isPage).map((file) => link(about.name, file))),
    about.files.every(isPage) ? null : el("details", { class: "links" }, el("summary", { "aria-label": `Files of ${about.name}` }, "Files"), el("div", { class: "row" }, about.files.filter((file) => !isPage(file)).map((file) => link(about.name, file))),
      about.has_tensorboard ? el("p", {}, command(`tensorboard --logdir ${quoted(`${about.path}/tensorboard`)}`)) : null));
}

// Says what is wrong with the files of a run, and with the last look at it.
function faultsOf({ about, damaged, fault }) {
  const left = damaged?.count === 1 ? "This line is" : `${whole(damaged?.count ?? 0)} such lines are`;
  return [...about.faults, damaged ? `metrics.jsonl, ${damaged.first}. ${left} left out.` : null, fault].filter(Boolean);
}

const isPage = (file) => file.endsWith(".html");

// A file of a run: the learning curve opens, the others are kept.
function link(run, file) {
  const href = `/runs/${encodeURIComponent(run)}/${file}`;
  if (isPage(file)) return el("a", { href, target: "_blank", rel: "noopener" }, "Learning curve");
  return el("a", { href, download: `${run}-${file}` }, file);
}

function state({ result, is_running, path, has_store, seconds_since_written: since }) {
  const last = since === null ? "no round yet" : `last round ${duration(since)} ago`;
  if (is_running) return `running, ${last}`;
  const store = has_store ? " --store URL, the store that it had" : "";
  return result ? "finished" : `not running, ${last}${path ? `; continue with: latrunculi train --resume ${quoted(path)}${store}` : ""}`;
}

// Returns a path as a shell takes it for one word.
export function quoted(path) {
  return /^[\w\-./:@%+=,]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

function duration(seconds) {
  const [days, hours, minutes] = [Math.floor(seconds / 86400), Math.floor((seconds % 86400) / 3600), Math.floor((seconds % 3600) / 60)];
  if (days) return `${days} d ${hours} h`;
  if (hours) return `${hours} h ${minutes} min`;
  return minutes ? `${minutes} min ${Math.floor(seconds % 60)} s` : `${Math.floor(seconds)} s`;
}

// A duration that does not change with every look.
const roughly = (seconds) => (seconds < 60 ? "less than a minute" : duration(seconds).split(" ").slice(0, 2).join(" "));
