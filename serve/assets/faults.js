// What the program says of a ruleset that is being changed, in the words of the fields.

import { button } from "/app/dom.js";

// How many are named one by one.
const NAMED_MAX = 3;

// Returns how a parameter is called in a sentence.
export const labelOf = ({ meaning }) => meaning.split(/[,;:]/)[0];

// Puts labels in place of the parameters that a sentence names, and words in place of their values. The sentence is about the
// parameter `own`, unless it names another one first.
export function inWords(sentence, table, own) {
  let last = table.find(({ name }) => name === own);
  return sentence.replace(/\b[a-z]+\.[a-z_]+\b|"\w+"/g, (found) => {
    const parameter = table.find(({ name }) => name === found);
    last = parameter ?? last;
    if (parameter) return `“${labelOf(parameter)}”`;
    if (found === '"none"' && !last?.names) return "empty";
    const at = last?.names?.indexOf(found.slice(1, -1)) ?? -1;
    return at < 0 ? found : `“${last.words[at]}”`;
  });
}

// Names the first of some labels, and counts the rest.
export function listed(labels) {
  const rest = labels.length - NAMED_MAX;
  return `${labels.slice(0, NAMED_MAX).join("; ")}${rest > 0 ? `; and ${rest} more` : ""}`;
}

// Returns buttons that lead to fields, each { label, input }.
export const buttonsTo = (fields) => fields.map(({ label, input }) => button(label, () => {
  input.scrollIntoView({ block: "center" });
  (input.matches("input, select") ? input : input.querySelector("input, button, textarea")).focus({ preventScroll: true });
}, { class: "plain" }));
