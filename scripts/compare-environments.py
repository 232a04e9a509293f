#!/usr/bin/env python3
"""Steps per second of environments in Python, observations included, played at random; in turns, so that a machine that becomes
slower or faster changes all alike.

    pip install ./python open_spiel pgx jax
    scripts/compare-environments.py [--batch 1024] [--seconds 3] [--rounds 3]

latrunculi.VectorGame with the planes and scalars of every game, as numpy arrays; pgx's Othello with its observations, as arrays of JAX,
finished games begun again; OpenSpiel's breakthrough (C++), one game after the other, with its observation tensor. What is not
installed is left out.
"""

import argparse
import statistics
import time

import latrunculi
import numpy as np


def vector_game(ruleset, batch):
    """Returns a function that plays one step of each game and returns how many."""
    vector, rng = latrunculi.VectorGame(ruleset, batch), np.random.default_rng(1)
    seen = vector.reset()

    def step():
        nonlocal seen
        chosen = seen["legal"][seen["offsets"][:-1] + rng.integers(np.diff(seen["offsets"]))]
        seen, *_ = vector.step(chosen)
        return batch

    return step


def pgx_othello(batch):
    import jax
    import pgx
    from pgx.experimental import auto_reset

    env = pgx.make("othello")
    begin, play = jax.jit(jax.vmap(env.init)), jax.vmap(auto_reset(env.step, env.init))

    @jax.jit
    def advance(state, key):
        drawn, next_key = jax.random.split(key)
        logits = jax.numpy.where(state.legal_action_mask, 0.0, -1e9)
        return play(state, jax.random.categorical(drawn, logits), jax.random.split(drawn, batch)), next_key

    state, key = begin(jax.random.split(jax.random.key(1), batch)), jax.random.key(2)

    def step():
        nonlocal state, key
        state, key = advance(state, key)
        jax.block_until_ready(state.observation)
        return batch

    return step


def open_spiel_breakthrough():
    import pyspiel

    game, rng = pyspiel.load_game("breakthrough"), np.random.default_rng(1)
    state = game.new_initial_state()

    def step():
        nonlocal state
        for _ in range(100):
            if state.is_terminal():
                state = game.new_initial_state()
            legal = state.legal_actions()
            state.apply_action(legal[int(rng.random() * len(legal))])
            if not state.is_terminal():
                state.observation_tensor()
        return 100

    return step


def rate(step, seconds):
    count, begin = 0, time.perf_counter()
    while time.perf_counter() < begin + seconds:
        count += step()
    return count / (time.perf_counter() - begin)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, default=1024, help="games at once (default: 1024)")
    parser.add_argument("--seconds", type=float, default=3, help="of each measurement (default: 3)")
    parser.add_argument("--rounds", type=int, default=3, help="measurements of each (default: 3)")
    given = parser.parse_args()
    makers = {
        **{f"latrunculi {name}": lambda name=name: vector_game(name, given.batch) for name in ["bell", "savard", "beads"]},
        "pgx othello": lambda: pgx_othello(given.batch),
        "OpenSpiel breakthrough": open_spiel_breakthrough,
    }
    steps = {}
    for name, make in makers.items():
        try:
            steps[name] = make()
            steps[name]()
        except ImportError as missing:
            print(f"{name}: left out, {missing}")
    rates = {name: [] for name in steps}
    for _ in range(given.rounds):
        for name, step in steps.items():
            rates[name].append(rate(step, given.seconds))
    first = statistics.median(rates["latrunculi bell"])
    print("| environment | steps/s, median | least | most | latrunculi bell, times as many |\n|---|---|---|---|---|")
    for name, found in rates.items():
        middle = statistics.median(found)
        print(f"| {name} | {middle:,.0f} | {min(found):,.0f} | {max(found):,.0f} | {first / middle:.1f} |")


if __name__ == "__main__":
    main()
