// Which rulesets can be chosen: those of the program, and those of one's own, whose files the page keeps. The text of a file stands
// for its ruleset wherever a key does.

import { rulesOf } from "/app/api.js";
import { choose, el, select } from "/app/dom.js";

const STORED = "latrunculi.rulesets";
const CHANGED = "latrunculi-rulesets";
// What the program offers, and by id the names and texts of one's own.
let offered = [];
const own = new Map(Object.entries(readStored()));

function readStored() {
  try {
    return JSON.parse(localStorage.getItem(STORED)) ?? {};
  } catch {
    return {};
  }
}

function changed() {
  try {
    localStorage.setItem(STORED, JSON.stringify(Object.fromEntries(own)));
  } catch {
    // Without storage they are lost when the page is left.
  }
  dispatchEvent(new Event(CHANGED));
}

// Takes over the rulesets of the program.
export function offer(rulesets) {
  offered = rulesets;
}

// Returns the key of a ruleset from the name that addresses and records have for it.
export const keyOf = (id) => own.get(id)?.text ?? id;

// Returns the name of a ruleset in an address: its id, or its whole text where the page would not find it by that.
export const addressOf = ({ key, id }) => encodeURIComponent(keyOf(id) === key ? id : key);

// Returns the texts of one's own rulesets, and what is known of each that the program offers.
export const shelf = () => ({ own: [...own.values()].map(({ text }) => text), offered });

// Returns what people call a ruleset, from its key.
export const nameOf = (key) => (key.includes("\n") ? /^id\s*=\s*"(.*)"/m.exec(key)?.[1] : key);

// Tells whether a ruleset can be played without a look into folders.
export const isOffered = (key) => key.includes("\n") || offered.some((one) => one.key === key);

// Tells whether there is a ruleset of one's own with this name, and returns the name with a number where there is.
export const hasOwn = (id) => own.has(id);
export function freeId(id) {
  let number = 1;
  const numbered = () => (number > 1 ? `${id}-${number}` : id);
  while (own.has(numbered())) number++;
  return numbered();
}

// Tells whether the page itself keeps a ruleset.
export const isOwn = ({ key, id }) => own.get(id)?.text === key;

const title = (id, name) => (name ? `${id}: ${name}` : id);

// Keeps a ruleset of one's own, in place of the one with the same id; returns what it is. Throws with all faults of the text.
export async function add(text) {
  const key = `${text.trimEnd()}\n`;
  const about = await rulesOf(key);
  if (about.key === key && !offered.some((one) => one.key === about.id)) own.set(about.id, { name: about.name, text: key });
  changed();
  return own.has(about.id) ? about : rulesOf(about.id);
}

export function remove(id) {
  own.delete(id);
  changed();
}

// A choice among all rulesets, `first` before them; it keeps up with those that are added.
export function rulesetField(label, onchange, first = []) {
  const options = () => {
    const mine = [...own].map(([id, { name, text }]) => [text, title(id, name)]);
    return [...first, ...(mine.length ? [{ label: "Your own", options: mine }] : []), ...offered.map(({ key, name }) => [key, title(key, name)])];
  };
  const field = select(label, options(), undefined, onchange);
  addEventListener(CHANGED, () => {
    const chosen = field.querySelector("select");
    const before = chosen.selectedOptions[0];
    chosen.replaceChildren(...select("", options()).querySelector("select").childNodes);
    if (before) choose(field, before.value, before.textContent);
  });
  return field;
}

// Chooses a ruleset in such a field.
export function chooseRuleset(field, { key, id, name }) {
  const [, folder] = /^(?:runs|studies)\/([^/\n]+)/.exec(key) ?? [];
  choose(field, key, folder ? `${title(id, name)} (${folder})` : title(id, name));
}

// The shortest account of a ruleset: how a man is taken, and how the game is won.
export function aimOf({ name, id, words }) {
  const begin = (heading, count) => words.find((part) => part.heading.startsWith(heading))?.sentences.slice(0, count) ?? [];
  return [`${name || id}:`, ...begin("Capturing", 1), ...begin("Winning", 2)].join(" ");
}

// The rules of a ruleset, as the program puts them into words; what another one says otherwise is marked.
export function rulesInWords(about, other = null) {
  const known = new Set((other ?? about).words.flatMap(({ sentences }) => sentences));
  const marked = (sentence) => (known.has(sentence) ? sentence : el("mark", {}, sentence));
  return [
    el("h2", {}, about.name || about.id),
    about.summary ? el("p", {}, about.summary) : null,
    ...about.words.flatMap(({ heading, sentences }) => [el("h3", {}, heading), el("ul", {}, sentences.map((sentence) => el("li", {}, marked(sentence))))]),
    about.source ? el("p", { class: "soft" }, `Source: ${about.source}`) : null,
  ].filter(Boolean);
}
