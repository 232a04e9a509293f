// The board: a drawing, and over it a button for every square, so that keyboard, touch and screen readers reach it.

import { el, svg } from "/app/dom.js";
import { isDux, ownerOf, squareName } from "/app/game.js";

// The side of a square, and the margin for the coordinates, in units of the drawing.
const SIDE = 100;
const MARGIN = 44;

const CROWN = "M-20 12 L-24 -12 L-11 -2 L0 -19 L11 -2 L24 -12 L20 12 Z";

export class Board {
  // `press` is called with the name of a square that was clicked, tapped or entered.
  constructor(press = () => {}) {
    this.press = press;
    this.isFlipped = false;
    this.size = "";
    this.pieces = new Map();
    this.grid = el("div", { class: "squares", role: "group", "aria-label": "Board", onkeydown: (event) => this.move(event) });
    this.drawing = svg("svg", { class: "drawing", "aria-hidden": "true", focusable: "false" });
    this.element = el("div", { class: "board" }, this.drawing, this.grid);
  }

  get files() { return this.about.files; }
  get ranks() { return this.about.ranks; }

  // Returns the middle of a square in the drawing.
  middle(name) {
    const file = name.charCodeAt(0) - 97;
    const rank = Number(name.slice(1)) - 1;
    const [column, row] = this.isFlipped ? [this.files - 1 - file, rank] : [file, this.ranks - 1 - rank];
    return [MARGIN + (column + 0.5) * SIDE, MARGIN / 2 + (row + 0.5) * SIDE];
  }

  // Draws the squares of a ruleset's board, unless they stand there already.
  layOut(about) {
    const size = `${about.files}x${about.ranks} ${this.isFlipped}`;
    this.about = about;
    if (size === this.size) return;
    this.size = size;
    this.pieces.clear();
    const width = this.files * SIDE + 1.5 * MARGIN;
    const height = this.ranks * SIDE + 1.5 * MARGIN;
    this.drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.element.style.setProperty("--ratio", width / height);
    this.element.style.aspectRatio = `${width} / ${height}`;
    this.layers = Object.fromEntries(
      ["ground", "heat", "marks", "stones", "above", "arrows"].map((name) => [name, svg("g", { class: name })]),
    );
    this.drawing.replaceChildren(
      ...Object.values(this.layers),
    );
    const place = (side, total) => `${(100 * side) / total}%`;
    Object.assign(this.grid.style, {
      left: place(MARGIN, width), right: place(MARGIN / 2, width), top: place(MARGIN / 2, height), bottom: place(MARGIN, height),
      gridTemplateColumns: `repeat(${this.files}, 1fr)`, gridTemplateRows: `repeat(${this.ranks}, 1fr)`,
    });
    this.drawGround();
    this.buttons = new Map();
    const order = [];
    for (let row = 0; row < this.ranks; row++) {
      for (let column = 0; column < this.files; column++) {
        const rank = this.isFlipped ? row : this.ranks - 1 - row;
        const file = this.isFlipped ? this.files - 1 - column : column;
        order.push(squareName(file, rank));
      }
    }
    this.order = order;
    this.grid.replaceChildren(...order.map((name, index) => {
      const square = el("button", {
        type: "button", tabindex: index === 0 ? 0 : -1, "data-square": name, onclick: () => { this.focus(name); this.press(name); },
      });
      this.buttons.set(name, square);
      return square;
    }));
  }

  drawGround() {
    const ground = this.layers.ground;
    ground.append(svg("rect", {
      class: "field", x: MARGIN, y: MARGIN / 2, width: this.files * SIDE, height: this.ranks * SIDE,
    }));
    for (let file = 0; file < this.files; file++) {
      for (let rank = 0; rank < this.ranks; rank++) {
        if ((file + rank) % 2) continue;
        const [x, y] = this.middle(squareName(file, rank));
        ground.append(svg("rect", { class: "dark", x: x - SIDE / 2, y: y - SIDE / 2, width: SIDE, height: SIDE }));
      }
    }
    const text = (x, y, what) => ground.append(svg("text", { class: "coordinate", x, y }, what));
    for (let file = 0; file < this.files; file++) {
      text(this.middle(squareName(file, 0))[0], MARGIN * 0.5 + this.ranks * SIDE + MARGIN * 0.55, String.fromCharCode(97 + file));
    }
    for (let rank = 0; rank < this.ranks; rank++) text(MARGIN / 2, this.middle(squareName(0, rank))[1], rank + 1);
  }

  // Turns the board round.
  flip() {
    this.isFlipped = !this.isFlipped;
  }

  // Shows a state: the pieces, what the last action did, what is bound. `marks` are what can be done: `targets`,
  // `movable`, `removable` and `choices` are sets of squares, `selected` is one.
  show(about, { state, action, pieces }, marks = {}) {
    this.layOut(about);
    const bound = new Set(state.bound);
    this.placePieces(pieces, action, bound);
    this.drawMarks(state, action, marks);
    for (const [name, square] of this.buttons) {
      square.setAttribute("aria-label", this.label(name, pieces.get(name), bound, state, action, marks));
      if (marks.selected === name) square.setAttribute("aria-pressed", "true");
      else square.removeAttribute("aria-pressed");
      const isUsable = ["targets", "movable", "removable", "choices"].some((kind) => marks[kind]?.has(name));
      square.classList.toggle("usable", isUsable);
    }
  }

  label(name, letter, bound, state, action, marks) {
    const parts = [];
    if (letter) {
      const piece = isDux(letter) ? "dux" : "man";
      parts.push(`player ${ownerOf(letter)}'s ${piece}${bound.has(name) ? ", bound" : ""}`);
    } else {
      parts.push("empty");
    }
    if (action?.to === name) parts.push("moved last");
    if (state.last_taken.includes(name) && !letter) parts.push("taken last");
    if (marks.selected === name) parts.push("selected");
    if (marks.targets?.has(name)) parts.push("you can go here");
    if (marks.removable?.has(name)) parts.push("you can remove it");
    if (marks.choices?.has(name)) parts.push("you can take it");
    return `${name}, ${parts.join(", ")}`;
  }

  placePieces(pieces, action, bound) {
    const stones = this.layers.stones;
    // The piece that has moved keeps its element, so that it glides.
    if (action?.from && pieces.has(action.to) && !pieces.has(action.from)) {
      const moved = this.pieces.get(action.from);
      if (moved && moved.letter === pieces.get(action.to)) {
        this.pieces.get(action.to)?.element.remove();
        this.pieces.delete(action.from);
        this.pieces.set(action.to, moved);
      }
    }
    for (const [name, piece] of this.pieces) {
      if (pieces.get(name) === piece.letter) continue;
      this.pieces.delete(name);
      piece.element.classList.add("gone");
      piece.element.addEventListener("transitionend", () => piece.element.remove());
      setTimeout(() => piece.element.remove(), 400);
    }
    for (const [name, letter] of pieces) {
      let piece = this.pieces.get(name);
      if (!piece) {
        piece = { letter, element: drawPiece(letter) };
        this.pieces.set(name, piece);
        stones.append(piece.element);
      }
      const [x, y] = this.middle(name);
      piece.element.style.transform = `translate(${x}px, ${y}px)`;
      piece.element.classList.toggle("bound", bound.has(name));
    }
  }

  drawMarks(state, action, marks) {
    const below = [];
    const above = [];
    const square = (name, kind) => {
      const [x, y] = this.middle(name);
      return svg("rect", { class: kind, x: x - SIDE / 2, y: y - SIDE / 2, width: SIDE, height: SIDE });
    };
    if (action?.from) below.push(square(action.from, "left"));
    if (action?.to) below.push(square(action.to, "moved"));
    if (marks.selected) below.push(square(marks.selected, "selected"));
    for (const name of state.last_taken) {
      const [x, y] = this.middle(name);
      if (!this.pieces.has(name)) below.push(svg("path", { class: "taken", d: cross(x, y, 18) }));
    }
    for (const name of marks.targets ?? []) {
      const [x, y] = this.middle(name);
      above.push(svg("circle", { class: `target${marks.selected ? "" : " open"}`, cx: x, cy: y, r: marks.selected ? 15 : 7 }));
    }
    for (const name of [...(marks.removable ?? []), ...(marks.choices ?? [])]) {
      const [x, y] = this.middle(name);
      above.push(svg("circle", { class: "removable", cx: x, cy: y, r: 45 }));
    }
    for (const name of marks.movable ?? []) {
      const [x, y] = this.middle(name);
      if (name !== marks.selected) above.push(svg("circle", { class: "movable", cx: x, cy: y, r: 45 }));
    }
    this.layers.marks.replaceChildren(...below);
    this.layers.above.replaceChildren(...above);
  }

  // Draws arrows and rings: each has an `action` as readAction gives it, a `weight` from 0 to 1 and a `kind`.
  drawArrows(arrows) {
    this.layers?.arrows.replaceChildren(...arrows.map(({ action, weight, kind }) => {
      const width = 5 + 13 * weight;
      const style = `--weight: ${(0.35 + 0.6 * weight).toFixed(2)}`;
      if (action.from) {
        return svg("path", { class: `arrow filled ${kind}`, d: arrow(this.middle(action.from), this.middle(action.to), width), style });
      }
      const rings = (action.squares ?? (action.to ? [action.to] : [])).map((name) => {
        const [cx, cy] = this.middle(name);
        return svg("circle", { class: `arrow ${kind}`, cx, cy, r: 36, "stroke-width": width, style, fill: "none" });
      });
      return svg("g", {}, rings);
    }));
  }

  // Colours squares: `heat` is a share from 0 to 1 by square.
  drawHeat(heat) {
    this.layers?.heat.replaceChildren(...[...heat].map(([name, share]) => {
      const [x, y] = this.middle(name);
      const style = `--weight: ${(0.08 + 0.8 * share).toFixed(3)}`;
      return svg("rect", { class: "warm", x: x - SIDE / 2, y: y - SIDE / 2, width: SIDE, height: SIDE, style });
    }));
  }

  // Lets Tab come back to the square.
  focus(name) {
    for (const [other, square] of this.buttons) square.tabIndex = other === name ? 0 : -1;
  }

  // The arrow keys go from square to square.
  move(event) {
    const name = event.target.dataset?.square;
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -this.files, ArrowDown: this.files };
    if (!name || !(event.key in steps)) return;
    event.preventDefault();
    event.stopPropagation();
    const at = this.order.indexOf(name);
    const next = at + steps[event.key];
    const isSideways = event.key === "ArrowLeft" || event.key === "ArrowRight";
    const isSameRow = Math.floor(at / this.files) === Math.floor(next / this.files);
    if (!this.order[next] || (isSideways && !isSameRow)) return;
    this.focus(this.order[next]);
    this.buttons.get(this.order[next]).focus();
  }
}

// The outline of an arrow from one point to another.
function arrow([x1, y1], [x2, y2], width) {
  const length = Math.hypot(x2 - x1, y2 - y1);
  const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
  const at = (along, aside) => `${(x1 + ux * along - uy * aside).toFixed(1)} ${(y1 + uy * along + ux * aside).toFixed(1)}`;
  const [begin, end, head] = [18, length - 6, length - 16 - 1.6 * width];
  const half = width / 2;
  return `M${[at(begin, half), at(head, half), at(head, 1.5 * width), at(end, 0), at(head, -1.5 * width), at(head, -half), at(begin, -half)].join("L")}Z`;
}

const cross = (x, y, r) => `M${x - r} ${y - r} L${x + r} ${y + r} M${x + r} ${y - r} L${x - r} ${y + r}`;

// Draws a piece round the origin: the dux wears a crown, a bound piece is crossed out.
function drawPiece(letter) {
  const body = svg("circle", { class: "body", r: 37 });
  const inside = isDux(letter) ? svg("path", { class: "crown", d: CROWN }) : svg("circle", { class: "rim", r: 25 });
  const bonds = svg("path", { class: "bonds", d: "M-30 -30 L30 30 M30 -30 L-30 30" });
  return svg("g", { class: `piece player${ownerOf(letter)}` }, body, inside, bonds);
}

// What the actions that are legal now let a person do, step by step: which squares answer, and what they mean.
export class Chooser {
  constructor(legal) {
    this.legal = legal;
    this.selected = null;
    this.target = null;
    // The square that was pressed last, where nothing can be done with it.
    this.refused = null;
    // Which piece is placed where both can be.
    this.piece = "man";
    const movers = new Set(this.moves.map((action) => action.from));
    // Only one piece may go on: it is taken up at once.
    if (movers.size === 1 && this.legal.some((action) => action.kind === "stop")) this.selected = [...movers][0];
  }

  get moves() { return this.legal.filter((action) => action.kind === "move"); }

  // Tells whether men and the dux can both be placed.
  get hasBothPieces() {
    return ["man", "dux"].every((kind) => this.legal.some((action) => action.kind === kind));
  }

  get placed() {
    const kind = this.hasBothPieces ? this.piece : null;
    return this.legal.filter((action) => (kind ? action.kind === kind : action.kind === "man" || action.kind === "dux"));
  }

  // The actions that are chosen by a button and not on the board.
  get words() { return this.legal.filter((action) => action.kind === "stop" || action.kind === "pass"); }

  get marks() {
    const marks = { selected: this.selected };
    if (this.target) {
      const open = this.moves.filter((action) => action.from === this.selected && action.to === this.target);
      return { ...marks, choices: new Set(open.map((action) => action.victim)) };
    }
    marks.removable = new Set(this.legal.flatMap((action) => action.squares ?? []));
    if (this.selected) {
      marks.targets = new Set(this.moves.filter((action) => action.from === this.selected).map((action) => action.to));
    } else {
      marks.movable = new Set(this.moves.map((action) => action.from));
    }
    for (const action of this.placed) (marks.targets ??= new Set()).add(action.to);
    return marks;
  }

  // Takes a square; returns the actions that it may mean. One is to be played; of several, one is to be asked for.
  press(name) {
    this.refused = null;
    if (this.target) {
      const found = this.moves.filter(
        (action) => action.from === this.selected && action.to === this.target && action.victim === name,
      );
      this.target = null;
      if (found.length) return found;
    }
    const removals = this.legal.filter((action) => action.squares?.includes(name));
    if (removals.length) return removals;
    const placements = this.placed.filter((action) => action.to === name);
    if (placements.length) return placements;
    if (this.selected) {
      const moves = this.moves.filter((action) => action.from === this.selected && action.to === name);
      if (moves.length === 1) return moves;
      if (moves.length > 1) {
        this.target = name;
        return [];
      }
    }
    if (!this.moves.some((action) => action.from === name)) this.refused = name;
    else this.selected = this.selected !== name ? name : null;
    return [];
  }
}
