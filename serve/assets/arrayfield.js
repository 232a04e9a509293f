// The field of an opening array: drawn by clicks on a board, or typed, and fitted to a board of another size.

import { Board } from "/app/board.js";
import { button, el } from "/app/dom.js";
import { squareName } from "/app/game.js";
import { PieceTools } from "/app/pieces.js";

// Returns the rows of an array for a board of another size. Files come and go at the sides, where the outermost men are repeated if
// that is wanted; ranks in the middle, the empty ones first.
function fitted(rows, files, ranks, isRepeated) {
  const more = files - rows[0].length;
  const left = Math.floor(more / 2);
  const edge = (letter) => (isRepeated && "Mm".includes(letter) ? letter : ".");
  const wide = rows.map((row) => (more < 0 ? row.slice(-left, files - left) : edge(row[0]).repeat(left) + row + edge(row.at(-1)).repeat(more - left)));
  while (wide.length < ranks) wide.splice(wide.length >> 1, 0, ".".repeat(files));
  while (wide.length > ranks) {
    const order = wide.map((row, at) => [/\w/.test(row), Math.abs(at - (wide.length - 1) / 2), at]);
    wide.splice(order.sort((one, other) => one[0] - other[0] || one[1] - other[1])[0][2], 1);
  }
  return wide;
}

// Returns rows in which so many men of each side, and its dux, stand on the first ranks.
function laidOut(men, dux, files, ranks) {
  const back = [];
  for (let left = men + dux; left > 0; left -= files) {
    const row = "m".repeat(Math.min(left, files));
    back.push(row.padStart((files + row.length) >> 1, ".").padEnd(files, "."));
  }
  const middle = files >> 1;
  if (dux) back[0] = `${back[0].slice(0, middle)}d${back[0].slice(middle + 1)}`;
  const empty = Array(Math.max(0, ranks - 2 * back.length)).fill(".".repeat(files));
  return [...back, ...empty, ...back.map((row) => row.toUpperCase()).reverse()];
}

const rowsOf = (text) => text.split(/[\n/]/).map((row) => row.trim()).filter(Boolean);

// Returns the field as `input`, how it is read, `fit`, which is told how many files and ranks the board has, `stones`, which counts
// those of player 1, and `layOut`, which puts so many on the board where there are none.
export function arrayField(value) {
  let size = null;
  // The rows as somebody drew them, and whether men are repeated where they are fitted to a wider board.
  let drawn = rowsOf(value ?? "");
  let isRepeated = true;
  const text = el("textarea", { rows: 8, spellcheck: "false", placeholder: "none", "aria-label": "The array as text" });
  text.value = value ?? "";
  const board = new Board((name) => press(name));
  const tools = new PieceTools(() => draw());
  const said = el("p", { class: "row soft", role: "status" });
  const input = el("div", { class: "array", role: "group" }, tools.element, board.element, said, text);
  input.role = "group";

  // The pieces of the text by square; rows that lie beyond the board are left out.
  const pieces = () => {
    const rows = rowsOf(text.value);
    const found = new Map();
    rows.forEach((row, at) => [...row].forEach((letter, file) => {
      const rank = rows.length - 1 - at;
      if ("MDmd".includes(letter) && file < size.files && rank < size.ranks) found.set(squareName(file, rank), letter);
    }));
    return found;
  };
  const changed = () => {
    drawn = rowsOf(text.value);
    said.replaceChildren();
    draw();
  };
  const write = (placed) => {
    const row = (rank) => Array.from({ length: size.files }, (_, file) => placed.get(squareName(file, rank)) ?? ".").join("");
    text.value = Array.from({ length: size.ranks }, (_, at) => row(size.ranks - 1 - at)).join("\n");
    text.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const press = (name) => {
    const placed = pieces();
    tools.press(placed, name);
    write(placed);
  };
  const draw = () => {
    board.show(size, { state: { bound: [], last_taken: [] }, action: null, pieces: pieces() });
    tools.draw(true, [button("Empty the board", () => write(new Map()))]);
  };
  // Fits what was drawn to the board, and says so.
  const adapt = () => {
    const { files, ranks } = size;
    if (!drawn.length || drawn.some((row) => row.length !== drawn[0].length)) return;
    const [rows, other] = [isRepeated, !isRepeated].map((one) => fitted(drawn, files, ranks, one).join("\n"));
    text.value = rows;
    const toggle = button(isRepeated ? "Leave the new squares empty" : "Repeat the outermost men", () => {
      isRepeated = !isRepeated;
      adapt();
      input.dispatchEvent(new Event("input"));
    });
    const isFitted = rows !== drawn.join("\n");
    said.replaceChildren(...(isFitted ? [`The array was fitted to ${files} files and ${ranks} ranks.`, rows === other ? "" : toggle] : []));
  };
  const fit = (files, ranks) => {
    if (size?.files === files && size.ranks === ranks) return;
    size = { files, ranks };
    text.rows = ranks;
    adapt();
    draw();
  };
  const stones = () => ({ men: text.value.split("M").length - 1, dux: text.value.split("D").length - 1 });
  const layOut = (men, dux) => {
    text.value = laidOut(men, dux, size.files, size.ranks).join("\n");
    changed();
    said.textContent = "The pieces were put on the first ranks: move them by clicks.";
  };
  text.addEventListener("input", changed);
  return { input, read: () => text.value.trim() || null, fit, stones, layOut };
}
