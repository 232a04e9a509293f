// The settings of training runs.

import { el } from "/app/dom.js";

// Writes a setting; numbers of 32 bits without the digits that they do not have.
const settingText = (value) => (typeof value === "string" ? value : JSON.stringify(typeof value === "number" ? Number(value.toPrecision(6)) : value));

// Returns the settings of a configuration by their names.
export function settingsOf(config) {
  const of = (some, prefix) => Object.entries(some).flatMap(([key, value]) =>
    (value && typeof value === "object" && !Array.isArray(value) ? of(value, `${prefix}${key}.`) : [[prefix + key, settingText(value)]]));
  return new Map(of(config, ""));
}

// A list of settings, each a name and a value, that opens by a click.
export function settingsList(title, settings) {
  return el("details", {}, el("summary", {}, title), el("dl", { class: "settings" }, settings.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])));
}
