// How good a state is, in the one scale of the page: the points that a player can expect, of 100. A win is 100, a draw 50.

// Returns the expected points of a value, from −1 for a loss to 1 for a win.
export const pointsOf = (value) => 50 * (1 + value);

// Writes points, or a difference of some.
export const pointsText = (points) => points.toFixed(1);

// Writes a number with its sign, unless it is 0.
export function signed(value, decimals = 1) {
  const digits = Math.abs(value).toFixed(decimals);
  return Number(digits) === 0 ? digits : `${value < 0 ? "−" : "+"}${digits}`;
}
