"""Training runs, watched while they are written."""

import json
import shutil

from selenium.webdriver import ActionChains

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


def finish(folder, score, games=100, **others):
    """Ends a run with final matches: the score in bell, and those in other rulesets."""
    def verdict(score):
        wins = round(score * games)
        return {"opponent": "alphabeta:nodes=200", "simulations": 32, "wins": wins, "draws": 0, "losses": games - wins, "score": score, "lower": score - 0.08, "upper": score + 0.08}
    verdicts = {ruleset: verdict(score) for ruleset, score in {"bell": score, **others}.items()}
    (folder / "result.json").write_text(json.dumps({"state": {"generations": 12, "elapsed_secs": 900.0, "samples": 6500}, "verdicts": verdicts}))


def generations(page, index=0):
    return page.run("""const terms = [...($$("#runs .columns .card")[arguments[0]]?.querySelectorAll("dt") ?? [])];
        return Number(terms.find((one) => one.textContent === "Generations")?.nextSibling.textContent.replaceAll(",", "") ?? -1)""", index)


def test_a_run_is_watched_while_it_is_written(page, tmp_path):
    write_run(tmp_path / "runs/quick-1", 12)
    write_run(tmp_path / "runs/quick-2", 40)
    page.open("runs/quick-1")
    page.wait_for("#runs .columns .card", 1)
    page.wait_text("#runs dl", "Generations12")
    told = page.text("#runs dl")
    for part in ["with 32 simulations against alphabeta:nodes=200", "generation 10", "not running", "latrunculi train --resume"]:
        assert part in told
    # The only line of the scores is named, too.
    page.wait("return !$('#runs .charts .legend').hidden")
    page.click("#runs [aria-label='Files of quick-1']")
    with open(tmp_path / "runs/quick-1/metrics.jsonl", "a", encoding="utf-8") as file:
        file.writelines(map(metrics, range(12, 15)))
    page.wait_text("#runs dl", "Generations15", seconds=10)
    assert page.run("return $('#runs .columns details').open && document.activeElement.ariaLabel === 'Files of quick-1'")
    # Two runs side by side.
    page.click("#runs [aria-label='Draw quick-2']")
    page.wait_for("#runs .columns .card", 2)
    assert page.run("return location.hash") == "#runs/quick-1/quick-2"
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
    finish(run, 0.7)
    (run / "learning.html").write_text("<h1>A curve</h1>")
    (run / "export").mkdir()
    shutil.copy(ROOT / "models/universal.safetensors", run / "export/model.safetensors")
    page.open("runs/quick-1")
    page.wait_text("#runs dl", "Strength70.0 % [62.0, 78.0]")
    assert "with 32 simulations against alphabeta:nodes=200, 100 games, final match" in page.text("#runs dl")
    assert generations(page) == 12
    page.click("#runs .chart-card summary")
    told = "return $$('#runs .chart-card:first-child tbody tr').at(-1)?.textContent"
    page.wait(told)
    assert page.run(told) == "1270 % [62, 78.0]"
    for axis, last in [("minutes", "1570 % [62, 78.0]"), ("samples", "650070 % [62, 78.0]")]:
        page.choose("Drawn against", axis)
        page.wait(f"{told} === arguments[0]", last)
    page.screenshot("run-finished.png")
    titles = page.run("return $$('#runs .chart-card').filter((one) => one.offsetParent).map((one) => one.querySelector('figcaption').firstChild.textContent)")
    assert len(titles) == 9 and "Learning rate" in titles and "Length of the gradient" in titles
    assert page.run("return $$('#runs .chart-card figcaption p').every((one) => one.textContent.length > 40)")
    files = page.run("return $$('#runs .links a').map((one) => [one.textContent, one.getAttribute('href')])")
    assert files[0] == ["Learning curve", "/runs/quick-1/learning.html"]
    size = page.run_async("fetch('/runs/quick-1/model.safetensors').then((answer) => answer.arrayBuffer()).then((bytes) => arguments[0](bytes.byteLength))")
    assert size == (run / "export/model.safetensors").stat().st_size
    page.click_button("Play this network", "#runs")
    page.wait("return location.hash === '#play' && stored().ruleset === 'bell' && stored().agents[1] === 'net:runs/quick-1,sims=64'")


def test_runs_are_compared_and_their_final_matches_told_apart(page, tmp_path):
    for name, score in [("one", 0.60), ("two", 0.61), ("three", 0.3)]:
        write_run(tmp_path / "runs" / name, 12)
        finish(tmp_path / "runs" / name, score)
        (tmp_path / "runs" / name / "export").mkdir()
        shutil.copy(ROOT / "models/universal.safetensors", tmp_path / "runs" / name / "export/model.safetensors")
    page.open("runs/one/two/three")
    page.wait_for("#runs .columns .card", 3)
    page.wait_for("#runs .chart circle.final", 3)
    # No dot covers another one, nor does a whisker.
    places = sorted(page.run("return $$('#runs .chart circle.final').map((one) => Number(one.getAttribute('cx')))"))
    assert all(right - left >= 8 for left, right in zip(places, places[1:])) and places == sorted(set(places))
    legend = page.text("#runs .legend")
    assert legend.count("against alphabeta:nodes=200") == 1 and "two, final match, 100 games: 61.0 % [53.0, 69.0]" in legend
    told = page.text("#runs [aria-label=Comparison]")
    assert "In bell: two (61.0 %) has the highest score. Clearly below: three (30.0 %). Too few games to tell it from one (60.0 %)." in told
    assert f"latrunculi match net:{tmp_path}/runs/two,sims=64 net:{tmp_path}/runs/one,sims=64 --ruleset bell" in told
    # 1 and 31 points, with 1.222 times the interval of two independent scores, each 8 wide.
    rows = page.run("return $$('#runs [aria-label=\"Scores by ruleset\"] tbody tr').map((row) => [...row.children].map((one) => one.firstChild.textContent))")
    assert rows[-1] == ["points less than two", "–", "1.0 [-12.8, 14.8]", "31.0 [17.2, 44.8]"]
    assert "They have the same settings." in told
    page.click("#runs [aria-label='Draw one']")
    page.wait_text("#runs [aria-label=Comparison]", "two (61.0 %) is clearly stronger than three (30.0 %). If you chose these two by their scores among others")
    page.click("#runs [aria-label='Draw one']")
    page.wait_for("#runs .columns .card", 3)
    # What all have in common is said once.
    assert page.text("#runs .columns").count("Simulations per decision") == 0 and "simulations per decision 16" in page.text("#runs .columns > p")
    page.screenshot("runs-compared.png")


def test_runs_are_compared_in_the_ruleset_that_is_chosen(page, tmp_path):
    for name, bell, savard in [("one", 0.60, 0.40), ("two", 0.38, 0.66), ("three", 0.48, 0.54)]:
        write_run(tmp_path / "runs" / name, 12)
        finish(tmp_path / "runs" / name, bell, savard=savard)
        shutil.copy(ROOT / "configs/rulesets/savard.toml", tmp_path / "runs" / name / "rulesets/savard.toml")
    page.open("runs/one/two/three?ruleset=nonsense")
    comparison = "#runs [aria-label=Comparison]"
    page.wait_text(comparison, "Over all 2 rulesets together: two (52.0 %) has the highest score. Too few games to tell it from")
    assert page.run("return location.hash") == "#runs/one/two/three"
    assert "38.0 % [30.0, 46.0]" in page.text(f"{comparison} [aria-label='Scores by ruleset']")
    assert "final match, 100 games in each of 2 rulesets: 52.0 % [46.3, 57.7]" in page.text("#runs .legend")
    page.choose("Ruleset", "savard")
    # A difference of 12 points would be clear between two runs, and is not between the best of three and another one.
    page.wait_text(comparison, "In savard: two (66.0 %) has the highest score. Clearly below: one (40.0 %). Too few games to tell it from three (54.0 %).")
    # What was measured in another way is left out, and named.
    write_run(tmp_path / "runs/four", 12)
    finish(tmp_path / "runs/four", 0.9)
    page.open("runs/one/two/three/four?ruleset=savard")
    page.wait_text(comparison, "In savard: two (66.0 %) has the highest score.")
    page.wait_text(comparison, "Not measured in savard: four.")
    # The network is played in that ruleset.
    (tmp_path / "runs/one/export").mkdir()
    shutil.copy(ROOT / "models/universal.safetensors", tmp_path / "runs/one/export/model.safetensors")
    page.open("runs/one/two?from=9&to=5")
    page.wait("return location.hash === '#runs/one/two'")
    page.choose("Ruleset", "savard")
    page.click_button("Play this network", "#runs")
    page.wait("return location.hash === '#play' && stored().ruleset === 'savard'")
    page.open("runs/one/two/three?ruleset=bell")
    page.wait_text(comparison, "In bell: one (60.0 %) has the highest score. Clearly below: two (38.0 %).")


def test_a_part_of_the_charts_is_drawn_and_the_address_holds_what_is_shown(page, tmp_path):
    for name in ["quick-1", "quick-2"]:
        write_run(tmp_path / "runs" / name, 30)
        shutil.copy(ROOT / "configs/rulesets/savard.toml", tmp_path / "runs" / name / "rulesets/savard.toml")
    page.open("runs/quick-1/quick-2")
    dots = "return $$('#runs .chart-card:nth-child(2) circle').length"
    page.wait(f"{dots} === 60")
    chart = page.find_element("css selector", "#runs .chart-card:nth-child(2) .chart")
    page.run("arguments[0].scrollIntoView({ block: 'center' })", chart)
    ActionChains(page).move_to_element_with_offset(chart, -100, 0).click_and_hold().move_by_offset(100, 0).release().perform()
    page.wait(f"{dots} < 30")
    assert "?from=" in page.run("return location.hash") and page.run("return $$('#runs .chart-card').every((one) => one.hidden || one.querySelector('svg').children.length)")
    ActionChains(page).double_click(chart).perform()
    page.wait(f"{dots} === 60 && location.hash === '#runs/quick-1/quick-2'")
    # The same by the keyboard.
    page.choose("Drawn against", "minutes")
    page.choose("Ruleset", "bell")
    for label, end in [("From", "5"), ("To", "9")]:
        field = page.field(label, "input")
        field.clear()
        field.send_keys(end + "\n")
    page.wait(f"{dots} === 10")
    address = "#runs/quick-1/quick-2?against=minutes&ruleset=bell&from=5&to=9"
    assert page.run("return location.hash") == address
    # An end beyond the other one moves it away.
    for label, end, shown in [("From", "12", "from=12"), ("To", "14", "from=12&to=14"), ("To", "9", "to=9"), ("From", "5", "from=5&to=9")]:
        field = page.field(label, "input")
        field.clear()
        field.send_keys(end + "\n")
        page.wait("return location.hash.endsWith(`&${arguments[0]}`)", shown)
    page.wait(f"{dots} === 10")
    # The link shows the same elsewhere, and another part of the page changes nothing.
    page.reopen(address[1:])
    page.wait(f"{dots} === 10")
    page.show("play")
    page.show("runs")
    page.wait("return location.hash === arguments[0]", address)
    assert page.run("return $$('#runs > :not([aria-label=\"All runs\"]) select').map((one) => one.value)") == ["bell", "minutes", "1"]
    page.click_button("Show all of it", "#runs")
    page.wait(f"{dots} === 60")


def test_the_only_round_stands_alone_on_its_axis(page, tmp_path):
    write_run(tmp_path / "runs/quick-1", 1)
    page.open("runs/quick-1")
    page.wait_for("#runs .chart circle")
    marks = page.run("""return $$("#runs .chart").filter((one) => one.clientWidth).map(
        (one) => [...one.querySelectorAll("text.center")].map((mark) => mark.textContent).join())""")
    assert set(marks) == {"0,generation"}


def test_runs_are_listed_in_the_order_that_is_asked_for_and_scores_by_opponent(page, tmp_path):
    for name, score, rounds in [("c", 0.40, 12), ("a", 0.60, 11), ("b", 0.50, 10)]:
        write_run(tmp_path / "runs" / name, rounds)
        finish(tmp_path / "runs" / name, score)
    write_run(tmp_path / "runs/d", 3)
    weaker = json.loads((tmp_path / "runs/a/result.json").read_text())
    weaker["verdicts"]["bell"]["opponent"] = "alphabeta:nodes=20"
    (tmp_path / "runs/a/result.json").write_text(json.dumps(weaker))
    page.open("runs/c")
    page.wait_for("#runs .columns .card", 1)
    names = "return $$('#runs [aria-label=\"All runs\"] tbody th').map((one) => one.textContent).join('')"
    for order, expected in [("name", "abcd"), ("longest", "cabd"), ("score", "dbca")]:
        page.choose("Order", order)
        page.wait(f"{names} === arguments[0]", expected)
        assert f"order={order}" in page.run("return location.hash")
    page.reopen("runs/c?order=score")
    page.wait(f"{names} === 'dbca'")
    # Those that are drawn stay in the list.
    page.field("Names with", "input").send_keys("d")
    page.wait(f"{names} === 'dc'")
    page.field("Names with", "input").send_keys("x")
    page.wait_text("#runs .fault:not([hidden])", "No run has this in its name.")


def test_the_curves_of_a_run_are_put_in_words(page, tmp_path):
    def rounds(count, **changes):
        found = [json.loads(metrics(generation)) for generation in range(count)]
        return [{**one, "actors_busy": 0.9, **changes} for one in found]

    def write(name, found):
        write_run(tmp_path / "runs" / name, 0)
        (tmp_path / "runs" / name / "metrics.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in found))

    write("stopped", rounds(30, draw_rate=0.97))
    (tmp_path / "runs/stopped/provenance.json").write_text(json.dumps({"from": {"model": "models/universal.safetensors"}}))
    write("finished", rounds(30, actors_busy=0.3))
    finish(tmp_path / "runs/finished", 0.96)
    level = rounds(30)
    for at, one in enumerate(level):
        one["losses"].update(policy=2 + at % 2 / 100, gradient_norm=1 + at, clipped=0.5)
        one["verdicts"] = {}
    write("level", level)
    (tmp_path / "runs/level/result.json").write_text(json.dumps({"state": {}, "verdicts": {}}))
    write("short", rounds(3))
    earlier = rounds(30)
    earlier[25]["verdicts"]["bell"]["earlier"] = {"generation": 0, "wins": 70, "draws": 0, "losses": 30, "score": 0.7, "lower": 0.61, "upper": 0.79}
    write("earlier", earlier)
    expected = {
        "stopped": ["The run stopped before its learning rate fell, which is when networks usually gain: continue it to its end", "97.0 % of the last even games were drawn"],
        "finished": ["The loss of the policy still fell", "The actors played 30.0 % of the time and waited for training in the rest: with less reuse (replay.reuse, now 5)", "It nearly always wins with 32 simulations against alphabeta:nodes=200"],
        "level": ["The loss of the policy is level", "The gradient grows", "Its strength was not measured."],
        "short": ["The run stopped before its learning rate fell"],
        "earlier": ["The run stopped before its learning rate fell", "At generation 25 it was stronger than at generation 0: 70.0 % [61.0, 79.0] in 100 games."],
    }
    page.open("runs")
    for name, sentences in expected.items():
        page.show(f"runs/{name}")
        page.wait("return $('#runs .columns .card')?.ariaLabel === arguments[0]", name)
        found = page.run("return $$('#runs .columns li').map((one) => one.textContent)")
        assert len(found) == len(sentences) and all(one.startswith(start) for one, start in zip(found, sentences)), (name, found)
        # One match is no curve.
        assert ("Measured once so far." in page.text("#runs .chart-card figcaption")) == (name == "short")
    page.screenshot("run-in-words.png")
    assert "against itself at generation 0" in page.text("#runs .legend")
    page.show("runs/stopped")
    page.wait_text("#runs dl", "Begun withuniversal.safetensors")


def test_scores_of_other_rulesets_are_not_joined_and_runs_are_read_at_different_minutes(page, tmp_path):
    for name, minutes in [("one", 1), ("two", 1.37)]:
        write_run(tmp_path / "runs" / name, 30)
        shutil.copy(ROOT / "configs/rulesets/savard.toml", tmp_path / "runs" / name / "rulesets/savard.toml")
        found = [json.loads(metrics(generation)) for generation in range(30)]
        for one in found:
            one["elapsed_secs"] *= minutes
            if one["generation"] % 10 == 5:
                one["verdicts"] = {"savard": one["verdicts"]["bell"]}
        (tmp_path / "runs" / name / "metrics.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in found))
    page.open("runs/one/two?against=minutes")
    scores = "#runs .chart-card:nth-child(1)"
    page.wait_for(f"{scores} circle", 12)
    assert page.run("return $$(`${arguments[0]} path.line`).map((one) => one.getAttribute('d') ?? '')", scores) == ["", ""]
    assert "they make no curve" in page.text(f"{scores} figcaption") and "others each time" in page.text(f"{scores} .legend")
    chart = page.find_element("css selector", "#runs .chart-card:nth-child(2) .chart")
    page.run("arguments[0].scrollIntoView({ block: 'center' })", chart)
    ActionChains(page).move_to_element_with_offset(chart, -60, 0).perform()
    readout = "return !$('#runs .chart-card:nth-child(2) .readout').hidden && [...$('#runs .chart-card:nth-child(2) .readout').children].map((one) => one.textContent).join()"
    height = page.run("return $('main').scrollHeight")
    page.wait(f"return /^minutes [\\d.]+,one -?[\\d.]+,two -?[\\d.]+$/.test((() => {{ {readout} }})())")
    assert page.run("return $('main').scrollHeight") == height
    # Beyond the end of a run nothing of it is read.
    right = page.run("return arguments[0].clientWidth / 2", chart)
    ActionChains(page).move_to_element_with_offset(chart, int(right) - 15, 0).perform()
    page.wait(f"return /^minutes [\\d.]+,two -?[\\d.]+$/.test((() => {{ {readout} }})())")
    # Averaged over five generations, the first player's score that rises by a point a generation is two points behind.
    page.choose("Games averaged over", "5")
    page.wait("return $$('#runs .chart-card:nth-child(6) circle').length === 60 && location.hash.includes('smooth=5')")
    page.click("#runs .chart-card:nth-child(6) summary")
    page.wait("return $$('#runs .chart-card:nth-child(6) tbody tr').some((row) => row.textContent === '2977 %')")
    page.show("runs/one")
    page.wait_for("#runs [aria-label='By ruleset'] tbody tr", 2)
    assert page.run("return $$('#runs [aria-label=\"By ruleset\"] tr:first-child td').map((one) => one.textContent)") == ["60.0 % [50.0, 70.0]", "0.0 %", "20", "–"]
    assert "in 2 rulesets, with 32 simulations against alphabeta:nodes=200, 2 games each, generations 20 to 25" in page.text("#runs dl")
    page.show("runs/one/two")
    page.wait_for("#runs .columns .card", 2)
    page.choose("Ruleset", "savard")
    page.wait("return $$(`${arguments[0]} path.line`).every((one) => one.getAttribute('d').split('L').length === 3)", scores)


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


def test_a_damaged_run_says_so_in_its_card_and_all_else_is_drawn(page, tmp_path):
    for index, name in enumerate(["sound", "bad-line", "bad-config", "other", "unchosen"]):
        write_run(tmp_path / "runs" / name, 10 + index)
    (tmp_path / "runs/bad-line/metrics.jsonl").write_text("".join([metrics(0), '{"gener:\n', *map(metrics, range(2, 11))]))
    (tmp_path / "runs/bad-config/config.toml").write_text('[network]\nblocks = "many"\n')
    (tmp_path / "runs/bad-config/result.json").write_text("{")
    other = tmp_path / "runs/other/config.toml"
    other.write_text(other.read_text().replace("\nseed = 1 ", "\nseed = 7 ").replace('max_considered_actions = "auto"', "max_considered_actions = { fixed = 12 }"))
    (tmp_path / "runs/stray").mkdir()
    (tmp_path / "runs/stray/metrics.jsonl").write_text(metrics(0))
    page.open("runs/sound/bad-line/bad-config/other")
    page.wait_for("#runs .columns .card", 4)
    told = page.run("return $$('#runs .columns .card').map((one) => [one.ariaLabel, ...[...one.querySelectorAll('.fault')].map((fault) => fault.textContent)])")
    assert told[0] == ["sound"] and told[3] == ["other"]
    assert told[1][0] == "bad-line" and told[1][1].startswith("metrics.jsonl, line 2: ") and len(told[1]) == 2
    assert told[2][0] == "bad-config" and "result.json" in told[2][1] and "blocks" in told[2][2]
    # Four runs with a colour each, among them what was read of the damaged ones; no fault is said twice.
    lines = page.run("return $$('#runs .chart-card:nth-child(2) path.line').map((one) => [getComputedStyle(one).stroke, one.getAttribute('d').split('L').length])")
    assert [length for _, length in lines] == [10, 10, 12, 13] and len({color for color, _ in lines}) == 4
    assert page.run("return $('#fault').hidden")
    # All of them are listed, the damaged ones as such.
    rows = page.run("return Object.fromEntries($$('#runs [aria-label=\"All runs\"] tbody tr').map((row) => [row.querySelector('th').textContent, row.textContent]))")
    assert sorted(rows) == ["bad-config", "bad-line", "other", "sound", "unchosen"]
    assert [name for name in sorted(rows) if "damaged" in rows[name]] == ["bad-config", "bad-line"] and "finished" not in rows["bad-config"]
    assert rows["unchosen"].endswith("40.0 % [30.0, 50.0]generation 1013 of 814")
    # What is common to all scores is said once, and what is not of the settings.
    assert page.run("return $$('#runs p').filter((one) => one.textContent.startsWith('Scores: with 32 simulations against alphabeta')).length") == 1
    assert page.run("return $$('#runs [aria-label=\"Settings that differ\"] tbody tr').map((one) => one.textContent)") == [
        "score, %40.040.030.0", "selfplay.search.mode.gumbel.max_considered_actionsautofixed 12auto", "seed171"]
    for sentence in ["bad-line, sound have the same settings but for the seed", "bad-line and other differ in selfplay.search.mode.gumbel.max_considered_actions alone, besides the seed: bad-line has 0.0 [-14.1, 14.1] points more, too few games to tell them apart."]:
        assert sentence in page.text("#runs [aria-label=Comparison]")
    assert "Not shown: stray." in page.text("#runs")
    page.screenshot("runs-damaged.png")
    page.find_element("link text", "unchosen").click()
    page.wait_for("#runs .columns .card", 1)
    assert page.run("return $$('#runs input:checked').map((one) => one.ariaLabel)") == ["Draw unchosen"]


def test_losses_are_read_to_three_digits_between_labelled_ends(page, tmp_path):
    run = tmp_path / "runs/quick-1"
    write_run(run, 9)
    rounds = [json.loads(metrics(generation)) for generation in range(9)]
    for one in rounds:
        one["losses"]["policy"] = 1.561 + 0.012 * (8 - one["generation"])
        one["draw_rate"] = 0
    (run / "metrics.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in rounds))
    page.open("runs/quick-1")
    page.wait_for("#runs .chart circle")
    policy = "#runs .chart-card:nth-child(2)"
    labels = page.run("return $$(`${arguments[0]} text.right`).map((one) => [one.textContent, Number(one.getAttribute('y'))])", policy)
    rules = page.run("return $$(`${arguments[0]} line.rule`).map((one) => Number(one.getAttribute('y1')))", policy)
    assert labels[0][0] == "0.55" and labels[-1][0] == "0.70" and [y for _, y in labels] == rules
    page.click(f"{policy} summary")
    page.wait(f"return $('{policy} tbody tr:nth-child(2) td')?.textContent === '0.645'")
    # A point at the foot of the chart does not touch the numbers below.
    foot, tops = page.run("""const [dot, ...labels] = [$("#runs .chart-card:nth-child(7) circle"), ...$$("#runs .chart-card:nth-child(7) text.center")];
        return [dot.getBoundingClientRect().bottom, labels.map((one) => one.getBoundingClientRect().top)]""")
    assert len(tops) > 3 and min(tops) > foot
