// The editor of a ruleset: a field for each parameter, made from the program's table, and checked by the program as one types. What has
// been changed is kept in the browser.

import { ask, rulesOf } from "/app/api.js";
import { arrayField } from "/app/arrayfield.js";
import { Board } from "/app/board.js";
import { attempt, button, download, el, say, showText, sureButton } from "/app/dom.js";
import { draftOf, keepDraft } from "/app/drafts.js";
import { buttonsTo, inWords, labelOf } from "/app/faults.js";
import { readPieces } from "/app/game.js";
import { add, freeId, hasOwn, isOwn, rulesInWords } from "/app/shelf.js";
import { changeOf } from "/app/values.js";

const TEXTS = [
  ["id", "Name in commands and files", "lower-case letters, digits and hyphens"],
  ["name", "Title", ""],
  ["summary", "What is special about it", "in a sentence"],
  ["source", "Where the rules come from", ""],
];
const HEADINGS = {
  board: "Board", setup: "Beginning", placement: "Placing pieces", play: "Who begins", move: "Movement", man: "Men", dux: "The dux",
  capture: "Captures", extra: "After a capture", end: "The end",
};
// How long the page waits for the next key before it asks, in milliseconds.
const CALM = 250;

export class Editor {
  // `done` is called with the ruleset that was made, or with null; `play` with one that is to be played.
  constructor(done, play) {
    this.done = done;
    this.play = play;
    this.element = el("section", { class: "editor", "aria-label": "Change a ruleset", hidden: true });
  }

  get isOpen() { return !this.element.hidden; }

  // The texts, and the values that are not those of the ruleset with which it began.
  get texts() { return Object.fromEntries(TEXTS.map(([name]) => [name, this.read(name)])); }
  get values() {
    const changed = [...this.fields].filter(([, { begun, read }]) => begun !== undefined && JSON.stringify(read()) !== begun);
    return Object.fromEntries(changed.map(([name, { read }]) => [name, read()]));
  }

  close() {
    this.element.hidden = true;
    this.element.replaceChildren();
    this.begun = null;
  }

  // Begins with a ruleset; `table` holds every parameter.
  async open(about, table) {
    const draft = draftOf(about.key);
    // What was changed before is told as a change of what it was then.
    this.origin = isOwn(about) && about.base ? await rulesOf(about.base) : about;
    this.begun = about;
    this.table = table;
    this.text = null;
    const id = isOwn(about) ? about.id : freeId(`my-${about.id}`);
    // What is changed is not what its source says.
    const changed = { name: `${about.name || about.id}, changed`, summary: changeOf(this.origin, table, (name) => about.parameters[name].value), source: `changed from ${about.id}, ${about.source}` };
    const texts = { id, name: about.name, summary: about.summary, source: about.source, ...(isOwn(about) ? {} : changed) };
    this.first = JSON.stringify(texts);
    Object.assign(texts, draft?.texts);
    const values = { ...Object.fromEntries(table.map(({ name }) => [name, about.parameters[name].value])), ...draft?.values };
    this.fields = new Map();
    const parts = TEXTS.map(([name, label, hint]) => this.field(name, label, label, hint, textInput(texts[name], name === "summary")));
    const groups = Map.groupBy(table, ({ name }) => name.split(".")[0]);
    this.groups = [...groups].map(([group, parameters]) => el("fieldset", { class: "card" }, el("legend", {}, HEADINGS[group] ?? group),
      el("div", { class: "fields" }, parameters.map((parameter) => this.parameter(parameter, values[parameter.name])))));
    this.idle = el("p", { class: "soft" });
    this.verdict = el("p", { class: "verdict", role: "status" });
    this.toMend = el("p", { class: "row" });
    this.kept = el("p", { class: "soft" }, "Your changes are kept in this browser, also when the page is left or loaded again.");
    this.dropButton = sureButton("Throw away", "Throw the changes away for good?", () => true, () => this.finish(null));
    this.board = new Board();
    this.words = el("div", { class: "prose" });
    this.before = el("p", { class: "fault", hidden: true });
    this.preview = el("div", { class: "card preview" }, this.before, this.board.element, this.words);
    const act = (text, work, attributes) => button(text, () => attempt(work), attributes);
    this.ready = [
      act("Play it", async () => { const about = await this.keep(); this.finish(about); this.play(about); }, { class: "main" }),
      act("Keep it here", async () => this.finish(await this.keep())),
      act("Save as a file", () => download(`${this.read("id")}.toml`, this.text)),
    ];
    this.element.replaceChildren(
      el("div", { class: "card ready" }, el("div", {}, this.verdict, this.toMend),
        el("div", { class: "row" }, this.ready, button("Leave it", () => this.done(null)), this.dropButton)),
      el("div", {}, el("fieldset", { class: "card" }, el("legend", {}, `A ruleset that begins as ${about.id}`), this.kept, el("div", { class: "fields" }, parts)), this.groups, this.idle),
      this.preview);
    this.element.hidden = false;
    this.described = null;
    await this.check();
    // The description follows the changes until somebody writes another one.
    this.described = this.describe();
    this.fields.get("id").input.focus();
  }

  async keep() {
    const about = await add(this.text);
    say("kept");
    return about;
  }

  // Ends with the ruleset that was made, or null: the changes are kept no longer.
  finish(about) {
    const { key } = this.begun;
    this.close();
    keepDraft(key, null);
    this.done(about);
  }

  // The field of a parameter; what stands in it may have been changed before.
  parameter(parameter, value) {
    const begun = JSON.stringify(inputOf(parameter, this.begun.parameters[parameter.name].value).read());
    return this.field(parameter.name, labelOf(parameter), parameter.meaning, parameter.name, { ...inputOf(parameter, value), begun });
  }

  // A field with what it is called in a sentence, above it and in files, and the place where its faults stand.
  field(name, label, title, hint, made) {
    const { input } = made;
    const fault = el("span", { class: "fault-here", id: `fault-of-${name}` });
    input.setAttribute("aria-describedby", fault.id);
    input.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => attempt(() => this.check()), CALM);
    });
    // A group of controls has a name of its own.
    const element = el(input.role === "group" ? "div" : "label", { class: "field" }, el("span", {}, title, hint ? [" ", el("code", {}, hint)] : null), input, fault);
    if (input.role === "group") input.setAttribute("aria-label", title);
    this.fields.set(name, { ...made, label, fault, element });
    return element;
  }

  read(name) {
    return this.fields.get(name).read();
  }

  // Says how the rules that stand there differ from those that were changed, but for what has no effect.
  describe() {
    return changeOf(this.origin, this.table.filter(({ name }) => !this.fields.get(name).element.hidden), (name) => this.read(name));
  }

  // Lets the description follow the changes; returns whether it is another one.
  followChanges() {
    const { input } = this.fields.get("summary");
    const described = this.describe();
    if (input.value !== this.described || described === this.described) return false;
    input.value = this.described = described;
    return true;
  }

  // Makes what another board or another beginning needs from what stands there.
  adapt() {
    const [array, men, dux] = ["setup.array", "placement.men", "placement.dux"].map((name) => this.fields.get(name));
    const sides = ["board.files", "board.ranks"].map((name) => this.read(name));
    if (sides.every((side) => side >= 4 && side <= 16)) array.fit(...sides);
    const isPlaced = this.read("setup.mode") === "placement";
    const stones = array.stones();
    if (isPlaced && !men.read() && !dux.read()) [men.input.value, dux.input.value] = [stones.men, stones.dux];
    if (!isPlaced && !array.read() && men.read() + dux.read() > 0) array.layOut(men.read(), dux.read());
    if (!isPlaced) [men.input.value, dux.input.value] = [0, 0];
  }

  // Lets the program check what stands there, and shows what it says, each at its field.
  async check() {
    const { begun, table } = this;
    this.adapt();
    this.followChanges();
    const { values, texts } = this;
    const isChanged = Object.keys(values).length > 0 || JSON.stringify(texts) !== this.first;
    keepDraft(begun.key, isChanged ? { id: begun.id, texts, values } : null);
    this.kept.hidden = this.dropButton.hidden = !isChanged;
    const asked = this.asked = {};
    const { text, faults, notes, idle } = await ask("/api/rules/edit", { ruleset: begun.key, ...texts, values });
    if (asked !== this.asked || begun !== this.begun) return;
    this.text = text;
    const isChangedOne = isOwn(begun) && begun.id === texts.id;
    if (hasOwn(texts.id) && !isChangedOne) notes.push({ field: "id", message: "takes the place of your ruleset of this name" });
    for (const [name, { input, fault, element }] of this.fields) {
      const said = (list) => list.filter(({ field }) => field === name).map(({ message }) => inWords(message, table, name));
      const wrong = said(faults);
      input.setAttribute("aria-invalid", String(wrong.length > 0));
      fault.textContent = [...wrong, ...said(notes)].join("; ");
      fault.classList.toggle("soft", !wrong.length);
      element.hidden = idle.includes(name) && !fault.textContent;
    }
    // What has an effect now is told too.
    if (this.followChanges()) return this.check();
    for (const group of this.groups) group.hidden = [...group.querySelectorAll(".field")].every(({ hidden }) => hidden);
    const hidden = [...this.fields.values()].filter(({ element }) => element.hidden).length;
    showText(this.idle, hidden ? `${hidden} settings are not shown: with these rules they change nothing.` : "");
    for (const one of this.ready) one.disabled = text === null;
    const labels = Object.keys(values).filter((name) => !idle.includes(name)).map((name) => this.fields.get(name).label);
    const count = Object.keys(values).length ? `Changed: ${labels.join("; ")}` : `Its rules are those of ${begun.id}`;
    const toMend = [...new Set(faults.map(({ field }) => this.fields.get(field)))];
    this.verdict.textContent = text !== null ? `It can be played. ${count}.` : "It cannot be played yet. What is wrong stands at:";
    this.toMend.replaceChildren(...buttonsTo(toMend));
    this.preview.classList.toggle("old", text === null);
    showText(this.before, text === null ? "As it was when it could be played last:" : "");
    if (text === null) return;
    const about = await rulesOf(text);
    if (asked !== this.asked) return;
    this.board.show(about, { state: about.initial, action: null, pieces: readPieces(about.initial.position) });
    this.words.replaceChildren(...rulesInWords(about));
  }
}

function textInput(value, isLong) {
  const input = el(isLong ? "textarea" : "input", { type: isLong ? null : "text", spellcheck: "false", rows: 1 });
  input.value = value;
  return { input, read: () => input.value.trim() };
}

// Returns the input for a kind of value, and how it is read.
function inputOf({ kind, low, high, is_optional, names, words }, value) {
  if (kind === "integer") {
    const input = el("input", { type: "number", min: low, max: high, step: 1, value, placeholder: is_optional ? "none" : null });
    // What is no whole number is told as it was typed.
    const read = () => {
      if (input.value === "") return is_optional && !input.validity.badInput ? null : "";
      return Number.isSafeInteger(Number(input.value)) ? Number(input.value) : input.value;
    };
    return { input, read };
  }
  if (kind === "boolean") return chosen([["true", "yes"], ["false", "no"]], value, (text) => text === "true");
  if (kind === "choice") return chosen(names.map((name, at) => [name, words[at]]), value, (text) => text);
  if (kind === "set") {
    const boxes = names.map((name) => el("input", { type: "checkbox", value: name, checked: value.includes(name) }));
    const input = el("div", { class: "row boxes", role: "group" }, boxes.map((box, at) => el("label", {}, box, " ", words[at])));
    input.role = "group";
    return { input, read: () => boxes.filter((box) => box.checked).map((box) => box.value) };
  }
  return arrayField(value);
}

function chosen(options, value, read) {
  const input = el("select", {}, options.map(([key, text]) => el("option", { value: key }, text)));
  input.value = String(value);
  return { input, read: () => read(input.value) };
}
