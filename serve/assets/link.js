// Links to a position or a game: the part of the address after "#" holds all of it, and opens behind the address of any such page.

import { button, copy, el } from "/app/dom.js";
import { checkRules } from "/app/game.js";

// Returns that part for a game after `at` actions. A ruleset that other programs do not have is in it as a whole.
export function addressOf(game, at) {
  const { about, ruleset, start, actions } = game;
  const isKnown = about.is_shipped || ruleset.includes("\n");
  const parts = [isKnown ? ruleset : about.text, about.fingerprint, start ?? "", actions.join(","), at];
  // Commas need no code, and a game has hundreds.
  return `#analyse/${parts.map((part) => encodeURIComponent(part).replaceAll("%2C", ",")).join("/")}`;
}

// Reads the parts of an address after "#analyse": a record as Game.open takes it, and the number of actions before what is shown.
export async function readAddress(parts) {
  const [ruleset, fingerprint, start, actions, at] = parts;
  if (parts.length !== 5 || !ruleset) throw new Error("a part of it is missing. Copy all of it.");
  if (!/^\d+$/.test(at)) throw new Error(`it ends with “${at}”, where the number of a state is expected.`);
  const record = { ruleset, fingerprint, start: start || null, actions: actions ? actions.split(",") : [] };
  if (at > record.actions.length) throw new Error(`it asks for state ${at} of a game of ${record.actions.length} actions.`);
  await checkRules(record);
  return { record, at: Number(at) };
}

// The card with what can be copied: the position that is shown as one line, and a link.
export class PositionCard {
  constructor() {
    const field = (label) => el("input", { type: "text", readonly: true, "aria-label": label, spellcheck: "false" });
    this.position = field("This position as one line");
    this.link = field("A link to this game and state");
    const row = (input, text) => el("div", { class: "row" }, input, button(text, () => copy(input.value, input)));
    this.element = el("section", { class: "card", "aria-label": "Position" }, el("h2", {}, "Position"), row(this.position, "Copy"), row(this.link, "Copy the link"));
  }

  show(game, at) {
    this.position.value = game.states[at].position;
    this.link.value = `${location.origin}/${addressOf(game, at)}`;
  }
}
