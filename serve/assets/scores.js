// The scores of matches: how they are told apart, put together and written.

export const percent = (share) => (100 * share).toFixed(1);

// The games of a match, and how it was played.
export const gamesOf = ({ wins, draws, losses }) => wins + draws + losses;
export const kindOf = ({ opponent, simulations }) => `with ${simulations} simulations against ${opponent}`;

// Returns the ids and matches of the network that was measured last: those of the final match, which have no generation, or those of
// the newest generation.
export function newestOf(verdicts) {
  const all = Object.entries(verdicts);
  const newest = Math.max(...all.map(([, { generation = 0 }]) => generation));
  return all.filter(([, { generation = newest }]) => generation === newest);
}

// The mean of independent scores, with its interval, made of theirs.
export function meanOf(verdicts) {
  const score = verdicts.reduce((sum, verdict) => sum + verdict.score, 0) / verdicts.length;
  const reach = (end) => Math.sqrt(verdicts.reduce((sum, verdict) => sum + (verdict[end] - verdict.score) ** 2, 0)) / verdicts.length;
  return { score, lower: score - reach("lower"), upper: score + reach("upper") };
}

export const scoreText = ({ score, lower, upper }) => `${percent(score)} % [${percent(lower)}, ${percent(upper)}]`;
