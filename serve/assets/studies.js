// Studies: their reports, and the games behind them.

import { ask } from "/app/api.js";
import { attempt, button, el, select, showFault } from "/app/dom.js";

// How games may end, as requests and reports name it.
const RESULTS = [["", "any"], ["first", "player 1 won"], ["draw", "drawn"], ["cut-off", "cut off by the turn limit"], ["second", "player 2 won"]];

const SHIPPED = "shipped";

// The highest that a report is shown, in pixels.
const HEIGHT_MAX = 300_000;

// A frame for a report; by its name the report knows whether its games can be shown.
function frameOf(src, hasGames) {
  const frame = el("iframe", { class: "report", title: "Report of the study", name: hasGames ? "games" : "" });
  frame.isRead = new Promise((done) => { frame.onload = done; });
  if (src) frame.src = src;
  return frame;
}

export class Studies {
  // `replay` is called with the games of a file and the one to be shown.
  constructor(place, replay) {
    this.place = place;
    this.replay = replay;
    // The study that is shown, and the one that was asked for last.
    this.chosen = "";
    this.wanted = "";
    this.field = select("Study", [], undefined, (name) => this.choose(name));
    this.none = el("p", { class: "soft" });
    this.fileField = select("Games of", [], undefined, (value) => attempt(() => this.openFile(value)));
    this.resultField = select("Result", RESULTS, "", (result) => attempt(() => this.openFile(this.fileField.querySelector("select").value, { series: this.series, result })));
    this.partly = el("p", { class: "soft", hidden: true }, "Only the games that the report counts in this row: other openings and other beginnings are left out. ",
      button("All games of the file", () => attempt(() => this.openFile(this.fileField.querySelector("select").value, { result: this.result }))));
    this.list = el("div", { class: "wide" });
    this.more = button("More games", () => attempt(() => this.read()));
    this.games = el("section", { class: "card", "aria-label": "Games" }, el("h2", {}, "Games"), el("div", { class: "fields" }, this.fileField, this.resultField), this.partly, this.list, this.more);
    this.frame = frameOf(null, false);
    this.link = el("a", { target: "_blank", rel: "noopener" }, "Open the report in a window of its own");
    this.toGames = button("To its games", () => this.games.scrollIntoView());
    addEventListener("message", ({ source, data }) => {
      if (source === this.frame.contentWindow && data) this.told(data);
    });
    place.append(el("div", { class: "card" }, this.field, this.none), el("p", { class: "row" }, this.link, this.toGames), this.frame, this.games);
  }

  // Shows the study of an address, and a place of its report: a ruleset, or what a link within it names.
  async start([name, place]) {
    const { folder, studies } = await ask("/api/studies");
    this.field.querySelector("select").replaceChildren(...studies.map(({ name: value, title }) => el("option", { value }, title ?? value)));
    // The study of the program, which links name so, may lie in the folder.
    const named = (one) => (studies.find((study) => study.name === one) ?? (one === SHIPPED ? studies.find(({ is_shipped }) => is_shipped) : null))?.name;
    const wanted = named(name) ?? named(this.chosen) ?? studies[0]?.name;
    this.field.querySelector("select").value = wanted ?? "";
    this.none.hidden = studies.some((study) => !study.is_shipped);
    this.none.textContent = `There is no study of your own in the folder ${folder}. Begin one with: latrunculi balance --rulesets bell,savard --agents alphabeta:nodes=500 --out ${folder}/first`;
    const hasReport = studies.find((study) => study.name === wanted)?.has_report;
    // A study that was under way may have its report by now.
    if (wanted !== this.chosen || hasReport !== this.hasReport) {
      for (const part of [this.frame, this.games, this.link, this.toGames]) part.hidden = true;
      if (wanted) await this.show(wanted);
    }
    const isPlaced = place && (!name || named(name));
    if (name) history.replaceState(null, "", ["#studies", ...[this.chosen, ...(isPlaced ? [place] : [])].map(encodeURIComponent)].join("/"));
    if (isPlaced && this.hasReport) this.showPlace(place);
    else if (isPlaced) throw new Error(`The study ${this.chosen} has no report yet in which to show ${place}.`);
    if (name && !named(name)) throw new Error(`There is no study ${name} in the folder ${folder}. Choose one of the list.`);
  }

  leave() {}

  choose(name) {
    history.replaceState(null, "", `#studies/${encodeURIComponent(name)}`);
    attempt(() => this.show(name));
  }

  async show(name) {
    this.wanted = name;
    this.field.querySelector("select").value = name;
    const { games, has_report } = await ask(`/api/studies/${encodeURIComponent(name)}`);
    if (name !== this.wanted) return;
    this.chosen = name;
    this.hasReport = has_report;
    const address = `/studies/${encodeURIComponent(name)}/report.html`;
    // A frame of its own for each study: another address in the same one would be a step that the browser goes back from.
    const frame = frameOf(has_report ? address : null, games.length > 0);
    this.frame.replaceWith(frame);
    this.frame = frame;
    this.frame.hidden = this.link.hidden = !has_report;
    if (has_report) this.link.href = address;
    this.games.hidden = this.toGames.hidden = !games.length;
    this.files = games;
    const text = ({ ruleset, file }) => `${ruleset}, ${file.replace(/\.jsonl$/, "")}`;
    this.fileField.querySelector("select").replaceChildren(...games.map((one, index) => el("option", { value: index }, text(one))));
    if (games.length) await this.openFile(0);
  }

  // Asks the report where a place of it is.
  async showPlace(place) {
    const { frame } = this;
    await frame.isRead;
    frame.contentWindow?.postMessage({ show: place }, "*");
  }

  // The report tells its height, where a place of it is or that it has none of this name, a link that was followed, or a number of games
  // that was chosen.
  told({ height, top, place, missing, ...number }) {
    const study = `#studies/${encodeURIComponent(this.chosen)}`;
    if (Number.isFinite(height)) this.frame.style.height = `${Math.min(height, HEIGHT_MAX) + 2}px`;
    if (Number.isFinite(top)) scrollBy({ top: this.frame.getBoundingClientRect().top + top - 8 });
    if (place) {
      const address = `${study}/${encodeURIComponent(place.replace(/^r-/, ""))}`;
      if (location.hash === address) this.showPlace(place);
      else location.hash = address;
    }
    if (missing) {
      history.replaceState(null, "", study);
      showFault(new Error(`The report has no ruleset or part ${missing}. Its list of rulesets leads to those that it has.`));
    }
    if (number.file) attempt(() => this.openNumber(number));
  }

  // Shows the games behind a number of the report.
  async openNumber({ file, series, result }) {
    const index = this.files.findIndex((one) => `${one.ruleset}/${one.file}` === file);
    if (index < 0) throw new Error("The study's folder does not hold these games.");
    this.fileField.querySelector("select").value = index;
    await this.openFile(index, { series, result });
    this.games.scrollIntoView();
  }

  openFile(index, { series = "", result = "" } = {}) {
    this.file = this.files[index];
    this.series = series;
    this.result = result;
    this.resultField.querySelector("select").value = result;
    this.partly.hidden = !series;
    this.records = [];
    this.next = 0;
    return this.read();
  }

  async read() {
    const { file, series, result, next } = this;
    const path = [this.chosen, "games", file.ruleset, file.file].map(encodeURIComponent).join("/");
    const found = await ask(`/api/studies/${path}?${new URLSearchParams({ from: next, series, result })}`);
    if (file !== this.file || series !== this.series || result !== this.result || next !== this.next) return;
    this.next = found.next;
    this.more.hidden = !found.has_more;
    this.records.push(...found.games.map((record) => ({ ...record, ruleset: found.ruleset })));
    this.draw();
  }

  draw() {
    const result = ({ is_over, winner, reason }) => (is_over ? `${winner ? `Player ${winner} wins` : "Drawn"}${reason ? `: ${reason}` : ""}` : "unfinished");
    const rows = this.records.map((record, index) => el("tr", {},
      el("th", { scope: "row" }, button(`Game ${index + 1}`, () => this.replay(this.records, index), { class: "plain" })),
      el("td", { class: "text" }, result(record)), el("td", {}, record.actions.length), el("td", {}, record.opening)));
    this.list.replaceChildren(el("table", {},
      el("thead", {}, el("tr", {}, ["Replay", "Result", "Actions", "Random opening actions"].map((head, at) => el("th", { scope: "col", class: at === 1 ? "text" : null }, head)))),
      el("tbody", {}, rows)), rows.length || !this.more.hidden ? "" : el("p", {}, "No game ended so."));
  }
}
