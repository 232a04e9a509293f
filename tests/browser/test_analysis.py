"""Records replayed, and what a search thinks of them."""

import json

from selenium.webdriver.common.by import By

from page import program

MOVES = "#analyse .moves button"


def test_a_record_is_replayed(page, tmp_path):
    path = tmp_path / "games.jsonl"
    program("match", "greedy", "random", "--ruleset", "savard", "--games", 2, "--quiet", "--ledger", path)
    records = [json.loads(line) for line in path.read_text().splitlines()]
    page.open("analyse")
    page.wait_for("#analyse [data-square]", 64)
    page.find_element(By.CSS_SELECTOR, "#analyse input[type=file]").send_keys(str(path))
    last = records[-1]
    page.wait_for(MOVES, len(last["actions"]))
    for _ in range(7):
        page.click("#analyse [aria-label='one action on']")
    told = json.loads(program("analyse", "--record", path, "--ply", 7, "--agent", "random", "--json"))
    assert page.run("return $('#analyse input[readonly]').value") == told["position"]
    page.click("#analyse [aria-label='to the end']")
    page.wait_text("#analyse .status", f"After {len(last['actions'])} of")
    assert ("Drawn" if last["result"] == "draw" else f"Player {last['result']} wins") in page.text("#analyse .status")
    # The other game of the file.
    page.choose("Game of the file", "0")
    page.wait_for(MOVES, len(records[0]["actions"]))


def test_a_state_is_judged_and_another_action_tried(page):
    page.open("analyse")
    page.wait_for("#analyse [data-square]")
    page.choose("Ruleset", "dutch-8x8")
    page.wait("return $('#analyse input[readonly]').value.includes('M')")
    page.choose("Who judges", "net:sims=64")
    page.wait("return $$('#analyse tbody tr').length > 3")
    page.wait_text("#analyse .verdict", "64 simulations")
    assert page.count("#analyse .arrow") > 0
    action = page.text("#analyse tbody button")
    page.wait_for("#analyse .usable")
    page.click_button(action, "#analyse tbody")
    page.wait_for(MOVES, 1)
    assert action in page.text("#analyse .moves")
    page.choose("On the board", "policy")
    page.wait_for("#analyse .arrow.policy")
    page.click_button("Judge the whole game", "#analyse")
    page.wait_for("#analyse .curve rect.win", 2)
    page.choose("Who judges", "alphabeta:nodes=500")
    page.wait_text("#analyse .verdict", "actions deep")
