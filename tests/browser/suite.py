"""The page of `latrunculi serve`, used in Chromium: games played by clicks, a run watched while its metrics grow, records
replayed. scripts/test-browser runs it; pictures of the page are left in the folder that it names."""

import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from driver import Browser

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ["LATRUNCULI"]
CHROMIUM = os.environ["CHROMIUM"]
CHROMEDRIVER = os.environ["CHROMEDRIVER"]
PICTURES = pathlib.Path(os.environ["PICTURES"])


class Served:
    """The program, serving folders of its own."""

    def __init__(self, folder):
        own = folder / "own.toml"
        own.write_text('id = "own"\nbase = "bell-8x8"\n[end]\nquiet_limit = 9\n')
        command = [PROGRAM, "serve", "--port", "0", "--runs", folder / "runs", "--studies", folder / "studies", "--rulesets", own]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        line = self.process.stdout.readline()
        self.url = re.search(r"http://\S+", line).group()

    def end(self):
        """Presses Ctrl-C; the program must end within two seconds."""
        begin = time.monotonic()
        self.process.send_signal(signal.SIGINT)
        status = self.process.wait(timeout=10)
        self.process.stdout.close()
        return status, time.monotonic() - begin


def program(*arguments):
    done = subprocess.run([PROGRAM, *map(str, arguments)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Page(unittest.TestCase):
    """A browser and a program for each test."""

    size = (1280, 900)

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.served = Served(self.folder)
        self.addCleanup(self.end)
        self.browser = Browser(CHROMIUM, CHROMEDRIVER, size=self.size)
        self.addCleanup(self.browser.__exit__)

    def end(self):
        status, seconds = self.served.end()
        self.assertEqual(status, 0)
        self.assertLess(seconds, 2)

    def tearDown(self):
        self.assertEqual(self.browser.complaints(), [])

    def open(self, part):
        self.browser.open(self.served.url)
        self.browser.run("localStorage.clear()")
        self.browser.open("about:blank")
        self.browser.open(f"{self.served.url}#{part}")

    def status(self, part="play"):
        return self.browser.run(f"return document.querySelector('#{part} .status').textContent")

    def begin(self, ruleset, first, second):
        self.browser.choose("Ruleset", ruleset)
        self.browser.choose("Player 1", first)
        self.browser.choose("Player 2", second)
        before = self.browser.run("return JSON.parse(localStorage.getItem('latrunculi.game')).seed")
        self.browser.click_button("New game", "#play")
        # Each game has a seed of its own.
        script = """const game = JSON.parse(localStorage.getItem("latrunculi.game"));
            return game.seed !== arguments[2] && game.ruleset === arguments[0] && game.agents.join() === arguments[1];"""
        self.browser.wait(script, ruleset, f"{first},{second}", before)

    def open_play(self):
        self.open("play")
        self.browser.wait("return document.querySelectorAll('#play [data-square]').length")


# What a person sees: which squares answer, which buttons, how many actions have been played, whether the game is over.
LOOK = """
const look = () => {
  const place = document.querySelector("#play");
  return {
    squares: [...place.querySelectorAll("[data-square].usable")].map((one) => one.dataset.square),
    selected: place.querySelector("[data-square][aria-pressed=true]")?.dataset.square ?? null,
    words: [...place.querySelectorAll(".choices button:not([aria-pressed])")].map((one) => one.textContent),
    played: place.querySelectorAll(".moves button").length,
    status: place.querySelector(".status").textContent,
  };
};
"""
SEEN = LOOK + "return look();"
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


class Games(Page):
    """Whole games, every action of a person by clicks."""

    def click_and_wait(self, selector, words, is_pointed):
        """Clicks a square, or the button with these words; returns what is seen when that has changed something."""
        found = """[...document.querySelectorAll(arguments[0])].find((one) => !arguments[1] || one.textContent === arguments[1])"""
        if not is_pointed:
            script = f"{CHANGED} const before = JSON.stringify(look()); {found}.click(); wait(before);"
            return self.browser.run_async(script, selector, words)
        self.browser.run(f"{LOOK} window.before = JSON.stringify(look())")
        if words:
            self.browser.click_button(words, "#play .choices")
        else:
            self.browser.click(selector)
        return self.browser.run_async(f"{CHANGED} wait(window.before);")

    def play(self, ruleset, second, seed):
        self.open_play()
        self.begin(ruleset, "human", second)
        drawn = random.Random(seed)
        seen = self.browser.run(SEEN)
        for count in range(6000):
            if re.search(r"wins|Drawn", seen["status"]):
                break
            if seen["words"] and (not seen["squares"] or drawn.random() < 0.3):
                selector, words = "#play .choices button", drawn.choice(seen["words"])
            else:
                selector, words = f"#play [data-square={drawn.choice(seen['squares'])}]", None
            seen = self.click_and_wait(selector, words, count < POINTED)
        else:
            self.fail(f"no end after so many clicks: {self.status()}")
        self.browser.screenshot(PICTURES / f"game-{ruleset}.png")
        # What the page has played is a game by the rules: the program plays its record over.
        line = self.browser.run("""
            const stored = JSON.parse(localStorage.getItem("latrunculi.game"));
            const request = new XMLHttpRequest();
            request.open("POST", "/api/record", false);
            request.setRequestHeader("content-type", "application/json");
            request.send(JSON.stringify({ ...stored, values: [], resigned: null }));
            return JSON.parse(request.responseText).line;""")
        path = self.folder / "game.jsonl"
        path.write_text(line + "\n")
        self.assertIn("every action is legal", program("inspect", "--verify", path))
        record = json.loads(line)
        self.assertEqual(len(record["actions"]), self.browser.run(SEEN)["played"])
        self.assertIsNotNone(record["result"])
        return record["actions"]

    def test_a_game_with_placement_and_jumps(self):
        actions = self.play("bell", "human", 1)
        self.assertTrue(any(text.startswith("D@") for text in actions))

    def test_a_game_with_chains_of_jumps_against_an_agent(self):
        self.play("savard", "greedy", 2)

    def test_a_game_with_bound_pieces_and_removals(self):
        actions = self.play("beads", "human", 3)
        self.assertTrue(any(text.startswith("x") for text in actions))

    def test_a_game_with_bonus_steps(self):
        self.play("dutch-8x8", "human", 4)


class Playing(Page):
    """What a person does besides moving."""

    def test_undo_hint_resign_change_sides_and_reload(self):
        self.open_play()
        self.begin("savard", "human", "greedy")
        self.browser.click_button("Hint", "#play")
        self.browser.wait_text("#play .status", "Hint: ")
        self.assertEqual(len(self.browser.run("return [...document.querySelectorAll('#play .arrow')]")), 1)
        self.browser.click("#play [data-square=a3]")
        self.browser.click("#play [data-square=a4]")
        self.browser.wait("return document.querySelectorAll('#play .moves button').length === 2")
        self.browser.click_button("Undo", "#play")
        self.browser.wait("return document.querySelectorAll('#play .moves button').length === 0")
        self.browser.click_button("Change sides", "#play")
        self.browser.wait("return document.querySelectorAll('#play .moves button').length === 1")
        self.browser.wait_text("#play .status", "Your turn")
        # The game is there again when the page is loaded again.
        self.browser.open("about:blank")
        self.browser.open(self.served.url)
        self.browser.wait("return document.querySelectorAll('#play .moves button').length === 1")
        self.browser.click_button("Resign", "#play")
        self.browser.click_button("Really resign?", "#play")
        self.browser.wait_text("#play .status", "Player 1 wins: player 2 resigned")
        self.assertEqual(self.browser.run("return JSON.parse(localStorage.getItem('latrunculi.game')).resigned"), 2)
        self.assertEqual(self.browser.run("return document.querySelectorAll('#play .side.to-act').length"), 0)

    def test_a_game_that_cannot_be_opened_now_is_kept(self):
        self.open_play()
        kept = '{"ruleset":"runs/gone/own","actions":["a3-a4"]}'
        self.browser.run("localStorage.setItem('latrunculi.game', arguments[0])", kept)
        self.browser.open("about:blank")
        self.browser.open(self.served.url)
        self.browser.wait("return document.querySelectorAll('#play [data-square]').length")
        self.browser.wait_text("#play .status", "Your turn")
        self.assertEqual(self.browser.run("return JSON.parse(localStorage.getItem('latrunculi.game'))"), json.loads(kept))
        self.browser.wait_text("#fault", "Your game of runs/gone/own is kept until you play here")

    def test_a_game_whose_ruleset_has_changed_is_kept_and_not_played_on(self):
        self.open_play()
        self.begin("own", "human", "human")
        self.browser.click("#play [data-square=c3]")
        self.browser.wait("return document.querySelectorAll('#play .moves button').length === 1")
        kept = self.browser.run("return JSON.parse(localStorage.getItem('latrunculi.game'))")
        # As if the file had been edited since.
        self.browser.run("localStorage.setItem('latrunculi.game', arguments[0])", json.dumps({**kept, "fingerprint": "00000000"}))
        self.browser.open("about:blank")
        self.browser.open(self.served.url)
        self.browser.wait_text("#fault", "has other parameters now")
        self.assertEqual(self.browser.run("return JSON.parse(localStorage.getItem('latrunculi.game')).actions"), kept["actions"])

    def test_an_address_of_no_part_shows_one(self):
        for address, shown in [("runs/50%", "runs"), ("constructor", "play")]:
            self.open(address)
            self.browser.wait("return !document.querySelector(`#${arguments[0]}`).hidden", shown)

    def test_the_link_to_the_content_stays_in_its_part(self):
        self.open("studies")
        self.browser.wait("return !document.querySelector('#studies').hidden")
        self.browser.run("document.querySelector('.skip').click()")
        self.assertEqual(self.browser.run("return [location.hash, document.activeElement.id]"), ["#studies", "main"])

    def test_a_game_under_way_is_not_left_unasked(self):
        self.open_play()
        self.begin("bell", "human", "human")
        self.browser.click("#play [data-square=c3]")
        self.browser.wait("return document.querySelectorAll('#play .moves button').length === 1")
        self.browser.click_button("Set up a position", "#play")
        self.assertFalse(self.browser.run("return Boolean(document.querySelector('dialog[open]'))"))
        self.browser.click_button("Leave this game?", "#play")
        self.browser.wait("return document.querySelector('dialog[open]')")

    def test_a_seed_of_64_bits_is_kept(self):
        self.open_play()
        line = self.browser.run("""
            const request = new XMLHttpRequest();
            request.open("POST", "/api/record", false);
            request.setRequestHeader("content-type", "application/json");
            request.send(JSON.stringify({ ruleset: "bell", actions: [], agents: ["human", "human"], seed: "18446744073709551615" }));
            return JSON.parse(request.responseText).line;""")
        self.assertIn("18446744073709551615", line)

    def test_a_game_goes_on_after_a_search_that_failed(self):
        self.open_play()
        self.begin("savard", "human", "greedy")
        self.browser.run("""const ask = window.fetch;
            window.mend = () => { window.fetch = ask; };
            window.fetch = (path, ...rest) => (path === "/api/searches" ? Promise.reject(new TypeError()) : ask.call(window, path, ...rest));""")
        self.browser.click("#play [data-square=a3]")
        self.browser.click("#play [data-square=a4]")
        self.browser.wait_text("#play .status", "Paused")
        self.browser.run("window.mend()")
        self.browser.click_button("Continue", "#play")
        self.browser.wait("return document.querySelectorAll('#play .moves button').length === 2")
        self.browser.wait_text("#play .status", "Your turn")

    def test_the_keyboard_alone_plays(self):
        self.open_play()
        self.begin("savard", "human", "human")
        self.browser.run("document.querySelector('#play [data-square=a1]').focus()")
        self.browser.press("up", "up", "enter", "up", "enter")
        self.browser.wait("return document.querySelector('#play .moves button')?.textContent === 'a3-a4'")
        label = self.browser.run("return document.querySelector('#play [data-square=a4]').ariaLabel")
        self.assertEqual(label, "a4, player 1's man, moved last")
        self.assertEqual(self.browser.run("return document.activeElement.dataset.square"), "a4")

    def test_a_game_under_way_is_not_left_by_one_click(self):
        self.open_play()
        self.begin("savard", "human", "human")
        self.browser.click("#play [data-square=a3]")
        self.browser.click("#play [data-square=a4]")
        self.browser.wait("return document.querySelectorAll('#play .moves button').length === 1")
        self.browser.click_button("New game", "#play")
        self.browser.wait("return [...document.querySelectorAll('#play button')].some((one) => one.textContent === 'Leave this game?')")
        self.assertEqual(self.browser.run(SEEN)["played"], 1)
        self.browser.click_button("Leave this game?", "#play")
        self.browser.wait("return document.querySelectorAll('#play .moves button').length === 0")
        self.browser.wait("return [...document.querySelectorAll('#play button')].some((one) => one.textContent === 'New game')")

    def test_a_network_that_does_not_know_the_ruleset_is_named(self):
        self.open_play()
        self.begin("own", "net:sims=16", "human")
        self.browser.wait_text("#play .notice", "in own: the network is near what it was trained on")
        self.browser.choose("Player 1", "human")
        self.browser.wait("return document.querySelector('#play .notice').hidden")

    def test_two_agents_play_and_are_paused(self):
        self.open_play()
        self.begin("bell-8x8", "random", "greedy")
        self.browser.wait("return document.querySelectorAll('#play .moves button').length >= 3")
        self.browser.click_button("Pause", "#play")
        self.browser.wait_text("#play .status", "Paused")
        played = self.browser.run(SEEN)["played"]
        time.sleep(1)
        self.assertEqual(self.browser.run(SEEN)["played"], played)
        self.browser.click_button("Continue", "#play")
        self.browser.wait("return document.querySelectorAll('#play .moves button').length > arguments[0]", played)

    def test_a_position_is_set_up_and_pasted(self):
        self.open_play()
        self.begin("savard", "human", "human")
        self.browser.click_button("Set up a position", "#play")
        self.browser.wait("return document.querySelector('dialog[open]')")
        self.browser.click_button("Empty the board", "dialog[open]")
        for tool, square in [("Player 1’s dux", "a1"), ("Player 2’s dux", "h8"), ("Player 1’s man", "a3"), ("Player 2’s man", "b3"), ("Player 1’s man", "c2")]:
            self.browser.click_button(tool, "dialog[open]")
            self.browser.click(f"dialog[open] [data-square={square}]")
        self.browser.screenshot(PICTURES / "set-up.png")
        self.browser.click_button("Play from here", "dialog[open]")
        self.browser.wait("return !document.querySelector('dialog[open]')")
        self.browser.click("#play [data-square=c2]")
        self.browser.click("#play [data-square=c3]")
        self.browser.wait_text("#play .status", "Player 1 wins: eliminated")
        self.assertIn("takes b3", self.browser.run("return document.querySelector('#play .moves').textContent"))
        # A position that cannot be is refused with the reason.
        self.browser.click_button("Set up a position", "#play")
        self.browser.wait("return document.querySelector('dialog[open]')")
        self.browser.run("document.querySelector('dialog[open] input').value = '8/8 1'")
        self.browser.click_button("Play from here", "dialog[open]")
        self.browser.wait("return document.querySelector('dialog[open] .fault').textContent")
        [refused] = self.browser.complaints()
        self.assertIn("422", refused)


class Analysing(Page):
    """Records replayed, and what a search thinks of them."""

    def test_a_record_is_replayed(self):
        path = self.folder / "games.jsonl"
        program("match", "greedy", "random", "--ruleset", "savard", "--games", 2, "--quiet", "--ledger", path)
        records = [json.loads(line) for line in path.read_text().splitlines()]
        self.open("analyse")
        self.browser.wait("return document.querySelectorAll('#analyse [data-square]').length === 64")
        self.browser.type("#analyse input[type=file]", str(path))
        last = records[-1]
        self.browser.wait("return document.querySelectorAll('#analyse .moves button').length === arguments[0]", len(last["actions"]))
        for _ in range(7):
            self.browser.click("#analyse [aria-label='one action on']")
        told = json.loads(program("analyse", "--record", path, "--ply", 7, "--agent", "random", "--json"))
        self.assertEqual(self.browser.run("return document.querySelector('#analyse input[readonly]').value"), told["position"])
        self.browser.click("#analyse [aria-label='to the end']")
        self.browser.wait_text("#analyse .status", f"After {len(last['actions'])} of")
        expected = "Drawn" if last["result"] == "draw" else f"Player {last['result']} wins"
        self.assertIn(expected, self.status("analyse"))
        # The other game of the file.
        self.browser.choose("Game of the file", "0")
        self.browser.wait("return document.querySelectorAll('#analyse .moves button').length === arguments[0]", len(records[0]["actions"]))

    def test_a_state_is_judged_and_another_action_tried(self):
        self.open("analyse")
        self.browser.wait("return document.querySelectorAll('#analyse [data-square]').length")
        self.browser.choose("Ruleset", "dutch-8x8")
        self.browser.wait("return document.querySelector('#analyse input[readonly]').value.includes('M')")
        self.browser.choose("Who judges", "net:sims=64")
        self.browser.wait("return document.querySelectorAll('#analyse tbody tr').length > 3")
        self.browser.wait_text("#analyse .verdict", "64 simulations")
        self.assertGreater(self.browser.run("return document.querySelectorAll('#analyse .arrow').length"), 0)
        action = self.browser.run("return document.querySelector('#analyse tbody button').textContent")
        self.browser.wait("return document.querySelector('#analyse .usable')")
        self.browser.click_button(action, "#analyse tbody")
        self.browser.wait("return document.querySelectorAll('#analyse .moves button').length === 1")
        self.assertIn(action, self.browser.run("return document.querySelector('#analyse .moves').textContent"))
        self.browser.choose("On the board", "policy")
        self.browser.wait("return document.querySelectorAll('#analyse .arrow.policy').length")
        self.browser.click_button("Judge the whole game", "#analyse")
        self.browser.wait("return document.querySelectorAll('#analyse .curve rect.win').length === 2")
        self.browser.choose("Who judges", "alphabeta:nodes=500")
        self.browser.wait_text("#analyse .verdict", "actions deep")


def metrics(generation):
    """A line of metrics.jsonl, as a run writes it, with the keys that the page reads."""
    score = 0.2 + 0.02 * generation
    verdict = {"opponent": "alphabeta:nodes=200", "simulations": 32, "wins": 1, "draws": 0, "losses": 1, "score": score, "lower": score - 0.1, "upper": score + 0.1}
    return json.dumps({
        "generation": generation, "learns_first": False, "steps": 10, "steps_total": 10 * generation, "samples_total": 500 * generation,
        "elapsed_secs": 60.0 * generation, "round_secs": 60.0, "games": 64, "games_per_sec": 3 + generation % 4, "draw_rate": 0.3,
        "first_player_score": 0.5 + 0.01 * generation, "actions_mean": 90 - generation, "train_secs": 5.0,
        "losses": {"policy": 3 / (1 + generation / 10), "target_entropy": 1.0, "value": 1 / (1 + generation / 20)},
        "rulesets": {"bell": {"games": 64, "samples": 500, "draw_rate": 0.3, "first_player_score": 0.5, "actions_mean": 90}},
        "verdicts": {"bell": verdict} if generation % 5 == 0 else {}}) + "\n"


def write_run(folder, rounds):
    (folder / "rulesets").mkdir(parents=True)
    shutil.copy(ROOT / "configs/train/quick.toml", folder / "config.toml")
    shutil.copy(ROOT / "configs/rulesets/bell.toml", folder / "rulesets/bell.toml")
    (folder / "metrics.jsonl").write_text("".join(map(metrics, range(rounds))))


class Watching(Page):
    """Runs and studies."""

    def rounds(self, index=0):
        return self.browser.run("""const card = document.querySelectorAll('#runs .columns .card')[arguments[0]];
            const terms = [...(card?.querySelectorAll('dt') ?? [])];
            return Number(terms.find((one) => one.textContent === 'Rounds')?.nextSibling.textContent ?? -1)""", index)

    def test_a_run_is_watched_while_it_is_written(self):
        write_run(self.folder / "runs/quick-1", 12)
        write_run(self.folder / "runs/quick-2", 40)
        self.open("runs/quick-1")
        self.browser.wait("return document.querySelectorAll('#runs .columns .card').length === 1")
        self.assertEqual(self.rounds(), 12)
        told = self.browser.run("return document.querySelector('#runs dl').textContent")
        self.assertIn("against alphabeta:nodes=200 with 32 simulations", told)
        self.assertIn("not running", told)
        self.assertIn("latrunculi train --resume", told)
        # The only line of the scores is named, too.
        self.browser.wait("return !document.querySelector('#runs .charts .legend').hidden")
        with open(self.folder / "runs/quick-1/metrics.jsonl", "a", encoding="utf-8") as file:
            for generation in range(12, 15):
                file.write(metrics(generation))
        self.browser.wait("return document.querySelector('#runs dl').textContent.includes('Rounds15')", seconds=10)
        # Two runs side by side.
        self.browser.choose("Beside it", "quick-2")
        self.browser.wait("return document.querySelectorAll('#runs .columns .card').length === 2")
        self.assertEqual((self.rounds(0), self.rounds(1)), (15, 40))
        lines = self.browser.run("return [...document.querySelectorAll('#runs .chart path.line')].map((one) => one.getAttribute('d').split('L').length)")
        self.assertIn(15, lines)
        self.assertIn(40, lines)
        self.browser.screenshot(PICTURES / "runs.png")

    def test_the_only_round_stands_alone_on_its_axis(self):
        write_run(self.folder / "runs/quick-1", 1)
        self.open("runs/quick-1")
        self.browser.wait("return document.querySelector('#runs .chart circle')")
        marks = self.browser.run("""return [...document.querySelectorAll('#runs .chart')].filter((one) => one.clientWidth).map(
            (one) => [...one.querySelectorAll('text.center')].map((mark) => mark.textContent).join())""")
        self.assertEqual(set(marks), {"0,generation"})

    def test_a_study_is_shown_and_its_games_replayed(self):
        folder = self.folder / "studies/small"
        program("balance", "--rulesets", "savard", "--agents", "greedy", "--max-games", 4, "--min-games", 2, "--quiet", "--out", folder)
        self.open("studies/small")
        self.browser.wait("return document.querySelectorAll('#studies tbody tr').length")
        self.browser.wait("return document.querySelector('#studies iframe').src.endsWith('/studies/small/report.html')")
        self.browser.screenshot(PICTURES / "study.png")
        # The report's numbers of games open them: those of the row, by their result.
        record = [json.loads(line) for line in (folder / "games/savard/greedy.jsonl").read_text().splitlines()]
        lengths = sorted({one["opening"] for one in record})
        self.browser.within("#studies iframe")
        self.browser.wait("return document.querySelector('.cards tbody .games button:enabled')")
        chosen = "document.querySelectorAll('.cards tbody .games button:enabled')"
        result, count = self.browser.run(f"return [{chosen}[0].parentNode.dataset.result, Number({chosen}[0].textContent)]")
        self.browser.run(f"{chosen}[0].click()")
        self.browser.within(None)
        self.browser.wait("return [...document.querySelectorAll('#studies .fields select')].some((one) => one.value === arguments[0])", result)
        self.browser.wait("return document.querySelectorAll('#studies tbody tr').length === arguments[0]", count)
        self.assertEqual(lengths[0], int(self.browser.run("return document.querySelector('#studies tbody td:last-child').textContent")))
        self.browser.screenshot(PICTURES / "study-games.png")
        self.browser.click_button("All games of the file", "#studies")
        self.browser.choose("Result", "")
        self.browser.wait("return document.querySelectorAll('#studies tbody tr').length === arguments[0]", len(record))
        self.browser.click_button("Game 2", "#studies")
        self.browser.wait("return location.hash === '#analyse' && document.querySelectorAll('#analyse .moves button').length")
        named = "return [...document.querySelectorAll('#analyse select')].some((one) => one.selectedOptions[0]?.textContent === arguments[0])"
        self.assertTrue(self.browser.run(named, "studies/small/savard"))

    def test_a_study_under_way_has_its_report_once_it_is_written(self):
        folder = self.folder / "studies/small"
        program("balance", "--rulesets", "savard", "--agents", "greedy", "--max-games", 4, "--min-games", 2, "--quiet", "--out", folder)
        report = folder / "report.html"
        written = report.read_text()
        report.unlink()
        self.open("studies")
        self.browser.wait("return document.querySelectorAll('#studies tbody tr').length")
        for part in ["play", "studies"]:
            self.browser.run("location.hash = arguments[0]", part)
            self.browser.wait("return !document.querySelector(`#${arguments[0]}`).hidden", part)
        self.assertTrue(self.browser.run("return document.querySelector('#studies iframe').hidden"))
        report.write_text(written)
        for part in ["play", "studies"]:
            self.browser.run("location.hash = arguments[0]", part)
            self.browser.wait("return !document.querySelector(`#${arguments[0]}`).hidden", part)
        self.browser.wait("return document.querySelector('#studies iframe').src.endsWith('/studies/small/report.html')")

    def test_empty_folders_say_how_to_fill_them(self):
        self.open("runs")
        self.browser.wait_text("#runs", "latrunculi train")
        self.open("studies")
        self.browser.wait_text("#studies", "latrunculi balance")


class Looks(Page):
    """Phone and desktop, light and dark."""

    def test_every_part_fits_and_is_pictured(self):
        write_run(self.folder / "runs/quick-1", 30)
        program("balance", "--rulesets", "savard", "--agents", "greedy", "--max-games", 4, "--min-games", 2, "--quiet", "--out", self.folder / "studies/small")
        self.open_play()
        self.begin("beads", "human", "net:sims=16")
        self.browser.click("#play [data-square].usable")
        for width, height, dark in [(1280, 900, False), (1280, 900, True), (390, 844, False), (390, 844, True)]:
            self.browser.resize(width, height, dark=dark)
            for part in ["play", "analyse", "runs", "studies"]:
                self.browser.run("location.hash = arguments[0]", part)
                self.browser.wait("return [...document.querySelectorAll('main > section')].some((one) => !one.hidden && one.id === arguments[0] && one.textContent.length > 200)", part)
                if part == "analyse":
                    self.browser.wait("return document.querySelectorAll('#analyse tbody tr').length > 3")
                time.sleep(0.7)
                room = self.browser.run("return [document.documentElement.scrollWidth, innerWidth]")
                self.assertLessEqual(room[0], room[1], f"{part} at {width}: the page is wider than the window")
                name = f"{part}-{width}-{'dark' if dark else 'light'}.png"
                self.browser.screenshot(PICTURES / name)

    def test_no_table_of_results_is_cut(self):
        for name in ["quick-1", "quick-2"]:
            write_run(self.folder / name, 30)
        program("curves", self.folder / "quick-1", self.folder / "quick-2", "--out", self.folder / "curves")
        shutil.copytree(ROOT / "docs/studies/full", self.folder / "full")
        program("balance", "--report-only", self.folder / "full")
        for page in [self.folder / "curves/learning.html", self.folder / "full/report.html"]:
            for width in [1280, 1600]:
                self.browser.resize(width, 1000)
                self.browser.open(page.as_uri())
                self.browser.run("for (const one of document.querySelectorAll('details')) one.open = true")
                cut = self.browser.run("""return [...document.querySelectorAll(".wide")].filter(
                    (one) => one.offsetParent && one.scrollWidth > one.clientWidth).map((one) => `${one.ariaLabel} ${one.scrollWidth}>${one.clientWidth}`)""")
                self.assertEqual(cut, [], f"{page.name} at {width}: {cut}")

    def test_every_control_has_a_name(self):
        self.open_play()
        nameless = self.browser.run("""return [...document.querySelectorAll("button, select, input, a")].filter(
            (one) => !(one.ariaLabel || one.textContent.trim() || one.closest("label") || one.type === "file")).map((one) => one.outerHTML)""")
        self.assertEqual(nameless, [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
