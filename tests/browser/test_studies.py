"""Studies: their reports, and the games behind them."""

import json
import shutil

import pytest

from page import PICTURES, ROOT, program

FRAME = "#studies iframe"
SHOWN = "return $('#studies iframe').src.endsWith('/studies/small/report.html')"


@pytest.fixture
def study(tmp_path):
    folder = tmp_path / "studies/small"
    program("balance", "--rulesets", "savard", "--agents", "greedy", "--max-games", 4, "--min-games", 2, "--quiet", "--out", folder)
    return folder


def test_a_study_is_shown_and_its_games_replayed(page, study):
    page.open("studies/small")
    page.wait_for("#studies tbody tr")
    page.wait(SHOWN)
    page.screenshot("study.png")
    # The report's numbers of games open them: those of the row, by their result.
    record = [json.loads(line) for line in (study / "games/savard/greedy.jsonl").read_text().splitlines()]
    page.switch_to.frame(page.find_element("css selector", FRAME))
    # Four games are too few to tell whose wins they are.
    assert page.run("return $('.cards tbody').textContent.includes('too few decisive games') || $('.cards tbody').textContent.includes('none decisive')")
    button = page.wait("return $('.cards tbody .games button:enabled')")
    result, count = page.run("return [arguments[0].parentNode.dataset.result, Number(arguments[0].textContent)]", button)
    page.run("arguments[0].click()", button)
    page.switch_to.default_content()
    page.wait("return $$('#studies .fields select').some((one) => one.value === arguments[0])", result)
    page.wait_for("#studies tbody tr", count)
    assert int(page.text("#studies tbody td:last-child")) == min(one["opening"] for one in record)
    page.screenshot("study-games.png")
    page.click_button("All games of the file", "#studies")
    page.choose("Result", "")
    page.wait_for("#studies tbody tr", len(record))
    page.click_button("Game 2", "#studies")
    page.wait("return location.hash.startsWith('#analyse') && $$('#analyse .moves button').length")
    assert page.run("return $$('#analyse select').some((one) => one.selectedOptions[0]?.textContent.startsWith('savard: '))")


def test_a_study_under_way_has_its_report_once_it_is_written(page, study):
    report = study / "report.html"
    written = report.read_text()
    report.unlink()
    page.open("studies")
    page.wait_for("#studies tbody tr")
    page.show("play")
    page.show("studies")
    assert page.run("return $('#studies iframe').hidden")
    report.write_text(written)
    page.show("play")
    page.show("studies")
    page.wait(SHOWN)


def test_the_study_of_the_program_is_there_and_only_the_page_scrolls(page):
    page.open("studies")
    page.wait_text("#studies", "latrunculi balance")
    page.wait("return $('#studies iframe')?.clientHeight > 3000")
    assert page.text("#studies option") == "How fair is each reconstruction? (the study in the program)"
    page.switch_to.frame(page.find_element("css selector", FRAME))
    assert page.run("return document.documentElement.scrollHeight <= innerHeight")
    # Its games are not in the program: no number promises them.
    assert page.run("return $$('data.games button').length") == 0
    page.run("$('nav a[href=\"#reading\"]').click()")
    page.switch_to.default_content()
    page.wait("return scrollY > 3000 && location.hash === '#studies/shipped/reading'")
    # The browser's way back is that of the page.
    page.back()
    page.wait("return scrollY === 0 && location.hash === '#studies'")
    page.back()
    page.wait("return location.href === 'about:blank'")
    page.forward()
    page.wait("return $('#studies iframe')?.clientHeight > 3000")
    # From its verdict to all that is known of a ruleset, which begins with the verdict and how sure it is.
    for width in [1280, 390]:
        page.resize(width, 844)
        page.switch_to.frame(page.find_element("css selector", FRAME))
        page.run("$('.verdicts a[href=\"#r-dux-hunt-16\"]').click()")
        brief = "return $('#r-dux-hunt-16').parentNode.querySelector('summary')"
        inside = page.run(f"{brief}.getBoundingClientRect().top")
        assert all(part in page.run(f"{brief}.textContent") for part in ["50.0", "48.8", "even with this player"])
        page.switch_to.default_content()
        page.wait("const top = $('#studies iframe').getBoundingClientRect().top + arguments[0]; return top >= 0 && top < 60", inside)
    page.resize()
    page.save_screenshot(str(PICTURES / "study-in-the-program.png"))


def test_a_study_that_is_not_there_is_named_and_another_one_shown(page):
    page.open("studies/nonsense")
    page.wait_text("#fault", "There is no study nonsense in the folder ")
    assert page.run("return location.hash") == "#studies/shipped"
    assert not page.run("return $('#studies iframe').hidden")


def test_the_report_stands_before_the_games_and_says_how_each_ended(page, study):
    page.open("studies/small")
    page.wait_for("#studies tbody tr")
    page.wait(SHOWN)
    assert page.run("return $('#studies iframe').getBoundingClientRect().top < $('#studies table').getBoundingClientRect().top")
    results = page.run("return $$('#studies tbody td.text').map((one) => one.textContent)")
    assert all(one.startswith(("Player 1 wins: ", "Player 2 wins: ", "Drawn: ")) and "limit, or" not in one and "capture, or" not in one for one in results)
    page.switch_to.frame(page.find_element("css selector", FRAME))
    assert "The main results are those of a greedy player" in page.run("return document.body.textContent")
    page.switch_to.default_content()
    page.click_button("To its games", "#studies")
    page.wait("return $('#studies table').getBoundingClientRect().top < innerHeight")


def test_a_part_begins_at_its_top_and_one_that_is_not_there_is_named(page):
    page.resize(390, 844)
    page.open("rulesets")
    page.wait("return $$('#rulesets tbody tr').length > 20")
    page.run("scrollTo(0, 900)")
    page.show("play")
    assert page.run("return scrollY") == 0
    page.open("xyz")
    page.wait_text("#fault", "There is no part xyz")
    assert page.run("return location.hash") == "#play"
    page.wait_for("#play [data-square]")


def test_a_copy_of_the_study_of_the_program_is_shown_once(page, study, tmp_path):
    shutil.copytree(ROOT / "docs/studies/full", tmp_path / "studies/full")
    page.open("studies/shipped")
    page.wait("return $('#studies iframe')?.src.endsWith('/studies/full/report.html')")
    assert page.run("return $$('#studies label:first-child option').map((one) => one.textContent)") == ["How fair is each reconstruction? (the study in the program)", "small"]
