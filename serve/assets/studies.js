// Studies: their reports, and the games behind them.

import { ask } from "/app/api.js";
import { attempt, button, el, select } from "/app/dom.js";

export class Studies {
  // `replay` is called with the games of a file and the one to be shown.
  constructor(place, replay) {
    this.place = place;
    this.replay = replay;
    this.chosen = "";
    this.field = select("Study", [], undefined, (name) => this.choose(name));
    this.none = el("p", {});
    this.fileField = select("Games of", [], undefined, (value) => attempt(() => this.openFile(value)));
    this.list = el("div", { class: "wide" });
    this.more = button("More games", () => attempt(() => this.read()));
    this.games = el("section", { class: "card", "aria-label": "Games" }, el("h2", {}, "Games"), this.fileField, this.list, this.more);
    this.frame = el("iframe", { class: "report", title: "Report of the study" });
    this.link = el("a", { target: "_blank", rel: "noopener" }, "Open the report in a window of its own");
    place.append(el("div", { class: "card fields" }, this.field), this.none, this.games, el("p", {}, this.link), this.frame);
  }

  async start([name]) {
    const { folder, studies } = await ask("/api/studies");
    this.field.querySelector("select").replaceChildren(...studies.map((study) => el("option", { value: study.name }, study.name)));
    const known = (one) => studies.some((study) => study.name === one);
    const wanted = [name, this.chosen].find(known) ?? studies[0]?.name;
    this.none.hidden = studies.length > 0;
    this.none.textContent = `There is no study in the folder ${folder}. Begin one with: latrunculi balance --rulesets bell,savard --agents alphabeta:nodes=500 --out ${folder}/first`;
    for (const part of [this.place.querySelector(".fields"), this.frame, this.games, this.link]) part.hidden = !studies.length;
    if (wanted && wanted !== this.chosen) await this.show(wanted);
  }

  leave() {}

  choose(name) {
    history.replaceState(null, "", `#studies/${encodeURIComponent(name)}`);
    attempt(() => this.show(name));
  }

  async show(name) {
    this.chosen = name;
    this.field.querySelector("select").value = name;
    const { games, has_report } = await ask(`/api/studies/${encodeURIComponent(name)}`);
    const address = `/studies/${encodeURIComponent(name)}/report.html`;
    this.frame.hidden = this.link.hidden = !has_report;
    if (has_report) {
      this.frame.src = address;
      this.link.href = address;
    }
    this.games.hidden = !games.length;
    this.files = games;
    const text = ({ ruleset, file }) => `${ruleset}, ${file.replace(/\.jsonl$/, "")}`;
    this.fileField.querySelector("select").replaceChildren(...games.map((one, index) => el("option", { value: index }, text(one))));
    if (games.length) await this.openFile(0);
  }

  openFile(index) {
    this.file = this.files[index];
    this.records = [];
    this.next = 0;
    return this.read();
  }

  async read() {
    const { file } = this;
    const path = [this.chosen, "games", file.ruleset, file.file].map(encodeURIComponent).join("/");
    const found = await ask(`/api/studies/${path}?from=${this.next}`);
    if (file !== this.file) return;
    this.next = found.next;
    this.more.hidden = !found.has_more;
    this.records.push(...found.games.map((record) => ({ ...record, ruleset: found.ruleset })));
    this.draw();
  }

  draw() {
    const result = ({ is_over, winner, reason }) => (is_over ? `${winner ? `player ${winner}` : "draw"}${reason ? `, ${reason}` : ""}` : "unfinished");
    const rows = this.records.map((record, index) => el("tr", {},
      el("th", { scope: "row" }, button(`Game ${index + 1}`, () => this.replay(this.records, index), { class: "plain" })),
      el("td", { class: "text" }, result(record)), el("td", {}, record.actions.length), el("td", {}, record.opening)));
    this.list.replaceChildren(el("table", {},
      el("thead", {}, el("tr", {}, ["Replay", "Result", "Actions", "Drawn opening"].map((head, at) => el("th", { scope: "col", class: at === 1 ? "text" : null }, head)))),
      el("tbody", {}, rows)));
  }
}
