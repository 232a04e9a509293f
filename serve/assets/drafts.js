// Changes of rulesets that have been begun: the browser keeps them, by the key of the ruleset, until they have become a ruleset or are
// thrown away.

const STORED = "latrunculi.changes";
// What is kept where there is no storage, until the page is left.
let kept = {};

function read() {
  try {
    return JSON.parse(localStorage.getItem(STORED)) ?? {};
  } catch {
    return kept;
  }
}

// Returns what has been changed of a ruleset: `texts` and `values` by their fields, and its `id`; null where nothing has.
export const draftOf = (key) => read()[key] ?? null;

// Returns the keys of the rulesets that have been changed, each with the id.
export const drafts = () => Object.entries(read()).map(([key, { id }]) => ({ key, id }));

// Keeps what has been changed of a ruleset; null throws it away.
export function keepDraft(key, draft) {
  kept = { ...read(), [key]: draft };
  if (!draft) delete kept[key];
  try {
    localStorage.setItem(STORED, JSON.stringify(kept));
  } catch {
    // It is lost when the page is left.
  }
}
