// The clock of a game: so many seconds for each side, and some more with each action.

import { select } from "/app/dom.js";

const CHOICES = [["", "none"], ["60+1", "1 minute, 1 second more with each action"], ["180+2", "3 minutes, 2 seconds more"], ["300+0", "5 minutes"], ["600+5", "10 minutes, 5 seconds more"], ["1800+10", "30 minutes, 10 seconds more"]];
const INTERVAL = 100;

// The field in which a clock is chosen.
export const clockField = (changed) => select("Clock, for each side", CHOICES, "", changed);

export class Clock {
  // `setting` is "SECONDS+MORE"; `times` has the seconds that both had left after each number of actions. `tick` is called while a
  // clock runs, `expired` with the player whose time is over.
  constructor({ setting, times }, tick, expired) {
    Object.assign(this, { setting, tick, expired });
    const [seconds, more] = setting.split("+").map(Number);
    this.more = more;
    this.times = times ?? [[seconds, seconds]];
    this.player = null;
  }

  // Returns what is kept of it with the game: the time of whoever thinks is spent up to now.
  get record() {
    return { setting: this.setting, times: [...this.times.slice(0, -1), [1, 2].map((one) => this.left(one))] };
  }

  // Returns the seconds that a player has left.
  left(player) {
    const spent = player === this.player ? (performance.now() - this.since) / 1000 : 0;
    return Math.max(0, Math.round(100 * (this.times.at(-1)[player - 1] - spent)) / 100);
  }

  // Lets the time of a player run; with null, of nobody. What has run is spent.
  run(player) {
    if (player === this.player) return;
    this.times[this.times.length - 1] = [1, 2].map((one) => this.left(one));
    clearInterval(this.timer);
    this.player = player;
    this.since = performance.now();
    if (player !== null) this.timer = setInterval(() => this.look(), INTERVAL);
  }

  look() {
    const { player } = this;
    if (this.left(player) > 0) return this.tick();
    this.run(null);
    this.expired(player);
  }

  // Notes that a player has acted, or that actions were taken back: `count` have been played now.
  noteActions(count, player) {
    if (count >= this.times.length) {
      this.times.push([1, 2].map((one) => this.left(one) + (one === player ? this.more : 0)));
      this.since = performance.now();
    } else if (count < this.times.length - 1) {
      this.times.length = count + 1;
      this.since = performance.now();
    }
  }

  text(player) {
    const left = this.left(player);
    if (left < 10) return `${(Math.ceil(left * 10) / 10).toFixed(1)} s`;
    const seconds = Math.ceil(left);
    return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  }
}
