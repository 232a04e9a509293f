// A game as the page keeps it: ruleset, start, actions, and the states that the program tells for them.

import { ask, rulesOf } from "/app/api.js";
import { keyOf, nameOf } from "/app/shelf.js";

// Returns what an action does, from its text (docs/PROTOCOL.md, "Actions").
export function readAction(text) {
  if (text === "stop" || text === "pass") return { text, kind: text };
  if (text.startsWith("D@")) return { text, kind: "dux", to: text.slice(2) };
  if (text.startsWith("@")) return { text, kind: "man", to: text.slice(1) };
  if (text.startsWith("x")) return { text, kind: "remove", squares: text.slice(1).split("+") };
  const [from, rest] = text.split("-");
  const [to, victim] = rest.split("x");
  return { text, kind: "move", from, to, victim };
}

// Returns the name of a square from its file and rank, counted from 0.
export const squareName = (file, rank) => String.fromCharCode(97 + file) + (rank + 1);

// Returns the pieces of the line of a position: the letter by square.
export function readPieces(position) {
  const pieces = new Map();
  const rows = position.split(" ")[0].split("/");
  rows.forEach((row, index) => {
    let file = 0;
    for (const part of row.match(/\d+|[A-Za-z]/g) ?? []) {
      if (/\d/.test(part)) file += Number(part);
      else pieces.set(squareName(file++, rows.length - 1 - index), part);
    }
  });
  return pieces;
}

// Returns the rows of a position from the letters by square.
export function writeRows(pieces, files, ranks) {
  const rows = [];
  for (let rank = ranks - 1; rank >= 0; rank--) {
    let row = "";
    let empty = 0;
    for (let file = 0; file < files; file++) {
      const piece = pieces.get(squareName(file, rank));
      if (!piece) { empty++; continue; }
      row += (empty || "") + piece;
      empty = 0;
    }
    rows.push(row + (empty || ""));
  }
  return rows.join("/");
}

export const ownerOf = (letter) => (letter === letter.toUpperCase() ? 1 : 2);
export const isDux = (letter) => letter.toUpperCase() === "D";

export class Game {
  // Begins a game; `record` has ruleset, and may have start, actions, opening, agents, values, efforts, seed, winner and reason.
  static async open(record) {
    const game = new Game();
    game.about = await rulesOf(record.ruleset);
    game.ruleset = record.ruleset;
    game.start = record.start ?? null;
    game.actions = [...(record.actions ?? [])];
    // How many of them were drawn at the beginning.
    game.opening = record.opening ?? 0;
    game.values = [...(record.values ?? [])];
    game.efforts = [...(record.efforts ?? [])];
    game.agents = record.agents ?? ["human", "human"];
    // As a text: a seed of 64 bits is more than a number here can hold.
    game.seed = String(record.seed ?? Math.floor(Math.random() * 2 ** 31));
    // Who gave up, or whose time was over; the rules know nothing of it.
    game.resigned = record.resigned ?? null;
    game.isTimedOut = record.isTimedOut ?? false;
    game.clock = record.clock ?? null;
    const { states, legal, faults } = await ask("/api/game", game.request());
    game.faults = faults;
    game.states = states;
    game.legal = legal.map(readAction);
    if (record.is_over && record.winner && !states.at(-1).outcome) game.resigned = 3 - record.winner;
    return game;
  }

  request(count = this.actions.length) {
    return { ruleset: this.ruleset, start: this.start, actions: this.actions.slice(0, count) };
  }

  get last() { return this.states.at(-1); }

  // Who is to act, 1 or 2; null once the game is over.
  get toAct() { return this.isOver ? null : this.last.to_act; }

  get isOver() { return this.last.outcome !== null || this.resigned !== null; }

  isOverAt(at) { return at === this.actions.length && this.isOver; }

  // Who has won, 1 or 2; null where nobody has.
  get winner() { return this.resigned ? 3 - this.resigned : this.last.outcome?.winner ?? null; }

  // Notes who chooses for the player to act: the agents of a file may have others in their places now.
  seat(agent) {
    this.agents = this.agents.map((known, index) => (index + 1 === this.toAct ? agent : known));
  }

  // Plays an action, with what its player expected; not where actions were taken back meanwhile.
  async play(text, value = null, effort = null) {
    const before = this.actions;
    const actions = [...before, text];
    const request = { ruleset: this.ruleset, start: this.start, actions, from: actions.length };
    const { states, legal } = await ask("/api/game", request);
    if (this.actions !== before) return;
    const count = before.length;
    this.actions = actions;
    this.states.push(states[0]);
    this.legal = legal.map(readAction);
    this.values.length = count;
    this.efforts.length = count;
    this.values[count] = value;
    this.efforts[count] = effort;
  }

  // Takes back to where `count` actions have been played.
  async takeBackTo(count) {
    const { actions } = this.request(count);
    const { legal } = await ask("/api/game", { ...this.request(count), from: count });
    this.actions = actions;
    this.opening = Math.min(count, this.opening);
    this.states.length = count + 1;
    this.values.length = Math.min(count, this.values.length);
    this.efforts.length = Math.min(count, this.efforts.length);
    this.legal = legal.map(readAction);
    this.resigned = null;
    this.isTimedOut = false;
  }

  // Returns a copy that goes on by `more` actions from where `count` actions have been played.
  async branch(count, more = []) {
    const request = { ...this.request(count), actions: [...this.actions.slice(0, count), ...more] };
    const { states, legal } = await ask("/api/game", { ...request, from: count });
    const branch = Object.assign(new Game(), this, request);
    branch.opening = Math.min(count, this.opening);
    branch.states = [...this.states.slice(0, count + 1), ...states.slice(1)];
    branch.values = this.values.slice(0, count);
    branch.efforts = this.efforts.slice(0, count);
    branch.legal = legal.map(readAction);
    Object.assign(branch, { resigned: null, isTimedOut: false, clock: null });
    return branch;
  }

  // Says why no game comes to the position where this one begins; empty where one does.
  get doubt() { return this.faults.length ? `No game comes to the position where this one begins: ${this.faults.join("; ")}.` : ""; }

  // Says how the game ended; null while it goes on.
  get endText() {
    if (this.resigned) return `Player ${this.winner} wins: player ${this.resigned} ${this.isTimedOut ? "ran out of time" : "resigned"}`;
    const { outcome } = this.last;
    if (!outcome) return null;
    return outcome.winner ? `Player ${outcome.winner} wins: ${outcome.words}` : `Drawn: ${outcome.words}`;
  }

  // Returns all that is kept of the game.
  record() {
    const { agents, seed, opening, values, efforts, resigned, isTimedOut } = this;
    const clock = this.clock?.record ?? null;
    // By the fingerprint it is seen whether the ruleset is still the same.
    return { ...this.request(), fingerprint: this.about.fingerprint, agents, seed, opening, values, efforts, resigned, isTimedOut, clock };
  }

  // Returns the game as a line of the program's record format.
  async line() {
    const known = (numbers) => numbers.map((number) => number ?? null);
    const request = { ...this.record(), values: known(this.values), efforts: known(this.efforts) };
    return (await ask("/api/record", request)).line;
  }

  // Says what an action did, for the list of moves and for those who listen: the state after it tells what was taken.
  describe(index) {
    const state = this.states[index + 1];
    const taken = state.last_taken;
    const text = this.actions[index];
    return taken.length && !text.includes("x") ? `${text} takes ${taken.join(", ")}` : text;
  }

  // Returns what a state needs to be drawn after `count` actions.
  view(count) {
    const state = this.states[count];
    const action = count > 0 ? readAction(this.actions[count - 1]) : null;
    return { state, action, pieces: readPieces(state.position) };
  }
}

// Reads the games of a file of records; each as Game.open takes it.
export function readRecords(text) {
  const lines = text.split("\n").filter((line) => line.trim());
  if (!lines.length) throw new Error("The file holds no game.");
  return lines.map((line, index) => {
    let record;
    try {
      record = JSON.parse(line);
    } catch {
      throw new Error(`Line ${index + 1} is not a game record: one game is one line of JSON.`);
    }
    if (typeof record?.ruleset !== "string" || !Array.isArray(record.actions)) {
      throw new Error(`Line ${index + 1} is not a game record: it has no ruleset or no actions.`);
    }
    const winner = ["1", "2"].includes(record.result) ? Number(record.result) : null;
    return {
      ruleset: keyOf(record.ruleset), fingerprint: record.ruleset_fingerprint, start: record.start, actions: record.actions,
      agents: record.agents, seed: seedOf(line, record), opening: record.opening, values: record.values, efforts: record.efforts,
      is_over: record.result !== null && record.result !== undefined, winner, reason: record.reason,
    };
  });
}

// Returns the seed of a record as its line has it, digit by digit.
function seedOf(line, record) {
  if (Number.isSafeInteger(record.seed)) return record.seed;
  return /"seed"\s*:\s*(\d+)/.exec(line)?.[1];
}

// Throws where the ruleset of a record has changed since.
export async function checkRules(record) {
  const about = await rulesOf(record.ruleset);
  if (record.fingerprint && record.fingerprint !== about.fingerprint) {
    throw new Error(`The ruleset ${nameOf(record.ruleset)} has other rules here than in this game, which was played with another version of the program or another file of that name. It opens there.`);
  }
}

// Opens a record whose ruleset is still the same.
export async function openRecord(record) {
  await checkRules(record);
  return Game.open(record);
}
