"""Rulesets, games and the numbers of actions."""

import copy
import pickle
import random
import threading
import xml.etree.ElementTree as xml

import latrunculi
import numpy as np
import pytest
from latrunculi import Game, Ruleset


def play_out(game, rng, actions_max=10_000):
    while not game.is_over and len(game.actions) < actions_max:
        game.play(int(rng.choice(game.legal_indices())))
    return game


def test_every_shipped_ruleset_is_described_and_drawn():
    assert len(latrunculi.rulesets()) == 28
    for name in latrunculi.rulesets():
        ruleset = Ruleset(name)
        assert ruleset.id == name and ruleset.diff(name) == {}
        assert name in ruleset.describe() and "\n  " in ruleset.describe()
        xml.fromstring(Game(ruleset).svg())


def test_a_ruleset_is_made_of_a_name_a_file_or_parameters(ruleset):
    rules = Ruleset(ruleset)
    assert rules == Ruleset(rules) == Ruleset.from_toml(rules.to_toml()) == pickle.loads(pickle.dumps(rules))
    nested = Ruleset({"id": "mine", "base": "bell", "capture": {"per_move": "all"}})
    flat = Ruleset({"id": "mine", "base": "bell", "capture.per_move": "all"})
    assert nested == flat and flat.diff("bell") == {"capture.per_move": ("all", "one")}
    assert flat.parameters["capture.per_move"] == "all" and hash(flat) == hash(nested) and flat != rules


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Ruleset("bel"), 'there is no ruleset and no file "bel"; did you mean bell?'),
        (lambda: Ruleset({"id": "x", "base": "bell", "capture.per_mov": 1}), "did you mean capture.per_move?"),
        (lambda: Ruleset({"id": "x", "board": {"files": 99}}), "board.files"),
        (lambda: Game("bell", "8/8"), "rows"),
        (lambda: Game("bell", player=3), "a player is 1 or 2"),
        (lambda: Game("bell", actions=["@a1", "a1-z9"]), "action 2: "),
        (lambda: Game("bell").play("a1-a2"), "a1-a2"),
        (lambda: Game("bell").play(10**12), "is not legal here"),
        (lambda: Game("bell").play(-1), "is not legal here"),
        (lambda: latrunculi.search(Game("bell"), "alfabeta:nodes=5"), "there is no agent"),
        (lambda: latrunculi.search(Game("bell"), "human"), "human plays only"),
        (lambda: latrunculi.search(Game("bell"), "net:/nowhere.safetensors"), "/nowhere.safetensors"),
        (lambda: latrunculi.Network("/nowhere.safetensors"), "/nowhere.safetensors"),
        (lambda: latrunculi.Network(precision="f8"), "f8"),
        (lambda: latrunculi.play_match("random", "human", "bell"), "human plays only"),
        (lambda: latrunculi.balance("bell", "alphabeta:seconds=1", max_games=5), "do not repeat"),
        (lambda: latrunculi.play_match("random", "greedy", "bell", games=0), "games"),
        (lambda: latrunculi.balance("bell", "random", max_game=5), "max_game"),
        (lambda: latrunculi.balance("bel", "random", max_games=5), "did you mean bell?"),
        (lambda: latrunculi.VectorGame("bell", 0), "number of games"),
    ],
)
def test_bad_input_is_refused_with_the_text_of_the_program(make, text):
    with pytest.raises(ValueError, match="(?s).") as error:
        make()
    assert text in str(error.value)


@pytest.mark.parametrize("argument", [None, 5, 1.5, ["bell"], b"bell\xff"])
def test_what_is_no_ruleset_at_all_is_a_type_error(argument):
    with pytest.raises(TypeError):
        Ruleset(argument)
    with pytest.raises((TypeError, ValueError)):
        Game("bell").play(argument)


def test_a_game_is_played_taken_back_copied_and_pickled(ruleset):
    rng = np.random.default_rng(1)
    game = Game(ruleset)
    play_out(game, rng, 12)
    twin = Game(ruleset, actions=game.actions)
    assert twin == game and repr(twin) == repr(game)
    assert copy.deepcopy(game) == game == pickle.loads(pickle.dumps(game))
    before = game.copy()
    text = game.legal_actions()[0]
    assert game.text_of(game.index_of(text)) == text
    assert game.play(text) is game and game != before
    assert game.undo() == before and game.position == before.position
    again = Game(ruleset, position=game.position)
    assert again.position == game.position and again.legal_actions() == game.legal_actions()
    with pytest.raises(IndexError):
        again.undo()


def test_a_game_that_is_over_says_who_won_and_refuses_more(ruleset):
    game = play_out(Game(ruleset), np.random.default_rng(2))
    assert game.is_over and game.player is None and game.result in (0, 1, 2) and game.reason
    assert game.legal_actions() == [] and not game.action_mask().any() and len(game.actions) <= game.ruleset.actions_max
    for refused in [lambda: game.play(0), lambda: game.play("a1-a2"), lambda: latrunculi.search(game, "random")]:
        with pytest.raises(ValueError, match="the game is over"):
            refused()
    with pytest.raises(ValueError, match="the game is over"):
        latrunculi.Network().evaluate([game])


def changed(rng):
    """Returns a ruleset with parameters drawn at random, or None where they cannot be played together."""
    values = {
        "capture.per_move": ["one", "all"],
        "capture.lines": ["orthogonal", "all"],
        "capture.span": ["1", "row"],
        "capture.trigger": ["active", "positional"],
        "capture.corner": [False, True],
        "capture.man_by_enclosure": [False, True],
        "capture.timing": ["immediate", "delayed", "displacement"],
        "capture.removal_scope": ["all", "line", "one"],
        "move.lines": ["orthogonal", "all"],
        "man.range": ["1", "slide"],
        "man.jump_over": [[], ["own"], ["enemy"], ["own", "enemy"]],
        "man.jump_run": ["1", "any"],
        "man.jump_chain": ["none", "optional", "maximal"],
        "extra.mode": ["none", "optional", "mandatory", "must_capture"],
    }
    chosen = {name: rng.choice(known) for name, known in values.items() if rng.random() < 0.5}
    try:
        return Ruleset({"id": "drawn", "base": rng.choice(latrunculi.rulesets())} | chosen)
    except ValueError:
        return None


def test_every_legal_action_has_a_number_of_its_own():
    rng = random.Random(3)
    drawn = [ruleset for ruleset in (changed(rng) for _ in range(150)) if ruleset]
    assert len(drawn) > 50
    for ruleset in [Ruleset(name) for name in latrunculi.rulesets()] + drawn:
        game = Game(ruleset)
        for _ in range(150):
            if game.is_over:
                break
            indices = game.legal_indices()
            assert len(set(indices.tolist())) == len(indices), (ruleset.to_toml(), game.position)
            assert 0 <= indices.min() and indices.max() < ruleset.action_count
            assert game.action_mask().sum() == len(indices)
            text = rng.choice(game.legal_actions())
            assert game.text_of(game.index_of(text)) == text
            game.play(text)


def test_positions_that_no_game_comes_to_have_texts_but_no_numbers():
    for game in [Game("savard", "8/8/8/8/8/8/8/8 1 M3m3 place:2 - 0 0"), Game("beads", "D:a1 d:l8 m:b3 M:c3")]:
        try:
            assert game.action_mask().sum() == len(game.legal_actions())
        except ValueError as error:
            assert "have no numbers" in str(error)
        game.play(game.legal_actions()[0])


def test_both_players_see_the_board_from_their_own_side(ruleset):
    game = Game(ruleset)
    own, other = game.observation(1), game.observation(2)
    assert own.shape == game.ruleset.observation_shape and own.dtype == np.float32
    assert np.array_equal(own[0], other[0]), "both sides begin alike"
    play_out(game, np.random.default_rng(4), 40)
    planes, scalars = game.features()
    assert planes.shape == game.ruleset.planes_shape and scalars.shape == (game.ruleset.scalar_count,)
    assert [len(names) for names in game.ruleset.feature_names] == [len(planes), len(scalars)]
    mine, theirs = game.features(1)[0], game.features(2)[0]
    assert np.array_equal(mine[0], theirs[2][::-1]) and np.array_equal(mine[2], theirs[0][::-1])
    assert np.array_equal(game.observation()[: len(planes)], planes)


def test_a_network_answers_games_in_a_batch_as_it_does_alone(ruleset):
    network = latrunculi.Network()
    rng = np.random.default_rng(5)
    games = [play_out(Game(ruleset), rng, count) for count in (0, 7, 20)]
    policies, values, margins = network.evaluate(games)
    assert values.shape == (3, 3) and margins.shape == (3,) and np.allclose(values.sum(1), 1, atol=1e-5)
    for game, policy, value in zip(games, policies, values):
        assert len(policy) == len(game.legal_actions()) and abs(policy.sum() - 1) < 1e-5
        assert np.allclose(network.evaluate([game])[1][0], value, atol=1e-5)
    assert network.evaluate([])[1].shape == (0, 3)
    with pytest.raises(ValueError, match="one ruleset"):
        network.evaluate([games[0], Game("dutch")])
    assert sum(tensor.size for tensor in network.tensors().values()) > 100_000 and network.info["rulesets"]


def test_a_game_may_be_used_from_many_threads(ruleset):
    game, failed = Game(ruleset), []

    def use():
        for _ in range(200):
            try:
                game.play(game.legal_actions()[0])
                game.undo()
                latrunculi.search(game, "random")
            except (ValueError, IndexError, RuntimeError):
                pass  # Another thread was faster.
            except BaseException as error:
                failed.append(error)

    threads = [threading.Thread(target=use) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not failed
    assert game.legal_actions() is not None
