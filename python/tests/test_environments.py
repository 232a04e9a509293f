"""The environments, by the tests of their libraries, and the vector environment."""

import itertools
import os
import pickle
import warnings

import latrunculi
import numpy as np
import psutil
import pytest
from latrunculi import Game, Ruleset, VectorGame

pettingzoo_test = pytest.importorskip("pettingzoo.test")


@pytest.fixture
def aec(ruleset):
    from latrunculi import latrunculi_v0

    return lambda **options: latrunculi_v0.env(ruleset=ruleset, **options)


def test_pettingzoo_api(aec):
    pettingzoo_test.api_test(aec(), num_cycles=400, verbose_progress=False)


def test_pettingzoo_seed(aec):
    pettingzoo_test.seed_test(aec, num_cycles=60)


def test_pettingzoo_save_obs(aec, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pettingzoo_test.test_save_obs(aec())
    # It saves images; planes with a mask are none, and it says so.
    assert "did not save" in capsys.readouterr().out


def test_pettingzoo_render(aec, capsys):
    pettingzoo_test.render_test(aec)


def test_pettingzoo_performance(aec, monkeypatch):
    # It plays for five seconds: of a clock that goes a millisecond at each look.
    clock = itertools.count()
    monkeypatch.setattr("time.time", lambda: next(clock) / 1000)
    pettingzoo_test.performance_benchmark(aec())


def test_pettingzoo_ends_with_an_illegal_action(aec):
    env = aec()
    env.reset()
    agent = env.agent_selection
    env.step(int(np.argmin(env.observe(agent)["action_mask"])))
    assert env.terminations[agent] and env.rewards[agent] == -1


def test_pettingzoo_rewards_the_winner(ruleset):
    from latrunculi import latrunculi_v0

    env = latrunculi_v0.env(ruleset)
    env.reset()
    game, rng, total = Game(ruleset), np.random.default_rng(1), dict.fromkeys(env.agents, 0)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, _ = env.last()
        total[agent] += reward
        if termination or truncation:
            env.step(None)
            continue
        assert agent == f"player_{game.player}"
        assert np.array_equal(observation["observation"], game.observation())
        action = int(rng.choice(np.flatnonzero(observation["action_mask"])))
        game.play(action)
        env.step(action)
    wanted = {0: (0, 0), 1: (1, -1), 2: (-1, 1)}[game.result]
    assert tuple(total.values()) == wanted


@pytest.mark.parametrize("opponent", ["random", "alphabeta:nodes=20", "net:sims=0"])
def test_gymnasium_check_env(ruleset, opponent):
    gymnasium = pytest.importorskip("gymnasium")
    from gymnasium.utils.env_checker import check_env

    import latrunculi.gymnasium_env  # noqa: F401

    env = gymnasium.make("latrunculi/Latrunculi-v0", ruleset=ruleset, opponent=opponent, render_mode="ansi")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_env(env.unwrapped)
    observation, info = env.reset(seed=1)
    done, rng = False, np.random.default_rng(1)
    while not done:
        action = int(rng.choice(np.flatnonzero(info["action_mask"])))
        observation, reward, done, _, info = env.step(action)
        assert observation in env.observation_space
    assert reward in (-1, 0, 1)
    with pytest.raises(ValueError, match="the game is over"):
        env.unwrapped.step(0)


def test_gymnasium_refuses_an_unknown_opponent():
    pytest.importorskip("gymnasium")
    from latrunculi.gymnasium_env import LatrunculiEnv

    with pytest.raises(ValueError, match="there is no agent"):
        LatrunculiEnv("bell", opponent="alfabeta")


def test_openspiel(ruleset):
    pyspiel = pytest.importorskip("pyspiel")
    from open_spiel.python.algorithms import mcts

    import latrunculi.open_spiel  # noqa: F401

    game = pyspiel.load_game("latrunculi", {"ruleset": ruleset})
    pyspiel.random_sim_test(game, num_sims=1, serialize=False, verbose=False)
    assert game.num_distinct_actions() == Ruleset(ruleset).action_count
    assert tuple(game.observation_tensor_shape()) == Ruleset(ruleset).observation_shape
    state = game.new_initial_state()
    rng = np.random.RandomState(1)
    for _ in range(12):
        state.apply_action(int(rng.choice(state.legal_actions())))
    assert pyspiel.deserialize_game_and_state(pyspiel.serialize_game_and_state(game, state))[1].history() == state.history()
    bot = mcts.MCTSBot(game, 1.4, 5, mcts.RandomRolloutEvaluator(1, rng), random_state=rng, solve=False)
    assert bot.step(state) in state.legal_actions()
    assert np.array_equal(state.observation_tensor(0), state.game.observation(1).ravel())


def test_alphazero_of_openspiel_learns_from_it(ruleset):
    pyspiel = pytest.importorskip("pyspiel")
    pytest.importorskip("flax")
    from open_spiel.python.algorithms.alpha_zero import utils

    import latrunculi.open_spiel  # noqa: F401

    game = pyspiel.load_game("latrunculi", {"ruleset": ruleset})
    # Its processes get copies of the game.
    assert str(pickle.loads(pickle.dumps(game)).new_initial_state()) == str(game.new_initial_state())
    shape, count = game.observation_tensor_shape(), game.num_distinct_actions()
    build = utils.api_selector("nnx").Model.build_model
    model = build("conv2d", shape, count, nn_width=8, nn_depth=1, weight_decay=1e-4, learning_rate=0.01, path=None)
    state = game.new_initial_state()
    value, policy = model.inference(state.observation_tensor(), state.legal_actions_mask())
    assert -1 <= value <= 1 and np.flatnonzero(np.asarray(policy) > 1e-6).tolist() == state.legal_actions()
    wanted = np.zeros(count, np.float32)
    wanted[state.legal_actions()[0]] = 1
    seen = np.asarray(state.observation_tensor(), np.float32)
    one = utils.TrainInput(observation=seen, legals_mask=np.asarray(state.legal_actions_mask()), policy=wanted, value=np.float32(1))
    losses = [model.update(utils.TrainInput.stack([one] * 4)).total for _ in range(8)]
    assert losses[-1] < losses[0]


def test_openspiel_loads_every_ruleset_by_name():
    pyspiel = pytest.importorskip("pyspiel")
    import latrunculi.open_spiel  # noqa: F401

    for name in latrunculi.rulesets():
        pyspiel.load_game(f"latrunculi(ruleset={name})").new_initial_state()
    with pytest.raises(Exception, match="there is no ruleset"):
        pyspiel.load_game("latrunculi(ruleset=bel)")


def choose(observation, rng):
    offsets = observation["offsets"]
    return observation["legal"][offsets[:-1] + (rng.random(len(offsets) - 1) * np.diff(offsets)).astype(np.int64)]


def test_a_vector_of_games_plays_as_single_games_do(ruleset):
    vector = VectorGame(ruleset, 40, masks=True)
    games = [Game(ruleset) for _ in range(40)]
    observation, rng, ended = vector.reset(), np.random.default_rng(1), 0
    for _ in range(250):
        for index, game in enumerate(games[:5]):
            planes, scalars = game.features()
            assert np.array_equal(observation["planes"][index], planes)
            assert np.array_equal(observation["scalars"][index], scalars)
            assert np.array_equal(observation["mask"][index], game.action_mask())
            assert vector.position(index) == game.position
        assert observation["player"].tolist() == [game.player for game in games]
        actions = choose(observation, rng)
        observation, rewards, done, info = vector.step(actions)
        for index, game in enumerate(games):
            assert info["player"][index] == game.player
            game.play(int(actions[index]))
            assert done[index] == game.is_over
            won = {None: [0, 0], 0: [0, 0], 1: [1, -1], 2: [-1, 1]}[game.result]
            assert rewards[index].tolist() == won
            if game.is_over:
                assert info["length"][index] == len(game.actions)
                games[index], ended = Game(ruleset), ended + 1
    assert ended > 0 or ruleset in ("savard", "beads", "mac-12x8")


def test_a_vector_of_games_refuses_what_is_not_legal_and_stays_as_it_was():
    vector = VectorGame("bell", 3)
    observation = vector.reset()
    first = observation["legal"][observation["offsets"][:-1]]
    before = vector.position(0)
    wrong = [first[:2], [first], first.astype(float) + 0.5, [first[0], -1, first[2]], [first[0], 10**9, first[2]], "abc", None]
    for actions in wrong:
        with pytest.raises((ValueError, TypeError)):
            vector.step(actions)
    assert vector.position(0) == before
    with pytest.raises(ValueError, match="there is no game"):
        vector.position(3)


def test_memory_does_not_grow_over_many_games():
    count = int(os.environ.get("LATRUNCULI_GAMES", 20_000))
    process, rng = psutil.Process(), np.random.default_rng(1)
    vector = VectorGame("bell", 2048, planes=False)
    observation, played, used = vector.reset(), 0, []
    while played < count:
        observation, _, done, _ = vector.step(choose(observation, rng))
        played += int(done.sum())
        used.append(process.memory_info().rss)
    game = Game("bell")
    for _ in range(300):
        while not game.is_over:
            game.play(int(game.legal_indices()[0]))
            game.observation()
        latrunculi.search(Game("bell"), "greedy")
        game = Game("bell")
    # The first games fill the memory that later ones use again.
    assert process.memory_info().rss < used[len(used) // 2] + 30e6
