"""Rulesets: shown, compared, changed and added."""

import re

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from page import program

FIGURES = "#rulesets .figures figure"


def chosen(page, part):
    """Returns the text of the ruleset that a part of the page has chosen."""
    return page.run("return $(`#${arguments[0]} select`).selectedOptions[0].textContent", part)


def fill(page, name, value):
    """Writes into a field of the editor."""
    field = page.run("return $$('.editor .field').find((one) => one.querySelector('code')?.textContent === arguments[0]).querySelector('input, select')", name)
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys(value)


def test_a_ruleset_is_shown_with_its_captures_and_what_the_study_found(page):
    page.open("rulesets/savard")
    page.wait("return $$(arguments[0]).length >= 5", FIGURES)
    page.screenshot("ruleset.png")
    # The first capture: what is taken lies there before, and is gone after.
    figure = page.run("return $(arguments[0])", FIGURES)
    seen = "return $$('#rulesets .figures figure:first-child [data-square]').filter((one) => one.ariaLabel.includes(arguments[0])).map((one) => one.dataset.square)"
    before = page.run(seen, "player 2's man")
    figure.find_element(By.CSS_SELECTOR, "[aria-label='one action on']").click()
    told = figure.find_element(By.CSS_SELECTOR, "p").text
    assert re.fullmatch(r"Player 1: \w\d+-\w\d+ takes \w\d+\.", told)
    assert set(before) - set(page.run(seen, "player 2's man")) == {told[-3:-1]}
    # Of the study the same numbers as in its table.
    assert "49.8 %48.6 % to 50.7 %" in page.text("#rulesets .findings")
    page.click("#rulesets .findings a")
    page.wait("return $('#studies iframe')?.src.endsWith('/studies/shipped/report.html')")


def test_an_address_of_no_ruleset_says_so_and_shows_one(page):
    page.open("rulesets/nonsense")
    page.wait_text("#fault", "nonsense")
    page.wait_for(FIGURES)
    assert chosen(page, "rulesets").startswith("dutch-8x8: ")
    [refused] = page.complaints()
    assert "422" in refused or "404" in refused


def test_two_rulesets_stand_side_by_side_with_their_differences(page):
    page.open("rulesets/savard/bell")
    page.wait_text("#rulesets", "differences")
    told = re.findall(r"^  (\w+\.\w+):", program("rulesets", "diff", "savard", "bell"), re.MULTILINE)
    assert page.run("return $$('#rulesets table.values code').map((one) => one.textContent)") == told
    page.choose("Beside it", "savard-delayed")
    page.wait("return $$('#rulesets table.values thead th').at(-1)?.textContent === 'savard-delayed'")
    assert page.run("return location.hash") == "#rulesets/savard/savard-delayed"


def test_a_ruleset_is_changed_in_the_page_and_played_at_once(page):
    page.open("rulesets/dutch-8x8-noking")
    page.wait_for(FIGURES)
    page.click_button("Change it", "#rulesets")
    page.wait_text("#rulesets .verdict", "can be played")
    # What cannot be is said at its field.
    fill(page, "board.files", "3")
    page.wait_text("#fault-of-board\\.files", "3 is not a whole number from 4 to 16")
    assert page.run("return $$('.editor [aria-invalid=true]').length") == 1
    fill(page, "board.files", "9")
    page.wait_text("#fault-of-setup\\.array", "9")
    page.screenshot("editor.png")
    fill(page, "board.files", "8")
    fill(page, "end.quiet_limit", "7")
    page.wait_text("#rulesets .verdict", "Changed: end.quiet_limit")
    page.click_button("Play it", ".editor")
    page.wait("return location.hash === '#play' && stored().ruleset.includes('quiet_limit = 7')")
    page.wait_text("#play", "After 7 turns without a capture")
    assert chosen(page, "play").startswith("my-dutch-8x8-noking: ")
    page.choose("Player 2", "greedy")
    page.click("#play [data-square].usable")
    page.click("#play [data-square].usable:has(+ [data-square])")
    # It is still there when the page is loaded again, and in the analysis too.
    page.reopen()
    page.wait_text("#play", "After 7 turns without a capture")
    page.show("analyse")
    page.wait("return $$('#analyse option').some((one) => one.textContent.startsWith('my-dutch-8x8-noking'))")


def test_files_of_ones_own_are_added_without_a_restart(page, tmp_path):
    page.resize(390, 844)
    good, bad = tmp_path / "mine.toml", tmp_path / "bad.toml"
    good.write_text('id = "mine"\nbase = "savard"\n[end]\nquiet_limit = 5\n')
    bad.write_text('id = "bad"\nbase = "savard"\n\n[end]\nquiet_limit = "many"\n')
    page.open("rulesets")
    page.wait_for(FIGURES)
    page.find_element(By.CSS_SELECTOR, "#rulesets input[type=file]").send_keys(f"{good}\n{bad}")
    page.wait_text("#fault", "bad.toml: line 5")
    # The message stands within what is seen.
    assert page.run("const place = $('#fault').getBoundingClientRect(); return place.top > 0 && place.bottom <= innerHeight")
    [refused] = page.complaints()
    assert "422" in refused
    page.wait_text("#rulesets", "After 5 turns without a capture")
    page.click("#fault button")
    page.click_button("Play it", "#rulesets")
    page.wait("return location.hash === '#play' && stored().ruleset.includes('mine')")
    # A record of its games finds it again.
    line = page.request("/api/record", {**page.run("return stored()"), "values": [], "resigned": None})["line"]
    assert '"ruleset":"mine"' in line
    (tmp_path / "game.jsonl").write_text(line + "\n")
    page.show("analyse")
    page.wait_for("#analyse [data-square]")
    page.find_element(By.CSS_SELECTOR, "#analyse input[type=file]").send_keys(str(tmp_path / "game.jsonl"))
    page.wait("return $$('#analyse select').some((one) => one.selectedOptions[0].textContent.startsWith('mine'))")
    page.show("rulesets/mine")
    page.click_button("Remove", "#rulesets")
    page.wait("return !$$('#play option').some((one) => one.textContent.startsWith('mine') && !one.selected)")
