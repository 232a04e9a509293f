// The table of all rulesets, by which one finds the one that is meant.

import { rulesOf } from "/app/api.js";
import { button, el, select } from "/app/dom.js";
import { addressOf, shelf } from "/app/shelf.js";

const HEADS = ["Ruleset", "Board", "Men", "Dux", "Source", "Capture", "Verdict", "Drawn"];

// Returns the table: one's own rulesets first, then those of the program.
export async function overview() {
  const { own, offered } = shelf();
  const mine = await Promise.all(own.map((text) => rulesOf(text)));
  const judge = offered.find(({ found }) => found)?.found.agent;
  const body = el("tbody", {}, [...mine, ...offered].map(row));
  const heads = HEADS.map((head, at) => el("th", { scope: "col", class: isText(at) ? "text" : null }, button(head, () => sort(body, heads[at], at), { class: "plain", title: "sort" })));
  // A phone has no room for heads.
  const rows = [...body.children];
  const orders = HEADS.flatMap((head, at) => ["rising", "falling"].map((how) => [`${at} ${how}`, `${head}, ${how}`]));
  const byField = select("Sort by", [["", "your own first, then the program’s"], ...orders], "", (order) => {
    const [at, how] = order.split(" ");
    if (order) sort(body, heads[at], Number(at), how === "falling");
    else body.append(...rows);
  });
  byField.classList.add("sorter");
  return el("div", {}, byField,
    el("table", { class: "stacks" }, el("thead", {}, el("tr", {}, heads)), body),
    judge ? el("p", { class: "soft" }, `Men are those of one side. Verdict and draws are what the study in the program found with the player ${judge} on both sides; each ruleset shows the other players’ too. Balanced: the first player’s score is shown to be near 50 %, and pieces are captured. Even with this player: near 50 %, but few captures, or not so with the others. Unresolved: the games show neither.`) : null);
}

// Sorts the rows by a column; a second time the other way round.
function sort(body, head, at, isDown = head.ariaSort === "ascending") {
  const compare = (one, other) => one.children[at].textContent.localeCompare(other.children[at].textContent, "en", { numeric: true });
  body.append(...[...body.children].sort((one, other) => (isDown ? compare(other, one) : compare(one, other))));
  for (const other of head.parentNode.children) other.ariaSort = null;
  head.ariaSort = isDown ? "descending" : "ascending";
}

const isText = (at) => at === 0 || (at >= 4 && at < 7);

function row(about) {
  const { key, id = key, name, files, ranks, men, has_dux, start, source, capture, found } = about;
  // What stands before the first comma names the source; the rest tells where in it.
  const after = source.split(", ")[0] || (key.includes("\n") ? "your own" : "–");
  const cells = [`${files}x${ranks}`, `${men}${start === "array" ? "" : ", placed"}`, has_dux ? "yes" : "no", after, capture, found?.verdict ?? "–", found ? `${Math.round(100 * found.draws)} %` : "–"];
  return el("tr", {},
    el("th", { scope: "row" }, el("a", { href: `#rulesets/${addressOf({ key, id })}` }, id), name ? el("span", { class: "soft below" }, name) : null),
    cells.map((cell, at) => el("td", { class: isText(at + 1) ? "text" : null, "data-label": HEADS[at + 1] }, cell)));
}
