// What a person is to do, and the buttons for what is not chosen on the board.

import { button } from "/app/dom.js";
import { ownerOf, readPieces } from "/app/game.js";
import { otherTab } from "/app/kept.js";

// Says in Play what is to be done, or what is being waited for.
export function statusOf({ game, at, other, hint, placer, players, chooser, isPaused, isWatching, isHumansTurn }) {
  if (other) return otherTab(other, game);
  if (isWatching) return `After ${at} of ${game.actions.length} actions.`;
  if (game.isOver) return `${game.endText}.`;
  if (hint) return hint.text;
  if (isPaused) return `Paused: player ${game.toAct} is to act.`;
  if (placer) return "The pieces are placed…";
  if (!isHumansTurn) return `Player ${game.toAct} is thinking…`;
  return `${players.areHuman ? `Player ${game.toAct}: ` : "Your turn: "}${duty(game.last, chooser)}`;
}

// Says what is to be done, in a sentence.
export function duty(state, chooser) {
  if (chooser.refused) return refusal(state, chooser);
  if (state.phase === "placement") {
    const left = Number(/place:(\d+)/.exec(state.position)?.[1] ?? 1);
    const isDux = chooser.placed.every((action) => action.kind === "dux");
    if (isDux) return "place the dux.";
    return left > 1 ? `place a man (${left} left in this turn).` : "place a man.";
  }
  if (state.continuation) return `the piece on ${state.continuation} may go on.`;
  if (chooser.target) return "choose which piece to take.";
  if (chooser.marks.removable.size) return chooser.moves.length ? "move a piece, or remove a bound one." : "remove a bound piece.";
  if (!chooser.moves.length) return "nothing can be moved.";
  return chooser.selected ? "choose where it goes." : "choose a piece.";
}

// Says why nothing can be done with the square that was pressed; empty where something can.
export function refusal({ position, to_act: player }, { refused, selected, moves, placed }) {
  if (!refused) return "";
  const piece = readPieces(position).get(refused);
  if (placed.length) return piece ? `there is a piece on ${refused} already.` : `nothing can be placed on ${refused}.`;
  if (piece && ownerOf(piece) === player) return `the piece on ${refused} cannot move now.`;
  const targets = new Set(moves.filter(({ from }) => from === selected).map(({ to }) => to));
  if (targets.size) return `${selected} can go to ${[...targets].sort().join(", ")}.`;
  return piece ? "that piece is not yours." : `there is no piece on ${refused}.`;
}

// Returns the buttons: words such as "pass", actions of which one is to be chosen, and which piece is placed. `play` takes the text
// of an action, `pick` the piece that is to be placed, "man" or "dux".
export function choiceButtons(chooser, open, play, pick) {
  const words = { stop: "Stop here", pass: "Pass" };
  const buttons = chooser.words.map(({ kind, text }) => button(words[kind], () => play(text), { class: "main" }));
  for (const { text, squares } of open) buttons.push(button(squares ? `Remove ${squares.join(" and ")}` : text, () => play(text)));
  if (!chooser.hasBothPieces) return buttons;
  const pieces = [["man", "Place a man"], ["dux", "Place the dux"]];
  return [...buttons, ...pieces.map(([piece, text]) => button(text, () => pick(piece), { "aria-pressed": String(chooser.piece === piece) }))];
}
