// The game that the browser keeps while the page is away.

import { checkRules } from "/app/game.js";
import { isOffered, nameOf } from "/app/shelf.js";

const KEY = "latrunculi.game";

export function keep(record) {
  try {
    localStorage.setItem(KEY, JSON.stringify(record));
  } catch {
    // Without storage the game is lost when the page is left, nothing worse.
  }
}

function read(text) {
  try {
    const found = JSON.parse(text ?? localStorage.getItem(KEY));
    return typeof found?.ruleset === "string" ? found : null;
  } catch {
    return null;
  }
}

// Calls `told` with the game that another tab of the page has kept, whenever one does.
export function watchOtherTabs(told) {
  addEventListener("storage", ({ key, newValue }) => {
    const other = key === KEY && newValue ? read(newValue) : null;
    if (other) told(other);
  });
}

// Each game has a seed of its own.
export const isSameGame = (one, other) => one.ruleset === other.ruleset && String(one.seed) === String(other.seed);

// Says what another tab has done to the game of this one.
export function otherTab(other, game) {
  if (isSameGame(other, game)) return "This game has gone on in another tab of the page.";
  return `Another tab of the page plays ${nameOf(other.ruleset)}, and the browser keeps that game. To keep this one, go on here or save it.`;
}

// Opens the game that was kept, or else the first one; returns why a kept game could not be opened, or null.
export async function openStored(first, open) {
  const kept = read();
  let reason = "its ruleset is not offered";
  if (kept && isOffered(kept.ruleset)) {
    try {
      await checkRules(kept);
      await open(kept);
      return null;
    } catch (error) {
      reason = error.message;
    }
  }
  await open(first);
  if (!kept) return null;
  // It may be opened later, as when its ruleset is offered again.
  keep(kept);
  return new Error(`Your game of ${nameOf(kept.ruleset)} is kept until you play here, but cannot be opened now: ${reason}`);
}
