// How long the actions of agents are looked at, and the button that lets a game pause.

import { button, select } from "/app/dom.js";

// How long each action of an agent is at least looked at, in milliseconds; one that places pieces for a person is quicker.
const USUAL = 450;
const PLACING = 60;
const BETWEEN = 300;
const PACES = [[2000, "slow"], [USUAL, "usual"], [0, "straight to the end"]];

export class Pace {
  // `toggle` is called when the game is to pause or to go on.
  constructor(toggle) {
    this.button = button("Pause", toggle);
    this.field = select("Speed", PACES, USUAL, () => {});
    this.controls = [this.button, this.field];
    this.drawnAt = 0;
  }

  // Returns how long the next action of an agent is looked at: two of them play as fast as was chosen.
  least(players, placer) {
    if (placer) return PLACING;
    return players.hasHuman ? USUAL : Number(this.field.querySelector("select").value);
  }

  // Tells whether a picture is left out: on the way straight to the end a few in a second are enough.
  skips({ game, players, isPaused }) {
    const now = performance.now();
    if (!this.least(players) && !game.isOver && !isPaused && now - this.drawnAt < BETWEEN) return true;
    this.drawnAt = now;
    return false;
  }

  // Without a clock, a game against an agent pauses only where a search has failed, or another tab goes on with it.
  draw({ game, players, isPaused, other }) {
    this.button.hidden = !other && (game.isOver || (players.hasHuman && !isPaused && !(game.clock && game.actions.length)));
    this.button.classList.toggle("main", isPaused);
    this.button.textContent = other ? "Go on here" : isPaused ? "Continue" : "Pause";
    this.field.hidden = game.isOver || players.hasHuman;
  }
}
