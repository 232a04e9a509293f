// Links to a position or a game with its variations: the part of the address after "#" holds all of it, and opens behind the address of
// any such page.

import { button, copy, el } from "/app/dom.js";
import { checkRules } from "/app/game.js";

// Returns that part for a line after `at` actions, where `lines` are the game and its variations. A ruleset that other programs do not
// have is in it as a whole. A variation is the number of actions that it shares with the game, and those after them.
export function addressOf(line, at, lines = [line]) {
  const [game, ...variations] = lines;
  const { about, ruleset, start, actions } = game;
  const isKnown = about.is_shipped || ruleset.includes("\n");
  const state = line === game ? at : `${at}.${lines.indexOf(line)}`;
  const variation = (one) => {
    const shared = one.states.findIndex((found, index) => found !== game.states[index]) - 1;
    return [shared, ...one.actions.slice(shared)].join(",");
  };
  const parts = [isKnown ? ruleset : about.text, about.fingerprint, start ?? "", actions.join(","), state, ...variations.map(variation)];
  // Commas need no code, and a game has hundreds.
  return `#analyse/${parts.map((part) => encodeURIComponent(part).replaceAll("%2C", ",")).join("/")}`;
}

// Reads the parts of an address after "#analyse": a record as Game.open takes it, the variations, which line is shown, 0 for the game,
// and the number of actions before its state.
export async function readAddress(parts) {
  const [ruleset, fingerprint, start, played, state, ...others] = parts;
  if (parts.length < 5 || !ruleset) throw new Error("a part of it is missing. Copy all of it.");
  const [, at, shown] = (/^(\d+)(?:\.(\d+))?$/.exec(state) ?? []).map((text) => Number(text ?? 0));
  if (at === undefined || shown > others.length) throw new Error(`it has “${state}” where the number of a state is expected.`);
  const record = { ruleset, fingerprint, start: start || null, actions: played ? played.split(",") : [] };
  const variations = others.map((text) => {
    const [from, ...actions] = text.split(",");
    if (!/^\d+$/.test(from) || from > record.actions.length || !actions.length) throw new Error(`it has “${text}” where a variation of the game is expected.`);
    return { from: Number(from), actions };
  });
  const length = shown ? variations[shown - 1].from + variations[shown - 1].actions.length : record.actions.length;
  if (at > length) throw new Error(`it asks for state ${at} of a game of ${length} actions.`);
  await checkRules(record);
  return { record, at, shown, variations };
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

  // Shows a state of a line, where `lines` are the game and its variations.
  show(line, at, lines) {
    this.position.value = line.states[at].position;
    this.link.value = `${location.origin}/${addressOf(line, at, lines)}`;
  }
}
