"""Training runs, watched while they are written."""

import json
import shutil

from page import ROOT


def metrics(generation):
    """A line of metrics.jsonl, as a run writes it, with the keys that the page reads."""
    score = 0.2 + 0.02 * generation
    verdict = {"opponent": "alphabeta:nodes=200", "simulations": 32, "wins": 1, "draws": 0, "losses": 1, "score": score, "lower": score - 0.1, "upper": score + 0.1}
    return json.dumps({
        "generation": generation, "learns_first": False, "steps": 10, "steps_total": 10 * generation, "samples_total": 500 * generation,
        "elapsed_secs": 60.0 * generation, "round_secs": 60.0, "games": 64, "games_per_sec": 3 + generation % 4, "draw_rate": 0.3,
        "first_player_score": 0.5 + 0.01 * generation, "actions_mean": 90 - generation, "train_secs": 5.0,
        "losses": {"learning_rate": 0.01, "gradient_norm": 2.0, "policy": 3 / (1 + generation / 10), "target_entropy": 1.0, "value": 1 / (1 + generation / 20)},
        "rulesets": {"bell": {"games": 64, "samples": 500, "draw_rate": 0.3, "first_player_score": 0.5, "actions_mean": 90}},
        "verdicts": {"bell": verdict} if generation % 5 == 0 else {}}) + "\n"


def write_run(folder, rounds):
    (folder / "rulesets").mkdir(parents=True)
    shutil.copy(ROOT / "configs/train/quick.toml", folder / "config.toml")
    shutil.copy(ROOT / "configs/rulesets/bell.toml", folder / "rulesets/bell.toml")
    (folder / "metrics.jsonl").write_text("".join(map(metrics, range(rounds))))


def generations(page, index=0):
    return page.run("""const terms = [...($$("#runs .columns .card")[arguments[0]]?.querySelectorAll("dt") ?? [])];
        return Number(terms.find((one) => one.textContent === "Generations")?.nextSibling.textContent ?? -1)""", index)


def test_a_run_is_watched_while_it_is_written(page, tmp_path):
    write_run(tmp_path / "runs/quick-1", 12)
    write_run(tmp_path / "runs/quick-2", 40)
    page.open("runs/quick-1")
    page.wait_for("#runs .columns .card", 1)
    assert generations(page) == 12
    told = page.text("#runs dl")
    for part in ["against alphabeta:nodes=200 with 32 simulations", "not running", "latrunculi train --resume"]:
        assert part in told
    # The only line of the scores is named, too.
    page.wait("return !$('#runs .charts .legend').hidden")
    with open(tmp_path / "runs/quick-1/metrics.jsonl", "a", encoding="utf-8") as file:
        file.writelines(map(metrics, range(12, 15)))
    page.wait_text("#runs dl", "Generations15", seconds=10)
    # Two runs side by side.
    page.choose("Beside it", "quick-2")
    page.wait_for("#runs .columns .card", 2)
    assert (generations(page, 0), generations(page, 1)) == (15, 40)
    lines = page.run("return $$('#runs .chart path.line').map((one) => one.getAttribute('d').split('L').length)")
    assert {15, 40} <= set(lines)
    page.screenshot("runs.png")


def test_a_finished_run_ends_with_its_final_match_and_its_network_is_played(page, tmp_path):
    run = tmp_path / "runs/quick-1"
    write_run(run, 12)
    with open(run / "metrics.jsonl", "a", encoding="utf-8") as file:
        # The last round has no games.
        file.write(json.dumps({key: value for key, value in json.loads(metrics(12)).items() if key not in ("games", "rulesets", "games_per_sec")}) + "\n")
    verdict = {"opponent": "alphabeta:nodes=200", "simulations": 32, "wins": 60, "draws": 20, "losses": 20, "score": 0.7, "lower": 0.61, "upper": 0.78}
    (run / "result.json").write_text(json.dumps({"state": {"generations": 12, "elapsed_secs": 900.0, "samples": 6500}, "verdicts": {"bell": verdict}}))
    (run / "learning.html").write_text("<h1>A curve</h1>")
    (run / "export").mkdir()
    shutil.copy(ROOT / "models/universal.safetensors", run / "export/model.safetensors")
    page.open("runs/quick-1")
    page.wait_text("#runs dl", "70.0 % [61.0, 78.0] against alphabeta:nodes=200 with 32 simulations, 100 games (final match)")
    assert generations(page) == 12
    page.click("#runs .chart-card summary")
    told = "return $$('#runs .chart-card:first-child tbody tr').at(-1).textContent"
    page.wait(told)
    assert page.run(told) == "1270"
    for axis, last in [("minutes", "1570"), ("samples", "650070")]:
        page.choose("Drawn against", axis)
        page.wait(f"{told} === arguments[0]", last)
    page.screenshot("run-finished.png")
    titles = page.run("return $$('#runs .chart-card').filter((one) => one.offsetParent).map((one) => one.querySelector('figcaption').firstChild.textContent)")
    assert len(titles) == 8 and "Learning rate" in titles and "Length of the gradient" in titles
    assert page.run("return $$('#runs .chart-card figcaption p').every((one) => one.textContent.length > 40)")
    files = page.run("return $$('#runs .links a').map((one) => [one.textContent, one.getAttribute('href')])")
    assert files[0] == ["Learning curve", "/runs/quick-1/learning.html"]
    size = page.run_async("fetch('/runs/quick-1/model.safetensors').then((answer) => answer.arrayBuffer()).then((bytes) => arguments[0](bytes.byteLength))")
    assert size == (run / "export/model.safetensors").stat().st_size
    page.click_button("Play this network", "#runs")
    page.wait("return location.hash === '#play' && stored().ruleset === 'bell' && stored().agents[1] === 'net:runs/quick-1,sims=64'")


def test_the_only_round_stands_alone_on_its_axis(page, tmp_path):
    write_run(tmp_path / "runs/quick-1", 1)
    page.open("runs/quick-1")
    page.wait_for("#runs .chart circle")
    marks = page.run("""return $$("#runs .chart").filter((one) => one.clientWidth).map(
        (one) => [...one.querySelectorAll("text.center")].map((mark) => mark.textContent).join())""")
    assert set(marks) == {"0,generation"}


def test_an_empty_folder_says_how_to_fill_it(page):
    page.open("runs")
    page.wait_text("#runs", "latrunculi train")


def test_a_run_that_is_not_there_is_named_and_another_one_shown(page, tmp_path):
    write_run(tmp_path / "runs/quick-1", 3)
    page.open("runs/nonsense")
    page.wait_for("#runs .columns .card", 1)
    assert page.text("#runs > p").startswith("There is no run nonsense in the folder ")
    page.show("runs/quick-1")
    page.wait("return $('#runs > p').hidden")


def test_a_finished_run_without_a_match_says_so_and_its_data_lie_between_labels(page, tmp_path):
    run = tmp_path / "runs/quick-1"
    write_run(run, 12)
    rounds = [{**json.loads(metrics(generation)), "verdicts": {}} for generation in range(12)]
    (run / "metrics.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in rounds))
    (run / "result.json").write_text(json.dumps({"state": {"generations": 12, "elapsed_secs": 900.0, "samples": 6500}, "verdicts": {}}))
    page.open("runs/quick-1")
    page.wait_text("#runs dl", "Strengthno match was played")
    page.wait_for("#runs .chart circle")
    beyond = page.run("""return $$("#runs .chart").filter((one) => one.clientWidth).filter((one) => {
        const at = (selector, name) => [...one.querySelectorAll(selector)].map((mark) => Number(mark.getAttribute(name)));
        const labels = at("text.right", "y"), points = at("circle", "cy");
        return Math.min(...points) < Math.min(...labels) - 0.01 || Math.max(...points) > Math.max(...labels) + 0.01;
    }).map((one) => one.ariaLabel)""")
    assert beyond == []
    page.screenshot("run-without-a-match.png")
