// What stands beside a board: who plays, what was played, and the buttons that step through it.

import { button, el, replaceButtons, svg } from "/app/dom.js";

// Shows who plays one side, with the pieces that he has, and the time on his clock where there is one.
export function drawSide(place, player, name, game, at, { isThinking = false, time = "" } = {}) {
  const state = game.states[at];
  const letters = (state.position.split(" ")[0].match(/[A-Za-z]/g) ?? []).filter((letter) => (letter === letter.toUpperCase()) === (player === 1));
  const men = letters.filter((letter) => letter.toUpperCase() === "M").length;
  const dux = letters.length - men;
  const hand = state.hands[player - 1];
  const counts = [[men || !dux ? `${men} ${men === 1 ? "man" : "men"}` : null, dux ? "the dux" : null].filter(Boolean).join(" and ")];
  if (hand.men + hand.dux) counts.push(`${hand.men + hand.dux} to place`);
  const isResigned = game.resigned !== null && at === game.actions.length;
  const isToAct = state.to_act === player && !isResigned;
  place.className = `side${isToAct ? " to-act" : ""}`;
  place.replaceChildren(
    el("span", { class: `token player${player}`, "aria-hidden": "true" }),
    el("strong", {}, `Player ${player}`),
    el("span", { class: "name" }, name),
    // It has its place always, so that nothing moves from turn to turn.
    el("span", { class: `badge${isToAct ? "" : " away"}` }, isToAct && isThinking ? "thinking" : "to act"),
    el("span", { class: "count" }, counts.join(", ")),
    time ? el("span", { class: "time", role: "timer", "aria-label": `Player ${player} has ${time} left` }, time) : "");
}

// The action at which each list stands.
const scrolledTo = new WeakMap();

// Lists the actions, turn by turn with the number of the first of each, all buttons that show the state after them. `marks` may have a
// sign for an action.
export function drawMoves(list, game, at, goTo, marks = new Map()) {
  const turns = [];
  game.actions.forEach((_, index) => {
    const player = game.states[index].to_act;
    const isNew = !turns.length || game.states[index].turns !== game.states[index - 1]?.turns || turns.at(-1).player !== player;
    if (isNew) turns.push({ player, actions: [] });
    turns.at(-1).actions.push(index);
  });
  replaceButtons(list, turns.map(({ player, actions }) => el("li", { class: `player${player}` },
    el("span", { class: "number", title: "number of the action" }, actions[0] + 1),
    actions.map((index) => button(`${game.describe(index)}${marks.get(index) ?? ""}`, () => goTo(index + 1), { "aria-current": index + 1 === at ? "true" : null })))));
  // Only the list scrolls, never the page. A hidden one does so when it is shown.
  const current = list.querySelector("[aria-current]");
  if (!list.clientHeight || current === scrolledTo.get(list)) return;
  scrolledTo.set(list, current);
  list.scrollTop = current ? current.offsetTop - list.clientHeight / 2 : 0;
}

// Buttons that step through a game.
export function stepper(goTo, count, at) {
  const icon = (path) => svg("svg", { viewBox: "0 0 16 16", class: "icon", "aria-hidden": "true" }, svg("path", { d: path }));
  const step = (path, label, to) => button(icon(path), () => goTo(to()), { "aria-label": label, title: label, class: "step" });
  const back = [step("M2 2h2v12h-2zM14 2v12L5 8z", "to the beginning", () => 0), step("M12 2v12L3 8z", "one action back", () => at() - 1)];
  const on = [step("M4 2v12L13 8z", "one action on", () => at() + 1), step("M12 2h2v12h-2zM2 2v12L11 8z", "to the end", count)];
  const element = el("div", { class: "steps", role: "group", "aria-label": "Step through the game" }, back, on);
  const draw = () => {
    back.forEach((one) => { one.disabled = at() === 0; });
    on.forEach((one) => { one.disabled = at() === count(); });
  };
  return { element, draw };
}
