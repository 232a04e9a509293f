"""Whole games, every action of a person by clicks."""

import json
import random
import re

import pytest

from page import program

# What a person sees: which squares answer, which buttons, how many actions have been played, whether the game is over.
LOOK = """
const look = () => ({
  squares: $$("#play [data-square].usable").map((one) => one.dataset.square),
  selected: $("#play [data-square][aria-pressed=true]")?.dataset.square ?? null,
  words: $$("#play .choices button:enabled:not([aria-pressed])").map((one) => one.textContent),
  played: $$("#play .moves button").length,
  status: $("#play .status").textContent,
});
"""
# Calls back with what is seen as soon as that is something else than before, and the page waits for a person or the game is over.
CHANGED = LOOK + """
const done = arguments[arguments.length - 1];
const wait = (before) => {
  const seen = look();
  const isReady = seen.squares.length || seen.words.length || /wins|Drawn/.test(seen.status);
  if (isReady && JSON.stringify(seen) !== before) done(seen);
  else setTimeout(wait, 4, before);
};
"""
# The pointer goes to the places of so many clicks; the later ones of a game are events of the page, which is much faster.
POINTED = 12


def click_and_wait(page, selector, words, is_pointed):
    """Clicks a square, or the button with these words; returns what is seen when that has changed something."""
    if not is_pointed:
        found = "$$(arguments[0]).find((one) => !arguments[1] || one.textContent === arguments[1])"
        return page.run_async(f"{CHANGED} const before = JSON.stringify(look()); {found}.click(); wait(before);", selector, words)
    page.run(f"{LOOK} window.before = JSON.stringify(look())")
    if words:
        page.click_button(words, "#play .choices")
    else:
        page.click(selector)
    return page.run_async(f"{CHANGED} wait(window.before);")


@pytest.mark.parametrize("ruleset, second, seed, has", [
    ("bell", "human", 1, "D@"),         # a placement, jumps
    ("savard", "greedy", 2, "-"),       # chains of jumps, against an agent
    ("beads", "human", 3, "x"),         # bound pieces and removals
    ("dutch-8x8", "human", 4, "-"),     # bonus steps
])
def test_a_whole_game(page, tmp_path, ruleset, second, seed, has):
    page.open_play()
    page.begin(ruleset, "human", second)
    drawn = random.Random(seed)
    seen = page.run(f"{LOOK} return look();")
    for count in range(6000):
        if re.search(r"wins|Drawn", seen["status"]):
            break
        if seen["words"] and (not seen["squares"] or drawn.random() < 0.3):
            selector, words = "#play .choices button", drawn.choice(seen["words"])
        else:
            selector, words = f"#play [data-square={drawn.choice(seen['squares'])}]", None
        seen = click_and_wait(page, selector, words, count < POINTED)
    else:
        raise AssertionError(f"no end after so many clicks: {seen['status']}")
    page.screenshot(f"game-{ruleset}.png")
    # What the page has played is a game by the rules: the program plays its record over.
    line = page.request("/api/record", {**page.run("return stored()"), "values": [], "resigned": None})["line"]
    (tmp_path / "game.jsonl").write_text(line + "\n")
    assert "every action is legal" in program("inspect", "--verify", tmp_path / "game.jsonl")
    record = json.loads(line)
    assert len(record["actions"]) == seen["played"]
    assert record["result"] is not None
    assert any(has in text for text in record["actions"])
