// Runs: all training runs of the folder, and the learning curves of some of them, while they are written.

import { ask } from "/app/api.js";
import { comparison } from "/app/comparison.js";
import { AXES, Curves, SMOOTH } from "/app/curves.js";
import { attempt, button, choose, el, select, showText } from "/app/dom.js";
import { ORDERS, runCards, runTable } from "/app/runcards.js";

// The colours of the runs that are drawn, by their classes: as many can be drawn at once.
const COLORS = [..."abcdef"];
// How often the chosen runs are looked at, and all of them, in milliseconds.
const INTERVAL = 2000;
const LIST_INTERVAL = 20_000;
// What the charts show at first, and all of the axis.
const ALL = { from: null, to: null };
const FIRST_VIEW = { order: "newest", against: "generation", ruleset: "", smooth: "1", ...ALL };

export class Runs {
  // `play` is called with the agent that is to be played against, its run, and one of the run's rulesets.
  constructor(place, play) {
    this.place = place;
    this.play = play;
    this.listed = [];
    // The colour of each run that is drawn, by its name, and what is known of those that were.
    this.colors = new Map();
    this.runs = new Map();
    this.isAll = false;
    // Whether what is said of the chosen runs is to come into sight: their names stand above a long list.
    this.isSought = false;
    this.timer = null;
    this.looking = Promise.resolve();
    // What the charts show; all of it is in the address.
    this.view = { ...FIRST_VIEW };
    this.orderField = select("Order", Object.entries(ORDERS).map(([key, [title]]) => [key, title]), undefined, (order) => this.see({ order }));
    this.nameField = el("input", { type: "text", placeholder: "any text", oninput: () => this.draw() });
    this.noName = el("p", { class: "fault", hidden: true });
    this.rulesetField = select("Ruleset", [], undefined, (ruleset) => this.see({ ruleset }));
    this.axisField = select("Drawn against", Object.entries(AXES).map(([key, { title }]) => [key, title]), undefined, (against) => this.see({ against, ...ALL }));
    this.smoothField = select("Games averaged over", Object.entries(SMOOTH), undefined, (smooth) => this.see({ smooth }));
    this.ends = ["from", "to"].map((end) => el("input", { type: "number", min: 0, step: "any", placeholder: end === "from" ? "the beginning" : "the end", onchange: ({ target }) => this.seeEnd(end, endOf(target.value)) }));
    this.allButton = button("Show all of it", () => this.see(ALL));
    this.none = el("p", {});
    this.trouble = el("p", { class: "fault", role: "alert", hidden: true });
    this.table = el("div", { class: "wide" });
    this.without = el("p", { class: "soft" });
    const endFields = this.ends.map((input, index) => el("label", { class: "field" }, el("span", {}, ["From", "To"][index]), input));
    this.fields = el("section", { class: "card", "aria-label": "What the charts show" },
      el("div", { class: "fields" }, this.axisField, this.smoothField, ...endFields),
      el("div", { class: "row" }, el("span", { class: "soft" }, "Drag across a chart to see a part of all of them."), this.allButton));
    this.about = el("div", { class: "columns" });
    this.toCharts = button("To the charts", () => this.fields.scrollIntoView({ block: "start" }), { class: "plain" });
    this.comparison = el("div", {});
    this.curves = new Curves((range) => (range ? this.seeBetween(...range) : this.see(ALL)));
    this.all = el("section", { class: "card", "aria-label": "All runs" }, el("div", { class: "heading" }, el("h2", {}, "Training runs"), el("label", { class: "field" }, el("span", {}, "Names with"), this.nameField), this.orderField), this.noName, this.table, this.without);
    place.append(this.none, this.trouble, this.all, el("div", { class: "heading" }, this.rulesetField, this.toCharts), this.comparison, this.about, this.fields, this.curves.element);
  }

  // Shows the part; `names` are the runs of the address, if any, and `view` has what else stands there.
  async start(names, { view }) {
    // A part of the axis was chosen for the runs that were drawn.
    if (names.length) Object.assign(this.view, ALL);
    for (const [key, value] of view) if (key in FIRST_VIEW) this.view[key] = key in ALL ? endOf(value) : value;
    if (this.view.from !== null && this.view.to !== null && this.view.from >= this.view.to) Object.assign(this.view, ALL);
    for (const [key, known] of [["against", AXES], ["order", ORDERS], ["smooth", SMOOTH]]) if (!Object.hasOwn(known, this.view[key])) this.view[key] = FIRST_VIEW[key];
    const folder = await this.list();
    const known = (name) => this.listed.some((run) => run.name === name);
    let wanted = (names.length ? names : [...this.colors.keys()]).filter(known);
    if (!wanted.length) wanted = this.listed.slice(0, 1).map(({ name }) => name);
    for (const name of this.colors.keys()) if (!wanted.includes(name)) this.colors.delete(name);
    for (const name of wanted) this.paint(name);
    const unknown = this.listed.length ? names.find((name) => name && !known(name)) : null;
    showText(this.none, unknown ? `There is no run ${unknown} in the folder ${folder}. Choose one of the list.`
      : this.listed.length ? "" : `There is no training run in the folder ${folder}. Begin one with: latrunculi train quick`);
    if (!unknown) this.showAddress();
    await this.look();
    if (this.isSought) (this.colors.size > 1 ? this.comparison : this.about).scrollIntoView({ block: "start" });
    this.isSought = false;
  }

  // Changes what the charts show.
  see(changes) {
    Object.assign(this.view, changes);
    this.showAddress();
    this.draw();
  }

  // Shows the part of the axis between two places, each a number or a text, or none.
  seeBetween(...ends) {
    const [from, to] = ends.map(endOf);
    const isTurned = from !== null && to !== null && from > to;
    this.see(isTurned ? { from: to, to: from } : { from, to });
  }

  // Moves one end of that part; the other one goes where it would be on the wrong side.
  seeEnd(end, place) {
    const moved = { ...this.view, [end]: place };
    const isTurned = moved.from !== null && moved.to !== null && moved.from >= moved.to;
    this.see({ [end]: place, ...(isTurned && { [end === "from" ? "to" : "from"]: null }) });
  }

  showAddress() {
    const names = [...this.colors.keys()].map(encodeURIComponent).join("/");
    const changed = Object.entries(this.view).filter(([key, value]) => value !== FIRST_VIEW[key]);
    const view = new URLSearchParams(changed).toString();
    history.replaceState(null, "", `#runs${names ? `/${names}` : ""}${view ? `?${view}` : ""}`);
  }

  leave() {
    clearTimeout(this.timer);
    this.timer = null;
  }

  // Gives a run a colour that no other has, if one is left.
  paint(name) {
    const color = COLORS.find((one) => ![...this.colors.values()].includes(one));
    if (color && !this.colors.has(name)) this.colors.set(name, color);
  }

  choose(name, isChosen) {
    if (isChosen) this.paint(name);
    else this.colors.delete(name);
    showText(this.none, "");
    this.showAddress();
    this.draw();
    attempt(() => this.look());
  }

  // Reads the list of runs, the newest first; returns the folder.
  async list() {
    const { folder, runs, without_config } = await ask("/api/runs");
    const age = ({ seconds_since_written }) => seconds_since_written ?? Infinity;
    this.listed = [...runs].sort((one, other) => (age(one) === age(other) ? ORDERS.name[1](one, other) : age(one) - age(other)));
    this.listedAt = performance.now();
    this.all.hidden = !runs.length && !without_config.length;
    showText(this.without, without_config.length ? `Not shown: ${without_config.join(", ")}. There are metrics in ${without_config.length === 1 ? "this folder" : "these folders"}, but no config.toml.` : "");
    return folder;
  }

  // Reads what is new, and comes back for more, after a failure too. One after the other: rounds are read once.
  look() {
    this.looking = this.looking.then(() => this.readAll());
    return this.looking;
  }

  async readAll() {
    clearTimeout(this.timer);
    try {
      if (performance.now() - this.listedAt > LIST_INTERVAL) await this.list();
      showText(this.trouble, "");
    } catch (error) {
      showText(this.trouble, error.message);
    }
    for (const name of this.colors.keys()) await this.read(name);
    this.draw();
    if (!this.place.hidden) this.timer = setTimeout(() => this.look(), INTERVAL);
  }

  // Reads what is new of a run. What fails is kept with it: other runs, and what was read before, are drawn nevertheless.
  async read(name) {
    const at = this.listed.findIndex((one) => one.name === name);
    const run = this.runs.get(name) ?? { name, rounds: [], next: 0, damaged: null, about: { files: [], ...this.listed[at] } };
    this.runs.set(name, run);
    const path = `/api/runs/${encodeURIComponent(name)}`;
    try {
      const about = await ask(path);
      for (let hasMore = true; hasMore;) {
        const found = await ask(`${path}/metrics?from=${run.next}`);
        // The file was cut: a resumed run writes its last rounds again.
        if (found.from !== run.next) Object.assign(run, { rounds: [], damaged: null });
        run.rounds.push(...found.rounds);
        if (found.damaged) run.damaged = { ...found.damaged, ...(run.damaged && { first: run.damaged.first, count: run.damaged.count + found.damaged.count }) };
        run.next = found.next;
        hasMore = found.has_more;
      }
      // Of a long run the list has the last matches alone.
      const told = ({ generation, verdicts }) => Object.entries(verdicts ?? {}).map(([id, verdict]) => [id, { ...verdict, generation }]);
      if (!about.is_final) about.verdicts = Object.fromEntries(run.rounds.flatMap(told));
      run.about = about;
      run.fault = null;
      if (at >= 0) this.listed[at] = { ...about, faults: [...about.faults, ...(run.damaged ? [run.damaged.first] : [])] };
    } catch (error) {
      run.fault = error.message;
    }
  }

  draw() {
    const isFull = this.colors.size >= COLORS.length;
    const named = this.listed.filter(({ name }) => this.colors.has(name) || name.includes(this.nameField.value.trim()));
    showText(this.noName, named.some(({ name }) => name.includes(this.nameField.value.trim())) ? "" : "No run has this in its name.");
    const table = runTable(named.toSorted(ORDERS[this.view.order][1]), this.colors, {
      isFull, isAll: this.isAll, choose: (name, isChosen) => this.choose(name, isChosen), seek: () => { this.isSought = true; }, showAll: () => { this.isAll = true; this.draw(); },
    });
    replaceSame(this.table, table, (place) => [...place.querySelectorAll("input")].map(({ checked, disabled }) => [checked, disabled]));
    const runs = [...this.colors].filter(([name]) => this.runs.has(name)).map(([name, color]) => Object.assign(this.runs.get(name), { color }));
    this.fields.hidden = this.curves.element.hidden = this.toCharts.hidden = !runs.length;
    // Of many runs the charts say more than the cards.
    this.about.classList.toggle("last", runs.length > 2);
    this.drawRulesets(runs);
    const colors = () => runs.map(({ color }) => color);
    replaceSame(this.about, el("div", {}, runCards(runs, this.play, this.view.ruleset)), () => [colors(), this.view.ruleset]);
    replaceSame(this.comparison, el("div", {}, comparison(runs, this.view.ruleset)), colors);
    choose(this.axisField, this.view.against);
    choose(this.orderField, this.view.order);
    choose(this.smoothField, this.view.smooth);
    this.orderField.hidden = this.nameField.parentNode.hidden = this.listed.length < 3;
    this.ends.forEach((input, index) => { if (input !== document.activeElement) input.value = this.view[["from", "to"][index]] ?? ""; });
    this.allButton.hidden = this.view.from === null && this.view.to === null;
    this.curves.draw(runs, this.view);
  }

  // The rulesets of the runs shown; the choice stays where it is among them.
  drawRulesets(runs) {
    const names = [...new Set(runs.flatMap(({ about }) => about.rulesets))].sort();
    const field = this.rulesetField.querySelector("select");
    const options = names.map((name) => [name, runs.some(({ about }) => about.verdicts[name]) ? name : `${name} (no match)`]);
    if (field.dataset.options !== options.join()) {
      field.dataset.options = options.join();
      field.replaceChildren(el("option", { value: "" }, "all together"), ...options.map(([value, text]) => el("option", { value }, text)));
    }
    if (runs.length && this.view.ruleset && !names.includes(this.view.ruleset)) {
      this.view.ruleset = "";
      this.showAddress();
    }
    field.value = this.view.ruleset;
    this.rulesetField.hidden = names.length < 2;
  }
}

// Returns the end of a range from its number or text; null where there is none.
const endOf = (value) => (value === "" || !Number.isFinite(Number(value)) ? null : Number(value));

const drawn = new WeakMap();

// Puts the children of an element into a place, unless the same text stands there already: it may be selected or read out. What
// is not text is told by `besides`. What was opened or has the focus stays so.
function replaceSame(place, element, besides) {
  const now = JSON.stringify([element.textContent, besides(element)]);
  if (drawn.get(place) === now) return;
  drawn.set(place, now);
  const focused = place.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
  const opened = [...place.querySelectorAll("details")].map(({ open }) => open);
  place.replaceChildren(...element.childNodes);
  const details = place.querySelectorAll("details");
  if (details.length === opened.length) details.forEach((one, index) => { one.open = opened[index]; });
  if (focused) place.querySelector(`[aria-label="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}
