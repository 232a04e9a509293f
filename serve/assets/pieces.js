// The tools with which pieces are put on a board by hand.

import { button, el, replaceButtons } from "/app/dom.js";

const TOOLS = [["M", "Player 1’s man"], ["D", "Player 1’s dux"], ["m", "Player 2’s man"], ["d", "Player 2’s dux"], ["", "Remove"]];

export class PieceTools {
  // `changed` is called when another tool was chosen.
  constructor(changed) {
    this.tool = "M";
    this.changed = changed;
    this.element = el("div", { class: "row", role: "group", "aria-label": "What a click on a square puts there" });
  }

  // Puts the chosen piece on a square; takes it away where it stands already, and what stands there with "Remove".
  press(pieces, name) {
    if (this.tool === "" || pieces.get(name) === this.tool) return pieces.delete(name);
    // A side has one dux.
    if (this.tool.toUpperCase() === "D") for (const [other, letter] of pieces) if (letter === this.tool) pieces.delete(other);
    return pieces.set(name, this.tool);
  }

  // Draws the tools, and other buttons behind them.
  draw(hasDux = true, others = []) {
    const tools = TOOLS.filter(([letter]) => hasDux || letter.toUpperCase() !== "D");
    const choice = ([letter, name]) => button(name, () => { this.tool = letter; this.changed(); }, { "aria-pressed": String(this.tool === letter) });
    replaceButtons(this.element, [...tools.map(choice), ...others]);
  }
}
