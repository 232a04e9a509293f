// The field of an opening array: drawn by clicks on a board, or typed.

import { Board } from "/app/board.js";
import { button, el } from "/app/dom.js";
import { squareName } from "/app/game.js";
import { PieceTools } from "/app/pieces.js";

// Returns the field as `input`, how it is read, and `fit`, which draws the board with so many files and ranks.
export function arrayField(value) {
  let size = { files: 8, ranks: 8 };
  const text = el("textarea", { rows: 8, spellcheck: "false", placeholder: "none", "aria-label": "The array as text" });
  text.value = value ?? "";
  const board = new Board((name) => press(name));
  const tools = new PieceTools(() => draw());
  const input = el("div", { class: "array", role: "group" }, tools.element, board.element, text);
  input.role = "group";

  // The pieces of the text by square; rows that lie beyond the board are left out.
  const pieces = () => {
    const rows = text.value.split(/[\n/]/).map((row) => row.trim()).filter(Boolean);
    const found = new Map();
    rows.forEach((row, at) => [...row].forEach((letter, file) => {
      const rank = rows.length - 1 - at;
      if ("MDmd".includes(letter) && file < size.files && rank < size.ranks) found.set(squareName(file, rank), letter);
    }));
    return found;
  };
  const put = (written) => {
    text.value = written;
    draw();
    input.dispatchEvent(new Event("input"));
  };
  const write = (placed) => {
    const row = (rank) => Array.from({ length: size.files }, (_, file) => placed.get(squareName(file, rank)) ?? ".").join("");
    put(Array.from({ length: size.ranks }, (_, at) => row(size.ranks - 1 - at)).join("\n"));
  };
  const press = (name) => {
    const placed = pieces();
    tools.press(placed, name);
    write(placed);
  };
  const draw = () => {
    board.show(size, { state: { bound: [], last_taken: [] }, action: null, pieces: pieces() });
    tools.draw(true, [button("Empty the board", () => write(new Map())), button("No array", () => put(""))]);
  };
  text.addEventListener("input", draw);
  draw();
  return { input, read: () => text.value.trim() || null, fit: (files, ranks) => { size = { files, ranks }; text.rows = ranks; draw(); } };
}
