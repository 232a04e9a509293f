// Play: a game against an agent, between two people, or of two agents.

import { GivenUp, think } from "/app/api.js";
import { Board, Chooser } from "/app/board.js";
import { attempt, button, copy, download, el, replaceButtons, say, select, showFault, showText, svg } from "/app/dom.js";
import { Game, checkRules, openRecord, readAction, readRecords } from "/app/game.js";
import { Setup } from "/app/setup.js";
import { chooseRuleset, isOffered, nameOf, rulesInWords, rulesetField } from "/app/shelf.js";

const STORED = "latrunculi.game";
const HUMAN = "human";
// How long each action of an agent is at least looked at, in milliseconds.
const PACE = 450;
// How much agents that give hints may think.
const HINT_SECONDS = 10;

export class Play {
  constructor(place, begin, analyse) {
    this.begin = begin;
    this.analyse = analyse;
    this.board = new Board((name) => attempt(() => this.press(name)));
    this.setup = new Setup((record) => this.open({ ...record, agents: this.seats }));
    // Grows whenever what agents think about has changed.
    this.turn = 0;
    this.opening = 0;
    this.thought = null;
    this.isPaused = false;
    this.at = 0;
    this.hint = null;
    // Why the game that was stored could not be opened.
    this.fault = null;
    // What was said of networks that do not know their ruleset, by ruleset and agent.
    this.notices = new Map();
    this.build(place);
  }

  async start() {
    const found = readStored();
    const stored = typeof found?.ruleset === "string" ? found : null;
    const first = { ruleset: "bell-8x8", agents: [HUMAN, this.begin.levels[3].agent] };
    let reason = "its ruleset is not offered";
    if (stored && isOffered(stored.ruleset)) {
      try {
        await checkRules(stored);
        await this.open(stored);
        return;
      } catch (error) {
        reason = error.message;
      }
    }
    await this.open(first);
    if (!stored) return;
    // It may be opened later, as when its ruleset is offered again.
    keep(stored);
    this.fault = new Error(`Your game of ${nameOf(stored.ruleset)} is kept until you play here, but cannot be opened now: ${reason}`);
  }

  build(place) {
    // A game that has begun is given up only by a button that asks.
    this.rulesetField = rulesetField("Ruleset", () => { if (!this.game.actions.length) attempt(() => this.restart()); });
    this.seatFields = [1, 2].map((player) => select(`Player ${player}`, this.seatOptions(), undefined, () => this.seat(player)));
    this.top = el("div", { class: "side" });
    this.bottom = el("div", { class: "side" });
    this.status = el("p", { class: "status" });
    this.notice = el("p", { class: "soft notice", role: "status" });
    this.choices = el("div", { class: "row choices" });
    this.undoButton = button("Undo", () => attempt(() => this.undo()));
    this.hintButton = button("Hint", () => attempt(() => this.ask()));
    this.resignButton = sureButton("Resign", "Really resign?", () => true, () => this.resign());
    // A game that is under way would be lost.
    const isUnderWay = () => this.game.actions.length > 0 && !this.game.isOver && this.hasHuman;
    this.newButton = sureButton("New game", "Leave this game?", isUnderWay, () => attempt(() => this.restart()), { class: "main" });
    this.pauseButton = button("Pause", () => this.pause());
    this.stepper = stepper((at) => this.goTo(at), () => this.game.actions.length, () => this.at);
    this.moves = el("ol", { class: "moves", "aria-label": "Moves" });
    this.rules = el("div", { class: "prose" });
    this.position = el("input", { type: "text", readonly: true, "aria-label": "This position as one line", spellcheck: "false" });
    const file = el("input", { type: "file", accept: ".jsonl,.json", class: "unseen", onchange: () => this.load(file) });
    place.append(
      el("div", { class: "table" },
        el("div", { class: "board-side" },
          this.top, this.board.element, this.bottom,
          this.status, this.notice, this.choices,
          el("div", { class: "row" }, this.undoButton, this.hintButton, this.resignButton, this.pauseButton,
            button("Turn the board", () => this.flip()), this.stepper.element)),
        el("div", { class: "panels" },
          el("section", { class: "card", "aria-label": "The game" },
            this.rulesetField, ...this.seatFields,
            el("div", { class: "row" },
              this.newButton,
              button("Change sides", () => attempt(() => this.changeSides())),
              sureButton("Set up a position", "Leave this game?", isUnderWay, () => attempt(() => this.setup.open(this.rulesetField.querySelector("select").value, this.game, this.at))))),
          el("section", { class: "card", "aria-label": "Moves" }, el("h2", {}, "Moves"), this.moves,
            el("div", { class: "row" },
              button("Analyse", () => this.analyse(this.game)),
              button("Save", () => attempt(() => this.save())),
              sureButton("Open a file", "Leave this game?", isUnderWay, () => file.click()), file)),
          el("section", { class: "card", "aria-label": "Position" }, el("h2", {}, "Position"),
            el("div", { class: "row" }, this.position, button("Copy", () => copy(this.position.value, this.position)))),
          el("section", { class: "card", "aria-label": "Rules" }, this.rules))));
  }

  seatOptions() {
    const levels = this.begin.levels.map(({ agent, name }) => [agent, name]);
    const trained = this.begin.models.filter((model) => !levels.some(([agent]) => agent.includes(`:${model},`)));
    const models = trained.map((model) => [`net:${model},sims=64`, `${model} (64 simulations)`]);
    return [[HUMAN, "You"], { label: "Agents", options: levels }, ...(models.length ? [{ label: "Networks of runs", options: models }] : [])];
  }

  get seats() { return this.seatFields.map((field) => field.querySelector("select").value); }

  // Takes over a game; it goes on from where it stands.
  async open(record) {
    this.stopThinking();
    // Of several that are asked for, the last one is opened.
    const opening = ++this.opening;
    const game = record instanceof Game ? record : await Game.open(record);
    if (opening !== this.opening) return;
    // The players may have been chosen while the rules were on their way.
    game.agents = record.agents ?? this.seats;
    this.game = game;
    this.at = this.game.actions.length;
    this.isPaused = false;
    this.hint = null;
    this.openChoices = [];
    chooseRuleset(this.rulesetField, this.game.about);
    this.seatFields.forEach((field, index) => {
      const chosen = field.querySelector("select");
      const agent = this.game.agents[index];
      chosen.value = agent;
      // An agent of a file that the list does not have plays on no further.
      if (chosen.value !== agent) chosen.value = HUMAN;
    });
    this.board.isFlipped = this.seats[0] !== HUMAN && this.seats[1] === HUMAN;
    this.showRules();
    this.changed();
  }

  restart() {
    return this.open({ ruleset: this.rulesetField.querySelector("select").value });
  }

  changeSides() {
    this.game.agents = [...this.seats].reverse();
    return this.open(this.game);
  }

  seat() {
    this.stopThinking();
    this.game.agents = this.seats;
    this.isPaused = false;
    this.hint = null;
    this.changed();
  }

  flip() {
    this.board.flip();
    this.draw();
  }

  // Everything that follows when the game has changed.
  changed() {
    this.at = this.game.actions.length;
    this.chooser = new Chooser(this.game.legal);
    this.store();
    this.draw();
    this.letAgentPlay();
  }

  get isHumansTurn() { return !this.game.isOver && this.seats[this.game.toAct - 1] === HUMAN; }
  get isWatching() { return this.at < this.game.actions.length; }
  get hasHuman() { return this.seats.includes(HUMAN); }

  stopThinking() {
    this.turn++;
    this.thought?.giveUp();
    this.thought = null;
  }

  async letAgentPlay() {
    const turn = this.turn;
    if (this.game.isOver || this.isHumansTurn || this.isPaused) return;
    const game = this.game;
    const agent = this.seats[game.toAct - 1];
    const request = { game: game.request(), agent, seed: game.seed };
    const begun = performance.now();
    this.thought = think(request, () => {}, (text) => { this.notices.set(`${game.about.key} ${agent}`, text); this.draw(); });
    this.draw();
    try {
      const analysis = await this.thought.result;
      await pause(PACE - (performance.now() - begun));
      if (turn !== this.turn) return;
      this.note(agent);
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
    this.draw();
  }

  async playAction(text) {
    if (this.isBusy) return;
    this.isBusy = true;
    try {
      this.stopThinking();
      this.note(HUMAN);
      await this.game.play(text);
      say(`You played ${this.game.describe(this.game.actions.length - 1)}. ${this.game.endText ?? ""}`);
      this.openChoices = [];
      this.afterAction();
    } finally {
      this.isBusy = false;
    }
  }

  // Notes who chooses for the player to act: the agents of a file may have others in their places now.
  note(agent) {
    const { game } = this;
    game.agents = game.agents.map((known, index) => (index + 1 === game.toAct ? agent : known));
  }

  async undo() {
    if (this.isBusy) return;
    const { game } = this;
    if (game.resigned) {
      game.resigned = null;
      return this.changed();
    }
    this.stopThinking();
    let count = game.actions.length - 1;
    // Back to where a person was to act; without one, one action and a pause.
    const isHumans = (index) => this.seats[game.states[index].to_act - 1] === HUMAN;
    if (this.hasHuman) while (count > 0 && !isHumans(count)) count--;
    this.isPaused = !this.hasHuman;
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
    const game = this.game;
    const turn = this.turn;
    const agent = this.begin.levels.find(({ agent }) => agent.includes("sims=400"))?.agent;
    this.hint = { text: "Looking for a good action…" };
    this.draw();
    const isWanted = () => turn === this.turn && game === this.game && this.hint;
    let analysis;
    try {
      analysis = await think({ game: game.request(), agent, seed: game.seed, seconds: HINT_SECONDS }).result;
    } catch (error) {
      if (!isWanted()) return;
      this.hint = null;
      this.draw();
      throw error;
    }
    if (!isWanted()) return;
    const percent = Math.round(50 * (1 + analysis.value));
    this.hint = { action: readAction(analysis.action), text: `Hint: ${analysis.action}. The network expects ${percent} % for you.` };
    say(this.hint.text);
    this.draw();
  }

  resign() {
    this.stopThinking();
    this.game.resigned = this.seats.indexOf(HUMAN) === this.seats.lastIndexOf(HUMAN) ? this.seats.indexOf(HUMAN) + 1 : this.game.last.to_act;
    say(this.game.endText);
    this.changed();
  }

  pause() {
    this.isPaused = !this.isPaused;
    if (this.isPaused) this.stopThinking();
    this.draw();
    this.letAgentPlay();
  }

  goTo(at) {
    this.at = Math.max(0, Math.min(at, this.game.actions.length));
    this.draw();
  }

  async save() {
    download(`${this.game.about.id}.jsonl`, `${await this.game.line()}\n`);
  }

  load(file) {
    attempt(async () => {
      const text = await file.files[0].text();
      file.value = "";
      const records = readRecords(text);
      if (records.length > 1) return this.analyse(records);
      const game = await openRecord(records[0]);
      return this.open(game);
    });
  }

  store() {
    keep(this.game.record());
  }

  // Draws everything that changes.
  draw() {
    const { game } = this;
    const canAct = !this.isWatching && this.isHumansTurn;
    this.board.show(game.about, game.view(this.at), canAct ? this.chooser.marks : {});
    this.board.drawArrows(canAct && this.hint?.action ? [{ action: this.hint.action, weight: 0.6, kind: "hint" }] : []);
    const state = game.states[this.at];
    this.status.textContent = this.statusText();
    const notices = this.seats.map((agent) => this.notices.get(`${game.about.key} ${agent}`)).filter(Boolean);
    showText(this.notice, [...new Set(notices)].join("; "));
    const players = this.board.isFlipped ? [1, 2] : [2, 1];
    drawSide(this.top, players[0], this.seatName(players[0]), game, this.at, this.thought !== null);
    drawSide(this.bottom, players[1], this.seatName(players[1]), game, this.at, this.thought !== null);
    this.drawChoices(canAct);
    drawMoves(this.moves, game, this.at, (at) => this.goTo(at));
    this.stepper.draw();
    this.position.value = state.position;
    this.undoButton.disabled = !game.actions.length && !game.resigned;
    this.hintButton.disabled = !canAct;
    this.resignButton.disabled = game.isOver || !this.hasHuman;
    // A game against an agent pauses only where a search has failed.
    this.pauseButton.hidden = game.isOver || (this.hasHuman && !this.isPaused);
    this.pauseButton.textContent = this.isPaused ? "Continue" : "Pause";
  }

  seatName(player) {
    const chosen = this.seatFields[player - 1].querySelector("select");
    return chosen.selectedOptions[0]?.textContent ?? "";
  }

  statusText() {
    const { game } = this;
    if (this.isWatching) return `After ${this.at} of ${game.actions.length} actions.`;
    if (game.isOver) return `${game.endText}.`;
    if (this.hint) return this.hint.text;
    const who = `Player ${game.toAct}`;
    if (this.isPaused) return `${who} is to act. Paused.`;
    if (!this.isHumansTurn) return `${who} is thinking…`;
    return `${this.seats.every((seat) => seat === HUMAN) ? `${who}: ` : "Your turn: "}${duty(game.last, this.chooser)}`;
  }

  drawChoices(canAct) {
    if (!canAct) return this.choices.replaceChildren();
    const play = (text) => () => attempt(() => this.playAction(text));
    const words = { stop: "Stop here", pass: "Pass" };
    const buttons = this.chooser.words.map(({ kind, text }) => button(words[kind], play(text), { class: "main" }));
    for (const { text, squares } of this.openChoices ?? []) {
      buttons.push(button(squares ? `Remove ${squares.join(" and ")}` : text, play(text)));
    }
    if (this.chooser.hasBothPieces) {
      const pick = (piece) => () => { this.chooser.piece = piece; this.draw(); };
      for (const piece of ["man", "dux"]) {
        buttons.push(button(`Place ${piece === "man" ? "a man" : "the dux"}`, pick(piece), { "aria-pressed": String(this.chooser.piece === piece) }));
      }
    }
    replaceButtons(this.choices, buttons);
  }

  showRules() {
    const { about } = this.game;
    this.rules.replaceChildren(...rulesInWords(about));
  }
}

// Returns a button that asks before it acts, where that needs to be asked: a second click within four seconds says yes.
function sureButton(text, question, needsAsking, act, attributes) {
  let calm = null;
  const ask = (isAsking) => {
    clearTimeout(calm);
    calm = isAsking ? setTimeout(() => ask(false), 4000) : null;
    found.textContent = isAsking ? question : text;
  };
  const found = button(text, () => {
    if (calm === null && needsAsking()) return ask(true);
    ask(false);
    return act();
  }, attributes);
  return found;
}

// Says what is to be done, in a sentence.
function duty(state, chooser) {
  if (state.phase === "placement") {
    const left = Number(/place:(\d+)/.exec(state.position)?.[1] ?? 1);
    const isDux = chooser.placed.every((action) => action.kind === "dux");
    if (isDux) return "place the dux.";
    return left > 1 ? `place a man (${left} left in this turn).` : "place a man.";
  }
  if (state.continuation) return `the piece on ${state.continuation} may go on.`;
  if (chooser.target) return "choose which piece to take.";
  if (chooser.marks.removable.size) return chooser.moves.length ? "move a piece, or remove a bound one." : "remove a bound piece.";
  if (!chooser.moves.length) return "nothing can be moved.";
  return chooser.selected ? "choose where it goes." : "choose a piece.";
}

// Shows who plays one side, with the pieces that he has.
export function drawSide(place, player, name, game, at, isThinking) {
  const state = game.states[at];
  const letters = (state.position.split(" ")[0].match(/[A-Za-z]/g) ?? []).filter((letter) => (letter === letter.toUpperCase()) === (player === 1));
  const men = letters.filter((letter) => letter.toUpperCase() === "M").length;
  const dux = letters.length - men;
  const hand = state.hands[player - 1];
  const counts = [[men || !dux ? `${men} ${men === 1 ? "man" : "men"}` : null, dux ? "the dux" : null].filter(Boolean).join(" and ")];
  if (hand.men + hand.dux) counts.push(`${hand.men + hand.dux} to place`);
  const isResigned = game.resigned !== null && at === game.actions.length;
  const isToAct = state.to_act === player && !isResigned;
  place.className = `side${isToAct ? " to-act" : ""}`;
  place.replaceChildren(
    el("span", { class: `token player${player}`, "aria-hidden": "true" }),
    el("strong", {}, `Player ${player}`),
    el("span", { class: "name" }, name),
    isToAct ? el("span", { class: "badge" }, isThinking ? "thinking" : "to act") : "",
    el("span", { class: "count" }, counts.join(", ")));
}

// Lists the actions, turn by turn, each a button that shows the state after it.
export function drawMoves(list, game, at, goTo) {
  const turns = [];
  game.actions.forEach((_, index) => {
    const player = game.states[index].to_act;
    const isNew = !turns.length || game.states[index].turns !== game.states[index - 1]?.turns || turns.at(-1).player !== player;
    if (isNew) turns.push({ player, number: game.states[index].turns + 1, actions: [] });
    turns.at(-1).actions.push(index);
  });
  replaceButtons(list, turns.map(({ player, number, actions }) => el("li", { class: `player${player}` },
    el("span", { class: "number" }, number),
    actions.map((index) => button(game.describe(index), () => goTo(index + 1), { "aria-current": index + 1 === at ? "true" : null })))));
  // Only the list scrolls, never the page.
  const current = list.querySelector("[aria-current]");
  if (current) list.scrollTop = current.offsetTop - list.clientHeight / 2;
}

// Buttons that step through a game.
export function stepper(goTo, count, at) {
  const icon = (path) => svg("svg", { viewBox: "0 0 16 16", class: "icon", "aria-hidden": "true" }, svg("path", { d: path }));
  const step = (path, label, to) => button(icon(path), () => goTo(to()), { "aria-label": label, title: label, class: "step" });
  const back = [step("M2 2h2v12h-2zM14 2v12L5 8z", "to the beginning", () => 0), step("M12 2v12L3 8z", "one action back", () => at() - 1)];
  const on = [step("M4 2v12L13 8z", "one action on", () => at() + 1), step("M12 2h2v12h-2zM2 2v12L11 8z", "to the end", count)];
  const element = el("div", { class: "steps", role: "group", "aria-label": "Step through the game" }, back, on);
  const draw = () => {
    back.forEach((one) => { one.disabled = at() === 0; });
    on.forEach((one) => { one.disabled = at() === count(); });
  };
  return { element, draw };
}

function keep(record) {
  try {
    localStorage.setItem(STORED, JSON.stringify(record));
  } catch {
    // Without storage the game is lost when the page is left, nothing worse.
  }
}

function readStored() {
  try {
    return JSON.parse(localStorage.getItem(STORED));
  } catch {
    return null;
  }
}

export const pause = (milliseconds) => new Promise((done) => setTimeout(done, Math.max(0, milliseconds)));
