// Who judges the states of a game, and what has been found of them: of the state that is shown, for a moment or until it is stopped,
// or of a whole game.

import { GivenUp, pause, think } from "/app/api.js";
import { button, el, select, showFault } from "/app/dom.js";

// How many actions alpha-beta compares.
const LINES = 4;
// The longest that a state is thought about unless it is without end.
const SECONDS = 60;
// How long a state is shown before it is judged, in milliseconds: whoever steps through a game passes over most.
const SETTLED = 120;
// How many states of a whole game are judged at the same time: the program thinks about two at least.
const AT_ONCE = 2;

export class Judge {
  // `place` tells what is shown as { game, at }; `changed` is called when something has been found.
  constructor(begin, place, changed) {
    Object.assign(this, { begin, place, changed });
    this.isOn = true;
    this.isEndless = false;
    // What has been found, by state: { analysis, isWhole, isEndless }.
    this.found = new WeakMap();
    // Sentences on networks that do not know a ruleset, by ruleset and agent.
    this.notices = new Map();
    this.turn = 0;
    this.thoughts = [];
    this.progress = null;
    this.build();
  }

  build() {
    const levels = this.begin.levels.filter(({ agent }) => /^(net|alphabeta|mcts)/.test(agent)).map(({ agent, name }) => [agent, name]);
    const models = this.begin.models.map((model) => [`net:${model},sims=400`, `${model} (400 simulations)`]);
    const strong = levels.find(([agent]) => agent.includes("sims=400"))?.[0];
    this.agentField = select("Who judges", [...levels, ...models.filter(([agent]) => !levels.some(([known]) => known === agent))], strong, () => this.forget());
    const searches = [["puct", "PUCT: tries most what looks best"], ["gumbel", "Gumbel: halves by a schedule, as in play"]];
    this.searchField = select("Search of a network", searches, "puct", () => this.forget());
    this.onButton = button("", () => { this.isOn = !this.isOn; this.isEndless = false; this.restart(); });
    this.endlessButton = button("", () => { this.isEndless = !this.isEndless; this.isOn ||= this.isEndless; this.restart(); });
    this.wholeButton = button("", () => this.judgeAll());
    this.bar = el("progress", { "aria-label": "States judged", hidden: true });
    this.said = el("p", { class: "soft", role: "status" });
    this.fields = [this.agentField, this.searchField];
    this.controls = [el("div", { class: "row" }, this.onButton, this.endlessButton, this.wholeButton), this.bar, this.said];
  }

  get agent() {
    const agent = this.agentField.querySelector("select").value;
    return agent.startsWith("net") ? `${agent},search=${this.searchField.querySelector("select").value}` : agent;
  }

  get notice() { return this.notices.get(this.noticeKey) ?? ""; }
  get noticeKey() { return `${this.place().game.about.key} ${this.agent}`; }

  // Returns what is known of a state; an empty object where nothing is.
  of(game, at) { return this.found.get(game.states[at]) ?? {}; }

  // Forgets everything: somebody else judges now.
  forget() {
    this.found = new WeakMap();
    this.restart();
  }

  restart() {
    this.stop();
    this.changed();
    this.look();
  }

  stop() {
    this.turn++;
    this.thoughts.forEach((thought) => thought.giveUp());
    this.thoughts = [];
    this.progress = null;
    this.said.textContent = "";
  }

  think(game, at, tell, isEndless = false) {
    const { limits } = this.begin;
    const agent = isEndless ? this.agent.replace(/sims=\d+/, `sims=${limits.simulations}`).replace(/nodes=\d+/, `nodes=${limits.nodes}`) : this.agent;
    const key = this.noticeKey;
    const request = { game: game.request(at), agent, seed: game.seed, lines: LINES, seconds: isEndless ? limits.seconds : SECONDS };
    const thought = think(request, tell, (text) => { this.notices.set(key, text); this.changed(); });
    this.thoughts.push(thought);
    return thought.result.finally(() => { this.thoughts = this.thoughts.filter((other) => other !== thought); });
  }

  note(game, at, found) {
    this.found.set(game.states[at], found);
    this.changed();
  }

  // Thinks about the state that is shown, unless enough is known.
  async look() {
    const { turn, isEndless } = this;
    await pause(SETTLED);
    const { game, at } = this.place();
    const known = this.of(game, at);
    if (turn !== this.turn || !this.isOn || game.isOverAt(at) || (isEndless ? known.isEndless : known.isWhole)) return;
    try {
      // What is known is shown until more is.
      const isMore = (analysis) => !known.isWhole || analysis.effort >= known.analysis.effort;
      const tell = (analysis) => { if (turn === this.turn && isMore(analysis)) this.note(game, at, { ...known, analysis }); };
      const analysis = await this.think(game, at, tell, isEndless);
      if (turn !== this.turn) return;
      this.note(game, at, { analysis, isWhole: true, isEndless });
      if (isEndless) this.endEndless(analysis);
    } catch (error) {
      this.fail(error, turn);
    }
  }

  fail(error, turn) {
    if (error instanceof GivenUp || turn !== this.turn) return;
    this.stop();
    this.isOn = false;
    this.isEndless = false;
    showFault(error);
    this.changed();
  }

  // Says why a search that was to go on until it is stopped has ended.
  endEndless({ effort, stopped_early: isLate }) {
    const { simulations, nodes, seconds } = this.begin.limits;
    const isAll = effort >= (this.agent.startsWith("alphabeta") ? nodes : simulations);
    const reason = isAll ? `${effort.toLocaleString("en")} is the most that the page allows` : isLate ? `${seconds} seconds is the longest that the page allows` : "more would find the same";
    this.said.textContent = `The search has ended: ${reason}.`;
  }

  // Judges all states of a game, some at the same time; what is found is shown as it comes.
  async judgeAll() {
    const isStop = this.progress !== null;
    this.stop();
    this.isEndless = false;
    this.changed();
    if (isStop) return this.look();
    const { game } = this.place();
    const { turn } = this;
    const all = game.states.map((_, at) => at).filter((at) => !game.isOverAt(at));
    const open = all.filter((at) => !this.of(game, at).isWhole);
    this.progress = { done: all.length - open.length, total: all.length };
    const one = async () => {
      for (let at = open.shift(); at !== undefined && turn === this.turn; at = open.shift()) {
        const analysis = await this.think(game, at, () => {});
        if (turn !== this.turn) return;
        this.progress.done++;
        this.note(game, at, { analysis, isWhole: true });
      }
    };
    try {
      await Promise.all(Array.from({ length: AT_ONCE }, one));
    } catch (error) {
      return this.fail(error, turn);
    }
    if (turn !== this.turn) return;
    this.progress = null;
    this.said.textContent = all.length === 1 ? "The state is judged." : `All ${all.length} states are judged.`;
    this.changed();
    this.look();
  }

  draw() {
    this.searchField.hidden = !this.agent.startsWith("net");
    this.onButton.textContent = this.isOn ? "Stop judging each state" : "Judge each state";
    this.onButton.setAttribute("aria-pressed", String(this.isOn));
    this.endlessButton.textContent = this.isEndless ? "Stop" : "Judge until stopped";
    this.wholeButton.textContent = this.progress ? "Stop judging the game" : "Judge the whole game";
    this.bar.hidden = !this.progress;
    if (!this.progress) return;
    Object.assign(this.bar, { max: this.progress.total, value: this.progress.done });
    this.said.textContent = `Judged ${this.progress.done} of ${this.progress.total} states.`;
  }
}
