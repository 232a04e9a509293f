// The variations of a game: lines that share their first states with it or with one another.

import { button, el, replaceButtons } from "/app/dom.js";

export class Variations {
  // `goTo` is called with a line, a Game, and the number of actions before the state that was clicked.
  constructor(goTo) {
    this.goTo = goTo;
    this.list = el("ul", { class: "variations", "aria-label": "Variations" });
    this.element = el("div", { hidden: true }, el("h3", {}, "Variations"), this.list);
  }

  // Begins with a game; one without actions goes on as it is analysed.
  begin(game) {
    this.lines = [game];
    this.isKept = game.actions.length > 0;
    this.list.replaceChildren();
  }

  get main() { return this.lines[0]; }

  // Returns a line in which an action follows a state of another one; undefined where it has not been tried.
  find(line, at, text) {
    return [line, ...this.lines].find((other) => other.actions[at] === text && other.states[at] === line.states[at]);
  }

  // Returns the line in which actions go on from a state of a line, a new one where they have not been tried.
  async follow(line, at, actions) {
    const { main } = this;
    // What has been tried already is gone through.
    for (let known; actions.length && (known = this.find(line, at, actions[0])); at++, actions = actions.slice(1)) line = known;
    if (!actions.length) return line;
    const branch = await line.branch(at, actions);
    if (main === this.main) this.add(branch, line);
    return branch;
  }

  // Takes a line that goes on from another one: it takes the place of a line that it prolongs.
  add(line, from) {
    const index = this.lines.indexOf(from);
    const isProlonged = from.actions.length < line.actions.length && from.states.every((state, at) => state === line.states[at]);
    if (isProlonged && !(this.isKept && index === 0)) this.lines[index] = line;
    else this.lines.push(line);
  }

  // Returns how many actions a line shares with another one, or with the game.
  shared(line, other = this.main) {
    let count = 0;
    while (count < other.actions.length && other.states[count + 1] === line.states[count + 1]) count++;
    return count;
  }

  // Returns the earlier line with which a line shares most, and how many actions they share.
  root(line) {
    const earlier = this.lines.slice(0, this.lines.indexOf(line)).map((other) => ({ other, count: this.shared(line, other) }));
    return earlier.reduce((best, one) => (one.count > best.count ? one : best));
  }

  draw(current, at) {
    const under = new Map(this.lines.map((line) => [line, []]));
    for (const line of this.lines.slice(1)) {
      const { other, count } = this.root(line);
      under.get(other).push({ line, from: count });
    }
    const branch = ({ line, from }) => el("li", {},
      el("span", { class: "number" }, `after ${from}:`),
      line.actions.slice(from).map((text, index) => {
        const to = from + index + 1;
        return button(text, () => this.goTo(line, to), { class: "plain", "aria-current": line === current && to === at ? "true" : null });
      }),
      button("×", () => this.goTo(this.drop(line), from), { class: "plain", "aria-label": `Remove the variation after ${from}: ${line.actions[from]}`, title: "remove" }),
      under.get(line).length ? el("ul", {}, under.get(line).map(branch)) : null);
    replaceButtons(this.list, under.get(this.main).map(branch));
    this.element.hidden = this.lines.length < 2;
  }

  // Removes a line; returns the one that it branched from.
  drop(line) {
    const { other } = this.root(line);
    this.lines = this.lines.filter((one) => one !== line);
    return other;
  }
}
