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

function read() {
  try {
    const found = JSON.parse(localStorage.getItem(KEY));
    return typeof found?.ruleset === "string" ? found : null;
  } catch {
    return null;
  }
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
