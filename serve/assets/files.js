// Games as files: records, one game a line.

import { attempt, button, download, el } from "/app/dom.js";
import { readRecords } from "/app/game.js";

// Returns the buttons that open a file and save the game that `game` returns. `take` is called with the records of a file; `make`
// makes the button that opens, as `button` does.
export function fileButtons(game, take, make = button) {
  const load = () => attempt(async () => {
    const text = await file.files[0].text();
    file.value = "";
    return take(readRecords(text));
  });
  const file = el("input", { type: "file", accept: ".jsonl,.json", class: "unseen", onchange: load });
  const save = async () => download(`${game().about.id}.jsonl`, `${await game().line()}\n`);
  return [make("Open a file", () => file.click()), file, button("Save", () => attempt(save))];
}
