// Charts: lines with intervals, and the bands of a value curve. A table says the same in text.

import { el, svg } from "/app/dom.js";

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

// A chart of lines. `series` have `name`, `color` (a class: a to f, and dashed or final), and `points`, each [x, y] or [x, y, low, high].
export class LineChart {
  // `note` says what it should look like, `isNamed` that a line is named even if it is the only one, `digits` how exactly it is read.
  constructor({ title, note = "", unit = "", low = null, high = null, middle = null, isNamed = false, digits = 2 }) {
    Object.assign(this, { title, unit, low, high, middle, isNamed, digits, series: [] });
    this.drawing = svg("svg", { class: "chart", role: "img" });
    this.legend = el("ul", { class: "legend" });
    this.readout = el("p", { class: "readout", "aria-hidden": "true" });
    this.tableBody = el("div", { class: "wide" });
    this.details = el("details", { ontoggle: () => this.drawTable() }, el("summary", {}, "As a table"), this.tableBody);
    this.element = el("figure", { class: "card chart-card" }, el("figcaption", {}, title, note ? el("p", { class: "soft" }, note) : null), this.legend, this.drawing, this.readout, this.details);
    this.drawing.addEventListener("pointermove", (event) => this.point(event));
    this.drawing.addEventListener("pointerleave", () => this.point(null));
    new ResizeObserver(() => this.draw()).observe(this.drawing);
  }

  // `xTitle` is what the lines are drawn against.
  show(series, xTitle) {
    this.xTitle = xTitle;
    this.series = series.filter(({ points }) => points.length);
    this.legend.replaceChildren(...this.series.map(({ name, color }) => el("li", {}, el("span", { class: `swatch ${color}` }), name)));
    this.legend.hidden = this.series.length < 2 && !this.isNamed;
    this.element.hidden = !this.series.length;
    this.draw();
    this.drawTable();
  }

  draw() {
    const width = this.drawing.clientWidth;
    const height = this.drawing.clientHeight;
    if (!width || !this.series.length) return;
    this.drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const all = this.series.flatMap(({ points }) => points);
    const ends = (values) => [Math.min(...values), Math.max(...values)];
    let [x0, x1] = ends(all.map(([x]) => x));
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
    this.y = (y) => TOP + ((y1 - y) / (y1 - y0)) * (height - TOP - BOTTOM);
    const parts = [];
    for (const at of ticks(y0, y1, count, step)) {
      parts.push(svg("line", { class: at === this.middle ? "middle" : "rule", x1: LEFT, x2: width - RIGHT, y1: this.y(at), y2: this.y(at) }));
      parts.push(svg("text", { x: LEFT - 6, y: this.y(at), class: "tick right" }, labelOf(at, step)));
    }
    const isWhole = all.every(([x]) => Number.isInteger(x));
    for (const at of only !== null ? [only] : ticks(x0, x1, width / 90).filter((at) => !isWhole || Number.isInteger(at))) {
      parts.push(svg("text", { x: this.x(at), y: height - BOTTOM + 18, class: "tick center" }, short(at)));
    }
    parts.push(svg("text", { x: (LEFT + width - RIGHT) / 2, y: height - 4, class: "tick center" }, this.xTitle));
    for (const { color, points } of this.series) {
      for (const [x, , low, high] of points) {
        if (low !== undefined) parts.push(svg("line", { class: `whisker ${color}`, x1: this.x(x), x2: this.x(x), y1: this.y(low), y2: this.y(high) }));
      }
      const path = points.map(([x, y], index) => `${index ? "L" : "M"}${this.x(x).toFixed(1)} ${this.y(y).toFixed(1)}`).join("");
      parts.push(svg("path", { class: `line ${color}`, d: path }));
      if (points.length <= 40) parts.push(...points.map(([x, y]) => svg("circle", { class: `dot ${color}`, cx: this.x(x), cy: this.y(y), r: 2.5 })));
    }
    this.cursor = svg("line", { class: "cursor", y1: TOP, y2: height - BOTTOM, visibility: "hidden" });
    this.drawing.setAttribute("aria-label", this.summary());
    this.drawing.replaceChildren(...parts, this.cursor);
  }

  summary() {
    const last = this.series.map(({ name, points }) => `${name}: last ${short(points.at(-1)[1], this.digits)}${this.unit}`);
    return `${this.title}, by ${this.xTitle}. ${last.join("; ")}`;
  }

  // Reads the values at the pointer.
  point(event) {
    if (!this.x || !this.series.length) return;
    if (!event) {
      this.readout.textContent = "";
      this.cursor?.setAttribute("visibility", "hidden");
      return;
    }
    const at = event.clientX - this.drawing.getBoundingClientRect().left;
    const all = this.series.flatMap(({ points }) => points.map(([x]) => x));
    const nearest = all.reduce((best, x) => (Math.abs(this.x(x) - at) < Math.abs(this.x(best) - at) ? x : best), all[0]);
    this.cursor.setAttribute("x1", this.x(nearest));
    this.cursor.setAttribute("x2", this.x(nearest));
    this.cursor.setAttribute("visibility", "visible");
    const values = this.series.flatMap(({ name, points }) => {
      const found = points.find(([x]) => x === nearest);
      return found ? [`${name} ${short(found[1], this.digits)}${this.unit}`] : [];
    });
    this.readout.textContent = `${this.xTitle} ${short(nearest)}: ${values.join(", ")}`;
  }

  drawTable() {
    if (!this.details.open) return;
    const xs = [...new Set(this.series.flatMap(({ points }) => points.map(([x]) => x)))].sort((a, b) => a - b);
    const cell = (points, x) => points.find(([at]) => at === x)?.[1];
    this.tableBody.replaceChildren(el("table", {},
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, this.xTitle), this.series.map(({ name }) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, xs.map((x) => el("tr", {}, el("th", { scope: "row" }, short(x)),
        this.series.map(({ points }) => el("td", {}, cell(points, x) === undefined ? "" : short(cell(points, x), this.digits))))))));
  }
}

// What a value curve has on its left: shares of player 1.
const CURVE_TICKS = [[1, "100 %"], [0.5, "50 %"], [0, "0 %"]];

// The value curve of a game: what player 1 is expected to score, and bands of win, draw and loss where a search tells them.
export class ValueCurve {
  // `goTo` is called with the number of actions before the state that was clicked.
  constructor(goTo) {
    this.drawing = svg("svg", {
      class: "chart curve", role: "img",
      onclick: (event) => this.count && goTo(Math.round(this.back(event.clientX - this.drawing.getBoundingClientRect().left))),
    });
    const swatch = (kind, text) => el("span", {}, el("span", { class: `swatch ${kind}` }), text);
    this.bands = el("span", {}, swatch("win", "player 1 wins"), swatch("draw", "draw"), swatch("loss", "player 2 wins"));
    this.element = el("figure", { class: "curve-figure" }, this.drawing,
      el("figcaption", { class: "soft" }, el("span", {}, swatch("score", "player 1’s expected score, by actions played")), this.bands));
    new ResizeObserver(() => this.draw()).observe(this.drawing);
  }

  // `values` holds for each state null, or { wdl: [win, draw, loss] or null, value } for player 1.
  show(values, at) {
    this.values = values;
    this.at = at;
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
    for (const [share, text] of CURVE_TICKS) parts.push(svg("text", { class: "tick right", x: low - 6, y: y(share) }, text));
    for (const at of ticks(0, this.count, (high - low) / 90).filter(Number.isInteger)) parts.push(svg("text", { class: "tick center", x: x(at), y: height - 4 }, at));
    parts.push(svg("line", { class: "middle", x1: low, x2: high, y1: y(0.5), y2: y(0.5) }));
    const known = this.values.map((entry, index) => entry && [x(index), y((1 + entry.value) / 2)]).filter(Boolean);
    if (known.length) parts.push(svg("polyline", { class: "line value", points: known.map((point) => point.map((one) => one.toFixed(1)).join(" ")).join(" ") }));
    parts.push(svg("line", { class: "cursor", x1: x(this.at), x2: x(this.at), y1: top - 2, y2: bottom + 2 }));
    const here = this.values[this.at];
    if (here) parts.push(svg("circle", { class: "dot value", cx: x(this.at), cy: y((1 + here.value) / 2), r: 3 }));
    this.bands.hidden = !this.values.some((entry) => entry?.wdl);
    this.drawing.setAttribute("aria-label", here
      ? `Value curve. After ${this.at} actions player 1 is expected to score ${Math.round(50 * (1 + here.value))} %`
      : `Value curve. Nothing is known of the state after ${this.at} actions`);
    this.drawing.replaceChildren(...parts);
  }
}
