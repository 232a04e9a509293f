// Charts: lines with intervals, and the bands of a value curve. A table says the same in text.

import { el, svg } from "/app/dom.js";
import { pointsOf } from "/app/points.js";

const LEFT = 46;
const RIGHT = 12;
const TOP = 10;
const BOTTOM = 40;

// Returns a round number that divides a length into about `count` parts; 0 where there is no length.
function stepOf(length, count) {
  const rough = length / Math.max(1, count);
  if (!(rough > 0)) return 0;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 2.5, 5, 10].map((one) => one * power).find((one) => one >= rough);
}

// Returns the multiples of a step between two ends, about `count` of them unless the step is given.
function ticks(low, high, count, step = stepOf(high - low, count)) {
  if (!step) return [low];
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + step * 1e-9; at += step) found.push(Number(at.toPrecision(12)));
  return found;
}

// Writes a number in as few digits as tell it: `digits` behind the point between 0.1 and 10.
function short(value, digits = 2) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size < 1e-6) return "0";
  if (size >= 10_000) return `${short(value / 1000)}k`;
  if (size >= 100 || Number.isInteger(value)) return String(Math.round(value));
  if (size < 0.1) return String(Number(value.toPrecision(3)));
  return value.toFixed(size >= 10 ? 1 : digits);
}

// Writes the label of an axis with as many digits as its step has.
function labelOf(value, step) {
  if (Math.abs(value) >= 10_000) return short(value);
  const digits = [0, 1, 2, 3, 4, 5].find((count) => Math.abs(step * 10 ** count - Math.round(step * 10 ** count)) < 1e-6) ?? 6;
  return value.toFixed(digits);
}

// How far apart points with intervals are drawn at least, in pixels, and how far a pointer is dragged to choose a range.
const APART = 9;
const DRAGGED = 8;

// Returns how far points with intervals are moved, in pixels, so that those of several lines at one place are seen each. `x` gives
// the place of a point, `first` and `last` are the ends.
function movedApart(series, x, first, last) {
  const moved = new Map();
  let group = [];
  const close = () => {
    const half = ((group.length - 1) / 2) * APART;
    const inside = Math.max(0, first + half - group[0].at) + Math.min(0, last - half - group.at(-1).at);
    group.forEach(({ point }, index) => moved.set(point, index * APART - half + inside));
    group = [];
  };
  const marks = series.flatMap(({ points }, line) => points.filter((point) => point.length > 2).map((point) => ({ line, point, at: x(point[0]) })));
  for (const mark of marks.sort((one, other) => one.at - other.at)) {
    if (group.length && (mark.at - group[0].at >= APART || group.some(({ line }) => line === mark.line))) close();
    group.push(mark);
  }
  if (group.length) close();
  return moved;
}

// How far from the pointer a value may be that is read at it, in pixels.
const NEAR = 12;

// A chart of lines. `series` have `name`, `color` (a class: a to f, and dashed or final), and `points`, each [x, y] or [x, y, low, high],
// which are joined unless `isLoose`.
export class LineChart {
  // `note` says what it should look like, `isNamed` that a line is named even if it is the only one, `digits` how exactly it is read;
  // `zoom` is called with the range that was chosen, or null for all.
  constructor({ title, note = "", unit = "", low = null, high = null, middle = null, isNamed = false, digits = 2 }, zoom) {
    Object.assign(this, { title, unit, low, high, middle, isNamed, digits, zoom, series: [], dragged: null });
    this.drawing = svg("svg", { class: "chart zoomed", role: "img" });
    this.legend = el("ul", { class: "legend" });
    this.readout = el("ul", { class: "readout", "aria-hidden": "true", hidden: true });
    this.heading = el("span", {}, title);
    this.tableBody = el("div", { class: "wide" });
    this.details = el("details", { ontoggle: () => this.drawTable() }, el("summary", {}, "As a table"), this.tableBody);
    this.note = el("p", { class: "soft" }, note);
    this.element = el("figure", { class: "card chart-card" }, el("figcaption", {}, this.heading, this.note), el("div", { class: "chart-place" }, this.drawing, this.readout), this.legend, this.details);
    const listen = (name, act) => this.drawing.addEventListener(name, act);
    listen("pointerdown", (event) => this.beginDrag(event));
    listen("pointermove", (event) => this.point(event));
    listen("pointerup", (event) => this.endDrag(event));
    listen("pointercancel", () => this.endDrag(null));
    // What was read by a touch stays until the next one.
    listen("pointerleave", ({ pointerType }) => pointerType !== "touch" && this.point(null));
    listen("dblclick", () => this.zoom(null));
    new ResizeObserver(() => this.draw()).observe(this.drawing);
  }

  // `xTitle` is what the lines are drawn against, `range` the part of it that is drawn, whose ends may be infinite, `common` what is
  // said of all lines, `where` the end of the title. Without values there is no chart, unless it `where` has some.
  show(series, { xTitle, range, common, where }) {
    Object.assign(this, { xTitle, range });
    const known = series.filter(({ points }) => points.length);
    const [from, to] = range;
    const all = known.flatMap(({ points }) => points.map(([x]) => x));
    this.nothing = all.length ? `nothing here: the values lie from ${short(Math.min(...all))} to ${short(Math.max(...all))}` : "nothing to draw";
    this.series = known.map((one) => ({ ...one, points: one.points.filter(([x]) => x >= from && x <= to) })).filter(({ points }) => points.length);
    this.heading.textContent = this.title + where;
    const entry = ({ name, color }) => el("li", { onpointerenter: () => this.emphasize(name), onpointerleave: () => this.emphasize(null) }, el("span", { class: `swatch ${color}` }), name);
    this.legend.replaceChildren(common ? el("li", { class: "common" }, common) : "", ...known.map(entry));
    this.legend.hidden = known.length < 2 && !this.isNamed;
    this.element.hidden = !known.length && !where;
    this.draw();
    this.drawTable();
  }

  draw() {
    const width = this.drawing.clientWidth;
    const height = this.drawing.clientHeight;
    if (!width || this.element.hidden) return;
    this.readout.hidden = true;
    this.drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const all = this.series.flatMap(({ points }) => points);
    if (!all.length) {
      this.x = null;
      this.drawing.replaceChildren(svg("text", { x: width / 2, y: height / 2, class: "tick center" }, this.nothing));
      return;
    }
    const ends = (values) => [Math.min(...values), Math.max(...values)];
    const found = ends(all.map(([x]) => x));
    let [x0, x1] = this.range.map((end, index) => (Number.isFinite(end) ? end : found[index]));
    // A single generation stands in the middle, alone.
    const only = x0 === x1 ? x0 : null;
    if (only !== null) [x0, x1] = [x0 - 1, x1 + 1];
    let [y0, y1] = ends(all.flatMap(([, y, lower = y, upper = y]) => [y, lower, upper]));
    const room = y1 === y0 ? (Math.abs(y1) || 1) * 0.08 : 0;
    [y0, y1] = [this.low ?? y0 - room, this.high ?? y1 + room];
    // The ends are labelled, so that what is drawn lies between labels.
    const count = Math.max(2, height / 60);
    const step = stepOf(y1 - y0, count);
    [y0, y1] = [Math.floor(y0 / step + 1e-9) * step, Math.ceil(y1 / step - 1e-9) * step];
    this.x = (x) => LEFT + ((x - x0) / (x1 - x0)) * (width - LEFT - RIGHT);
    this.back = (at) => Math.min(x1, Math.max(x0, x0 + ((at - LEFT) / (width - LEFT - RIGHT)) * (x1 - x0)));
    this.y = (y) => TOP + ((y1 - y) / (y1 - y0)) * (height - TOP - BOTTOM);
    const parts = [];
    for (const at of ticks(y0, y1, count, step)) {
      parts.push(svg("line", { class: at === this.middle ? "middle" : "rule", x1: LEFT, x2: width - RIGHT, y1: this.y(at), y2: this.y(at) }));
      parts.push(svg("text", { x: LEFT - 6, y: this.y(at), class: "tick right" }, labelOf(at, step)));
    }
    this.least = all.every(([x]) => Number.isInteger(x)) ? 1 : 0;
    const rough = stepOf(x1 - x0, width / 90);
    const xStep = this.least ? Math.ceil(rough) : rough;
    for (const at of only !== null ? [only] : ticks(x0, x1, 0, xStep)) {
      parts.push(svg("text", { x: this.x(at), y: height - BOTTOM + 18, class: "tick center" }, labelOf(at, xStep)));
    }
    parts.push(svg("text", { x: (LEFT + width - RIGHT) / 2, y: height - 4, class: "tick center" }, this.xTitle));
    const moved = movedApart(this.series, this.x, LEFT, width - RIGHT / 2);
    const place = (point) => this.x(point[0]) + (moved.get(point) ?? 0);
    const lines = [];
    for (const { name, color, points, isLoose } of this.series) {
      const parts = [];
      for (const point of points.filter(({ length }) => length > 2)) {
        parts.push(svg("line", { class: `whisker ${color}`, x1: place(point), x2: place(point), y1: this.y(point[2]), y2: this.y(point[3]) }));
      }
      const path = isLoose ? "" : points.map((point, index) => `${index ? "L" : "M"}${place(point).toFixed(1)} ${this.y(point[1]).toFixed(1)}`).join("");
      parts.push(svg("path", { class: `line ${color}`, d: path }));
      if (points.length <= 40 || isLoose) parts.push(...points.map((point) => svg("circle", { class: `dot ${color}`, cx: place(point), cy: this.y(point[1]), r: 2.5 })));
      lines.push(svg("g", { "data-name": name }, ...parts));
    }
    this.cursor = svg("line", { class: "cursor", y1: TOP, y2: height - BOTTOM, visibility: "hidden" });
    this.chosen = svg("rect", { class: "chosen", y: TOP, height: height - TOP - BOTTOM, visibility: "hidden" });
    this.drawing.setAttribute("aria-label", this.summary());
    this.drawing.replaceChildren(...parts, ...lines, this.cursor, this.chosen);
  }

  // Returns where a pointer is in the drawing.
  at(event) { return event.clientX - this.drawing.getBoundingClientRect().left; }

  beginDrag(event) {
    this.point(event);
    if (!this.x || event.button !== 0) return;
    this.dragged = this.at(event);
    this.drawing.setPointerCapture(event.pointerId);
  }

  // Chooses what lies between where the pointer went down and where it is now; without an event nothing.
  endDrag(event) {
    const ends = [this.dragged, event && this.at(event)];
    this.dragged = null;
    this.chosen?.setAttribute("visibility", "hidden");
    if (ends.includes(null) || !this.x || Math.abs(ends[1] - ends[0]) < DRAGGED) return;
    const [from, to] = ends.map(this.back).sort((one, other) => one - other);
    // Round numbers can be read and typed.
    const step = Math.max(this.least, stepOf(to - from, 50));
    this.zoom([from, to].map((end) => Number((Math.round(end / step) * step).toPrecision(12))));
  }

  summary() {
    const last = this.series.map(({ name, points }) => `${name}: last ${short(points.at(-1)[1], this.digits)}${this.unit}`);
    return `${this.title}, by ${this.xTitle}. ${last.join("; ")}`;
  }

  // Makes all lines but one faint, or none.
  emphasize(name) {
    for (const line of this.drawing.querySelectorAll("g")) line.classList.toggle("faint", name !== null && line.dataset.name !== name);
  }

  // Writes a value, with its interval where it has one.
  valueText([, value, low, high]) {
    const text = `${short(value, this.digits)}${this.unit}`;
    return low === undefined ? text : `${text} [${short(low, this.digits)}, ${short(high, this.digits)}]`;
  }

  // Reads the values at the pointer.
  point(event) {
    this.readout.hidden = !event || !this.x || !this.series.length;
    this.cursor?.setAttribute("visibility", this.readout.hidden ? "hidden" : "visible");
    if (this.readout.hidden) return;
    const at = this.at(event);
    if (this.dragged !== null) {
      const isFar = Math.abs(at - this.dragged) >= DRAGGED;
      Object.entries({ x: Math.min(at, this.dragged), width: Math.abs(at - this.dragged), visibility: isFar ? "visible" : "hidden" }).forEach(([name, value]) => this.chosen.setAttribute(name, value));
    }
    const nearestOf = (points, place) => points.reduce((best, point) => (Math.abs(this.x(point[0]) - place) < Math.abs(this.x(best[0]) - place) ? point : best));
    const [nearest] = nearestOf(this.series.flatMap(({ points }) => points), at);
    this.cursor.setAttribute("x1", this.x(nearest));
    this.cursor.setAttribute("x2", this.x(nearest));
    // Runs have their values at different minutes and samples: of each the nearest one is read, between its ends.
    const read = this.series.map((one) => ({ ...one, found: nearestOf(one.points, this.x(nearest)) })).filter(({ points, isLoose, found }) => {
      const isInside = points[0][0] <= nearest && nearest <= points.at(-1)[0] && !isLoose && points[0].length === 2;
      return isInside || Math.abs(this.x(found[0]) - this.x(nearest)) <= NEAR;
    });
    this.readout.classList.toggle("left", at > this.drawing.clientWidth / 2);
    this.readout.replaceChildren(el("li", {}, `${this.xTitle} ${short(nearest)}`),
      ...read.map(({ color, name, found }) => el("li", {}, el("span", { class: `swatch ${color}` }), name.split(",")[0], " ", el("b", {}, this.valueText(found)))));
  }

  drawTable() {
    if (!this.details.open) return;
    const xs = [...new Set(this.series.flatMap(({ points }) => points.map(([x]) => x)))].sort((a, b) => a - b);
    const cell = (points, x) => points.find(([at]) => at === x);
    this.tableBody.replaceChildren(el("table", {},
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, this.xTitle), this.series.map(({ name }) => el("th", { scope: "col" }, name.split(":")[0])))),
      el("tbody", {}, xs.map((x) => el("tr", {}, el("th", { scope: "row" }, short(x)),
        this.series.map(({ points }) => el("td", {}, cell(points, x) ? this.valueText(cell(points, x)) : "")))))));
  }
}

// What a value curve has on its left, in points of player 1.
const CURVE_TICKS = [100, 50, 0];

// The value curve of a game: the expected points of player 1, bands of win, draw and loss where a search tells them, and marks for what
// was lost.
export class ValueCurve {
  // `goTo` is called with the number of actions before the state that was clicked.
  constructor(goTo) {
    this.drawing = svg("svg", {
      class: "chart curve", role: "img",
      onclick: (event) => this.count && goTo(Math.round(this.back(event.clientX - this.drawing.getBoundingClientRect().left))),
    });
    const swatch = (kind, text) => el("span", {}, el("span", { class: `swatch ${kind}` }), text);
    this.bands = el("span", {}, swatch("win", "player 1 wins"), swatch("draw", "draw"), swatch("loss", "player 2 wins"));
    this.markText = el("span", {}, swatch("lost player1", "lost by player 1"), swatch("lost player2", "lost by player 2"));
    this.element = el("figure", { class: "curve-figure" }, this.drawing,
      el("figcaption", { class: "soft" }, el("span", {}, swatch("score", "player 1’s expected points of 100, by actions")), this.bands, this.markText));
    new ResizeObserver(() => this.draw()).observe(this.drawing);
  }

  // `values` holds for each state null, or { wdl: [win, draw, loss] or null, value } for player 1; `losses` are what actions lost.
  show(values, at, losses) {
    Object.assign(this, { values, at, losses });
    this.count = values.length - 1;
    this.draw();
  }

  draw() {
    const width = this.drawing.clientWidth;
    const height = this.drawing.clientHeight;
    if (!width || !this.values) return;
    this.drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const [low, high, top, bottom] = [LEFT, width - RIGHT, 8, height - 20];
    const x = (index) => (this.count ? low + (index / this.count) * (high - low) : (low + high) / 2);
    this.back = (at) => ((at - low) / (high - low)) * this.count;
    const y = (share) => bottom - share * (bottom - top);
    const parts = [svg("rect", { class: "empty", x: low, y: top, width: high - low, height: bottom - top })];
    const step = (high - low) / (this.count || 0.5);
    this.values.forEach((entry, index) => {
      if (!entry?.wdl) return;
      const [win, draw] = entry.wdl;
      const [left, right] = [Math.max(low, x(index) - step / 2), Math.min(high, x(index) + step / 2)];
      const band = (kind, from, to) => parts.push(svg("rect", { class: kind, x: left, width: Math.max(0.5, right - left + 0.3), y: y(to), height: Math.max(0, y(from) - y(to)) }));
      band("win", 0, win);
      band("draw", win, win + draw);
      band("loss", win + draw, 1);
    });
    for (const points of CURVE_TICKS) parts.push(svg("text", { class: "tick right", x: low - 6, y: y(points / 100) }, points));
    for (const at of ticks(0, this.count, (high - low) / 90).filter(Number.isInteger)) parts.push(svg("text", { class: "tick center", x: x(at), y: height - 4 }, at));
    parts.push(svg("line", { class: "middle", x1: low, x2: high, y1: y(0.5), y2: y(0.5) }));
    const known = this.values.map((entry, index) => entry && [x(index), y(pointsOf(entry.value) / 100)]).filter(Boolean);
    if (known.length) parts.push(svg("polyline", { class: "line value", points: known.map((point) => point.map((one) => one.toFixed(1)).join(" ")).join(" ") }));
    // A loss is marked where its action has led to.
    for (const { at, player, loss, sign } of this.losses) {
      const mark = { class: `lost player${player}`, cx: x(at + 1), cy: y(pointsOf(this.values[at + 1].value) / 100), r: sign ? 4.5 : 2.5 };
      parts.push(svg("circle", mark, svg("title", {}, `player ${player} lost ${loss.toFixed(1)} points ${sign}`)));
    }
    parts.push(svg("line", { class: "cursor", x1: x(this.at), x2: x(this.at), y1: top - 2, y2: bottom + 2 }));
    const here = this.values[this.at];
    if (here) parts.push(svg("circle", { class: "dot value", cx: x(this.at), cy: y(pointsOf(here.value) / 100), r: 3 }));
    this.markText.hidden = !this.losses.length;
    this.bands.hidden = !this.values.some((entry) => entry?.wdl);
    this.drawing.setAttribute("aria-label", here
      ? `Value curve. After ${this.at} actions player 1 is expected to score ${Math.round(pointsOf(here.value))} of 100 points`
      : `Value curve. Nothing is known of the state after ${this.at} actions`);
    this.drawing.replaceChildren(...parts);
  }
}
