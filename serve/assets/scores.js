// The scores of matches: how they are told apart, put together and written.

export const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
export const percent = (share) => (100 * share).toFixed(1);

// The games of a match, and how it was played.
export const gamesOf = ({ wins, draws, losses }) => wins + draws + losses;
export const kindOf = ({ opponent, simulations }) => `with ${simulations} simulations against ${opponent}`;

// The generations of the networks that were measured; null for final matches, which have none.
export function generationsOf(verdicts) {
  const all = verdicts.map(({ generation }) => generation).filter(Number.isFinite);
  const [first, last] = [Math.min(...all), Math.max(...all)];
  return !all.length ? null : first === last ? `generation ${first}` : `generations ${first} to ${last}`;
}

// The mean of independent scores, with its interval, made of theirs.
export function meanOf(verdicts) {
  const score = mean(verdicts.map((verdict) => verdict.score));
  const reach = (end) => Math.sqrt(verdicts.reduce((sum, verdict) => sum + (verdict[end] - verdict.score) ** 2, 0)) / verdicts.length;
  return { score, lower: score - reach("lower"), upper: score + reach("upper") };
}

export const scoreText = ({ score, lower, upper }) => `${percent(score)} % [${percent(lower)}, ${percent(upper)}]`;
