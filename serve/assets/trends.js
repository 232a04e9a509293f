// What the curves of a training run say, and what may be worth trying then.

import { gamesOf, generationsOf, kindOf, mean, meanOf, percent, scoreText } from "/app/scores.js";

// How many generations a trend needs, and how often its standard error it must have.
const ROUNDS_LEAST = 12;
const ERRORS_LEAST = 3;
// From these shares on games are nearly all drawn, an opponent is nearly always beaten, actors mostly wait and many gradients are cut.
const DRAWN = 0.9;
const BEATEN = 0.9;
const BUSY = 0.5;
const CLIPPED = 0.2;

const part = (values, from, to) => values.slice(Math.round(from * values.length), Math.round(to * values.length));

// Returns 1 if the last third of the values lies above the third before it, -1 if below, and 0 where chance may do that.
function trend(values) {
  if (values.length < ROUNDS_LEAST) return 0;
  const [before, last] = [part(values, 1 / 3, 2 / 3), part(values, 2 / 3, 1)];
  const variance = (some) => some.reduce((sum, value) => sum + (value - mean(some)) ** 2, 0) / (some.length - 1) / some.length;
  const difference = mean(last) - mean(before);
  return Math.abs(difference) > ERRORS_LEAST * Math.sqrt(variance(before) + variance(last)) ? Math.sign(difference) : 0;
}

// Returns sentences on a run, each of what is seen and what may be done; none where nothing stands out.
export function trends({ about, rounds }) {
  const played = rounds.filter(({ games, teacher }) => games > 0 && !teacher);
  const trained = rounds.filter(({ steps }) => steps > 0);
  const rates = trained.map(({ losses }) => losses.learning_rate);
  const highest = Math.max(...rates);
  // Where the learning rate falls, all losses do.
  const steady = trained.filter((_, index) => rates[index] > 0.99 * highest);
  const policy = trend(steady.map(({ losses }) => losses.policy - losses.target_entropy));
  const recent = (key) => mean(part(played, 3 / 4, 1).map((round) => round[key]));
  const drawn = recent("draw_rate");
  const isOver = !about.is_running;
  // A setting, and its value in this run.
  const now = (name) => {
    const value = name.split(".").reduce((some, key) => some?.[key], about.config);
    return value === undefined ? name : `${name}, now ${value}`;
  };
  const left = (about.budget?.generations ?? 0) - rounds.length;
  const isHigh = !about.result && rates.at(-1) > highest / 2;
  const hours = (left * rounds.at(-1).elapsed_secs) / rounds.length / 3600;
  return [
    isOver && isHigh ? `The run stopped before its learning rate fell, which is when networks usually gain: continue it to its end${hours > 0 ? `, about ${hours < 2 ? `${Math.ceil(hours * 60)} minutes` : `${Math.round(hours)} hours`} at its pace` : ""}.` : "",
    policy < 0 && about.result ? "The loss of the policy still fell before the learning rate did: the network was still learning, and a longer run (budget) may gain." : "",
    !policy && about.result && steady.length >= ROUNDS_LEAST ? `The loss of the policy is level: a larger network (${now("network.blocks")}; ${now("network.channels")}) or more simulations (${now("selfplay.simulations")}) may gain more than a longer run.` : "",
    trend(steady.map(({ losses }) => losses.gradient_norm)) > 0 && mean(trained.map(({ losses }) => losses.clipped)) > CLIPPED ? `The gradient grows, and many are cut: a lower training.learning_rate (now ${about.config?.training.learning_rate}) may help.` : "",
    drawn > DRAWN ? `${percent(drawn)} % of the last even games were drawn, so results tell little. Uneven beginnings (${now("selfplay.starts.uneven_probability")}) and a credit for a lead (${now("replay.draw_margin_fraction")}) give more to learn from.` : "",
    recent("actors_busy") < BUSY ? `The actors played ${percent(recent("actors_busy"))} % of the time and waited for training in the rest: with less reuse (${now("replay.reuse")}) there are more games.` : "",
    ...strength(about, isHigh),
  ].filter(Boolean);
}

// Says what the last matches show.
function strength({ verdicts, is_running }, isHigh) {
  const all = Object.values(verdicts);
  if (!all.length) return is_running ? [] : ["Its strength was not measured."];
  const earlier = Map.groupBy(all.filter((verdict) => verdict.earlier), (verdict) => verdict.earlier.generation);
  return [
    ...[...earlier].map(([generation, verdicts]) => {
      const against = meanOf(verdicts.map((verdict) => verdict.earlier));
      const games = verdicts.reduce((sum, verdict) => sum + gamesOf(verdict.earlier), 0);
      const open = isHigh && against.lower <= 0.5 ? " While the learning rate is high a network often plays below what it has learnt, so this may not be its result yet." : "";
      const told = against.lower > 0.5 ? "stronger" : against.upper < 0.5 ? "weaker" : "not shown to be stronger or weaker";
      return `At ${generationsOf(verdicts)} it was ${told} than at generation ${generation}: ${scoreText(against)} in ${games} games${verdicts.length > 1 ? ` of ${verdicts.length} rulesets` : ""}.${open}`;
    }),
    Math.min(...all.map(({ score }) => score)) > BEATEN ? `It nearly always wins ${[...new Set(all.map(kindOf))].join(", ")}: only a stronger opponent can show that it gains (evaluation.baseline).` : "",
  ];
}
