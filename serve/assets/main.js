// The parts of the page, by the address after "#".

import { Analyse } from "/app/analyse.js";
import { ask, rulesOf } from "/app/api.js";
import { attempt, showFault } from "/app/dom.js";
import { Play } from "/app/play.js";
import { Rulesets } from "/app/rulesets.js";
import { Runs } from "/app/runs.js";
import { chooseRuleset, isOffered, offer } from "/app/shelf.js";
import { Studies } from "/app/studies.js";

const place = (name) => document.getElementById(name);
let begin = null;
let beginning = null;
let current = null;
const parts = {};

const make = {
  play: () => new Play(place("play"), begin, openInAnalysis),
  analyse: () => new Analyse(place("analyse"), begin, parts.play),
  rulesets: () => new Rulesets(place("rulesets"), playRuleset),
  runs: () => new Runs(place("runs"), playAgainst),
  studies: () => new Studies(place("studies"), (records, index) => openInAnalysis(records, index)),
};

// What may follow the name of a part in an address, of those that do not look at all of it: how many names, then what behind a
// question mark; and that in words.
const REST = {
  play: [0, "", "Play has one address alone. A link to a game begins with #analyse and is in “Position” beside the board."],
  rulesets: [2, "change", "An address names one ruleset, or two side by side."],
  studies: [2, "", "An address names a study, and a ruleset of it or another part of its report."],
};

// Makes Play and its first game, once; what fails is tried again the next time.
function play() {
  beginning ??= (async () => {
    if (!begin) {
      begin = await ask("/api/start");
      offer(begin.rulesets);
    }
    parts.play ??= make.play();
    if (!parts.play.game) await parts.play.start();
  })().catch((error) => {
    beginning = null;
    throw error;
  });
  return beginning;
}

// Reads a part of an address, which may have been typed.
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

// Shows the part that the address names; `isGoing` tells that a link or a button led there.
async function show(isGoing) {
  const [path, view] = location.hash.slice(1).split("?");
  const [name, ...rest] = path.split("/").map(decoded);
  const wanted = Object.hasOwn(make, name) ? name : "play";
  if (current !== wanted) {
    parts[current]?.leave?.();
    showFault(null);
  }
  current = wanted;
  if (isGoing) scrollTo(0, 0);
  for (const other of Object.keys(make)) place(other).hidden = other !== wanted;
  for (const link of document.querySelectorAll("header nav a")) {
    if (link.getAttribute("href") === `#${wanted}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${wanted[0].toUpperCase()}${wanted.slice(1)} – Latrunculi`;
  await attempt(async () => {
    await play();
    if (current !== wanted) return;
    parts[wanted] ??= make[wanted]();
    if (wanted === "play") parts.play.wake();
    else await parts[wanted].start(rest, { played: parts.play.game, view: new URLSearchParams(view) });
    const { fault } = parts.play;
    parts.play.fault = null;
    if (fault) throw fault;
    if (wanted === "play" && location.hash) history.replaceState(null, "", "#play");
    if (name && name !== wanted) throw new Error(`There is no part ${name} of this page. Choose one above.`);
    const [most, known, how] = REST[wanted] ?? [Infinity, view];
    const unknown = [...rest.slice(most), ...(view && view !== known ? [`?${view}`] : [])].join("/");
    if (unknown) throw new Error(`“${unknown}” in the address says nothing here. ${how}`);
  });
}

// Chooses a ruleset in Play, as if it were chosen there.
function playRuleset(about) {
  const field = parts.play.rulesetField;
  chooseRuleset(field, about);
  field.querySelector("select").dispatchEvent(new Event("change"));
  location.hash = "#play";
}

// Chooses an opponent in Play, and a ruleset of the run that it comes from.
function playAgainst(agent, run, ruleset) {
  attempt(async () => {
    const about = await rulesOf(isOffered(ruleset) ? ruleset : `runs/${run}/${ruleset}`);
    parts.play.players.choose(2, agent);
    parts.play.seat();
    playRuleset(about);
  });
}

// Opens a game of the page, or the records of a file, of which one is wanted, in the analysis.
function openInAnalysis(games, index, isToJudge = false) {
  attempt(async () => {
    parts.analyse ??= make.analyse();
    if (!Array.isArray(games)) await parts.analyse.openGame(games);
    else await parts.analyse.openAll(games, index);
    if (isToJudge) parts.analyse.judge.judgeAll();
    location.hash = "#analyse";
  });
}

// Each part is shown from its top, or where its address says.
history.scrollRestoration = "manual";
addEventListener("hashchange", () => show(true));
// The address names a part of the page, which the link must not change.
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  place("main").focus();
});
document.querySelector("#fault button").addEventListener("click", () => showFault(null));
show(false);
