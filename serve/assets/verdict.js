// What a search has found of a state: the verdict, the bar of win, draw and loss, the best actions, and arrows on the board.

import { button, el } from "/app/dom.js";
import { readAction } from "/app/game.js";
import { pointsOf, pointsText, signed } from "/app/points.js";

// How many actions are listed, and how many have arrows.
const LISTED_MAX = 6;
const ARROWS_MAX = 5;
const VARIATION_MAX = 8;
// Scores of alpha-beta beyond this tell how far the end is.
const WON = 900_000;

const percent = (share, digits = share < 0.0995 ? 1 : 0) => (share === null ? "–" : `${(100 * share).toFixed(digits)} %`);

export class Verdict {
  // `tryAction` is called with the text of a listed action that was clicked, `showLine` with the actions of what is expected to follow.
  constructor(tryAction, showLine) {
    Object.assign(this, { tryAction, showLine });
    this.text = el("p", { class: "verdict" });
    this.bar = el("div", { class: "bar", "aria-hidden": "true" });
    this.shares = el("p", { class: "soft shares" });
    this.table = el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Best actions" });
    this.rows = [];
    this.elements = [this.text, this.bar, this.shares, this.table];
  }

  // Shows an analysis, or a sentence where there is none.
  show(analysis, sentence = "") {
    this.text.textContent = analysis ? verdictText(analysis) : sentence;
    const wdl = analysis?.win_draw_loss;
    this.drawBar(wdl && (analysis.player === 1 ? wdl : [...wdl].reverse()));
    if (analysis) this.drawTable(analysis);
    else this.layOut("", [], 0);
  }

  // Draws the chances of player 1.
  drawBar(shares) {
    const kinds = [["win", "player 1 wins"], ["draw", "draw"], ["loss", "player 2 wins"]];
    const parts = (shares ?? []).map((share, index) => ({ share, kind: kinds[index][0], name: kinds[index][1] }));
    this.bar.hidden = this.shares.hidden = !shares;
    this.bar.replaceChildren(...parts.map(({ share, kind }) => el("span", { class: kind, style: `flex-grow: ${Math.max(share, 0.001)}` })));
    this.shares.replaceChildren(...parts.map(({ share, kind, name }) => el("span", {}, el("span", { class: `swatch ${kind}` }), `${name} ${percent(share, 1)} `)));
  }

  drawTable({ actions, search }) {
    const columns = {
      Points: (line) => (line.value === null ? "–" : pointsText(pointsOf(line.value))),
      ...(search && { Prior: (line) => percent(line.prior), Visits: (line) => line.visits.toLocaleString("en"), Share: (line) => percent(line.visit_share) }),
      ...(search === "gumbel" && { "Improved policy": (line) => percent(line.improved_policy) }),
      ...(!search && { "Men ahead": (line) => (line.score === null ? "–" : scoreText(line.score)), Depth: (line) => line.depth ?? "–" }),
    };
    // What a tree has not tried says nothing.
    const lines = actions.filter(({ visits }) => !search || visits > 0).slice(0, LISTED_MAX);
    const names = Object.keys(columns).join();
    if (names !== this.names || lines.length !== this.rows.length) this.layOut(names, Object.keys(columns), lines.length);
    // Buttons stay where they are while a search goes on, so that no click is lost.
    lines.forEach((line, index) => {
      const row = this.rows[index];
      const { name, cells, variation } = row;
      name.textContent = line.action;
      Object.values(columns).forEach((cell, column) => { cells[column].textContent = cell(line); });
      row.line = line.variation.slice(0, VARIATION_MAX);
      variation.textContent = row.line.slice(1).join(" ");
    });
  }

  layOut(names, heads, count) {
    this.names = names;
    this.rows = Array.from({ length: count }, () => {
      const name = button("", () => this.tryAction(name.textContent), { class: "plain", title: "play it here" });
      const variation = button("", () => this.showLine(row.line), { class: "plain", title: "what is expected to follow: show it as a variation" });
      const row = { name, cells: heads.map(() => el("td")), variation, line: [] };
      return row;
    });
    this.table.replaceChildren(count === 0 ? "" : el("table", {},
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Action"), heads.map((head) => el("th", { scope: "col" }, head)))),
      // What is expected to follow has a line of its own: it is as long as all else.
      el("tbody", {}, this.rows.flatMap(({ name, cells, variation }) => [
        el("tr", { class: "scored" }, el("th", { scope: "row" }, name), cells),
        el("tr", {}, el("td", { class: "variation", colspan: heads.length + 1 }, "then ", variation))]))));
  }
}

// Draws shares of the actions, "visit_share" or "prior", as arrows, and as the heat of the squares where pieces come to rest; and the
// action that was `played` here, unless the game ends.
export function drawShares(board, analysis, key, played) {
  const found = (analysis?.actions ?? []).map((line) => [line.action, line[key]]);
  // Where nothing is counted, the choice alone.
  const isCounted = found.some(([, share]) => share);
  const shares = isCounted ? found.filter(([, share]) => share > 0.01).sort(([, a], [, b]) => b - a) : analysis && key === "visit_share" ? [[analysis.action, 1]] : [];
  const heat = new Map();
  for (const [text, share] of shares) {
    const action = readAction(text);
    const to = action.to ?? action.squares?.[0];
    if (to) heat.set(to, (heat.get(to) ?? 0) + share);
  }
  const most = Math.max(0.001, ...heat.values());
  for (const [name, share] of heat) heat.set(name, share / most);
  board.drawHeat(heat);
  const arrows = shares.slice(0, ARROWS_MAX).map(([text, share]) => ({ action: readAction(text), weight: share / shares[0][1], kind: key }));
  const drawn = arrows.filter(({ action }) => action.kind === "move" || action.kind === "remove").reverse();
  board.drawArrows([...drawn, ...(played ? [{ action: readAction(played), weight: 0.2, kind: "played" }] : [])]);
}

function verdictText({ player, action, value, score, depth, effort }) {
  const parts = [`Player ${player} to act: ${action}`];
  // That of an action is the search's mean behind it.
  if (value !== null) parts.push(`expects ${pointsText(pointsOf(value))} of 100 points`);
  if (score !== null) parts.push(Math.abs(score) > WON ? scoreText(score) : `${scoreText(score)} men`);
  if (depth !== null) parts.push(`${depth} action${depth === 1 ? "" : "s"} deep`);
  if (effort) parts.push(`${effort.toLocaleString("en")} ${depth === null ? "simulation" : "node"}${effort === 1 ? "" : "s"}`);
  return parts.join(", ");
}

// Alpha-beta's score in men, or how far the end is (docs/FORMATS.md, "Analysis").
function scoreText(score) {
  const actions = 1_000_000 - Math.abs(score);
  if (Math.abs(score) > WON) return score > 0 ? `wins in ${actions}` : `loses in ${actions}`;
  return signed(score / 100, 2);
}
