"""Studies: their reports, and the games behind them."""

import json

import pytest

from page import program

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
    page.wait("return location.hash === '#analyse' && $$('#analyse .moves button').length")
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


def test_an_empty_folder_says_how_to_fill_it(page):
    page.open("studies")
    page.wait_text("#studies", "latrunculi balance")
