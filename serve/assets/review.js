// What went wrong in a game that has been judged: how much each action lost, and what would have been better.

import { button, el, replaceButtons } from "/app/dom.js";
import { ownerOf, readPieces } from "/app/game.js";
import { signed } from "/app/verdict.js";

// The losses, in expected points, from which an action has a sign.
const SIGNS = [[0.2, "??"], [0.1, "?"], [0.05, "?!"]];
// What an accurate action loses less than; a choice matters where the actions that the judge compared differ by more, or more is lost.
const ACCURATE = 0.02;
// Fewer choices that matter have no share.
const MATTERING = 10;
// So many of the largest losses of a game are listed too, from this size on: where all is near a draw, no action loses much.
const LARGEST = 5;
const LISTED = 0.01;
const VARIATION_MAX = 6;

// Returns the expected points of a player in a state: an analysis, or the game's end.
function points(player, judged) {
  return (1 + (judged.player === player ? judged.value : -judged.value)) / 2;
}

// Returns how many pieces a player has, in hand or on the board.
function pieces({ position, hands }, player) {
  const { men, dux } = hands[player - 1];
  return men + dux + [...readPieces(position).values()].filter((letter) => ownerOf(letter) === player).length;
}

// Reviews a game. `judged` gives for each state { player, value } from the view of that player, and where a search found them
// `action`, `variation` and `actions`; null where nothing is known. Returns for each player the number of choices, how many of
// them were accurate or the judge's own, and what they lost, and the mistakes in their order. `curve` has
// what player 1 was expected to score in each state that is judged, `isWhole` tells whether all are.
export function review(game, judged) {
  const sides = [1, 2].map(() => ({ choices: 0, mattering: 0, accurate: 0, best: 0, lost: 0 }));
  const losses = [];
  for (let at = game.opening; at < game.actions.length; at++) {
    const [before, after] = [judged[at], judged[at + 1]];
    if (!before?.action || !after || before.actions.length === 1) continue;
    const { player } = before;
    const isBest = before.action === game.actions[at];
    const loss = isBest ? 0 : Math.max(0, points(player, before) - points(player, after));
    const side = sides[player - 1];
    const values = before.actions.map(({ value }) => value).filter((value) => value !== null);
    const isMattering = loss >= ACCURATE || (Math.max(...values) - Math.min(...values)) / 2 >= ACCURATE;
    side.choices++;
    side.mattering += Number(isMattering);
    side.accurate += Number(isMattering && loss < ACCURATE);
    side.best += Number(isBest);
    side.lost += loss;
    const sign = SIGNS.find(([least]) => loss >= least)?.[1] ?? "";
    losses.push({ at, player, loss, sign, better: before.variation });
  }
  const largest = losses.filter(({ loss }) => loss >= LISTED).sort((a, b) => b.loss - a.loss).slice(0, LARGEST);
  const mistakes = losses.filter((one) => one.sign || largest.includes(one));
  // Who resigns ends a game whose last state is open.
  const known = judged.slice(game.opening, game.resigned ? -1 : undefined);
  return { sides, mistakes, isWhole: known.every(Boolean), curve: known.filter(Boolean).map((one) => points(1, one)) };
}

// Says how what both lost makes the curve.
function curveText(curve, [first, second]) {
  const [begin, end] = [curve[0], curve.at(-1)];
  const rest = end - begin + first.lost - second.lost;
  return `Player 1’s expected score went from ${Math.round(100 * begin)} % to ${Math.round(100 * end)} %, ${signed(end - begin)} points: ${signed(-first.lost)} by its own losses, `
    + `${signed(second.lost)} by player 2’s, and ${signed(rest)} where the judge saw more once an action was played.`;
}

// The review on the page.
export class Review {
  // `goTo` is called with the number of actions before a mistake.
  constructor(goTo) {
    this.goTo = goTo;
    this.mistakes = [];
    this.sides = el("ul", { class: "accuracy" });
    this.sum = el("p", { class: "soft" });
    this.next = button("Next loss", () => this.jump());
    this.list = el("ol", { class: "mistakes", "aria-label": "Losses" });
    this.none = el("p", { class: "soft" }, `No action lost ${LISTED} points or more.`);
    this.title = el("h2");
    this.element = el("section", { class: "card", "aria-label": "What went wrong", hidden: true },
      this.title, this.sides, this.sum, el("div", { class: "row" }, this.next), this.list, this.none,
      el("details", {}, el("summary", {}, "How this is counted"),
        el("p", { class: "soft" }, `A win is 1 point, a draw half a point. What an action loses is what the judge expected before it less what it expects after it, for the player who chose it; the action that the judge would have chosen loses nothing. Listed are the losses with a sign and the ${LARGEST} largest of at least ${LISTED} points. Accuracy is the share of a player’s choices that lost less than ${ACCURATE} points, of those in which the compared actions differed by as much or more was lost; at least ${MATTERING} of them. Actions without an alternative, and those that were drawn at the beginning, are no choices. ?! is a loss of at least ${SIGNS[2][0]}, ? of ${SIGNS[1][0]}, ?? of ${SIGNS[0][0]} points.`)));
  }

  // Returns the signs of the mistakes by their actions.
  get marks() { return new Map(this.mistakes.map(({ at, sign }) => [at, sign])); }

  // Goes to the next mistake after the state that is shown, or to the first one.
  jump() {
    const next = this.mistakes.find(({ at }) => at > this.at) ?? this.mistakes[0];
    this.goTo(next.at);
  }

  // `isUnderWay` tells that the game is being judged.
  show(game, judged, at, isUnderWay) {
    const { sides, mistakes, curve, isWhole } = review(game, judged);
    const isClose = curve.every((score) => Math.abs(score - 0.5) < SIGNS[0][0]);
    const isShown = (isWhole || isUnderWay) && sides.some(({ choices }) => choices);
    Object.assign(this, { mistakes: isShown ? mistakes : [], at: at ?? -1 });
    this.element.hidden = !isShown;
    if (!isShown) return;
    this.title.textContent = `What went wrong${isWhole ? "" : ", so far"}`;
    this.sides.replaceChildren(...sides.map(({ choices, mattering, accurate, best, lost }, index) => el("li", {},
      el("span", { class: `token player${index + 1}`, "aria-hidden": "true" }), `Player ${index + 1}: `,
      choices ? `${mattering < MATTERING ? "" : `accuracy ${Math.round((100 * accurate) / mattering)} % where it mattered (${mattering} times), `}${best} of ${choices} ${choices === 1 ? "choice was" : "choices were"} the judge’s, `
        + `${lost.toFixed(2)} points lost, pieces lost in the game: ${pieces(game.states[game.opening], index + 1) - pieces(game.last, index + 1)}` : "no choice judged")));
    this.sum.replaceChildren(isWhole ? curveText(curve, sides) : "",
      isClose ? ` In a game so near a draw no action loses much, good or bad: look at ${mistakes.length ? "the largest losses and " : ""}the pieces lost.` : "");
    this.next.disabled = !mistakes.length;
    this.none.hidden = mistakes.length > 0;
    replaceButtons(this.list, mistakes.map((mistake) => el("li", {},
      button(`${game.states[mistake.at].turns + 1}. ${game.describe(mistake.at)} ${mistake.sign}`, () => this.goTo(mistake.at), { class: "plain", "aria-current": mistake.at === at ? "true" : null }),
      ` Player ${mistake.player} lost ${mistake.loss.toFixed(2)}. Better: ${mistake.better.slice(0, VARIATION_MAX).join(" ")}`)));
  }
}
