// What went wrong in a game that has been judged: how much each action lost, and what would have been better.

import { button, el, replaceButtons } from "/app/dom.js";
import { ownerOf, readPieces } from "/app/game.js";
import { HUMAN } from "/app/players.js";
import { pointsOf, pointsText, signed } from "/app/points.js";

// The losses, in expected points, from which an action has a sign.
const SIGNS = [[20, "??"], [10, "?"], [5, "?!"]];
// What an accurate action loses less than; a choice matters where the actions that the judge compared differ by more, or more is lost.
const ACCURATE = 2;
// Fewer choices that matter have no share.
const MATTERING = 10;
// So many of the largest losses of a game are listed too, from this size on: where all is near a draw, no action loses much.
const LARGEST = 5;
const LISTED = 0.5;
const VARIATION_MAX = 6;
// Who resigns with more expected points than these has not lost yet.
const RESIGNED_TOO_SOON = 20;

// Returns the expected points of a player in a state: an analysis, or the game's end.
function points(player, judged) {
  return pointsOf(judged.player === player ? judged.value : -judged.value);
}

// Returns how many pieces a player has, in hand or on the board.
function pieces({ position, hands }, player) {
  const { men, dux } = hands[player - 1];
  return men + dux + [...readPieces(position).values()].filter((letter) => ownerOf(letter) === player).length;
}

// Reviews a game. `judged` gives for each state { player, value } from the view of that player, and where a search found them
// `action`, `variation` and `actions`; null where nothing is known. Returns for each player the number of choices, how many of
// them were accurate or the judge's own, and what they lost; the `losses` that are large enough to be marked, and of these the
// mistakes that are listed, in their order. `curve` has the expected points of player 1 in each state that is judged, `isWhole` tells
// whether all are.
export function review(game, judged) {
  const sides = [1, 2].map(() => ({ choices: 0, mattering: 0, accurate: 0, best: 0, lost: 0 }));
  const all = [];
  for (let at = game.opening; at < game.actions.length; at++) {
    const [before, after] = [judged[at], judged[at + 1]];
    if (!before?.action || !after || before.actions.length === 1) continue;
    const { player } = before;
    const isBest = before.action === game.actions[at];
    const loss = isBest ? 0 : Math.max(0, points(player, before) - points(player, after));
    const side = sides[player - 1];
    const values = before.actions.map(({ value }) => value).filter((value) => value !== null);
    const isMattering = loss >= ACCURATE || pointsOf(Math.max(...values)) - pointsOf(Math.min(...values)) >= ACCURATE;
    side.choices++;
    side.mattering += Number(isMattering);
    side.accurate += Number(isMattering && loss < ACCURATE);
    side.best += Number(isBest);
    side.lost += loss;
    const sign = SIGNS.find(([least]) => loss >= least)?.[1] ?? "";
    // What the judge would answer, where the opponent acts next: the reason of most losses.
    const answer = after.action && after.player !== player ? after.variation.slice(0, VARIATION_MAX) : [];
    all.push({ at, player, loss, sign, better: before.variation.slice(0, VARIATION_MAX), answer });
  }
  const losses = all.filter(({ loss }) => loss >= LISTED);
  const largest = [...losses].sort((a, b) => b.loss - a.loss).slice(0, LARGEST);
  const mistakes = losses.filter((one) => one.sign || largest.includes(one));
  // Who resigns ends a game whose last state is open.
  const known = judged.slice(game.opening, game.resigned ? -1 : undefined);
  return { sides, losses, mistakes, isWhole: known.every(Boolean), curve: known.filter(Boolean).map((one) => points(1, one)) };
}

// Says how what both lost makes the curve.
function curveText(curve, [first, second]) {
  const [begin, end] = [curve[0], curve.at(-1)];
  const rest = end - begin + first.lost - second.lost;
  return `Player 1’s expected points went from ${pointsText(begin)} to ${pointsText(end)}, ${signed(end - begin)}: ${signed(-first.lost)} by its own losses, `
    + `${signed(second.lost)} by player 2’s, and ${signed(rest)} where the judge saw more once an action was played.`;
}

const token = (player) => el("span", { class: `token player${player}`, "aria-hidden": "true" });

// The review on the page.
export class Review {
  // `goTo` is called with the number of actions before a mistake, `showLine` with that number and the actions that were better.
  constructor(goTo, showLine) {
    Object.assign(this, { goTo, showLine, mistakes: [], losses: [], wanted: [] });
    this.sides = el("ul", { class: "accuracy" });
    this.sum = el("p", { class: "soft" });
    // These two stand beside the board.
    this.next = button("Next loss", () => this.jump(), { hidden: true });
    this.here = el("p", { class: "mistakes", hidden: true });
    this.list = el("ol", { class: "mistakes", "aria-label": "Losses" });
    this.none = el("p", { class: "soft" }, `No action lost ${LISTED} points or more.`);
    this.title = el("h2");
    this.element = el("section", { class: "card", "aria-label": "What went wrong", hidden: true },
      this.title, this.sides, this.sum, this.list, this.none,
      el("details", {}, el("summary", {}, "How this is counted"),
        el("p", { class: "soft" }, `A win is 100 points, a draw 50. What an action loses is what the judge expected before it less what it expects after it, for the player who chose it; the action that the judge would have chosen loses nothing. ?! is a loss of at least ${SIGNS[2][0]}, ? of ${SIGNS[1][0]}, ?? of ${SIGNS[0][0]} points. Listed are the losses with a sign and the ${LARGEST} largest of at least ${LISTED} point; the curve has a mark for every loss of at least ${LISTED} point, a larger one for those with a sign. Accuracy is the share of a player’s choices that lost less than ${ACCURATE} points, of those in which the compared actions differed by as much or more was lost; at least ${MATTERING} of them. Actions without an alternative, and those that were drawn at the beginning, are no choices.`)));
  }

  // Returns the signs of the mistakes by their actions.
  get marks() { return new Map(this.mistakes.map(({ at, sign }) => [at, sign])); }

  // Goes to the next mistake after the state that is shown, or to the first one.
  jump() {
    const next = this.wanted.find(({ at }) => at > this.at) ?? this.wanted[0];
    this.goTo(next.at);
  }

  // Tells a loss: the action, a button unless it is shown, what it lost, what was better, and what it allowed.
  tell(game, { at, player, loss, sign, better, answer }, isShown = false) {
    const action = `${at + 1}. ${game.describe(at)} ${sign}`;
    const line = (from, actions) => button(actions.join(" "), () => this.showLine(from, actions), { class: "plain", title: "show it on the board" });
    return [token(player), isShown ? el("strong", {}, action) : button(action, () => this.goTo(at), { class: "plain" }),
      ` Player ${player} lost ${pointsText(loss)} points. Better: `, line(at, better), ...(answer.length ? [" It allows: ", line(at + 1, answer)] : [])];
  }

  // Shows the review of a game after `at` actions of it; `isMain` tells that no variation is shown, `isUnderWay` that the game is
  // being judged.
  show(game, judged, at, isMain, isUnderWay) {
    const { sides, losses, mistakes, curve, isWhole } = review(game, judged);
    const isClose = curve.every((points) => Math.abs(points - 50) < SIGNS[0][0]);
    const isShown = (isWhole || isUnderWay) && sides.some(({ choices }) => choices);
    Object.assign(this, { mistakes: isShown ? mistakes : [], losses: isShown ? losses : [], at });
    this.element.hidden = !isShown;
    // A person who played wants to see the own losses.
    const people = [1, 2].filter((player) => game.agents[player - 1] === HUMAN);
    this.wanted = this.mistakes.filter(({ player }) => people.length !== 1 || people.includes(player));
    this.next.hidden = !this.wanted.length;
    this.next.textContent = people.length === 1 ? "Your next loss" : "Next loss";
    const here = isMain && this.losses.find((one) => one.at === at);
    // Its place is kept where there is nothing to tell, so that nothing moves from state to state.
    this.here.hidden = !isShown;
    replaceButtons(this.here, here ? this.tell(game, here, true).map((part) => (typeof part === "string" ? el("span", {}, part) : part)) : []);
    if (!isShown) return;
    this.title.textContent = `What went wrong${isWhole ? "" : ", so far"}`;
    this.sides.replaceChildren(...sides.map(({ choices, mattering, accurate, best, lost }, index) => el("li", {},
      token(index + 1), `Player ${index + 1}: `,
      choices ? `${mattering < MATTERING ? "" : `accuracy ${Math.round((100 * accurate) / mattering)} % where it mattered (${mattering} times), `}${best} of ${choices} ${choices === 1 ? "choice was" : "choices were"} the judge’s, `
        + `${pointsText(lost)} points lost, pieces lost in the game: ${pieces(game.states[game.opening], index + 1) - pieces(game.last, index + 1)}` : "no choice judged")));
    const open = game.resigned && !game.isTimedOut && isWhole ? game.resigned === 1 ? curve.at(-1) : 100 - curve.at(-1) : null;
    this.sum.replaceChildren(isWhole ? curveText(curve, sides) : "",
      open > RESIGNED_TOO_SOON ? ` Player ${game.resigned} resigned with ${pointsText(open)} of 100 points expected: the game was not lost.` : "",
      isClose ? ` In a game so near a draw no action loses much, good or bad: look at ${mistakes.length ? "the largest losses and " : ""}the pieces lost.` : "");
    this.none.hidden = mistakes.length > 0;
    replaceButtons(this.list, mistakes.map((mistake) => el("li", { "aria-current": isMain && mistake.at === at ? "true" : null }, this.tell(game, mistake))));
  }
}
