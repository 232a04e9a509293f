// Analyse: steps through a game, tries other actions, and shows what a search thinks of each state.

import { Board, Chooser } from "/app/board.js";
import { ValueCurve } from "/app/chart.js";
import { refusal } from "/app/choices.js";
import { attempt, button, el, say, select, showFault, showText, sureButton } from "/app/dom.js";
import { fileButtons } from "/app/files.js";
import { Game, openRecord } from "/app/game.js";
import { Judge } from "/app/judge.js";
import { PositionCard, addressOf, readAddress } from "/app/link.js";
import { drawMoves, drawSide, stepper } from "/app/moves.js";
import { Review } from "/app/review.js";
import { Setup } from "/app/setup.js";
import { chooseRuleset, rulesetField } from "/app/shelf.js";
import { Variations } from "/app/variations.js";
import { Verdict, drawShares } from "/app/verdict.js";

// How long a state is shown before the address names it, in milliseconds.
const NAMED = 300;

export class Analyse {
  // `table` is the part where games are played.
  constructor(place, begin, table) {
    this.begin = begin;
    this.table = table;
    this.board = new Board((name) => attempt(() => this.press(name)));
    this.setup = new Setup((record) => attempt(() => this.open(record)), "Analyse from here");
    this.curve = new ValueCurve((at) => this.goTo(at));
    this.judge = new Judge(begin, () => this, () => this.drawFound());
    this.verdict = new Verdict((action) => attempt(() => this.chooser && this.tryAction(action)), (line) => attempt(() => this.showLine(this.game, this.at, line)));
    this.review = new Review((at) => this.goTo(at, this.variations.main), (at, line) => attempt(() => this.showLine(this.variations.main, at, line)));
    this.variations = new Variations((game, at) => this.goTo(at, game));
    this.at = 0;
    this.shown = "visit_share";
    this.opening = 0;
    this.records = [];
    this.build(place);
  }

  // Shows the part: what an address names, or the game that is being played when there is none yet.
  async start(address, { played }) {
    if (address.length && (!this.game || location.hash !== this.address)) {
      try {
        await this.openLink(await readAddress(address));
      } catch (error) {
        if (!this.game) await this.openGame(played);
        throw new Error(`The link cannot be opened: ${error.message}`);
      }
    } else if (!this.game) {
      await this.openGame(played);
    } else {
      this.judge.restart();
      this.showAddress();
    }
  }

  // Stops thinking about the state while another part of the page is shown; a whole game is judged to its end.
  leave() { this.judge.leave(); }

  build(place) {
    this.rulesetField = rulesetField("Ruleset", (key) => attempt(() => this.open({ ruleset: key })));
    const shown = [["visit_share", "visits of the search"], ["prior", "the network’s policy before it searches"], ["nothing", "nothing"]];
    this.shownField = select("On the board", shown, this.shown, (key) => { this.shown = key; this.draw(); });
    this.gameField = select("Game of the file", [], undefined, (index) => attempt(() => this.openAt(Number(index))));
    this.top = el("div", { class: "side" });
    this.bottom = el("div", { class: "side" });
    this.status = el("p", { class: "status" });
    this.notice = el("p", { class: "soft notice", role: "status" });
    this.words = el("div", { class: "row choices" });
    this.settings = el("summary");
    this.stepper = stepper((at) => this.goTo(at), () => this.game.actions.length, () => this.at);
    this.moves = el("ol", { class: "moves", "aria-label": "Moves" });
    this.position = new PositionCard();
    this.backButton = button("Back to the game", () => this.goTo(Math.min(this.at, this.variations.shared(this.game)), this.variations.main));
    place.append(el("div", { class: "table" },
      el("div", { class: "board-side" },
        this.top, this.board.element, this.bottom,
        el("div", { class: "told" }, this.status, this.words, this.review.here),
        el("div", { class: "row" }, this.stepper.element, button("Turn the board", () => { this.board.flip(); this.draw(); }), this.review.next, this.backButton),
        this.curve.element),
      el("div", { class: "panels" },
        el("section", { class: "card", "aria-label": "Analysis" },
          ...this.judge.controls, this.notice, el("div", { class: "found" }, this.verdict.elements),
          el("details", {}, this.settings, el("div", { class: "fields" }, ...this.judge.fields, this.shownField)), howToRead()),
        this.review.element,
        el("section", { class: "card", "aria-label": "Game" }, el("h2", {}, "Game"), this.gameField, this.moves, this.variations.element, this.rulesetField,
          el("div", { class: "row" },
            ...fileButtons(() => this.game, (records) => this.openAll(records)),
            sureButton("Play from here", "Leave the game in Play?", () => this.table.isUnderWay, () => attempt(() => this.playFromHere())),
            button("Set up a position", () => attempt(() => this.setup.open(this.game.about.key, this.game, this.at))))),
        this.position.element)));
    document.addEventListener("keydown", (event) => this.key(event));
    this.place = place;
  }

  // Shows the games of a file, and of these the last one unless another is wanted.
  openAll(records, wanted = records.length - 1) {
    this.records = records;
    const name = (record, index) => {
      const result = record.is_over ? (record.winner ? `player ${record.winner} won` : "drawn") : "unfinished";
      return [index, `${index + 1}: ${result}, ${record.actions.length} actions, ${record.agents?.map(shortName).join(" – ") ?? ""}`];
    };
    this.gameField.querySelector("select").replaceChildren(
      ...records.map((record, index) => { const [value, text] = name(record, index); return el("option", { value }, text); }));
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

  async open(record, at = 0) {
    this.records = [];
    return this.take(Game.open(record), at);
  }

  // Opens a game with its variations, and the state of one of these lines.
  async openLink({ record, at, shown, variations }) {
    await this.open(record, shown ? variations[shown - 1].from : at);
    const { main } = this.variations;
    const lines = [main];
    for (const { from, actions } of variations) {
      lines.push(await this.variations.follow(main, from, actions));
      if (main !== this.variations.main) return;
    }
    this.goTo(at, lines[shown]);
  }

  // Takes over a game of the page.
  async openGame(game) {
    return this.open(game.record(), game.actions.length);
  }

  // Shows a game once it is read; of several that are asked for, the last one.
  async take(read, at) {
    const opening = ++this.opening;
    const game = await read;
    if (opening !== this.opening) return;
    this.judge.stop();
    this.variations.begin(game);
    chooseRuleset(this.rulesetField, game.about);
    this.goTo(at, game);
  }

  // Shows a state of the game, or of another line.
  goTo(at, game = this.game) {
    const next = Math.max(0, Math.min(at, game.actions.length));
    if (next === this.at && game === this.game) {
      this.draw();
      return this.showAddress();
    }
    Object.assign(this, { game, at: next, chooser: null, asked: [] });
    this.judge.leave();
    this.draw();
    this.prepare();
    this.judge.look();
    this.showAddress();
  }

  // Lets the address hold what is shown, once one stays there: browsers refuse to change it too often.
  showAddress() {
    clearTimeout(this.naming);
    this.naming = setTimeout(() => { if (!this.place.hidden) history.replaceState(null, "", this.address); }, NAMED);
  }

  get address() { return addressOf(this.game, this.at, this.variations.lines); }

  // Learns what is legal here, so that other actions can be tried.
  async prepare() {
    const { game, at } = this;
    this.here = null;
    // What is told already stays where nothing fails.
    const branch = await game.branch(at).catch(showFault);
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

  // Plays an action here: one that has been tried goes on in its line, another one begins a variation.
  async tryAction(text) {
    this.asked = [];
    const { game, at, here } = this;
    const known = this.variations.find(game, at, text);
    if (known) return this.goTo(at + 1, known);
    // It is played once, however often it is clicked.
    this.here = null;
    if (!here) return;
    try {
      await here.play(text);
    } catch (error) {
      if (game === this.game && at === this.at) this.here = here;
      throw error;
    }
    this.variations.add(here, game);
    this.goTo(at + 1, here);
  }

  // Shows actions that go on from a state of a line, as a variation, after the first of them.
  async showLine(line, at, actions) {
    const { main } = this.variations;
    const shown = await this.variations.follow(line, at, actions);
    if (main === this.variations.main) this.goTo(at + 1, shown);
  }

  // Lets the players of Play go on from here.
  async playFromHere() {
    const { game, at, table } = this;
    await table.open({ ...game.request(at), agents: table.players.agents });
    location.hash = "#play";
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

  // Returns for each state who is to act and what he expects: from a search, or by the rules at the end; else null.
  judgedIn(game) {
    return game.states.map((state, at) => {
      if (state.outcome) return { player: 1, value: [0, 1, -1][state.outcome.winner ?? 0] };
      const { analysis } = this.judge.of(game, at);
      return analysis && analysis.value !== null ? analysis : null;
    });
  }

  // Returns what is known of each state, for player 1: what was judged, else what the record has.
  values(judged) {
    const { game } = this;
    const isBanded = judged.some((one) => one?.win_draw_loss);
    return game.states.map((state, at) => {
      const isOver = game.isOverAt(at);
      const one = isOver ? { player: 1, value: [0, 1, -1][game.winner ?? 0] } : judged[at] ?? { player: state.to_act, value: game.values[at] ?? null };
      if (one.value === null) return null;
      const wdl = one.win_draw_loss ?? (isOver && isBanded ? [one.value === 1, one.value === 0, one.value === -1].map(Number) : null);
      return one.player === 1 ? { value: one.value, wdl } : { value: -one.value, wdl: wdl && [...wdl].reverse() };
    });
  }

  draw() {
    const { game, at } = this;
    this.board.show(game.about, game.view(at), this.chooser?.marks ?? {});
    const players = this.board.isFlipped ? [1, 2] : [2, 1];
    const levels = new Map(this.begin.levels.map(({ agent, name }) => [agent, name]));
    const name = (player) => {
      const agent = shortName(game.agents[player - 1] ?? "");
      return agent === "human" ? "" : levels.get(agent) ?? agent;
    };
    [this.top, this.bottom].forEach((place, index) => drawSide(place, players[index], name(players[index]), game, at));
    const isVariation = game !== this.variations.main;
    const end = game.isOverAt(at) ? `${game.endText}.` : "";
    const refused = this.chooser && refusal(game.states[at], this.chooser);
    this.status.textContent = `${isVariation ? "Variation: after" : "After"} ${at} of ${game.actions.length} actions${refused ? `: ${refused}` : "."} ${end}`;
    this.gameField.hidden = this.records.length < 2;
    const words = [...(this.chooser?.words ?? []), ...(this.asked ?? [])];
    this.words.replaceChildren(...words.map(({ text }) => button(text, () => attempt(() => this.tryAction(text)))));
    this.backButton.hidden = !isVariation;
    this.stepper.draw();
    this.position.show(game, at, this.variations.lines);
    this.variations.draw(game, at);
    this.drawFound();
  }

  drawFound() {
    const { game, at } = this;
    const { analysis, isWhole } = this.judge.of(game, at);
    const judged = this.judgedIn(game);
    this.judge.draw();
    drawShares(this.board, analysis, this.shown, game.actions[at]);
    showText(this.notice, [game.doubt, this.judge.notice].filter(Boolean).join(" "));
    this.verdict.show(analysis, game.isOverAt(at) ? `${game.endText}.` : this.judge.isOn && !this.judge.whole ? "Thinking…" : "");
    if (isWhole && !this.judge.whole) say(this.verdict.text.textContent);
    this.settings.textContent = `Judged by: ${this.judge.name}`;
    // A variation stands under the game, which stays.
    const { main } = this.variations;
    const isMain = game === main;
    const mainAt = isMain ? at : this.variations.shared(game);
    this.review.show(main, isMain ? judged : this.judgedIn(main), mainAt, isMain, this.judge.whole?.game === main);
    this.curve.show(this.values(judged), at, isMain ? this.review.losses : []);
    drawMoves(this.moves, main, mainAt, (to) => this.goTo(to, main), this.review.marks);
  }
}

// Returns the text of an agent without the kernel that computed its network.
const shortName = (agent) => agent.replace(/ \[kernel=[^\]]*\]$/, "");

function howToRead() {
  return el("details", {}, el("summary", {}, "How to read this"),
    el("ul", {},
      el("li", {}, "Actions are counted from the first one on: in the list, on the curve, beside losses and in links. A turn may have several."),
      el("li", {}, "c1-c2 is a move, c1-c2xd2 one that takes what stood on d2, @h7 puts a man on h7, D@h7 the dux."),
      el("li", {}, "Points: what the player to act can expect, of 100. A win is 100, a draw 50. Those of a state are the mean of all that was tried in it, so its best action may have more. The program’s analysis and game records have the same as a value from −1 for a loss to 1 for a win."),
      el("li", {}, "Then: what the search expects to follow the action."),
      el("li", {}, "Prior: how probable the network finds the action before it searches."),
      el("li", {}, "Visits: how often the search tried the action; share: of all its tries. With PUCT the most visited action is the best one found. With Gumbel the visits follow a schedule that halves their number."),
      el("li", {}, "Improved policy (Gumbel): what a network in training learns from. It stretches small differences of points."),
      el("li", {}, "Men ahead: what alpha-beta counts; +1.00 is one man more.")));
}
