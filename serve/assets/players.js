// Who plays: a person or an agent on either side.

import { choose, select } from "/app/dom.js";

export const HUMAN = "human";

export class Players {
  // `changed` is called when somebody else sits down.
  constructor(begin, changed) {
    const levels = begin.levels.map(({ agent, name }) => [agent, name]);
    const trained = begin.models.filter((model) => !levels.some(([agent]) => agent.includes(`:${model},`)));
    const models = trained.map((model) => [`net:${model},sims=64`, `${model} (64 simulations)`]);
    const options = [[HUMAN, "You"], { label: "Agents", options: levels }, ...(models.length ? [{ label: "Networks of runs", options: models }] : [])];
    this.fields = [1, 2].map((player) => select(`Player ${player}`, options, undefined, changed));
    this.places = this.fields.map((field) => field.querySelector("select"));
  }

  get agents() { return this.places.map((place) => place.value); }

  // Seats the agents of a game. One that the list does not have plays on no further.
  set agents(agents) {
    this.places.forEach((place, index) => {
      place.value = agents[index];
      if (place.value !== agents[index]) place.value = HUMAN;
    });
  }

  get hasHuman() { return this.agents.includes(HUMAN); }
  get areHuman() { return this.agents.every((agent) => agent === HUMAN); }

  isHuman(player) { return this.of(player) === HUMAN; }

  of(player) { return this.agents[player - 1]; }

  choose(player, agent) { choose(this.fields[player - 1], agent); }

  name(player) { return this.places[player - 1].selectedOptions[0]?.textContent ?? ""; }

  // The person, where one plays against an agent; else null.
  get onlyHuman() {
    const { agents } = this;
    return this.hasHuman && !this.areHuman ? agents.indexOf(HUMAN) + 1 : null;
  }
}
