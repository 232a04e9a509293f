// Setting up a position: by hand, or from its one line. The program says at once why no game can go on from it.

import { ask, rulesOf } from "/app/api.js";
import { Board } from "/app/board.js";
import { button, el, replaceButtons, select } from "/app/dom.js";
import { readPieces, writeRows } from "/app/game.js";
import { PieceTools } from "/app/pieces.js";

export class Setup {
  // `take` is called with the ruleset and the start of the game that is to begin; `words` are on its button.
  constructor(take, words) {
    this.take = take;
    this.board = new Board((name) => this.press(name));
    this.tools = new PieceTools(() => this.draw(false));
    this.toAct = select("To act", [["1", "Player 1"], ["2", "Player 2"]], "1", () => this.draw());
    this.line = el("input", { type: "text", spellcheck: "false", "aria-label": "The position as one line", oninput: () => this.read() });
    this.faults = el("ul", { class: "fault", role: "alert", "aria-label": "Why no game goes on from this position" });
    this.mainButton = button(words, () => this.done(), { class: "main" });
    this.dialog = el("dialog", { class: "setup", "aria-label": "Set up a position" },
      el("h2", {}, "Set up a position"),
      this.tools.element, this.board.element,
      el("div", { class: "row" }, this.toAct, button("Empty the board", () => this.clear())),
      el("label", { class: "field" }, el("span", {}, "Or paste a position: rows from the top, numbers for empty squares, then who is to act"), this.line),
      this.faults,
      el("div", { class: "row" }, this.mainButton, button("Cancel", () => this.dialog.close())));
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
    const [, toAct, ...rest] = line.trim().split(/\s+/);
    this.pieces = readPieces(line);
    this.toAct.querySelector("select").value = toAct === "2" ? "2" : "1";
    // What is still to be placed stays so, whatever stands on the board.
    this.rest = rest[1]?.startsWith("place:") ? rest : [];
    if (this.line.value !== line) this.line.value = line;
    this.draw(false);
  }

  read() {
    const line = this.line.value;
    if (line.trim().split(" ")[0].split("/").length === this.about.ranks) this.setLine(line);
    else this.check();
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
    const state = { bound: [], last_taken: [] };
    this.board.show(this.about, { state, action: null, pieces: this.pieces });
    this.tools.draw(this.about.has_dux);
    this.check();
  }

  // Says why no game goes on from the position; returns whether one does.
  async check() {
    const asked = this.asked = { ruleset: this.ruleset, position: this.line.value.trim() };
    const { faults } = await ask("/api/position", asked).catch((error) => ({ faults: [error.message] }));
    if (asked !== this.asked) return false;
    const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}.`;
    replaceButtons(this.faults, faults.map((text) => el("li", {}, sentence(text))));
    this.mainButton.disabled = faults.length > 0;
    return !faults.length;
  }

  async done() {
    if (!await this.check()) return;
    try {
      await this.take({ ruleset: this.ruleset, start: this.line.value.trim() });
      this.dialog.close();
    } catch (error) {
      this.faults.replaceChildren(el("li", {}, error.message));
    }
  }
}
