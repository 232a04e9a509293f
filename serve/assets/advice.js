// Advice to whoever plays: hints, and the bar that says who is ahead.

import { GivenUp, pause, think } from "/app/api.js";
import { el, say } from "/app/dom.js";
import { readAction } from "/app/game.js";
import { pointsOf } from "/app/points.js";

// How long the agent that gives hints may think.
const HINT_SECONDS = 10;
// How long a state is shown before the bar judges it, in milliseconds.
const SETTLED = 150;
const SHOWN = "latrunculi.evaluation";

// Asks for a hint against an opponent; `tell` is called with { text, action, notice }, at first without an action. Returns what
// gives it up.
export function askForHint(game, opponent, tell) {
  let notice = "";
  tell({ text: "Looking for a good action…" });
  const request = { game: game.request(), agent: opponent, is_hint: true, seed: game.seed, seconds: HINT_SECONDS };
  const thought = think(request, () => {}, (text) => { notice = text; });
  const result = thought.result.then(({ action, value, effort }) => {
    const points = Math.round(pointsOf(value));
    const text = `Hint: ${action}. A network that looked ${effort} times expects ${points} of 100 points for you.`;
    say(`${text} ${notice}`);
    tell({ text, action: readAction(action), notice });
  });
  return { result, giveUp: thought.giveUp };
}

// The bar beside the board: what each side is expected to score, from a short search of the state that is shown.
export class EvaluationBar {
  constructor(begin) {
    const level = begin.levels.find(({ agent }) => agent.includes("sims=64")).agent;
    this.agent = `${level},search=puct`;
    this.found = new WeakMap();
    this.share = el("div", { class: "share" });
    this.number = el("span", { class: "number" });
    this.element = el("div", { class: "evaluation", role: "img" }, this.share, this.number);
    this.box = el("input", { type: "checkbox", checked: read() !== "off", onchange: () => { keep(this.box.checked ? "on" : "off"); this.show(...this.shown); } });
    this.field = el("label", { class: "check" }, this.box, "Show who is ahead, beside the board");
  }

  // Shows a state of a game. It is judged now unless somebody else thinks: `isWaiting` says so.
  async show(game, at, isFlipped, isWaiting) {
    this.shown = [game, at, isFlipped, isWaiting];
    const state = game.states[at];
    this.element.hidden = !this.box.checked;
    const isNew = this.state !== state;
    this.state = state;
    this.draw();
    if (isNew) {
      this.thought?.giveUp();
      this.thought = null;
    }
    if (this.thought || !this.box.checked || isWaiting || this.found.has(state) || game.isOverAt(at)) return;
    await pause(SETTLED);
    if (this.state !== state || this.thought) return;
    try {
      this.thought = think({ game: game.request(at), agent: this.agent, seed: game.seed });
      const { thought } = this;
      const { player, value } = await thought.result;
      this.found.set(state, player === 1 ? value : -value);
      if (thought === this.thought) this.draw();
    } catch (error) {
      // The game goes on without the bar; what fails for the game is shown there.
      if (!(error instanceof GivenUp)) this.element.hidden = true;
    }
  }

  draw() {
    const [game, at, isFlipped] = this.shown;
    // What the agent who acted last expected, until it is judged.
    const told = game.values[at - 1] ?? null;
    if (game.isOverAt(at)) this.last = [0, 1, -1][game.winner ?? 0];
    else this.last = this.found.get(game.states[at]) ?? (told === null ? this.last : game.states[at - 1].to_act === 1 ? told : -told);
    const points = Math.round(pointsOf(this.last ?? 0));
    this.element.classList.toggle("flipped", isFlipped);
    this.share.style.height = `${points}%`;
    this.number.textContent = points;
    this.element.setAttribute("aria-label", `Player 1 is expected to score ${points} of 100 points`);
    this.element.title = `Player 1 is expected to score ${points} of 100 points, player 2 the rest`;
  }
}

function keep(shown) {
  try {
    localStorage.setItem(SHOWN, shown);
  } catch {
    // Without storage it is shown again the next time.
  }
}

function read() {
  try {
    return localStorage.getItem(SHOWN);
  } catch {
    return null;
  }
}
