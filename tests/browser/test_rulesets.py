"""Rulesets: shown, compared, changed and added."""

import re

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from page import program

FIGURES = "#rulesets .figures figure"


def chosen(page, part):
    """Returns the text of the ruleset that a part of the page has chosen."""
    return page.run("return $(`#${arguments[0]} section select`).selectedOptions[0].textContent", part)


FIELD = "$$('.editor .field').find((one) => one.querySelector('code')?.textContent === arguments[0])"


def fill(page, name, value):
    """Writes into a field of the editor."""
    field = page.run(f"return {FIELD}.querySelector('input, select')", name)
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys(value or Keys.DELETE)


def begin_to_change(page, ruleset):
    """Opens the editor with a ruleset."""
    page.show(f"rulesets/{ruleset}")
    page.wait_for(FIGURES)
    page.click_button("Change it", "#rulesets")
    page.wait_text("#rulesets .verdict", "can be played")


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
    # The marks before sources are explained where they stand.
    page.click("#rulesets details:has(.values) summary")
    assert page.run("const [said, table] = [$('#rulesets details > p.soft'), $('#rulesets details .values')]; return said.textContent.includes('[reading]') && said.getBoundingClientRect().bottom <= table.getBoundingClientRect().top")
    # Of the study the same numbers as in its table.
    assert "50.0 %48.8 % to 51.2 %" in page.text("#rulesets .findings")
    page.wait_text("#rulesets", "Is it fair? Even with this player: the first player scores 50.0 %, with 95 % confidence 48.8 % to 51.2 %, in 150 games")
    # The whole study opens at this ruleset.
    page.click("#rulesets .findings a")
    page.wait("return $('#studies iframe')?.src.endsWith('/studies/shipped/report.html')")
    page.wait("return location.hash === '#studies/shipped/savard' && scrollY > 3000")
    page.switch_to.frame(page.find_element(By.CSS_SELECTOR, "#studies iframe"))
    inside = page.run("const one = $('#r-savard').parentNode; return one.open && one.getBoundingClientRect().top")
    page.switch_to.default_content()
    page.wait("const top = $('#studies iframe').getBoundingClientRect().top + arguments[0]; return top >= 0 && top < 60", inside)


def test_all_rulesets_stand_in_a_table_with_what_the_study_found(page):
    page.open("rulesets")
    page.wait("return $$('#rulesets tbody tr').length > 20")
    rows = {cells[0]: cells[1:] for cells in page.run("return $$('#rulesets tbody tr').map((row) => [row.querySelector('a').textContent, ...[...row.querySelectorAll('td')].map((one) => one.textContent)])")}
    assert {"own", "bell", "savard", "beads"} <= set(rows)
    assert rows["bell"] == ["8x7", "16, placed", "yes", 'Web page "Ancient Greek and Roman Games"', "taken at once; one a move", "first player ahead", "47 %"]
    assert rows["beads"][4] == "bound, then removed; rows too" and rows["own"][5:] == ["–", "–"]
    page.screenshot("rulesets-all.png")
    # By men, the fewest first, then the most.
    men = "return $$('#rulesets tbody tr').map((row) => parseInt(row.children[2].textContent))"
    page.click_button("Men", "#rulesets")
    ascending = page.run(men)
    page.click_button("Men", "#rulesets")
    assert ascending == sorted(ascending) and page.run(men) == sorted(ascending, reverse=True)
    # A phone has no heads to click.
    assert page.run("return $('.sorter').offsetParent") is None
    page.resize(390, 844)
    for order, wanted in [("2 rising", ascending), ("2 falling", ascending[::-1])]:
        page.choose("Sort by", order)
        assert page.run(men) == wanted
    page.screenshot("rulesets-sorted-phone.png")
    page.choose("Sort by", "")
    assert page.text("#rulesets tbody a") == next(iter(rows))
    page.resize()
    page.find_element(By.LINK_TEXT, "savard").click()
    page.wait_for(FIGURES)
    assert page.text("#rulesets h2").startswith("Rulesets") and page.run("return scrollY") == 0
    page.find_element(By.LINK_TEXT, "All rulesets").click()
    page.wait("return $$('#rulesets tbody tr').length > 20")


def test_an_address_of_no_ruleset_says_so_and_shows_what_there_is(page):
    page.open("rulesets/nonsense")
    page.wait_text("#fault", "There is no ruleset \"nonsense\" here: if it is one of your own, add its file")
    page.wait("return $$('#rulesets tbody tr').length > 20")
    page.show("rulesets/bell/nosuch")
    page.wait_text("#fault", "nosuch")
    page.wait_for(FIGURES)
    assert page.run("return location.hash") == "#rulesets/bell"
    assert len(page.complaints()) == 2


def test_two_rulesets_stand_side_by_side_with_their_differences(page):
    page.open("rulesets/savard/bell")
    page.wait_text("#rulesets", "differences")
    told = re.findall(r"^  (\w+\.\w+):", program("rulesets", "diff", "savard", "bell"), re.MULTILINE)
    assert page.run("return $$('#rulesets table.values th code').map((one) => one.textContent)") == told
    # What differs is marked in the rules of both, and nothing that they share.
    marked, plain = page.run("return [$$('#rulesets mark'), $$('#rulesets .prose li:not(:has(mark))')].map((found) => found.map((one) => one.textContent))")
    assert any("8 files and 7 ranks" in one for one in marked) and any("8 files and 8 ranks" in one for one in marked)
    assert plain and all(plain.count(one) % 2 == 0 for one in plain)
    assert "one square" in page.run("return $$('#rulesets table.values tr').find((row) => row.textContent.includes('man.range'))?.textContent ?? 'one square'")
    page.choose("Beside it", "savard-delayed")
    page.wait("return $$('#rulesets table.values thead th').at(-1)?.textContent === 'savard-delayed'")
    assert page.run("return location.hash") == "#rulesets/savard/savard-delayed"
    cells = page.run("return [...$$('#rulesets table.values tr').find((row) => row.textContent.includes('capture.timing')).cells].map((one) => one.textContent)")
    assert cells == ["what happens to a flanked piece capture.timing", "it is removed at once immediate", "it is bound, and removed by a later action delayed"]


SUMMARY = "return $('.editor textarea').value"


def test_no_change_is_lost_unasked(page):
    page.open("rulesets/dutch-8x8")
    begin_to_change(page, "dutch-8x8")
    # Without changes nothing is kept.
    kept = "return Object.keys(JSON.parse(localStorage.getItem('latrunculi.changes') ?? '{}'))"
    assert page.run(kept) == [] and page.run("return location.hash") == "#rulesets/dutch-8x8?change"
    fill(page, "board.files", "9")
    fill(page, "end.quiet_limit", "7")
    page.run(f"const one = {FIELD}.querySelector('select'); one.value = 'slide'; one.dispatchEvent(new Event('input'))", "man.range")
    page.wait_text("#rulesets .verdict", "turns without a capture that end the game.")
    # All changes are named, in the description too.
    labels = ["number of files of the board", "the opening array", "how far a man moves", "turns without a capture that end the game"]
    assert page.text("#rulesets .verdict") == f"It can be played. Changed: {'; '.join(labels)}."
    described = "A change of dutch-8x8. Number of files of the board: 9, not 8. The opening array is another one. " \
        "How far a man moves: any number of squares, not one square. Turns without a capture that end the game: 7, not 100."
    assert page.run(SUMMARY) == described
    page.screenshot("editor-changes.png")
    # They are there when the page is loaded again, when one has been elsewhere, and when the editor is left.
    read = f"return ['board.files', 'end.quiet_limit', 'man.range'].map((name) => ((found) => found.querySelector('input, select').value)({FIELD.replace('arguments[0]', 'name')}))"
    for leave in [page.refresh, lambda: page.show("rulesets/savard"), lambda: page.click_button("Leave it", ".editor")]:
        leave()
        page.show("rulesets/dutch-8x8?change")
        page.wait_text("#rulesets .verdict", "Changed: number of files")
        assert page.run(read) == ["9", "7", "slide"] and page.run(SUMMARY) == described
        assert "kept in this browser" in page.text(".editor")
    page.show("rulesets")
    page.wait_text("#rulesets", "Changes that you have begun, kept in this browser: dutch-8x8")
    page.show("rulesets/dutch-8x8")
    page.wait_for(FIGURES)
    page.click_button("Go on changing it", "#rulesets")
    page.wait_text("#rulesets .verdict", "Changed: number of files")
    # A description of one's own stays as it is.
    fill(page, "board.files", "8")
    page.wait("return !$('.editor textarea').value.includes('files')")
    page.run("const one = $('.editor textarea'); one.value = 'Mine'; one.dispatchEvent(new Event('input'))")
    fill(page, "end.quiet_limit", "8")
    page.wait("return JSON.parse(localStorage.getItem('latrunculi.changes'))['dutch-8x8'].values['end.quiet_limit'] === 8")
    assert page.run(SUMMARY) == "Mine"
    # They are thrown away where that is wanted, after a question.
    page.click_button("Throw away", ".editor")
    page.click_button("Throw the changes away for good?", ".editor")
    page.wait_for(FIGURES)
    assert page.run(kept) == []
    begin_to_change(page, "dutch-8x8")
    fill(page, "end.quiet_limit", "7")
    page.wait_text("#rulesets .verdict", "Changed: turns without a capture that end the game")
    page.click_button("Keep it here", ".editor")
    page.wait_text("#rulesets", "After 7 turns without a capture")
    page.wait_text("#rulesets", "A change of dutch-8x8. Turns without a capture that end the game: 7, not 100.")
    assert page.run("return location.hash") == "#rulesets/my-dutch-8x8" and page.run(kept) == []
    # Changed once more, it is still told as a change of what it was at first.
    begin_to_change(page, "my-dutch-8x8")
    fill(page, "end.quiet_limit", "9")
    page.wait_text("#rulesets .preview", "A change of dutch-8x8. Turns without a capture that end the game: 9, not 100.")
    page.click_button("Throw away", ".editor")
    page.click_button("Throw the changes away for good?", ".editor")
    page.wait_for(FIGURES)
    # One that is removed, after a question, is gone from the page and its address.
    page.click_button("Remove", "#rulesets")
    page.click_button("Remove it for good?", "#rulesets")
    page.wait("return $$('#rulesets tbody tr').length > 20")
    assert page.run("return [location.hash, $('#rulesets').innerText.includes('my-dutch')]") == ["#rulesets", False]


def test_the_editor_names_what_was_typed_and_hides_what_changes_nothing(page):
    page.open("rulesets/dutch-8x8")
    begin_to_change(page, "dutch-8x8")
    for typed, told in [("4.5", '"4.5" is not a whole number from 4 to 16'), ("1e20", '"1e20" is not a whole number from 4 to 16'), ("", "write a whole number from 4 to 16")]:
        fill(page, "board.files", typed)
        page.wait("return $(arguments[0]).textContent === arguments[1]", "#fault-of-board\\.files", told)
    # The board beside it is not what these values would give.
    assert page.run("return $('.preview').classList.contains('old') && $('.preview .fault').offsetParent !== null")
    fill(page, "board.files", "8")
    page.wait("return !$('.preview').classList.contains('old')")
    # Options have words; what has no effect is not there, and comes where it has.
    assert page.run(f"return [...{FIELD}.querySelectorAll('option')].map((one) => one.textContent)", "man.range") == ["one square", "any number of squares"]
    assert page.run(f"return {FIELD}.querySelector('span').textContent", "man.range").startswith("how far a man moves")
    seen = f"return {FIELD}.offsetParent !== null"
    assert [page.run(seen, name) for name in ["setup.array", "placement.men", "capture.removal"]] == [True, False, False]
    page.run(f"const one = {FIELD}.querySelector('select'); one.value = 'delayed'; one.dispatchEvent(new Event('input'))", "capture.timing")
    page.wait(seen, "capture.removal")
    assert "settings are not shown" in page.text(".editor")


def test_the_opening_array_is_drawn_by_clicks(page):
    page.open("rulesets/dutch-8x8")
    begin_to_change(page, "dutch-8x8")
    fill(page, "board.files", "9")
    page.wait_text(".array", "The array was fitted to 9 files and 8 ranks.")
    page.click_button("Player 2’s man", ".array")
    page.click(".array [data-square=i5]")
    page.wait_text("#rulesets .verdict", "It can be played. Changed: number of files of the board; the opening array")
    rows = page.run("return $('.array textarea').value.split('\\n')")
    assert {len(row) for row in rows} == {9} and rows[3] == "........m"
    page.screenshot("editor-array.png")
    page.click_button("Remove", ".array")
    page.click(".array [data-square=i5]")
    page.wait("return $('.array textarea').value.split('\\n')[3] === '.........'")
    # A side has one dux.
    page.click_button("Player 1’s dux", ".array")
    page.click(".array [data-square=i1]")
    page.wait("return $('.array textarea').value.match(/D/g).length === 1 && $('.array textarea').value.endsWith('D')")
    page.click_button("Empty the board", ".array")
    page.wait_text("#fault-of-setup\\.array", "player 1 has no stones: put some on the board")


def test_the_array_follows_the_board(page):
    page.open("rulesets/savard")
    begin_to_change(page, "savard")
    rows = "return $('.array textarea').value.split('\\n')"
    before = page.run(rows)
    fill(page, "board.files", "10")
    fill(page, "board.ranks", "9")
    page.wait_text(".array", "The array was fitted to 10 files and 9 ranks.")
    page.wait_text("#rulesets .verdict", "It can be played.")
    assert page.run(rows) == ["m" * 10, "m" * 10, "mmmmdmmmmm", *3 * ["." * 10], "MMMMDMMMMM", "M" * 10, "M" * 10]
    page.screenshot("editor-fitted.png")
    page.click_button("Leave the new squares empty", ".array")
    page.wait("return $('.array textarea').value.startsWith('.mmmmmmmm.')")
    page.wait_text("#rulesets .verdict", "It can be played.")
    fill(page, "board.files", "6")
    page.wait("return $('.array textarea').value.startsWith('mmmmmm\\n')")
    # Nothing is lost on the way.
    fill(page, "board.files", "8")
    fill(page, "board.ranks", "8")
    page.wait_text("#rulesets .verdict", "Its rules are those of savard")
    assert page.run(rows) == before and "was fitted" not in page.text(".array")


def test_another_beginning_takes_the_pieces_along(page):
    page.open("rulesets/savard")
    begin_to_change(page, "savard")
    choose = f"const one = {FIELD}.querySelector('select'); one.value = arguments[1]; one.dispatchEvent(new Event('input'))"
    page.run(choose, "setup.mode", "placement")
    page.wait_text("#rulesets .verdict", "It can be played. Changed: how a game begins; men that each side places; duces that each side places")
    read = f"return {FIELD}.querySelector('input').value"
    assert [page.run(read, name) for name in ["placement.men", "placement.dux"]] == ["23", "1"]
    page.run(choose, "setup.mode", "array")
    page.wait_text("#rulesets .verdict", "Its rules are those of savard")
    page.click_button("Leave it", ".editor")
    page.wait_for(FIGURES)
    begin_to_change(page, "bell")
    page.run(choose, "setup.mode", "array")
    page.wait_text(".array", "The pieces were put on the first ranks")
    page.wait_text("#rulesets .verdict", "It can be played.")
    rows = page.run("return $('.array textarea').value.split('\\n')")
    assert rows == ["mmmmdmmm", "mmmmmmmm", "...m....", "........", "...M....", "MMMMMMMM", "MMMMDMMM"]


def test_a_ruleset_is_changed_in_the_page_and_played_at_once(page):
    page.open("rulesets/dutch-8x8-noking")
    page.wait_for(FIGURES)
    page.click_button("Change it", "#rulesets")
    page.wait_text("#rulesets .verdict", "can be played")
    # What cannot be is said at its field.
    fill(page, "board.files", "3")
    page.wait_text("#fault-of-board\\.files", "3 is not a whole number from 4 to 16")
    assert page.run("return $$('.editor [aria-invalid=true]').length") == 1
    # It is named by its label, from which one gets there.
    fill(page, "board.files", "8")
    fill(page, "end.eliminate_at", "40")
    page.wait_text("#fault-of-end\\.eliminate_at", "set this below 8")
    page.screenshot("editor.png")
    page.click_button("number of them left at which it has lost", ".editor .ready")
    assert page.run(f"return document.activeElement === {FIELD}.querySelector('input')", "end.eliminate_at")
    fill(page, "end.eliminate_at", "0")
    fill(page, "end.quiet_limit", "7")
    page.wait_text("#rulesets .verdict", "Changed: turns without a capture that end the game")
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
    page.wait("return $$('#rulesets tbody tr').length > 20")
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
    page.wait_for(FIGURES)
    page.click_button("Remove", "#rulesets")
    page.click_button("Remove it for good?", "#rulesets")
    page.wait("return !$$('#play option').some((one) => one.textContent.startsWith('mine') && !one.selected)")
