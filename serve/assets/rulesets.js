// Rulesets: a table of all; one, or two side by side, with what is known of them; one's own are added, changed and kept here.

import { ask, rulesOf } from "/app/api.js";
import { Board } from "/app/board.js";
import { captureFigures } from "/app/captures.js";
import { attempt, button, download, el, say, showText, sureButton } from "/app/dom.js";
import { draftOf, drafts, keepDraft } from "/app/drafts.js";
import { Editor } from "/app/editor.js";
import { readPieces } from "/app/game.js";
import { overview } from "/app/overview.js";
import { add, addressOf, chooseRuleset, isOwn, keyOf, remove, rulesInWords, rulesetField } from "/app/shelf.js";
import { textOf, valueOf } from "/app/values.js";

const NONE = "";
// What stands before a source in ruleset files.
const MARKS = "[source] quotes the source. [reading] is our reading of an unclear sentence. [engine] is an addition without which a program could not finish a game. "
  + "A code such as B11 is the number of an open question, with all its answers, in docs/SPECIFICATION.md, section 3.";

export class Rulesets {
  // `play` is called with the ruleset that is to be played.
  constructor(place, play) {
    this.place = place;
    this.play = play;
    // What is shown: none is the table of all.
    this.about = null;
    this.other = null;
    this.title = el("h2", {});
    this.fairness = el("p", {});
    this.otherField = rulesetField("Beside it", (key) => this.choose(key), [[NONE, "no other ruleset"]]);
    this.editor = new Editor((about) => this.edited(about), (about) => this.play(about));
    this.editButton = button("", () => { location.hash = this.addressTo("?change"); });
    this.begun = el("p", { class: "row" }, "Changes of it that you have begun are kept in this browser.",
      sureButton("Throw them away", "Throw them away for good?", () => true, () => { keepDraft(this.about.key, null); this.drawBegun(); }));
    this.removeButton = sureButton("Remove", "Remove it for good?", () => true, () => this.remove());
    this.one = el("div", { class: "card" },
      el("p", {}, el("a", { href: "#rulesets" }, "All rulesets")), this.title, this.fairness,
      el("div", { class: "row" },
        button("Play it", () => this.play(this.about), { class: "main" }),
        this.editButton,
        button("Save as a file", () => download(`${this.about.id}.toml`, this.about.text)), this.removeButton), this.begun,
      el("div", { class: "fields" }, this.otherField));
    const files = el("input", { type: "file", accept: ".toml", multiple: true, class: "unseen", onchange: () => attempt(() => this.addFiles(files)) });
    this.allBegun = el("p", {});
    this.all = el("div", { class: "card" }, el("h2", {}, "Rulesets"),
      el("p", {}, "Reconstructions of Latrunculi. Choose one to read its rules, to play it, to change it, or to set another beside it."),
      el("div", { class: "row" }, button("Add files of your own", () => files.click()), files), this.allBegun);
    this.shown = el("div", {});
    place.append(this.all, this.one, this.editor.element, this.shown);
  }

  // Shows the part; `names` are the rulesets of the address, none for the table of all, and `view` may say that the first one is to be
  // changed.
  async start(names, { view }) {
    const isToChange = view.has("change");
    // Of several addresses the last one is shown.
    const asked = this.asked = {};
    const found = await Promise.allSettled(names.slice(0, 2).map((name) => rulesOf(keyOf(name))));
    if (asked !== this.asked) return;
    const [about = null, other = null] = found.map(({ value }) => value).filter(Boolean);
    if (!about || about !== this.about || other !== this.other || isToChange !== this.editor.isOpen) await this.show(about, other, isToChange);
    this.address();
    const failed = found.findIndex(({ reason }) => reason);
    if (failed < 0) return;
    const { message } = found[failed].reason;
    throw new Error(names[failed].includes("\n") ? `The ruleset of this address cannot be read: ${message}` : message);
  }

  leave() {}

  // Sets another ruleset beside the one that is shown.
  choose(key) {
    attempt(async () => this.show(this.about, key ? await rulesOf(key) : null));
  }

  address(isToChange = this.editor.isOpen) {
    history.replaceState(null, "", this.addressTo(isToChange ? "?change" : ""));
  }

  addressTo(view) {
    return ["#rulesets", ...[this.about, this.other].filter(Boolean).map(addressOf)].join("/") + view;
  }

  // Shows a ruleset, or two, or the editor of the first; without one, the table of all.
  async show(about, other = null, isToChange = false) {
    [this.about, this.other] = [about, other];
    this.editor.close();
    this.address(isToChange);
    this.drawBegun();
    this.all.hidden = about !== null;
    this.one.hidden = about === null;
    const isStill = () => this.about === about && this.other === other;
    if (!about) {
      const table = await overview();
      if (isStill()) this.shown.replaceChildren(el("div", { class: "card" }, table));
      return;
    }
    this.title.textContent = about.name ? `${about.id}: ${about.name}` : about.id;
    showText(this.fairness, other ? "" : fairness(about));
    this.otherField.querySelector("select").value = NONE;
    if (other) chooseRuleset(this.otherField, other);
    this.removeButton.hidden = !isOwn(about);
    const parameters = await parameterTable();
    if (!isStill()) return;
    if (isToChange) return this.edit(parameters);
    this.shown.replaceChildren(...(other ? beside(about, other, parameters) : alone(about, parameters)));
    const captures = this.shown.querySelector(".captures");
    if (captures) {
      const figures = await captureFigures(about.key);
      captures.replaceChildren(el("h2", {}, "How it captures"), el("div", { class: "figures" }, figures));
    }
  }

  // Says which changes have been begun.
  drawBegun() {
    const isBegun = this.about !== null && draftOf(this.about.key) !== null;
    this.begun.hidden = !isBegun;
    this.editButton.textContent = isBegun ? "Go on changing it" : "Change it";
    const links = drafts().map(({ key, id }) => [" ", el("a", { href: `#rulesets/${addressOf({ key, id })}?change` }, id)]);
    this.allBegun.hidden = !links.length;
    this.allBegun.replaceChildren("Changes that you have begun, kept in this browser:", ...links.flat());
  }

  async edit(table) {
    await this.editor.open(this.about, table);
    // The ruleset is played and saved there as it is now.
    this.one.hidden = true;
    this.shown.replaceChildren();
  }

  // Shows what the editor has made, or the ruleset of before.
  edited(about) {
    attempt(() => this.show(about ?? this.about, about ? null : this.other));
  }

  async addFiles(field) {
    const files = [...field.files];
    field.value = "";
    const faults = [];
    let added = null;
    for (const file of files) {
      try {
        added = await add(await file.text());
      } catch (error) {
        faults.push(`${file.name}: ${error.message}`);
      }
    }
    await this.show(added);
    if (faults.length) throw new Error(faults.join("\n"));
    say("added");
  }

  remove() {
    const { id, key } = this.about;
    remove(id);
    keepDraft(key, null);
    attempt(() => this.show(null));
    say(`${id} removed`);
  }
}

let parameters = null;

// Returns every parameter of rulesets; asked for once.
function parameterTable() {
  parameters ??= ask("/api/parameters").catch((error) => {
    parameters = null;
    throw error;
  });
  return parameters;
}

function opening(about) {
  const board = new Board();
  const state = about.initial;
  board.show(about, { state, action: null, pieces: readPieces(state.position) });
  const hands = state.hands.some(({ men, dux }) => men + dux);
  return el("figure", { class: "opening" }, board.element,
    hands ? el("figcaption", { class: "soft" }, "The board is empty: the players place their pieces first.") : null);
}

function alone(about, table) {
  return [
    el("div", { class: "columns" },
      el("div", {}, opening(about), el("div", { class: "findings" }, findings(about))),
      el("section", { class: "card prose", "aria-label": "Rules" }, rulesInWords(about))),
    el("section", { class: "captures", "aria-label": "How it captures" }, el("p", { class: "soft" }, "Looking for positions that show its captures…")),
    values(about, table),
  ];
}

function beside(about, other, table) {
  const differing = table.filter(({ name }) => textOf(about.parameters[name].value) !== textOf(other.parameters[name].value));
  const both = [about, other];
  return [
    el("section", { class: "card", "aria-label": "Differences" }, el("h2", {}, differing.length ? `${differing.length} differences` : "They have the same rules"),
      differing.length ? valueTable(["What", about.id, other.id], differing, (parameter) => both.map(({ parameters }) => valueOf(parameter, parameters[parameter.name].value))) : null),
    el("div", { class: "columns" }, both.map((one, at) => el("div", {}, el("h2", {}, one.id), opening(one), findings(one),
      el("section", { class: "card prose", "aria-label": one.id }, rulesInWords(one, both[1 - at]))))),
  ];
}

// A table of parameters: what each decides with its name, and cells after it.
function valueTable(heads, table, cells) {
  return el("div", { class: "wide" }, el("table", { class: "values" },
    el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col", class: "text" }, head)))),
    el("tbody", {}, table.map((parameter) => el("tr", {},
      el("th", { scope: "row" }, parameter.meaning, " ", el("code", { class: "soft" }, parameter.name)),
      cells(parameter).map((cell, at) => el("td", { class: "text", "data-label": heads[at + 1] }, cell)))))));
}

// Every value that a source gives, or that is not the default.
function values(about, table) {
  const told = table.filter(({ name }) => {
    const { value, default: usual, evidence } = about.parameters[name];
    return evidence || textOf(value) !== textOf(usual);
  });
  const cells = (parameter) => {
    const { value, evidence, from } = about.parameters[parameter.name];
    return [valueOf(parameter, value), evidence ? `${evidence}${from === about.id ? "" : ` (as ${from})`}` : ""];
  };
  return el("details", { class: "card" }, el("summary", {}, "Each value with its source"),
    told.some(({ name }) => about.parameters[name].evidence?.startsWith("[")) ? el("p", { class: "soft" }, MARKS) : null,
    valueTable(["What", "Value", "Source"], told, cells), el("p", { class: "soft" }, "All other values are the usual ones."),
    about.notes.map(({ field, message }) => el("p", { class: "soft" }, `${field} ${message}`)));
}

const percent = (share) => (share === null ? "–" : `${(100 * share).toFixed(1)} %`);

// Says whether a ruleset is fair, and how sure that is: the headline of the first study.
function fairness({ studies }) {
  const { agent, verdict, score, lower, upper, games, draws } = studies[0]?.rows[0] ?? {};
  if (!verdict) return "No study has asked yet whether it is fair.";
  return `Is it fair? ${verdict[0].toUpperCase()}${verdict.slice(1)}: the first player scores ${percent(score)}, with 95 % confidence ${percent(lower)} to ${percent(upper)}, in ${games} games of ${agent} against itself; ${percent(draws)} were drawn. 50 % is fair.`;
}

// What studies have found about a ruleset.
function findings({ studies }) {
  const rows = (found) => found.map(({ agent, games, score, lower, upper, draws, actions, verdict }) => el("tr", {},
    el("th", { scope: "row" }, verdict ?? "", el("span", { class: "soft below" }, agent)),
    el("td", {}, percent(score), score === null ? "" : el("span", { class: "soft below" }, `${percent(lower)} to ${percent(upper)}`)),
    el("td", {}, percent(draws)), el("td", {}, actions === null ? "–" : Math.round(actions)), el("td", {}, games)));
  const heads = ["Verdict and player", "First player’s score", "Drawn", "Actions", "Games"];
  return studies.map(({ study, is_shipped, rows: found }) => el("section", { class: "card", "aria-label": "What a study found" },
    el("h2", {}, is_shipped ? "What the study found" : `What the study ${study} found`),
    el("div", { class: "wide" }, el("table", {},
      el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))),
      el("tbody", {}, rows(found)))),
    el("p", { class: "soft" }, "The same player plays both sides. 50 % is a fair game; the range is the 95 % interval. ", el("a", { href: `#studies/${[study, found[0].ruleset].map(encodeURIComponent).join("/")}` }, "The whole study"))));
}
