"""Searches, matches and studies are those of the program."""

import os
import signal
import subprocess
import sys
import threading
import time

import latrunculi
import numpy as np
import pytest
from latrunculi import Game


def test_the_actions_are_those_of_the_program(ruleset, program):
    game = Game(ruleset)
    rng = np.random.default_rng(1)
    for _ in range(3):
        for _ in range(15):
            if not game.is_over:
                game.play(int(rng.choice(game.legal_indices())))
        divided = program("perft", ruleset, "--depth", 1, "--divide", "--position", game.position)
        listed = {line.split()[0].rstrip(":") for line in divided.splitlines() if line.strip()}
        assert set(game.legal_actions()) <= listed, divided


@pytest.mark.parametrize(
    "agent", ["alphabeta:nodes=2000", "alphabeta:depth=2,seed=3", "mcts:sims=60,seed=5", "net:sims=24", "net:sims=0", "greedy"]
)
def test_a_search_finds_what_the_program_finds(ruleset, agent, program):
    game = Game(ruleset)
    rng = np.random.default_rng(2)
    for _ in range(20):
        game.play(int(rng.choice(game.legal_indices())))
    found = latrunculi.search(game, agent, lines=3)
    told = program("analyse", ruleset, "--position", game.position, "--agent", agent, "--best", 3, "--json")
    # Neither has the actions before the position.
    assert found == told or latrunculi.search(Game(ruleset, game.position), agent, lines=3) == told


def test_a_network_is_asked_for_analysis_or_as_it_plays(ruleset):
    game = Game(ruleset)
    found = latrunculi.search(game, "net:sims=24")
    assert found["search"] == "puct"
    assert all(line["improved_policy"] is None and 0 < line["prior"] < 1 for line in found["actions"])
    assert sum(line["visit_share"] for line in latrunculi.search(game, "net:sims=24", lines=1000)["actions"]) == pytest.approx(1)
    played = latrunculi.search(game, "net:sims=24", lines=1000, analysis=False)
    assert played["search"] == "gumbel"
    assert sum(line["improved_policy"] for line in played["actions"]) == pytest.approx(1, abs=1e-3)


def test_a_match_is_that_of_the_program(ruleset, program):
    for agents in [("alphabeta:nodes=100", "greedy"), ("net:sims=4", "mcts:sims=8")]:
        seen = []
        result = latrunculi.play_match(*agents, ruleset, games=8, seed=3, progress=lambda *told: seen.append(told))
        told = program("match", *agents, "--ruleset", ruleset, "--games", 8, "--seed", 3, "--json", "--quiet")
        assert result.summary == told and seen[-1][:2] == (8, 8)
        assert result.interval == (told["interval"]["lower"], told["interval"]["upper"])
        assert len(result.to_pandas()) == told["games"]
        for row in result.rows:
            game = Game(ruleset, actions=row["actions"])
            assert game.is_over and game.reason == row["reason"]


def test_a_match_takes_a_test_openings_of_a_policy_and_a_ledger(program, tmp_path):
    agents = ["alphabeta:nodes=100", "random"]
    policy = ["--opening-policy", "mcts:sims=8", "--opening-temperature", "2"]
    told = program("match", *agents, "--ruleset", "bell", "--sprt", "0,200", *policy, "--json", "--quiet")
    ledger = tmp_path / "ledger.jsonl"
    settings = dict(sprt=(0, 200), opening_policy="mcts:sims=8", opening_temperature=2, ledger=ledger)
    result = latrunculi.play_match(*agents, "bell", **settings)
    assert told["sprt"]["is_decided"] and result.summary == told
    # A second time all games are those of the ledger.
    written = ledger.read_bytes()
    assert latrunculi.play_match(*agents, "bell", **settings).summary == told and ledger.read_bytes() == written
    with pytest.raises(ValueError, match="random has no policy"):
        latrunculi.play_match(*agents, "bell", opening_policy="random")


def test_a_study_is_that_of_the_program(ruleset, program, tmp_path):
    arguments = ["--agents", "alphabeta:nodes=30,random", "--max-games", 60, "--seed", 2, "--json", "--quiet"]
    told = program("balance", "--rulesets", ruleset, *arguments, "--out", tmp_path / "program")
    result = latrunculi.balance(
        ruleset, ["alphabeta:nodes=30", "random"], max_games=60, seed=2, out=tmp_path / "python"
    )  # fmt: skip
    assert result.summary == told
    assert [row["games"] for row in result.to_pandas().to_dict("records")] == [row["games"] for row in result.rows]
    for name in ["summary.json", "balance.csv", "report.html", "study.toml", "first-player.svg"]:
        assert (tmp_path / "python" / name).read_bytes() == (tmp_path / "program" / name).read_bytes(), name


def test_a_study_is_led_from_python_and_played_by_workers(program, tmp_path):
    (tmp_path / "store").mkdir()
    worker = subprocess.Popen([program.path, "worker", "--store", tmp_path / "store", "--quiet"], stderr=subprocess.DEVNULL)
    try:
        settings = {"max_games": 60, "seed": 4}
        many = latrunculi.balance("bell", "alphabeta:nodes=20", store=str(tmp_path / "store"), **settings)
        assert many.summary == latrunculi.balance("bell", "alphabeta:nodes=20", **settings).summary
    finally:
        worker.kill()
        worker.wait()
    with pytest.raises(ValueError, match="ftp://nowhere"):
        latrunculi.balance("bell", "random", max_games=4, store="ftp://nowhere")


def test_other_threads_go_on_while_a_search_thinks():
    counted, over = [0], threading.Event()

    def count():
        while not over.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    latrunculi.search(Game("savard"), "alphabeta:seconds=0.5")
    over.set()
    thread.join()
    assert counted[0] > 20


@pytest.mark.parametrize(
    "work",
    [
        "latrunculi.search(latrunculi.Game('savard'), 'alphabeta:seconds=600')",
        "latrunculi.play_match('alphabeta:nodes=5000', 'alphabeta:nodes=4000', 'savard', games=10000)",
        "latrunculi.balance('savard', 'alphabeta:nodes=5000', max_games=10000)",
    ],
)
def test_ctrl_c_ends_long_work(work):
    # A shell lets what it runs in the background ignore SIGINT.
    listen = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    code = f"{listen}import latrunculi\nprint('ready', flush=True)\ntry:\n    {work}\nexcept KeyboardInterrupt:\n    print('stopped')"
    running = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert running.stdout.readline() == "ready\n"
    time.sleep(1)
    os.kill(running.pid, signal.SIGINT)
    told, _ = running.communicate(timeout=60)
    assert told == "stopped\n" and running.returncode == 0


def test_an_exception_of_the_progress_ends_the_match():
    def fail(done, expected, text):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        latrunculi.play_match("greedy", "random", "bell", games=100_000, progress=fail)
