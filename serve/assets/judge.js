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
    // The thought about the state that is shown, and a turn that ends when another state is.
    this.turn = 0;
    this.thought = null;
    // The whole game that is being judged: { game, all, open, thoughts }; null where none is.
    this.whole = null;
    this.build();
  }

  build() {
    const levels = this.begin.levels.filter(({ agent }) => /^(net|alphabeta|mcts)/.test(agent)).map(({ agent, name }) => [agent, name]);
    const models = this.begin.models.map((model) => [`net:${model},sims=400`, `${model} (400 simulations)`]);
    const strong = levels.find(([agent]) => agent.includes("sims=400"))?.[0];
    this.agentField = select("Who judges", [...levels, ...models.filter(([agent]) => !levels.some(([known]) => known === agent))], strong, () => this.forget());
    const searches = [["puct", "PUCT: tries most what looks best"], ["gumbel", "Gumbel: halves by a schedule, as in play"]];
    this.searchField = select("Search of a network", searches, "puct", () => this.forget());
    const box = (text, onchange) => el("label", { class: "check" }, el("input", { type: "checkbox", onchange: ({ target }) => { onchange(target.checked); this.restart(); } }), text);
    this.onBox = box("Judge the state shown", (isOn) => { this.isOn = isOn; this.isEndless &&= isOn; });
    this.endlessBox = box("until stopped", (isEndless) => { this.isEndless = isEndless; this.isOn ||= isEndless; });
    this.wholeButton = button("", () => this.judgeAll());
    this.bar = el("progress", { "aria-label": "States judged", hidden: true });
    this.said = el("p", { class: "soft", role: "status" });
    this.fields = [this.agentField, this.searchField];
    this.controls = [el("div", { class: "row" }, this.onBox, this.endlessBox, this.wholeButton), this.bar, this.said];
  }

  get agent() {
    const agent = this.agentField.querySelector("select").value;
    return agent.startsWith("net") ? `${agent},search=${this.searchField.querySelector("select").value}` : agent;
  }

  // Who judges, as the page names him.
  get name() { return this.agentField.querySelector("select").selectedOptions[0]?.textContent ?? ""; }

  get notice() { return this.notices.get(this.noticeKey) ?? ""; }
  get noticeKey() { return `${this.place().game.about.key} ${this.agent}`; }

  // Returns what is known of a state; an empty object where nothing is.
  of(game, at) { return this.found.get(game.states[at]) ?? {}; }

  // Forgets everything: somebody else judges now.
  forget() {
    this.stop();
    this.found = new WeakMap();
    this.restart();
  }

  // Judges what is shown again.
  restart() {
    this.leave();
    this.changed();
    this.look();
  }

  // Stops thinking about the state that is shown.
  leave() {
    this.turn++;
    this.thought?.giveUp();
    this.thought = null;
    if (!this.whole) this.said.textContent = "";
  }

  // Stops everything.
  stop() {
    this.whole?.thoughts.forEach((thought) => thought.giveUp());
    this.whole = null;
    this.leave();
  }

  think(game, at, tell, isEndless = false) {
    const { limits } = this.begin;
    const agent = isEndless ? this.agent.replace(/sims=\d+/, `sims=${limits.simulations}`).replace(/nodes=\d+/, `nodes=${limits.nodes}`) : this.agent;
    const key = this.noticeKey;
    const request = { game: game.request(at), agent, seed: game.seed, lines: LINES, seconds: isEndless ? limits.seconds : SECONDS };
    return think(request, tell, (text) => { this.notices.set(key, text); this.changed(); });
  }

  note(game, at, found) {
    this.found.set(game.states[at], found);
    this.changed();
  }

  // Thinks about the state that is shown, unless enough is known or it is among those that are being judged.
  async look() {
    const { turn, isEndless } = this;
    await pause(SETTLED);
    const { game, at } = this.place();
    const known = this.of(game, at);
    if (turn !== this.turn || !this.isOn || game.isOverAt(at) || (isEndless ? known.isEndless : known.isWhole)) return;
    if (!isEndless && this.whole?.game.states[at] === game.states[at]) return;
    try {
      // What is known is shown until more is.
      const isMore = (analysis) => !known.isWhole || analysis.effort >= known.analysis.effort;
      const tell = (analysis) => { if (turn === this.turn && isMore(analysis)) this.note(game, at, { ...known, analysis }); };
      this.thought = this.think(game, at, tell, isEndless);
      const analysis = await this.thought.result;
      if (turn !== this.turn) return;
      this.note(game, at, { analysis, isWhole: true, isEndless });
      if (isEndless) this.endEndless(analysis);
    } catch (error) {
      if (turn === this.turn) this.fail(error);
    }
  }

  fail(error) {
    if (error instanceof GivenUp) return;
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

  // Judges all states of a game, some at the same time, the one that is shown first; what is found is shown as it comes.
  async judgeAll() {
    const isStop = this.whole !== null;
    this.stop();
    this.isEndless = false;
    this.changed();
    if (isStop) return this.look();
    const { game } = this.place();
    const all = game.states.map((_, at) => at).filter((at) => !game.isOverAt(at));
    const whole = { game, all, open: new Set(all.filter((at) => !this.of(game, at).isWhole)), thoughts: new Set() };
    this.whole = whole;
    this.changed();
    const one = async () => {
      while (whole === this.whole && whole.open.size) {
        const shown = this.place();
        const at = shown.game === game && whole.open.has(shown.at) ? shown.at : whole.open.values().next().value;
        whole.open.delete(at);
        const thought = this.think(game, at, () => {});
        whole.thoughts.add(thought);
        const analysis = await thought.result;
        whole.thoughts.delete(thought);
        if (whole === this.whole) this.note(game, at, { analysis, isWhole: true });
      }
    };
    try {
      await Promise.all(Array.from({ length: AT_ONCE }, one));
    } catch (error) {
      if (whole === this.whole) this.fail(error);
      return;
    }
    if (whole !== this.whole) return;
    this.whole = null;
    this.said.textContent = all.length === 1 ? "The state is judged." : `All ${all.length} states are judged.`;
    this.changed();
    this.look();
  }

  draw() {
    this.searchField.hidden = !this.agent.startsWith("net");
    this.onBox.firstChild.checked = this.isOn;
    this.endlessBox.firstChild.checked = this.isEndless;
    this.wholeButton.textContent = this.whole ? "Stop judging the game" : "Judge the whole game";
    this.bar.hidden = !this.whole;
    if (!this.whole) return;
    const { all, open, thoughts } = this.whole;
    const done = all.length - open.size - thoughts.size;
    Object.assign(this.bar, { max: all.length, value: done });
    this.said.textContent = `Judged ${done} of ${all.length} states.`;
  }
}
