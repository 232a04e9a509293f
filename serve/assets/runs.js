// Runs: the learning curves of one or two training runs, while they are written.

import { ask } from "/app/api.js";
import { LineChart } from "/app/chart.js";
import { attempt, button, el, select, showText } from "/app/dom.js";

// What the charts are drawn against, and where that stands in a round.
const AXES = {
  generation: { title: "generation", read: ({ generation }) => generation },
  minutes: { title: "minutes", read: ({ elapsed_secs }) => elapsed_secs / 60 },
  samples: { title: "samples", read: ({ samples_total }) => samples_total },
};
const PERCENT = { unit: " %", low: 0, high: 100, middle: 50 };
// Each chart, with what it should look like.
const CHARTS = {
  score: {
    title: "Score of the network in its matches, % with 95 % intervals", ...PERCENT, isNamed: true,
    note: "It should rise. Matches between have few games, so neighbours differ by chance; the final match has the most. 50 % is as strong as the opponent.",
  },
  policy: {
    title: "Loss of the policy, less the entropy of its target",
    note: "How far the policy is from what the searches chose; 0 is the same. It may rise for many generations, and that is right: while the network knows little, its searches add "
      + "little that it could fail to predict. Later it should level off or fall slowly.",
  },
  value: {
    title: "Loss of the value", low: 0,
    note: "How badly the results of games are foreseen. It should fall fast, then slowly; 1.10 is knowing nothing, and 0 is never reached, as nobody knows the result of an open game.",
  },
  rate: { title: "Learning rate", low: 0, note: "As planned: it rises in the first steps, stays up and falls to nearly 0 towards the end." },
  gradient: { title: "Length of the gradient", low: 0, note: "It should stay level or fall; single peaks are cut off. If it grows from generation to generation, the learning rate is too high." },
  first: {
    title: "First player’s score and draws in the training games, %", ...PERCENT,
    note: "What the network makes of the rules: far from 50 % the first player has an advantage, and where draws come near 100 % there is little left to learn from.",
  },
  length: { title: "Actions per game", note: "It may rise or fall as the network learns what decides games. A jump says that it has found a new way to play." },
  speed: { title: "Games per second", low: 0, note: "It should stay level, but for longer games. The first generations are faster where alpha-beta plays them." },
};
// How often a run is looked at, in milliseconds.
const INTERVAL = 2000;
const NONE = "";

export class Runs {
  // `play` is called with the agent that is to be played against, its run, and one of the run's rulesets.
  constructor(place, play) {
    this.place = place;
    this.play = play;
    this.chosen = [NONE, NONE];
    this.runs = new Map();
    this.timer = null;
    this.looking = Promise.resolve();
    this.fields = [0, 1].map((index) => select(index ? "Beside it" : "Run", [], undefined, (name) => this.choose(index, name)));
    this.rulesetField = select("Ruleset", [], undefined, () => this.draw());
    this.axisField = select("Drawn against", Object.entries(AXES).map(([key, { title }]) => [key, title]), "generation", () => this.draw());
    this.about = el("div", { class: "columns" });
    this.none = el("p", {});
    this.charts = Object.fromEntries(Object.entries(CHARTS).map(([key, chart]) => [key, new LineChart(chart)]));
    this.grid = el("div", { class: "charts" }, Object.values(this.charts).map(({ element }) => element));
    place.append(el("div", { class: "card fields" }, ...this.fields, this.rulesetField, this.axisField), this.none, this.about, this.grid);
  }

  // Shows the part; `names` are the runs of the address, if any.
  async start(names) {
    const { folder, runs } = await ask("/api/runs");
    const options = runs.map(({ name, is_finished, seconds_since_written }) => [name, `${name}${is_finished ? " (finished)" : seconds_since_written !== null && seconds_since_written < 120 ? " (being written)" : ""}`]);
    this.fields.forEach((field, index) => {
      const listed = index ? [[NONE, "no other run"], ...options] : options;
      field.querySelector("select").replaceChildren(...listed.map(([value, text]) => el("option", { value }, text)));
    });
    const known = (name) => (runs.some((run) => run.name === name) ? name : NONE);
    const newest = [...runs].sort((a, b) => (a.seconds_since_written ?? Infinity) - (b.seconds_since_written ?? Infinity))[0]?.name ?? NONE;
    this.chosen = [known(names[0]) || known(this.chosen[0]) || newest, known(names[1]) || (names.length ? NONE : known(this.chosen[1]))];
    this.fields.forEach((field, index) => { field.querySelector("select").value = this.chosen[index]; });
    const unknown = runs.length ? names.find((name) => name && !known(name)) : null;
    showText(this.none, unknown ? `There is no run ${unknown} in the folder ${folder}. Choose one of the list.`
      : runs.length ? "" : `There is no training run in the folder ${folder}. Begin one with: latrunculi train quick`);
    this.grid.hidden = !runs.length;
    this.place.querySelector(".fields").hidden = !runs.length;
    await this.look();
  }

  leave() {
    clearTimeout(this.timer);
    this.timer = null;
  }

  choose(index, name) {
    this.chosen[index] = name;
    showText(this.none, "");
    const names = this.chosen.filter((one) => one !== NONE).map(encodeURIComponent);
    history.replaceState(null, "", `#runs/${names.join("/")}`);
    attempt(() => this.look());
  }

  // Reads what is new, and comes back for more, after a failure too. One after the other: rounds are read once.
  look() {
    const look = this.looking.then(() => this.readAll());
    this.looking = look.catch(() => {});
    return look;
  }

  async readAll() {
    clearTimeout(this.timer);
    try {
      for (const name of new Set(this.chosen.filter((name) => name !== NONE))) await this.read(name);
      this.draw();
    } finally {
      if (!this.place.hidden) this.timer = setTimeout(() => attempt(() => this.look()), INTERVAL);
    }
  }

  async read(name) {
    const about = await ask(`/api/runs/${encodeURIComponent(name)}`);
    const run = this.runs.get(name) ?? { name, rounds: [], next: 0 };
    run.about = about;
    this.runs.set(name, run);
    let isAgain = false;
    for (let hasMore = true; hasMore;) {
      const found = await ask(`/api/runs/${encodeURIComponent(name)}/metrics?from=${run.next}`);
      // The file was cut: a resumed run writes its last rounds again.
      if (found.from !== run.next) {
        if (isAgain) throw new Error(`${name}: its metrics are damaged; this names the line: latrunculi inspect ${about.path}/metrics.jsonl`);
        isAgain = true;
        run.rounds = [];
      }
      run.rounds.push(...found.rounds);
      run.next = found.next;
      hasMore = found.has_more;
    }
  }

  shown() {
    return this.chosen.map((name) => this.runs.get(name)).filter((run, index) => run && this.chosen.indexOf(run.name) === index);
  }

  draw() {
    const runs = this.shown();
    this.drawRulesets(runs);
    const ruleset = this.rulesetField.querySelector("select").value;
    // What stands there already is left: it may be selected or read out.
    const about = el("div", {}, runs.map((run, index) => describe(run, index, this.play)));
    if (about.textContent !== this.about.textContent) this.about.replaceChildren(...about.childNodes);
    const axis = AXES[this.axisField.querySelector("select").value];
    const drawn = JSON.stringify([axis.title, ruleset, runs.map(({ name, next, rounds, about: { result } }) => [name, next, rounds.length, result])]);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    const name = (run, what) => (runs.length > 1 ? `${run.name}${what ? ` ${what}` : ""}` : what || run.name);
    const show = (key, lines) => this.charts[key].show(runs.flatMap(lines), axis.title);
    const line = (run, index, read, what = "", isDashed = false) => ({
      name: name(run, what),
      color: `${"ab"[index]}${isDashed ? " dashed" : ""}`,
      points: run.rounds.map((round) => [axis.read(round), read(round)]).filter(([, y]) => Number.isFinite(y)),
    });
    const one = (key, read) => show(key, (run, index) => [line(run, index, read)]);
    show("score", (run, index) => scores(run, ruleset, axis, (what) => name(run, what), index));
    const trained = (read) => (round) => (round.steps > 0 ? read(round.losses) : NaN);
    one("policy", trained(({ policy, target_entropy }) => policy - target_entropy));
    one("value", trained(({ value }) => value));
    one("rate", trained(({ learning_rate }) => learning_rate));
    one("gradient", trained(({ gradient_norm }) => gradient_norm));
    one("speed", ({ games_per_sec }) => games_per_sec);
    const games = (key, factor) => (round) => factor * ((ruleset === "" ? round : round.rulesets?.[ruleset])?.[key] ?? NaN);
    show("first", (run, index) => [
      line(run, index, games("first_player_score", 100), "first player’s score"),
      line(run, index, games("draw_rate", 100), "draws", true),
    ]);
    one("length", games("actions_mean", 1));
  }

  // The rulesets of the runs shown; the choice stays.
  drawRulesets(runs) {
    const names = [...new Set(runs.flatMap(({ about }) => about?.rulesets ?? []))].sort();
    const field = this.rulesetField.querySelector("select");
    const before = field.value;
    if (field.dataset.names !== names.join()) {
      field.dataset.names = names.join();
      field.replaceChildren(el("option", { value: "" }, "all together"), ...names.map((name) => el("option", { value: name }, name)));
      field.value = names.includes(before) ? before : "";
    }
    this.rulesetField.hidden = names.length < 2;
  }
}

// The matches of a run, by opponent and simulations, and the final one; those of one ruleset, or their mean.
function scores(run, ruleset, axis, name, index) {
  const lines = new Map();
  const note = (round, verdicts, isFinal) => {
    const kept = Object.entries(verdicts ?? {}).filter(([id]) => ruleset === "" || id === ruleset).map(([, verdict]) => verdict);
    for (const [kind, found] of groupBy(kept, (verdict) => `${isFinal ? "final match, " : ""}${kindOf(verdict)}, ${gamesOf(verdict)} games`)) {
      const mean = (key) => (100 * found.reduce((sum, verdict) => sum + verdict[key], 0)) / found.length;
      const keys = found.length === 1 ? ["score", "lower", "upper"] : ["score"];
      if (!lines.has(kind)) lines.set(kind, { isFinal, points: [] });
      lines.get(kind).points.push([axis.read(round), ...keys.map(mean)]);
    }
  };
  for (const round of run.rounds) note(round, round.verdicts, false);
  const { result } = run.about;
  if (result?.verdicts) {
    const { generations, elapsed_secs, samples } = result.state ?? {};
    note({ ...run.rounds.at(-1), ...(result.state ? { generation: generations, elapsed_secs, samples_total: samples } : {}) }, result.verdicts, true);
  }
  return [...lines].map(([kind, { isFinal, points }], at) => ({ name: name(kind), color: `${"ab"[index]}${isFinal ? " final" : at ? " dashed" : ""}`, points }));
}

// Says how strong the network was when it was last measured in each ruleset; null before.
function strength(run) {
  const last = [...run.rounds, run.about.result ?? {}].reduce((all, one) => ({ ...all, ...one.verdicts }), {});
  const verdicts = Object.values(last);
  if (!verdicts.length) return null;
  const percent = (share) => (100 * share).toFixed(1);
  const isFinal = Object.keys(run.about.result?.verdicts ?? {}).length > 0;
  const against = `${[...new Set(verdicts.map(kindOf))].join(", ")}, ${gamesOf(verdicts[0])} games${verdicts.length > 1 ? " each" : ""}${isFinal ? " (final match)" : ""}`;
  const [{ lower, upper }] = verdicts;
  const all = verdicts.map(({ score }) => score);
  if (all.length === 1) return `${percent(all[0])} % [${percent(lower)}, ${percent(upper)}] ${against}`;
  const mean = all.reduce((sum, score) => sum + score, 0) / all.length;
  return `mean ${percent(mean)} %, worst ${percent(Math.min(...all))} % in ${all.length} rulesets, ${against}`;
}

const gamesOf = ({ wins, draws, losses }) => wins + draws + losses;

const kindOf = ({ opponent, simulations }) => `against ${opponent} with ${simulations} simulations`;

function groupBy(items, key) {
  const groups = new Map();
  for (const item of items) groups.set(key(item), [...(groups.get(key(item)) ?? []), item]);
  return groups;
}

// Says what a run is and where it stands.
function describe(run, index, play) {
  const { about, rounds } = run;
  const last = rounds.at(-1);
  const rows = [
    ["Network", about.network],
    ["Simulations per decision", about.simulations],
    ["Rulesets", about.rulesets.length > 3 ? `${about.rulesets.length} rulesets` : about.rulesets.join(", ")],
    // The last round may train on without games.
    ["Generations", rounds.filter(({ games }) => games > 0).length],
    last ? ["Training steps", last.steps_total] : null,
    last ? ["Samples", last.samples_total] : null,
    last ? ["Time", duration(last.elapsed_secs)] : null,
    ["Strength", strength(run) ?? (about.result && !about.is_running ? "no match was played" : "not measured yet")],
    ["State", state(about)],
  ];
  return el("section", { class: "card", "aria-label": run.name },
    el("h2", {}, el("span", { class: `swatch ${"ab"[index]}` }), run.name),
    el("dl", {}, rows.filter(Boolean).flatMap(([term, value]) => [el("dt", {}, term), el("dd", {}, value)])),
    el("div", { class: "row links" }, about.model ? button("Play this network", () => play(`net:${about.model},sims=64`, about.name, about.rulesets[0]), { class: "main" }) : null,
      about.files.map((file) => link(about.name, file))));
}

// A file of a run: the learning curve opens, the others are kept.
function link(run, file) {
  const href = `/runs/${encodeURIComponent(run)}/${file}`;
  if (file.endsWith(".html")) return el("a", { href, target: "_blank", rel: "noopener" }, "Learning curve");
  return el("a", { href, download: `${run}-${file}` }, file);
}

function state({ result, is_running, path, has_store, seconds_since_written: since }) {
  const last = since === null ? "no round yet" : `last round ${duration(since)} ago`;
  if (is_running) return `running, ${last}`;
  const store = has_store ? " --store URL, the store that it had" : "";
  return result ? "finished" : `not running, ${last}; continue with: latrunculi train --resume ${quoted(path)}${store}`;
}

// Returns a path as a shell takes it for one word.
function quoted(path) {
  return /^[\w\-./:@%+=,]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

function duration(seconds) {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  if (hours) return `${hours} h ${minutes} min`;
  return minutes ? `${minutes} min ${Math.floor(seconds % 60)} s` : `${Math.floor(seconds)} s`;
}
