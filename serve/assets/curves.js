// The charts of training runs: what is drawn, against what, and what it should look like.

import { LineChart } from "/app/chart.js";
import { el } from "/app/dom.js";
import { gamesOf, kindOf, mean, meanOf, scoreText } from "/app/scores.js";

// What the charts are drawn against, and where that stands in a round.
export const AXES = {
  generation: { title: "generation", read: ({ generation }) => generation },
  minutes: { title: "minutes", read: ({ elapsed_secs }) => elapsed_secs / 60 },
  samples: { title: "samples", read: ({ samples_total }) => samples_total },
};
// What is said of scores where a run is measured at its end alone.
const EVERY = "With evaluation.every a run is measured every so many generations, which gives a curve.";
// What is said of scores that are means over changing rulesets.
const LOOSE = "Each point measures other rulesets than the one before, so they make no curve; the table by ruleset has the last match in each. 50 % is as strong as the opponent.";
// What is said of losses where the searches of the runs differ.
const UNLIKE = "The searches of these runs differ, so their losses say nothing of which run is the stronger.";
// Over how many generations what is counted in games may be averaged.
export const SMOOTH = { 1: "one generation", 5: "five generations", 20: "twenty generations" };
const PERCENT = { unit: " %", low: 0, high: 100, middle: 50 };
// Each chart, with what it should look like.
const CHARTS = {
  score: {
    title: "Score of the network in its matches, % with 95 % intervals", unit: " %", middle: 50, isNamed: true,
    note: "It should rise. Matches between have few games, so neighbours differ by chance; the final match has the most. 50 % is as strong as the opponent; alphabeta:nodes=N looks at N states for each decision.",
  },
  policy: {
    title: "Loss of the policy, less the entropy of its target, in nats", digits: 3,
    note: "How far the policy is from what the searches chose; 0 is the same. It may rise for many generations, and that is right: while the network knows little, its searches add "
      + "little that it could fail to predict. Later it should level off or fall slowly.",
  },
  value: {
    title: "Loss of the value, in nats", low: 0, digits: 3,
    note: "How badly the results of games are foreseen. It should fall fast, then slowly, but it rises where its games become harder to foresee: when alpha-beta stops playing them, or "
      + "after a start from a trained network. 1.10 is knowing nothing, 0.87 is knowing only that two of three games are drawn, and 0 is never "
      + "reached, as nobody knows the result of an open game.",
  },
  rate: { title: "Learning rate", low: 0, note: "As planned: it rises in the first steps, stays up and falls to nearly 0 towards the end." },
  gradient: { title: "Length of the gradient", low: 0, digits: 3, note: "It should stay level or fall; single peaks are cut off. If it grows from generation to generation, the learning rate is too high." },
  first: { title: "First player’s score in the training games, %", ...PERCENT, note: "What the network makes of the rules: far from 50 % the first player has an advantage. A point has the games of one generation, so neighbours differ by chance." },
  draws: { title: "Draws in the training games, %", ...PERCENT, middle: null, note: "Where they come near 100 % there is little left to learn from." },
  length: { title: "Actions per game", note: "It may rise or fall as the network learns what decides games. In its first generation of games only those that are short have ended." },
  speed: { title: "Games per second", low: 0, note: "It should stay level, but for longer games. The first generations are faster where alpha-beta plays them." },
};

export class Curves {
  // `zoom` is called with the range of the axis that was chosen on a chart, or null for all of it.
  constructor(zoom) {
    this.charts = Object.fromEntries(Object.entries(CHARTS).map(([key, chart]) => [key, new LineChart(chart, zoom)]));
    this.element = el("div", { class: "charts" }, Object.values(this.charts).map(({ element }) => element));
  }

  // Draws runs `against` one of the axes, `from` one place of it `to` another one, or null for its ends: the games and matches of a
  // ruleset, or of all where it is empty; what is counted in games is the mean over the last `smooth` generations.
  draw(runs, { against, ruleset, smooth, from, to }) {
    const axis = AXES[against];
    const range = [from ?? -Infinity, to ?? Infinity];
    const drawn = JSON.stringify([against, ruleset, smooth, from, to, runs.map(({ name, color, next, rounds, about: { result } }) => [name, color, next, rounds.length, result])]);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    const name = (run, what) => (runs.length > 1 ? `${run.name}${what ? `, ${what}` : ""}` : what || run.name);
    // Where a ruleset is chosen, each chart says of what it is.
    const isOne = ruleset !== "" && runs.some(({ about }) => about.rulesets.length > 1);
    const show = (key, lines, where = ", all rulesets together", common = "") => this.charts[key].show(runs.flatMap(lines), { xTitle: axis.title, range, common, where: isOne ? where : "" });
    const one = (key, read, where, over = 1) => show(key, (run) => {
      const points = run.rounds.map((round) => [axis.read(round), read(round)]).filter(([, y]) => Number.isFinite(y));
      return [{ name: name(run, ""), color: run.color, points: points.map(([x], at) => [x, mean(points.slice(Math.max(0, at + 1 - over), at + 1).map(([, y]) => y))]) }];
    }, where);
    const kinds = new Set(runs.flatMap((run) => matchesOf(run, ruleset).flatMap(({ verdicts }) => verdicts.map(kindOf))));
    const common = kinds.size === 1 ? [...kinds][0] : "";
    show("score", (run) => [...scores(run, ruleset, axis, common, (what) => name(run, what)), ...(runs.length > 1 ? [] : againstItself(run, ruleset, axis))], `, ${ruleset}`, common);
    const { series } = this.charts.score;
    this.charts.score.note.textContent = series.some(({ isLoose }) => isLoose) ? LOOSE : series.some(({ points }) => points.length > 1) ? CHARTS.score.note : `${kinds.size ? "Measured once" : "Not measured"} so far. ${runs.every(({ about: { config } }) => config?.evaluation.every) ? "" : EVERY}`;
    const trained = (read) => (round) => (round.steps > 0 ? read(round.losses) : NaN);
    one("policy", trained(({ policy, target_entropy }) => policy - target_entropy));
    const searches = new Set(runs.map(({ about: { config } }) => JSON.stringify(config?.selfplay)));
    this.charts.policy.note.textContent = `${CHARTS.policy.note} ${searches.size > 1 ? UNLIKE : ""}`;
    one("value", trained(({ value }) => value));
    one("rate", trained(({ learning_rate }) => learning_rate));
    one("gradient", trained(({ gradient_norm }) => gradient_norm));
    one("speed", ({ games_per_sec }) => games_per_sec, undefined, Number(smooth));
    // The games of alpha-beta say nothing of the network.
    const games = (key, factor) => (round) => factor * ((round.teacher ? null : ruleset === "" ? round : round.rulesets?.[ruleset])?.[key] ?? NaN);
    for (const [chart, key, factor] of [["first", "first_player_score", 100], ["draws", "draw_rate", 100], ["length", "actions_mean", 1]]) one(chart, games(key, factor), `, ${ruleset}`, Number(smooth));
  }
}

// Returns the matches of a run, or those in one ruleset, each with the round that it belongs to; the final one is the last.
function matchesOf({ rounds, about: { result } }, ruleset) {
  const { generations, elapsed_secs, samples } = result?.state ?? {};
  const end = { ...rounds.at(-1), ...(result?.state ? { generation: generations, elapsed_secs, samples_total: samples } : {}) };
  const of = (verdicts) => Object.entries(verdicts ?? {}).filter(([id]) => ruleset === "" || id === ruleset).map(([id, verdict]) => ({ id, ...verdict }));
  const all = [...rounds.map((round) => ({ round, verdicts: of(round.verdicts) })), { round: end, verdicts: of(result?.verdicts), isFinal: true }];
  return all.filter(({ verdicts }) => verdicts.length);
}

// Returns the lines of a run's scores, by opponent and simulations, and the final one; of several rulesets the mean. What is `common`
// to all lines is not part of their names, which `name` completes. Means over changing rulesets are no curve: they are not joined.
function scores(run, ruleset, axis, common, name) {
  const lines = new Map();
  for (const { round, verdicts, isFinal = false } of matchesOf(run, ruleset)) {
    const x = axis.read(round);
    if (!Number.isFinite(x)) continue;
    for (const [what, found] of Map.groupBy(verdicts, (verdict) => `${common ? "" : `${kindOf(verdict)}, `}${gamesOf(verdict)} games`)) {
      const mean = meanOf(found);
      const each = found.length > 1 ? ` in each of ${found.length} rulesets` : "";
      const key = isFinal ? `final match, ${what}${each}: ${scoreText(mean)}` : `matches of ${what}${each}`;
      if (!lines.has(key)) lines.set(key, { isFinal, points: [], played: new Set() });
      lines.get(key).points.push([x, ...[mean.score, mean.lower, mean.upper].map((share) => 100 * share)]);
      lines.get(key).played.add(found.map(({ id }) => id).join());
    }
  }
  return [...lines].map(([what, { isFinal, points, played }], at) => {
    const isLoose = played.size > 1;
    return { name: name(isLoose ? `${what}, others each time` : what), color: `${run.color}${isFinal ? " final" : at ? " dashed" : ""}`, points, isLoose };
  });
}

// Returns the scores of a run against its own earlier networks, by their generation; they are not joined, as rulesets may change.
function againstItself(run, ruleset, axis) {
  const matches = matchesOf(run, ruleset).flatMap(({ round, verdicts }) => {
    const earlier = verdicts.flatMap((verdict) => verdict.earlier ?? []);
    return [...Map.groupBy(earlier, ({ generation }) => generation)].map(([generation, found]) => ({ generation, x: axis.read(round), ...meanOf(found) }));
  });
  return [...Map.groupBy(matches, ({ generation }) => generation)].map(([generation, found]) => ({
    name: `against itself at generation ${generation}`, color: "b", isLoose: true,
    points: found.map(({ x, score, lower, upper }) => [x, ...[score, lower, upper].map((share) => 100 * share)]),
  }));
}
