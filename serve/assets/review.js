// What went wrong in a game that has been judged: how much each action lost, and what would have been better.

import { button, el, replaceButtons } from "/app/dom.js";

// The losses, in expected points, from which an action is listed, and their signs.
const SIGNS = [[0.2, "??"], [0.1, "?"], [0.05, "?!"]];
// What an accurate action may lose at most.
const ACCURATE = 0.02;
const VARIATION_MAX = 6;

// Returns the expected points of a player in a state: an analysis, or the game's end.
function points(player, judged) {
  return (1 + (judged.player === player ? judged.value : -judged.value)) / 2;
}

// Reviews a game. `judged` gives for each state { player, value } from the view of that player, and where a search found them
// `action`, `variation` and `actions`; null where nothing is known. Returns for each player the number of choices, how many of
// them were accurate and what they lost, and the mistakes in their order.
export function review(game, judged) {
  const sides = [1, 2].map(() => ({ choices: 0, accurate: 0, lost: 0 }));
  const mistakes = [];
  for (let at = game.opening; at < game.actions.length; at++) {
    const [before, after] = [judged[at], judged[at + 1]];
    if (!before?.action || !after || before.actions.length === 1) continue;
    const { player } = before;
    const isBest = before.action === game.actions[at];
    const loss = isBest ? 0 : Math.max(0, points(player, before) - points(player, after));
    const side = sides[player - 1];
    side.choices++;
    side.accurate += Number(loss < ACCURATE);
    side.lost += loss;
    const sign = SIGNS.find(([least]) => loss >= least)?.[1];
    if (sign) mistakes.push({ at, player, loss, sign, better: before.variation });
  }
  return { sides, mistakes };
}

// The review on the page.
export class Review {
  // `goTo` is called with the number of actions before a mistake.
  constructor(goTo) {
    this.goTo = goTo;
    this.mistakes = [];
    this.sides = el("ul", { class: "accuracy" });
    this.next = button("Next mistake", () => this.jump());
    this.list = el("ol", { class: "mistakes", "aria-label": "Mistakes" });
    this.none = el("p", { class: "soft" }, `No action lost ${SIGNS.at(-1)[0]} points or more.`);
    this.element = el("section", { class: "card", "aria-label": "What went wrong", hidden: true },
      el("h2", {}, "What went wrong"), this.sides, el("div", { class: "row" }, this.next), this.list, this.none,
      el("details", {}, el("summary", {}, "How this is counted"),
        el("p", { class: "soft" }, `A win is 1 point, a draw half a point. What an action loses is what the judge expected before it less what it expects after it, for the player who chose it; the action that the judge would have chosen loses nothing. Accuracy is the share of a player’s choices that lost less than ${ACCURATE} points. Actions without an alternative, and those that were drawn at the beginning, are no choices. ?! is a loss of at least ${SIGNS[2][0]}, ? of ${SIGNS[1][0]}, ?? of ${SIGNS[0][0]} points.`)));
  }

  // Returns the signs of the mistakes by their actions.
  get marks() { return new Map(this.mistakes.map(({ at, sign }) => [at, sign])); }

  // Goes to the next mistake after the state that is shown, or to the first one.
  jump() {
    const next = this.mistakes.find(({ at }) => at > this.at) ?? this.mistakes[0];
    this.goTo(next.at);
  }

  show(game, judged, at) {
    const { sides, mistakes } = review(game, judged);
    Object.assign(this, { mistakes, at });
    this.element.hidden = sides.every(({ choices }) => choices === 0);
    this.sides.replaceChildren(...sides.map(({ choices, accurate, lost }, index) => el("li", {},
      el("span", { class: `token player${index + 1}`, "aria-hidden": "true" }), `Player ${index + 1}: `,
      choices ? `accuracy ${Math.round((100 * accurate) / choices)} % (${accurate} of ${choices} ${choices === 1 ? "choice" : "choices"}), ${lost.toFixed(2)} points lost` : "no choice judged")));
    this.next.disabled = !mistakes.length;
    this.none.hidden = mistakes.length > 0;
    replaceButtons(this.list, mistakes.map((mistake) => el("li", {},
      button(`${game.states[mistake.at].turns + 1}. ${game.describe(mistake.at)} ${mistake.sign}`, () => this.goTo(mistake.at), { class: "plain", "aria-current": mistake.at === at ? "true" : null }),
      ` Player ${mistake.player} lost ${mistake.loss.toFixed(2)}. Better: ${mistake.better.slice(0, VARIATION_MAX).join(" ")}`)));
  }
}
