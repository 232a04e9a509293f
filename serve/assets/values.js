// Values of the parameters of rulesets, in words.

import { el } from "/app/dom.js";
import { labelOf } from "/app/faults.js";

// Writes a value as files have it.
export function textOf(value) {
  if (value === null || (Array.isArray(value) && !value.length)) return "none";
  if (typeof value === "boolean") return value ? "yes" : "no";
  return Array.isArray(value) ? [...value].sort().join(", ") : String(value);
}

// Writes a value in words, those of its names where it has some.
function wordsOf({ names, words }, value) {
  if (!names || !textOf(value) || (Array.isArray(value) && !value.length)) return textOf(value);
  const said = Array.isArray(value) ? [...value].sort() : [textOf(value)];
  return said.map((name) => words[names.indexOf(String(name))]).join(", ");
}

// Writes a value in words, with its name in files where it has one. A drawn board keeps its lines.
export function valueOf(parameter, value) {
  const [text, words] = [textOf(value), wordsOf(parameter, value)];
  if (text.includes("\n")) return el("pre", {}, text);
  return words === text ? text : el("span", {}, words, " ", el("code", { class: "soft" }, text));
}

// Says how rules differ from those of a ruleset: a sentence for each parameter of a table, whose value `read` returns.
export function changeOf(about, table, read) {
  const differing = table.filter(({ name }) => textOf(read(name)) !== textOf(about.parameters[name].value));
  const told = differing.map((parameter) => {
    const label = labelOf(parameter);
    const [value, before] = [read(parameter.name), about.parameters[parameter.name].value].map((one) => wordsOf(parameter, one));
    return `${label[0].toUpperCase()}${label.slice(1)}${`${value}${before}`.includes("\n") ? " is another one" : `: ${value}, not ${before}`}.`;
  });
  return `A change of ${about.id}. ${told.length ? told.join(" ") : "The rules are the same."}`;
}
