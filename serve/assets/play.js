// Play: a game against an agent, between two people, or of two agents.

import { askForHint, EvaluationBar } from "/app/advice.js";
import { GivenUp, pause, think } from "/app/api.js";
import { Board, Chooser } from "/app/board.js";
import { choiceButtons, statusOf } from "/app/choices.js";
import { Clock, clockField } from "/app/clock.js";
import { attempt, button, choose, el, replaceButtons, say, showFault, showText, sureButton } from "/app/dom.js";
import { fileButtons } from "/app/files.js";
import { Game, openRecord } from "/app/game.js";
import { isSameGame, keep, openStored, watchOtherTabs } from "/app/kept.js";
import { PositionCard } from "/app/link.js";
import { drawMoves, drawSide, stepper } from "/app/moves.js";
import { Pace } from "/app/pace.js";
import { HUMAN, Players } from "/app/players.js";
import { Setup } from "/app/setup.js";
import { aimOf, chooseRuleset, nameOf, rulesInWords, rulesetField } from "/app/shelf.js";

// What is played first: small, and pieces move at once.
const FIRST = "dutch-8x8";
const INTRODUCTION = "Latrunculi is a Roman game of moving and capturing whose rules are lost: here you play what historians and designers have made of it.";

export class Play {
  constructor(place, begin, analyse) {
    this.element = place;
    this.begin = begin;
    this.analyse = analyse;
    this.board = new Board((name) => attempt(() => this.press(name)));
    this.setup = new Setup((record) => this.open({ ...record, agents: this.players.agents }), "Play from here");
    this.players = new Players(begin, () => this.seat());
    this.evaluation = new EvaluationBar(begin);
    this.pace = new Pace(() => attempt(() => this.pause()));
    // Grows whenever what agents think about has changed.
    this.turn = 0;
    this.opening = 0;
    this.thought = null;
    this.isPaused = false;
    // No agent acts before the part is looked at: the game may be open in another tab.
    this.isAsleep = false;
    // The game that another tab of the page has kept in place of this one.
    this.other = null;
    // The agent that places a person's pieces until all stand.
    this.placer = null;
    this.at = 0;
    this.hint = null;
    // Why the game that was kept could not be opened.
    this.fault = null;
    // What was said of networks that do not know their ruleset, by ruleset and agent.
    this.notices = new Map();
    this.build(place);
    watchOtherTabs((other) => this.yieldTo(other));
    // The time that somebody has thought is spent, whatever becomes of the page.
    addEventListener("pagehide", () => { if (this.game?.clock && !this.other) keep(this.game.record()); });
  }

  async start() {
    this.fault = await openStored({ ruleset: FIRST, agents: [HUMAN, this.begin.levels[3].agent] }, (record) => this.open(record, true));
  }

  build(place) {
    // A game that has begun is given up only by a button that asks.
    const change = () => (this.isUnderWay ? this.draw() : attempt(() => this.restart()));
    this.rulesetField = rulesetField("Ruleset", change);
    this.clockField = clockField(change);
    this.top = el("div", { class: "side" });
    this.bottom = el("div", { class: "side" });
    this.status = el("p", { class: "status" });
    this.notice = el("p", { class: "soft notice", role: "status" });
    this.choices = el("div", { class: "row choices" });
    this.undoButton = button("Undo", () => attempt(() => this.undo()));
    this.hintButton = button("Hint", () => attempt(() => this.ask()));
    this.resignButton = sureButton("Resign", "Really resign?", () => true, () => this.resign());
    const leaving = ["Leave this game?", () => this.isUnderWay];
    this.newButton = sureButton("New game", ...leaving, () => attempt(() => this.restart()), { class: "main" });
    this.stepper = stepper((at) => this.goTo(at), () => this.game.actions.length, () => this.at);
    this.moves = el("ol", { class: "moves", "aria-label": "Moves" });
    this.rules = el("div", { class: "prose" });
    this.position = new PositionCard();
    const openButton = (text, open) => sureButton(text, ...leaving, open);
    const files = fileButtons(() => this.game, async (records) => (records.length > 1 ? this.analyse(records) : this.open(await openRecord(records[0]))), openButton);
    place.append(
      this.introduction = el("p", { class: "soft" }),
      el("div", { class: "table" },
        el("div", { class: "board-side" },
          this.top, el("div", { class: "with-evaluation" }, this.evaluation.element, this.board.element), this.bottom,
          this.status, this.notice, this.choices,
          el("div", { class: "row" }, this.undoButton, this.hintButton, this.resignButton, ...this.pace.controls,
            button("Turn the board", () => { this.board.flip(); this.draw(); }), this.stepper.element)),
        el("div", { class: "panels" },
          el("section", { class: "card", "aria-label": "The game" },
            this.rulesetField, ...this.players.fields, this.clockField, this.evaluation.field,
            el("div", { class: "row" },
              this.newButton,
              button("Change sides", () => attempt(() => this.changeSides())),
              sureButton("Set up a position", ...leaving, () => attempt(() => this.setup.open(this.ruleset, this.game, this.at))))),
          el("section", { class: "card", "aria-label": "Moves" }, el("h2", {}, "Moves"), this.moves,
            el("div", { class: "row" },
              button("Analyse", () => this.analyse(this.game)),
              ...files)),
          this.position.element,
          el("section", { class: "card", "aria-label": "Rules" }, this.rules))));
  }

  // The ruleset and the clock that are chosen for the next game.
  get ruleset() { return this.rulesetField.querySelector("select").value; }
  get clockSetting() { return this.clockField.querySelector("select").value; }

  // A game that a person would lose by leaving it.
  get isUnderWay() { return this.game.actions.length > 0 && !this.game.isOver && this.players.hasHuman; }

  // Takes over a game; it goes on from where it stands, but one that was kept waits where it has a clock, or no person in it.
  async open(record, isKept = false) {
    this.stopThinking();
    // Of several that are asked for, the last one is opened.
    const opening = ++this.opening;
    const game = record instanceof Game ? record : await Game.open(record);
    if (opening !== this.opening) return;
    this.game?.clock?.run(null);
    // The players may have been chosen while the rules were on their way.
    game.agents = record.agents ?? this.players.agents;
    this.game = game;
    const setting = game.clock ?? (this.clockSetting && !game.actions.length ? { setting: this.clockSetting } : null);
    game.clock = setting && new Clock(setting, () => this.drawSides(), (player) => this.loseOnTime(player));
    this.placer = null;
    this.hint = null;
    this.openChoices = [];
    chooseRuleset(this.rulesetField, game.about);
    choose(this.clockField, game.clock?.setting ?? "");
    this.players.agents = game.agents;
    this.isPaused = isKept && game.actions.length > 0 && (Boolean(game.clock) || !this.players.hasHuman);
    this.isAsleep = isKept && this.element.hidden;
    this.board.isFlipped = this.players.onlyHuman === 2;
    this.introduction.textContent = `${INTRODUCTION} ${aimOf(game.about)}`;
    this.rules.replaceChildren(...rulesInWords(game.about));
    this.changed();
  }

  restart() {
    return this.open({ ruleset: this.ruleset });
  }

  changeSides() {
    this.game.agents = [...this.players.agents].reverse();
    return this.open(this.game);
  }

  seat() {
    this.stopThinking();
    this.game.agents = this.players.agents;
    this.isPaused = false;
    this.hint = null;
    this.changed();
  }

  // Everything that follows when the game has changed.
  changed() {
    const { game } = this;
    this.at = game.actions.length;
    this.other = null;
    this.chooser = new Chooser(game.legal);
    if (game.last.phase !== "placement") this.placer = null;
    this.runClock();
    keep(game.record());
    this.draw();
    this.letAgentPlay();
  }

  // Lets the clock of the player to act run, from the first action on.
  runClock() {
    const { game } = this;
    const { length } = game.actions;
    if (length) game.clock?.noteActions(length, game.states[length - 1].to_act);
    game.clock?.run(length && !this.isPaused ? game.toAct : null);
  }

  loseOnTime(player) {
    this.stopThinking();
    this.game.resigned = player;
    this.game.isTimedOut = true;
    say(this.game.endText);
    this.changed();
  }

  get isHumansTurn() { return !this.game.isOver && !this.placer && !this.isPaused && this.players.isHuman(this.game.toAct); }
  get isWatching() { return this.at < this.game.actions.length; }

  stopThinking() {
    this.turn++;
    this.thought?.giveUp();
    this.thought = null;
  }

  async letAgentPlay() {
    const turn = this.turn;
    if (this.game.isOver || this.isHumansTurn || this.isPaused || this.isAsleep) return;
    const game = this.game;
    const isPlaced = this.placer && this.players.isHuman(game.toAct);
    const agent = isPlaced ? this.placer : this.players.of(game.toAct);
    // On a clock no agent uses up its time.
    const request = { game: game.request(), agent, seed: game.seed, ...(game.clock && { seconds: game.clock.left(game.toAct) / 2 }) };
    const begun = performance.now();
    this.thought = think(request, () => {}, (text) => { this.notices.set(`${game.about.key} ${agent}`, text); this.draw(); });
    this.draw();
    try {
      const analysis = await this.thought.result;
      await pause(this.pace.least(this.players, this.placer) - (performance.now() - begun));
      if (turn !== this.turn) return;
      game.seat(isPlaced ? HUMAN : agent);
      await game.play(analysis.action, analysis.value, analysis.effort || null);
      if (turn !== this.turn) {
        // Whoever sits there now goes on from the action that was played.
        if (game === this.game && !this.isBusy) {
          this.stopThinking();
          this.changed();
        }
        return;
      }
      this.thought = null;
      say(`Player ${analysis.player}: ${game.describe(game.actions.length - 1)}. ${game.endText ?? ""}`);
      this.afterAction();
    } catch (error) {
      if (turn !== this.turn || error instanceof GivenUp) return;
      this.thought = null;
      this.isPaused = true;
      this.placer = null;
      this.runClock();
      showFault(error);
      this.draw();
    }
  }

  afterAction() {
    this.hint = null;
    // Whoever looks at an earlier state is left there.
    const isAtEnd = this.at >= this.game.actions.length - 1;
    const at = this.at;
    this.changed();
    if (!isAtEnd) this.goTo(at);
  }

  async press(name) {
    if (this.isWatching || !this.isHumansTurn || this.isBusy) return;
    const found = this.chooser.press(name);
    this.hint = null;
    this.openChoices = found.length > 1 ? found : [];
    if (found.length === 1) return this.playAction(found[0].text);
    if (this.chooser.refused) say(statusOf(this));
    this.draw();
  }

  async playAction(text) {
    if (this.isBusy) return;
    this.isBusy = true;
    try {
      this.stopThinking();
      this.game.seat(HUMAN);
      await this.game.play(text);
      say(`You played ${this.game.describe(this.game.actions.length - 1)}. ${this.game.endText ?? ""}`);
      this.openChoices = [];
      this.afterAction();
    } finally {
      this.isBusy = false;
    }
  }

  async undo() {
    if (this.isBusy) return;
    const { game } = this;
    if (game.resigned && !game.isTimedOut) {
      game.resigned = null;
      return this.changed();
    }
    this.placer = null;
    this.stopThinking();
    let count = game.actions.length - 1;
    // Back to where a person was to act; without one, one action and a pause.
    const isHumans = (index) => this.players.isHuman(game.states[index].to_act);
    if (this.players.hasHuman) while (count > 0 && !isHumans(count)) count--;
    this.isPaused = !this.players.hasHuman;
    this.isBusy = true;
    try {
      if (count >= 0) await game.takeBackTo(count);
    } finally {
      this.isBusy = false;
    }
    // What an agent may have begun to think about meanwhile is not this state.
    this.stopThinking();
    this.hint = null;
    this.openChoices = [];
    this.changed();
  }

  async ask() {
    const { game, turn } = this;
    const tell = (hint) => {
      if (turn === this.turn && game === this.game) Object.assign(this, { hint }).draw();
    };
    try {
      await askForHint(game, this.players.of(3 - game.toAct), tell).result;
    } catch (error) {
      tell(null);
      throw error;
    }
  }

  resign() {
    this.stopThinking();
    this.game.resigned = this.players.onlyHuman ?? this.game.last.to_act;
    say(this.game.endText);
    this.changed();
  }

  // Lets an agent place the pieces of the person to act, until all stand.
  place(agent) {
    this.placer = agent;
    this.hint = null;
    this.letAgentPlay();
  }

  // Pauses, or goes on: with the game as another tab has it, where that is this one.
  async pause() {
    const { other } = this;
    if (other && isSameGame(other, this.game)) return this.open(other);
    this.other = null;
    this.isPaused = !this.isPaused;
    if (this.isPaused) this.stopThinking();
    this.runClock();
    keep(this.game.record());
    this.draw();
    return this.letAgentPlay();
  }

  // Another tab of the page has kept a game: this one waits until it is asked to go on.
  yieldTo(other) {
    const { game } = this;
    if (!game || (isSameGame(other, game) && other.actions.join() === game.actions.join() && other.resigned === game.resigned)) return;
    this.stopThinking();
    this.placer = null;
    this.other = other;
    this.isPaused = true;
    this.runClock();
    this.draw();
  }

  // The part is looked at.
  wake() {
    if (this.isAsleep) {
      this.isAsleep = false;
      this.letAgentPlay();
    }
  }

  goTo(at) {
    this.at = Math.max(0, Math.min(at, this.game.actions.length));
    this.draw();
  }

  // Draws everything that changes.
  draw() {
    if (this.pace.skips(this)) return;
    const { game } = this;
    const canAct = !this.isWatching && this.isHumansTurn;
    this.board.show(game.about, game.view(this.at), canAct ? this.chooser.marks : {});
    this.board.drawArrows(canAct && this.hint?.action ? [{ action: this.hint.action, weight: 0.6, kind: "hint" }] : []);
    this.status.textContent = statusOf(this);
    const notices = this.players.agents.map((agent) => this.notices.get(`${game.about.key} ${agent}`));
    showText(this.notice, [...new Set([...notices, this.hint?.notice, game.doubt].filter(Boolean))].join("; "));
    this.drawSides();
    this.evaluation.show(game, this.at, this.board.isFlipped, this.thought !== null && !this.isWatching);
    this.drawChoices(canAct);
    drawMoves(this.moves, game, this.at, (at) => this.goTo(at));
    this.stepper.draw();
    this.position.show(game, this.at);
    const isOtherClock = this.clockSetting !== (game.clock?.setting ?? "");
    this.newButton.rename(this.ruleset !== game.about.key ? `New game to play ${nameOf(this.ruleset)}` : isOtherClock ? "New game with this clock" : "New game");
    this.undoButton.disabled = !game.actions.length && !game.resigned;
    this.hintButton.disabled = !canAct;
    this.resignButton.disabled = game.isOver || !this.players.hasHuman;
    this.pace.draw(this);
  }

  drawSides() {
    const { game, at, players } = this;
    (this.board.isFlipped ? [1, 2] : [2, 1]).forEach((player, index) => {
      drawSide([this.top, this.bottom][index], player, players.name(player), game, at, { isThinking: this.thought !== null, time: game.clock?.text(player) });
    });
  }

  drawChoices(canAct) {
    const buttons = canAct ? choiceButtons(this.chooser, this.openChoices ?? [],
      (text) => attempt(() => this.playAction(text)), (piece) => { Object.assign(this.chooser, { piece, refused: null }); this.draw(); }) : [];
    if (this.game.toAct && this.game.last.phase === "placement" && this.players.hasHuman) {
      const placer = this.begin.levels.find(({ agent }) => agent.includes("sims=16")).agent;
      buttons.push(...[["for me", placer], ["at random", "random"]].map(([how, agent]) => button(`Place the rest ${how}`, () => this.place(agent), { disabled: !canAct })));
    }
    if (this.game.isOver && this.game.actions.length) buttons.push(button("What went wrong?", () => this.analyse(this.game, 0, true), { class: "main" }));
    replaceButtons(this.choices, buttons);
  }
}
