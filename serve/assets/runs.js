// Runs: the learning curves of one or two training runs, while they are written.

import { ask } from "/app/api.js";
import { LineChart } from "/app/chart.js";
import { attempt, el, select } from "/app/dom.js";

// How often a run is looked at, in milliseconds.
const INTERVAL = 2000;
const NONE = "";

export class Runs {
  constructor(place) {
    this.place = place;
    this.chosen = [NONE, NONE];
    this.runs = new Map();
    this.timer = null;
    this.looking = Promise.resolve();
    this.fields = [0, 1].map((index) => select(index ? "Beside it" : "Run", [], undefined, (name) => this.choose(index, name)));
    this.rulesetField = select("Ruleset", [], undefined, () => this.draw());
    this.about = el("div", { class: "columns" });
    this.none = el("p", {});
    const percent = { unit: " %", xTitle: "generation", low: 0, high: 100, middle: 50 };
    this.charts = {
      score: new LineChart({ title: "Score of the network in its matches, % with 95 % intervals", ...percent, isNamed: true }),
      policy: new LineChart({ title: "Loss of the policy, less the entropy of its target", xTitle: "generation" }),
      value: new LineChart({ title: "Loss of the value", xTitle: "generation" }),
      speed: new LineChart({ title: "Games per second", xTitle: "generation", low: 0 }),
      first: new LineChart({ title: "First player’s score in the training games, %", ...percent }),
      length: new LineChart({ title: "Actions per game", xTitle: "generation" }),
    };
    this.grid = el("div", { class: "charts" }, Object.values(this.charts).map(({ element }) => element));
    place.append(el("div", { class: "card fields" }, ...this.fields, this.rulesetField), this.none, this.about, this.grid);
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
    this.none.hidden = runs.length > 0;
    this.none.textContent = `There is no training run in the folder ${folder}. Begin one with: latrunculi train quick`;
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
    const about = el("div", {}, runs.map((run, index) => describe(run, index)));
    if (about.textContent !== this.about.textContent) this.about.replaceChildren(...about.childNodes);
    const drawn = JSON.stringify([ruleset, runs.map(({ name, next, rounds }) => [name, next, rounds.length])]);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    const name = (run, what) => (runs.length > 1 ? `${run.name}${what ? ` ${what}` : ""}` : what || run.name);
    const each = (read) => runs.flatMap((run, index) => read(run, index));
    const line = (read, what = "", isDashed = false) => (run, index) => ({
      name: name(run, what),
      color: `${"ab"[index]}${isDashed ? " dashed" : ""}`,
      points: run.rounds.map((round) => [round.generation, ...[read(round)].flat()]).filter(([, y]) => Number.isFinite(y)),
    });
    this.charts.score.show(each((run, index) => scores(run, ruleset, (what) => name(run, what), index)));
    const trained = (read) => (round) => (round.steps > 0 ? read(round) : NaN);
    this.charts.policy.show(each((run, index) => [line(trained(({ losses }) => losses.policy - losses.target_entropy))(run, index)]));
    this.charts.value.show(each((run, index) => [line(trained(({ losses }) => losses.value))(run, index)]));
    this.charts.speed.show(each((run, index) => [line(({ games_per_sec }) => games_per_sec)(run, index)]));
    const games = (key, factor) => (round) => factor * ((ruleset === "" ? round : round.rulesets?.[ruleset])?.[key] ?? NaN);
    this.charts.first.show(each((run, index) => [
      line(games("first_player_score", 100), "first player’s score")(run, index),
      line(games("draw_rate", 100), "draws", true)(run, index),
    ]));
    this.charts.length.show(each((run, index) => [line(games("actions_mean", 1))(run, index)]));
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

// The matches of a run, by opponent and simulations; those of one ruleset, or their mean.
function scores(run, ruleset, name, index) {
  const lines = new Map();
  for (const round of run.rounds) {
    const kept = Object.entries(round.verdicts ?? {}).filter(([id]) => ruleset === "" || id === ruleset).map(([, verdict]) => verdict);
    for (const [kind, found] of groupBy(kept, kindOf)) {
      const mean = (key) => (100 * found.reduce((sum, verdict) => sum + verdict[key], 0)) / found.length;
      const point = found.length === 1 ? [round.generation, mean("score"), mean("lower"), mean("upper")] : [round.generation, mean("score")];
      if (!lines.has(kind)) lines.set(kind, []);
      lines.get(kind).push(point);
    }
  }
  return [...lines].map(([kind, points], at) => ({ name: name(kind), color: `${"ab"[index]}${at ? " dashed" : ""}`, points }));
}

// Says how strong the network was when it was last measured in each ruleset; null before.
function strength(run) {
  const last = [...run.rounds, run.about.result ?? {}].reduce((all, one) => ({ ...all, ...one.verdicts }), {});
  const verdicts = Object.values(last);
  if (!verdicts.length) return null;
  const percent = (share) => (100 * share).toFixed(1);
  const against = [...new Set(verdicts.map(kindOf))].join(", ");
  const [{ lower, upper }] = verdicts;
  const all = verdicts.map(({ score }) => score);
  if (all.length === 1) return `${percent(all[0])} % [${percent(lower)}, ${percent(upper)}] ${against}`;
  const mean = all.reduce((sum, score) => sum + score, 0) / all.length;
  return `mean ${percent(mean)} %, worst ${percent(Math.min(...all))} % in ${all.length} rulesets, ${against}`;
}

const kindOf = ({ opponent, simulations }) => `against ${opponent} with ${simulations} simulations`;

function groupBy(items, key) {
  const groups = new Map();
  for (const item of items) groups.set(key(item), [...(groups.get(key(item)) ?? []), item]);
  return groups;
}

// Says what a run is and where it stands.
function describe(run, index) {
  const { about, rounds } = run;
  const last = rounds.at(-1);
  const rows = [
    ["Network", about.network],
    ["Simulations per decision", about.simulations],
    ["Rulesets", about.rulesets.length > 3 ? `${about.rulesets.length} rulesets` : about.rulesets.join(", ")],
    ["Rounds", rounds.length],
    last ? ["Training steps", last.steps_total] : null,
    last ? ["Samples", last.samples_total] : null,
    last ? ["Time", duration(last.elapsed_secs)] : null,
    ["Strength", strength(run) ?? "not measured yet"],
    ["State", state(about)],
  ];
  return el("section", { class: "card", "aria-label": run.name },
    el("h2", {}, el("span", { class: `swatch ${"ab"[index]}` }), run.name),
    el("dl", {}, rows.filter(Boolean).flatMap(([term, value]) => [el("dt", {}, term), el("dd", {}, value)])));
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
