// Setting up a position: by hand, or from its one line.

import { ask, rulesOf } from "/app/api.js";
import { Board } from "/app/board.js";
import { button, el, select } from "/app/dom.js";
import { readPieces, writeRows } from "/app/game.js";
import { PieceTools } from "/app/pieces.js";

export class Setup {
  // `take` is called with the ruleset and the start of the game that is to begin; `words` are on its button.
  constructor(take, words) {
    this.take = take;
    this.board = new Board((name) => this.press(name));
    this.tools = new PieceTools(() => this.draw(false));
    this.toAct = select("To act", [["1", "Player 1"], ["2", "Player 2"]], "1", () => this.draw());
    this.line = el("input", { type: "text", spellcheck: "false", "aria-label": "The position as one line", onchange: () => this.read() });
    this.fault = el("p", { class: "fault", role: "alert", hidden: true });
    this.dialog = el("dialog", { class: "setup", "aria-label": "Set up a position" },
      el("h2", {}, "Set up a position"),
      this.tools.element, this.board.element,
      el("div", { class: "row" }, this.toAct, button("Empty the board", () => this.clear())),
      el("label", { class: "field" }, el("span", {}, "Or paste a position: rows from the top, numbers for empty squares, then who is to act"), this.line),
      this.fault,
      el("div", { class: "row" }, button(words, () => this.done(), { class: "main" }), button("Cancel", () => this.dialog.close())));
    document.body.append(this.dialog);
  }

  // Opens the dialog with the state of a game after `at` actions, or the first one of another ruleset.
  async open(ruleset, game, at) {
    this.ruleset = ruleset;
    this.tools.tool = "M";
    this.about = await rulesOf(ruleset);
    const isSame = game.about.key === ruleset;
    this.setLine(isSame ? game.states[at].position : this.about.initial.position);
    this.dialog.showModal();
  }

  setLine(line) {
    const [, toAct, ...rest] = line.split(" ");
    this.pieces = readPieces(line);
    this.toAct.querySelector("select").value = toAct === "2" ? "2" : "1";
    // What is still to be placed stays so, whatever stands on the board.
    this.rest = rest[1]?.startsWith("place:") ? rest : [];
    this.line.value = line;
    this.draw(false);
  }

  read() {
    const line = this.line.value.trim();
    if (line.split(" ")[0].split("/").length === this.about.ranks) this.setLine(line);
  }

  clear() {
    this.pieces.clear();
    this.draw();
  }

  press(name) {
    this.tools.press(this.pieces, name);
    this.draw();
  }

  // Draws the board; the line follows it where the board was changed.
  draw(isChanged = true) {
    if (isChanged) {
      const rows = writeRows(this.pieces, this.about.files, this.about.ranks);
      this.line.value = [rows, this.toAct.querySelector("select").value, ...this.rest].join(" ");
    }
    this.show(null);
    const state = { bound: [], last_taken: [] };
    this.board.show(this.about, { state, action: null, pieces: this.pieces });
    this.tools.draw(this.about.has_dux);
  }

  show(error) {
    this.fault.textContent = error?.message ?? "";
    this.fault.hidden = !error;
  }

  async done() {
    const start = this.line.value.trim();
    try {
      await ask("/api/game", { ruleset: this.ruleset, start });
      await this.take({ ruleset: this.ruleset, start });
      this.dialog.close();
    } catch (error) {
      this.show(error);
    }
  }
}
