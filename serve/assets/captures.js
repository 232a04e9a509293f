// How a ruleset captures: small positions, each with the actions that show a rule.

import { ask } from "/app/api.js";
import { Board } from "/app/board.js";
import { el } from "/app/dom.js";
import { Game, readAction } from "/app/game.js";
import { stepper } from "/app/moves.js";

// Returns a figure for each of the ruleset's rules of capture.
export async function captureFigures(key) {
  const examples = await ask("/api/rules/captures", { ruleset: key });
  return Promise.all(examples.map(async (example) => figure(example.caption, await Game.open(example))));
}

function figure(caption, game) {
  let at = 0;
  const last = game.actions.length;
  const said = el("p", { class: "soft", role: "status" });
  const board = new Board(() => goTo(at < last ? at + 1 : 0));
  const steps = stepper((to) => goTo(to), () => last, () => at);
  const goTo = (to) => {
    at = Math.max(0, Math.min(to, last));
    const next = game.actions[at];
    board.show(game.about, game.view(at));
    board.drawArrows(next ? [{ action: readAction(next), weight: 0.4, kind: "hint" }] : []);
    const bound = at ? game.states[at].bound.filter((name) => !game.states[at - 1].bound.includes(name)) : [];
    const binds = bound.length ? ` binds ${bound.join(", ")}` : "";
    const who = (index) => `Player ${game.states[index].to_act}`;
    const end = game.endText;
    said.textContent = at ? `${who(at - 1)}: ${game.describe(at - 1)}${binds}. ${at === last && end ? `${end}.` : ""}` : `${who(0)} is to move.`;
    steps.draw();
  };
  goTo(0);
  return el("figure", { class: "card capture" }, el("figcaption", {}, caption), board.element, said, steps.element);
}
