"""Phone and desktop, light and dark."""

import shutil
import time

from page import ROOT, program
from test_runs import write_run
from test_studies import study  # noqa: F401, a fixture


def test_every_part_fits_and_is_pictured(page, tmp_path, study):  # noqa: F811
    write_run(tmp_path / "runs/quick-1", 30)
    page.open_play()
    page.begin("beads", "human", "net:sims=16")
    page.click("#play [data-square].usable")
    for width, height, dark in [(1280, 900, False), (1280, 900, True), (390, 844, False), (390, 844, True)]:
        page.resize(width, height, dark=dark)
        for part in ["play", "analyse", "rulesets", "rulesets/savard", "runs", "studies"]:
            page.show(part)
            page.wait("return $(`#${arguments[0]}`).textContent.length > 200", part.split("/")[0])
            if part == "analyse":
                page.wait("return $$('#analyse tbody tr').length > 3")
            if part == "play":
                assert page.run("return $$('#play .side .name').map((one) => [one.textContent, one.scrollWidth > one.clientWidth])[1]") == ["You", False]
            if part == "studies":
                page.wait_for("#studies tbody tr")
                assert page.run("const table = $('#studies .wide'); return table.scrollWidth <= table.clientWidth"), f"the games are cut at {width}"
            if part == "rulesets/savard":
                page.wait_for("#rulesets .figures figure")
            time.sleep(0.7)
            page_width, window_width = page.run("return [document.documentElement.scrollWidth, innerWidth]")
            assert page_width <= window_width, f"{part} at {width}: the page is wider than the window"
            page.screenshot(f"{part.replace('/', '-')}-{width}-{'dark' if dark else 'light'}.png")


def test_no_table_of_results_is_cut(page, tmp_path):
    for name in ["quick-1", "quick-2"]:
        write_run(tmp_path / name, 30)
    program("curves", tmp_path / "quick-1", tmp_path / "quick-2", "--out", tmp_path / "curves")
    shutil.copytree(ROOT / "docs/studies/full", tmp_path / "full")
    program("balance", "--report-only", tmp_path / "full")
    for path in [tmp_path / "curves/learning.html", tmp_path / "full/report.html"]:
        for width in [1280, 1600]:
            page.resize(width, 1000)
            page.get(path.as_uri())
            page.run("for (const one of $$('details')) one.open = true")
            cut = page.run("""return $$(".wide").filter((one) => one.offsetParent && one.scrollWidth > one.clientWidth).map(
                (one) => `${one.ariaLabel} ${one.scrollWidth}>${one.clientWidth}`)""")
            assert cut == [], f"{path.name} at {width}"


def test_every_control_has_a_name(page):
    page.open("rulesets/savard")
    page.wait_for("#rulesets .figures figure")
    page.click_button("Change it", "#rulesets")
    page.wait_text("#rulesets .verdict", "can be played")
    nameless = page.run("""return $$("button, select, textarea, input, a").filter(
        (one) => !(one.ariaLabel || one.textContent.trim() || one.closest("label") || one.type === "file")).map((one) => one.outerHTML)""")
    assert nameless == []
