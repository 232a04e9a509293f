// Analyse: steps through a game, with what a search thinks of each state.

import { GivenUp, think } from "/app/api.js";
import { Board, Chooser } from "/app/board.js";
import { ValueCurve } from "/app/chart.js";
import { attempt, button, copy, download, el, say, select, showFault, showText } from "/app/dom.js";
import { Game, openRecord, readAction, readRecords } from "/app/game.js";
import { drawMoves, drawSide, pause, stepper } from "/app/play.js";
import { Setup } from "/app/setup.js";
import { chooseRuleset, rulesetField } from "/app/shelf.js";

// How many actions are listed, and how many have arrows.
const LISTED_MAX = 10;
const ARROWS_MAX = 5;
// How many actions alpha-beta weighs.
const LINES = 4;
const SECONDS = 60;
// How long a state is shown before it is judged, in milliseconds: whoever steps through a game passes over most.
const SETTLED = 120;
const VARIATION_MAX = 8;

export class Analyse {
  constructor(place, begin) {
    this.begin = begin;
    this.board = new Board((name) => attempt(() => this.press(name)));
    this.setup = new Setup((record) => attempt(() => this.open(record)));
    this.curve = new ValueCurve((at) => this.goTo(at));
    this.at = 0;
    this.isOn = true;
    this.shown = "visits";
    this.found = new Map();
    // As in Play.
    this.notices = new Map();
    this.turn = 0;
    this.opening = 0;
    this.records = [];
    this.build(place);
  }

  // Shows the part; the first time with the game that is being played.
  async start(_, played) {
    if (this.game) {
      this.stop();
      this.draw();
      this.look();
    } else await this.openGame(played);
  }

  // Stops thinking while another part of the page is shown.
  leave() { this.stop(); }

  build(place) {
    this.rulesetField = rulesetField("Ruleset", (key) => attempt(() => this.open({ ruleset: key })));
    const levels = this.begin.levels.filter(({ agent }) => /^(net|alphabeta|mcts)/.test(agent)).map(({ agent, name }) => [agent, name]);
    const models = this.begin.models.map((model) => [`net:${model},sims=400`, `${model} (400 simulations)`]);
    const strong = levels.find(([agent]) => agent.includes("sims=400"))?.[0];
    this.agentField = select("Who judges", [...levels, ...models.filter(([agent]) => !levels.some(([known]) => known === agent))], strong, () => this.forget());
    this.shownField = select("On the board", [["visits", "visits of the search"], ["policy", "the network’s policy"], ["nothing", "nothing"]], this.shown, (shown) => { this.shown = shown; this.drawOverlay(); });
    this.gameField = select("Game of the file", [], undefined, (index) => attempt(() => this.openAt(Number(index))));
    this.onButton = button("", () => { this.isOn = !this.isOn; this.stop(); this.look(); this.draw(); });
    this.wholeButton = button("Judge the whole game", () => this.judgeAll());
    this.top = el("div", { class: "side" });
    this.bottom = el("div", { class: "side" });
    this.status = el("p", { class: "status" });
    this.notice = el("p", { class: "soft notice", role: "status" });
    this.words = el("div", { class: "row choices" });
    this.stepper = stepper((at) => this.goTo(at), () => this.game.actions.length, () => this.at);
    this.verdict = el("p", { class: "verdict" });
    this.expected = el("p", { class: "soft" });
    this.bar = el("div", { class: "bar", "aria-hidden": "true" });
    this.table = el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Best actions" });
    this.moves = el("ol", { class: "moves", "aria-label": "Moves" });
    this.position = el("input", { type: "text", readonly: true, "aria-label": "This position as one line", spellcheck: "false" });
    this.backButton = button("Back to the game", () => attempt(() => this.leaveVariation()));
    const file = el("input", { type: "file", accept: ".jsonl,.json", class: "unseen", onchange: () => this.load(file) });
    this.file = file;
    place.append(el("div", { class: "table" },
      el("div", { class: "board-side" },
        this.top, this.board.element, this.bottom, this.status, this.notice, this.words,
        el("div", { class: "row" }, this.stepper.element, button("Turn the board", () => { this.board.flip(); this.draw(); }), this.backButton),
        this.curve.element),
      el("div", { class: "panels" },
        el("section", { class: "card", "aria-label": "Analysis" },
          el("div", { class: "fields" }, this.agentField, this.shownField),
          el("div", { class: "row" }, this.onButton, this.wholeButton),
          this.verdict, this.bar, this.expected, this.table,
          el("details", {}, el("summary", {}, "How to read this"),
            el("ul", {},
              el("li", {}, "Value: the result that is expected for the player to act, from −1 (loss) to +1 (win)."),
              el("li", {}, "Visits: how often the search tried the action. The most visited one is usually the best."),
              el("li", {}, "Policy: how probable the network finds the action before it searches."),
              el("li", {}, "Alpha-beta scores in men: +1.00 is one man ahead.")))),
        el("section", { class: "card", "aria-label": "Game" }, el("h2", {}, "Game"), this.rulesetField, this.gameField, this.moves,
          el("div", { class: "row" },
            button("Open a file", () => file.click()), file,
            button("Save", () => attempt(async () => download(`${this.game.about.id}.jsonl`, `${await this.game.line()}\n`))),
            button("Set up a position", () => attempt(() => this.setup.open(this.game.about.key, this.game, this.at))))),
        el("section", { class: "card", "aria-label": "Position" }, el("h2", {}, "Position"),
          el("div", { class: "row" }, this.position, button("Copy", () => copy(this.position.value, this.position)))))));
    document.addEventListener("keydown", (event) => this.key(event));
    this.place = place;
  }

  load(file) {
    attempt(async () => {
      const text = await file.files[0].text();
      file.value = "";
      return this.openAll(readRecords(text));
    });
  }

  // Shows the games of a file, and of these the last one unless another is wanted.
  openAll(records, wanted = records.length - 1) {
    this.records = records;
    const name = (record, index) => {
      const result = record.is_over ? (record.winner ? `player ${record.winner} won` : "drawn") : "unfinished";
      return [index, `${index + 1}: ${record.agents?.join(" – ") ?? ""}, ${record.actions.length} actions, ${result}`];
    };
    this.gameField.querySelector("select").replaceChildren(
      ...records.map((record, index) => { const [value, text] = name(record, index); return el("option", { value }, text); }));
    this.gameField.hidden = records.length < 2;
    return this.openAt(wanted);
  }

  async openAt(index) {
    const field = this.gameField.querySelector("select");
    field.value = String(index);
    try {
      await this.take(openRecord(this.records[index]), 0);
    } catch (error) {
      // None of the file is shown, and each can be chosen.
      field.value = "";
      throw error;
    }
  }

  async open(record) {
    this.records = [];
    return this.take(Game.open(record), 0);
  }

  // Takes over a game of the page.
  async openGame(game) {
    this.records = [];
    return this.take(Game.open(game.record()), game.actions.length);
  }

  // Shows a game once it is read; of several that are asked for, the last one.
  async take(read, at) {
    const opening = ++this.opening;
    const game = await read;
    if (opening !== this.opening) return;
    this.stop();
    this.game = game;
    this.main = null;
    this.found.clear();
    chooseRuleset(this.rulesetField, game.about);
    this.gameField.hidden = this.records.length < 2;
    this.goTo(at, true);
  }

  goTo(at, isNew = false) {
    const next = Math.max(0, Math.min(at, this.game.actions.length));
    if (next === this.at && !isNew) return;
    this.at = next;
    this.stop();
    this.chooser = null;
    this.asked = [];
    this.draw();
    this.prepare();
    this.look();
  }

  // Learns what is legal here, so that other actions can be tried.
  async prepare() {
    const { game, at } = this;
    this.here = null;
    const branch = await attempt(() => game.branch(at));
    if (game !== this.game || at !== this.at || !branch || branch.isOver) return;
    this.here = branch;
    this.chooser = new Chooser(branch.legal);
    this.draw();
  }

  async press(name) {
    if (!this.chooser) return;
    const found = this.chooser.press(name);
    this.asked = found.length > 1 ? found : [];
    if (found.length === 1) return this.tryAction(found[0].text);
    this.draw();
  }

  // Plays an action here: the next one of the game goes on in it, another one begins a variation.
  async tryAction(text) {
    this.asked = [];
    if (this.game.actions[this.at] === text) return this.goTo(this.at + 1);
    const branch = this.here;
    const from = this.at;
    // It is played once, however often it is clicked.
    this.here = null;
    if (!branch) return;
    try {
      await branch.play(text);
    } catch (error) {
      if (this.chooser && from === this.at) this.here = branch;
      throw error;
    }
    this.main ??= { game: this.game, at: from, found: this.found };
    this.game = branch;
    this.found = new Map([...this.found].filter(([at]) => at <= from));
    this.goTo(from + 1, true);
  }

  leaveVariation() {
    const { game, at, found } = this.main;
    this.main = null;
    this.game = game;
    this.found = found;
    this.goTo(at, true);
  }

  // The arrow keys step through the game, unless they are meant for something else.
  key(event) {
    if (this.place.hidden || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.target.closest?.("input, select, textarea, dialog, .squares")) return;
    if (event.key === "ArrowLeft") this.goTo(this.at - 1);
    else if (event.key === "ArrowRight") this.goTo(this.at + 1);
    else return;
    event.preventDefault();
  }

  get noticeKey() { return `${this.game.about.key} ${this.agent}`; }

  get agent() { return this.agentField.querySelector("select").value; }

  forget() {
    this.found.clear();
    this.main?.found.clear();
    this.stop();
    this.draw();
    this.look();
  }

  stop() {
    this.turn++;
    this.thoughts?.forEach((thought) => thought.giveUp());
    this.thoughts = [];
    this.isJudgingAll = false;
  }

  request(at, agent, seconds) {
    return { game: this.game.request(at), agent, seed: this.game.seed, lines: LINES, seconds };
  }

  // Thinks about the state that is shown, unless that is known.
  async look() {
    const { at, turn } = this;
    await pause(SETTLED);
    if (turn !== this.turn || !this.isOn || this.isOverAt(at) || this.found.get(at)?.isWhole) return;
    try {
      const agent = this.agent;
      if (agent.startsWith("net")) {
        // Without a simulation the search is the network's policy.
        const bare = this.think(this.request(at, agent.replace(/([:,])sims=\d+$/, "$1sims=0"), SECONDS), () => {});
        const policy = (await bare.result).actions.map(({ action, policy }) => [action, policy]);
        if (turn !== this.turn) return;
        this.note(at, { policy: new Map(policy) });
      }
      const note = (analysis) => { if (turn === this.turn) this.note(at, { analysis }); };
      const analysis = await this.think(this.request(at, agent, SECONDS), note).result;
      if (turn !== this.turn) return;
      this.note(at, { analysis, isWhole: true });
      say(this.verdict.textContent);
    } catch (error) {
      if (error instanceof GivenUp || turn !== this.turn) return;
      showFault(error);
      this.verdict.textContent = "";
    }
  }

  think(request, tell) {
    const key = this.noticeKey;
    const thought = think(request, tell, (text) => { this.notices.set(key, text); this.drawAnalysis(); });
    this.thoughts.push(thought);
    return thought;
  }

  note(at, found) {
    this.found.set(at, { ...this.found.get(at), ...found });
    if (at === this.at) this.drawAnalysis();
    this.drawCurve();
  }

  isOverAt(at) { return at === this.game.actions.length && this.game.isOver; }

  // Judges one state after the other, for the curve.
  async judgeAll() {
    if (this.isJudgingAll) {
      this.stop();
      this.draw();
      return;
    }
    this.stop();
    this.isJudgingAll = true;
    this.draw();
    const turn = this.turn;
    try {
      for (let at = 0; at <= this.game.actions.length && !this.isOverAt(at); at++) {
        if (this.found.get(at)?.isJudged || this.found.get(at)?.isWhole) continue;
        const analysis = await this.think(this.request(at, this.agent, SECONDS), () => {}).result;
        if (turn !== this.turn) return;
        this.thoughts = [];
        this.note(at, { analysis, isJudged: true });
        this.status.textContent = `Judged ${at + 1} of ${this.game.actions.length + 1} states.`;
      }
    } catch (error) {
      if (!(error instanceof GivenUp) && turn === this.turn) showFault(error);
    }
    if (turn !== this.turn) return;
    this.isJudgingAll = false;
    this.draw();
    this.look();
  }

  // What is known of each state, for player 1: from a search, else from the record.
  values() {
    const forFirst = (player, value, wdl) => {
      if (player === 1) return { value, wdl };
      return { value: -value, wdl: wdl && [...wdl].reverse() };
    };
    return this.game.states.map((state, at) => {
      if (this.isOverAt(at)) {
        const winner = this.game.resigned ? 3 - this.game.resigned : state.outcome.winner;
        const value = winner === null ? 0 : winner === 1 ? 1 : -1;
        return { value, wdl: [Number(winner === 1), Number(winner === null), Number(winner === 2)] };
      }
      const analysis = this.found.get(at)?.analysis;
      if (analysis && analysis.value !== null) return forFirst(analysis.player, analysis.value, analysis.win_draw_loss);
      const recorded = this.game.values[at];
      return recorded === null || recorded === undefined ? null : forFirst(state.to_act, recorded, null);
    });
  }

  draw() {
    const { game, at } = this;
    this.board.show(game.about, game.view(at), this.chooser?.marks ?? {});
    const state = game.states[at];
    const players = this.board.isFlipped ? [1, 2] : [2, 1];
    const levels = new Map(this.begin.levels.map(({ agent, name }) => [agent, name]));
    const name = (player) => (game.agents[player - 1] === "human" ? "" : levels.get(game.agents[player - 1]) ?? game.agents[player - 1]);
    drawSide(this.top, players[0], name(players[0]), game, at, false);
    drawSide(this.bottom, players[1], name(players[1]), game, at, false);
    const end = this.isOverAt(at) ? ` ${game.endText}.` : "";
    this.status.textContent = `${this.main ? "Variation: after" : "After"} ${at} of ${game.actions.length} actions.${end}`;
    const play = (text) => () => attempt(() => this.tryAction(text));
    const words = [...(this.chooser?.words ?? []), ...(this.asked ?? [])];
    this.words.replaceChildren(...words.map(({ text }) => button(text, play(text))));
    this.backButton.hidden = !this.main;
    this.onButton.textContent = this.isOn ? "Stop judging each state" : "Judge each state";
    this.onButton.setAttribute("aria-pressed", String(this.isOn));
    this.wholeButton.textContent = this.isJudgingAll ? "Stop" : "Judge the whole game";
    this.stepper.draw();
    this.position.value = state.position;
    drawMoves(this.moves, game, at, (to) => this.goTo(to));
    this.drawAnalysis();
    this.drawCurve();
  }

  drawCurve() { this.curve.show(this.values(), this.at); }

  drawAnalysis() {
    const { analysis, policy } = this.found.get(this.at) ?? {};
    this.drawOverlay();
    showText(this.notice, this.notices.get(this.noticeKey) ?? "");
    if (!analysis) {
      this.bar.replaceChildren();
      this.verdict.textContent = this.isOverAt(this.at) ? `${this.game.endText}.` : this.isOn ? "Thinking…" : "";
      this.table.replaceChildren();
      this.expected.textContent = "";
      return;
    }
    const { player, value, win_draw_loss: wdl, score, depth, effort } = analysis;
    const parts = [`Player ${player} to act: ${analysis.action}`];
    if (value !== null) parts.push(`value ${signed(value)}`);
    if (score !== null) parts.push(scoreText(score));
    if (depth !== null) parts.push(`${depth} actions deep`);
    parts.push(`${effort} ${depth === null ? "simulation" : "node"}${effort === 1 ? "" : "s"}`);
    this.verdict.textContent = parts.join(", ");
    this.expected.textContent = `Expected to follow: ${analysis.variation.slice(0, VARIATION_MAX).join(" ")}`;
    const shares = wdl ? (player === 1 ? wdl : [...wdl].reverse()) : null;
    this.bar.replaceChildren(...(shares ?? []).map((share, index) => el("span", { class: ["win", "draw", "loss"][index] },
      share > 0.12 ? `${Math.round(100 * share)} %` : "")));
    [...this.bar.children].forEach((span, index) => { span.style.flexGrow = Math.max(shares[index], 0.001); });
    this.drawTable(analysis, policy);
  }

  drawTable({ actions, depth }, policy) {
    const isTree = depth === null;
    const heads = isTree ? ["Value", "Visits", "Policy"] : ["Value", "Score", "Depth"];
    const percent = (share) => (share === null || share === undefined ? "–" : `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`);
    const cells = (line) => (isTree
      ? [line.value === null ? "–" : signed(line.value), line.visits, percent(policy?.get(line.action))]
      : [line.value === null ? "–" : signed(line.value), line.score === null ? "–" : scoreText(line.score), line.depth ?? "–"]);
    const rows = actions.slice(0, LISTED_MAX).map((line) => el("tr", {},
      el("th", { scope: "row" }, button(line.action, () => attempt(() => this.chooser && this.tryAction(line.action)), { class: "plain", title: "play it here" })),
      cells(line).map((cell) => el("td", {}, cell)),
      el("td", { class: "variation", title: line.variation.join(" ") }, line.variation.slice(1, VARIATION_MAX).join(" "))));
    this.table.replaceChildren(el("table", {},
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Action"), heads.map((head) => el("th", { scope: "col" }, head)), el("th", { scope: "col", class: "variation" }, "Expected to follow"))),
      el("tbody", {}, rows)));
  }

  // Draws visits or policy as arrows, and as the heat of the squares where pieces come to rest.
  drawOverlay() {
    const { analysis, policy } = this.found.get(this.at) ?? {};
    let shares = [];
    if (this.shown === "policy" && policy) shares = [...policy];
    else if (this.shown === "visits" && analysis) {
      const visits = analysis.actions.map(({ action, visits }) => [action, visits ?? 0]);
      const total = visits.reduce((sum, [, count]) => sum + count, 0);
      shares = total ? visits.map(([action, count]) => [action, count / total]) : [[analysis.action, 1]];
    }
    shares = shares.filter(([, share]) => share > 0.01).sort(([, a], [, b]) => b - a);
    const heat = new Map();
    for (const [text, share] of shares) {
      const action = readAction(text);
      const to = action.to ?? action.squares?.[0];
      if (to) heat.set(to, (heat.get(to) ?? 0) + share);
    }
    const most = Math.max(0.001, ...heat.values());
    for (const [name, share] of heat) heat.set(name, share / most);
    this.board.drawHeat(heat);
    const best = shares[0]?.[1] ?? 1;
    const arrows = shares.slice(0, ARROWS_MAX).map(([text, share]) => ({ action: readAction(text), weight: share / best, kind: this.shown }));
    this.board.drawArrows(arrows.filter(({ action }) => action.kind === "move" || action.kind === "remove").reverse());
  }
}

function signed(value) {
  const digits = Math.abs(value).toFixed(2);
  return `${value < 0 && digits !== "0.00" ? "−" : "+"}${digits}`;
}

// Alpha-beta's score in men, or how far the end is (docs/FORMATS.md, "Analysis").
function scoreText(score) {
  const actions = 1_000_000 - Math.abs(score);
  if (Math.abs(score) > 900_000) return score > 0 ? `wins in ${actions}` : `loses in ${actions}`;
  return `${signed(score / 100)} men`;
}
