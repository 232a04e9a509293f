// What the program says of a ruleset that is being changed, in the words of the fields.

import { button } from "/app/dom.js";

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

// Returns buttons that lead to fields, each { label, input }.
export const buttonsTo = (fields) => fields.map(({ label, input }) => button(label, () => {
  input.scrollIntoView({ block: "center" });
  (input.matches("input, select, textarea") ? input : input.querySelector("input, button, textarea")).focus({ preventScroll: true });
}, { class: "plain" }));
