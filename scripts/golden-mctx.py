#!/usr/bin/env python3
"""Writes tests/search/golden/mctx.json: what mctx answers on fixed inputs.

    python3 -m venv venv && venv/bin/pip install mctx==0.0.71 "jax[cpu]"
    venv/bin/python scripts/golden-mctx.py tests/search/golden/mctx.json

The games are random automata: a state has a player, logits and a value for that player, and each action leads to a
state. The player need not change, so the discount is 1 between states of one player and -1 between states of two.
In some cases a transition ends the game, with a reward for who acted and a discount of 0.
"""

import json
import sys

import jax
import jax.numpy as jnp
import mctx
import numpy as np
from mctx._src import qtransforms, seq_halving

MIN_MAX = qtransforms.qtransform_completed_by_mix_value


def rounded(array):
    """Returns nested lists of the shortest decimals that single precision reads back unchanged."""
    return [rounded(entry) for entry in array] if np.ndim(array) else float(str(np.float32(array)))


def case(name, seed, states, actions, simulations, considered, gumbel_scale=1.0, alternating=False,
         end_share=0.0, invalid_count=0, logits_scale=1.0):
    rng = np.random.default_rng(seed)
    players = np.arange(states) % 2 if alternating else rng.integers(0, 2, states)
    following = rng.integers(0, states, (states, actions))
    if alternating:
        following = following // 2 * 2 + (1 - players[:, None])
    logits = (logits_scale * rng.normal(size=(states, actions))).astype(np.float32)
    values = rng.uniform(-0.9, 0.9, states).astype(np.float32)
    # 2 is no end; otherwise the result for who acts.
    ends = np.where(rng.random((states, actions)) < end_share, rng.integers(-1, 2, (states, actions)), 2)
    invalid = np.zeros(actions, dtype=np.int32)
    invalid[rng.choice(actions, invalid_count, replace=False)] = 1

    is_end = ends != 2
    rewards = jnp.where(is_end, ends, 0).astype(jnp.float32)
    discounts = jnp.where(is_end, 0.0, jnp.where(players[following] == players[:, None], 1.0, -1.0))

    def recurrent_fn(params, key, action, state):
        after = jnp.asarray(following)[state, action]
        output = mctx.RecurrentFnOutput(
            reward=rewards[state, action],
            discount=discounts[state, action],
            prior_logits=jnp.asarray(logits)[after],
            value=jnp.asarray(values)[after],
        )
        return output, after

    root = mctx.RootFnOutput(
        prior_logits=jnp.asarray(logits[:1]),
        value=jnp.asarray(values[:1]),
        embedding=jnp.zeros([1], dtype=jnp.int32),
    )
    output = jax.jit(
        lambda key: mctx.gumbel_muzero_policy(
            params=(),
            rng_key=key,
            root=root,
            recurrent_fn=recurrent_fn,
            num_simulations=simulations,
            invalid_actions=jnp.asarray(invalid[None]),
            qtransform=MIN_MAX,
            max_num_considered_actions=considered,
            gumbel_scale=gumbel_scale,
        )
    )(jax.random.PRNGKey(seed))
    tree = jax.tree.map(lambda array: np.asarray(array)[0], output.search_tree)
    summary = jax.tree.map(lambda array: np.asarray(array)[0], output.search_tree.summary())

    paths = []
    for node in range(1, simulations + 1):
        path = []
        while node > 0:
            path.insert(0, int(tree.action_from_parent[node]))
            node = int(tree.parents[node])
        paths.append(path)

    prior = jax.nn.softmax(tree.children_prior_logits[0])
    root_q = tree.children_rewards[0] + tree.children_discounts[0] * tree.children_values[0]
    mixed = qtransforms._compute_mixed_value(tree.raw_values[0], root_q, tree.children_visits[0], prior)
    completed = np.where(tree.children_visits[0] > 0, root_q, mixed)
    return {
        "name": name,
        "simulations": simulations,
        "considered": considered,
        "players": players.tolist(),
        "following": following.tolist(),
        "logits": rounded(logits),
        "values": rounded(values),
        "ends": ends.tolist(),
        "invalid": invalid.tolist(),
        "gumbel": rounded(tree.extra_data.root_gumbel),
        # With ends, mctx expands what lies beyond them and the paths are not comparable.
        "paths": paths if end_share == 0 else None,
        "visits": tree.children_visits[0].tolist(),
        "completed_q": rounded(completed),
        "mixed_value": rounded(mixed),
        "policy": rounded(np.asarray(output.action_weights)[0]),
        "value": rounded(summary.value),
        "action": int(output.action[0]),
    }


def main():
    cases = [
        case("sixteen simulations, eight considered", 1, 40, 20, 16, 8),
        case("thirty-two simulations, eight considered", 2, 60, 12, 32, 8),
        case("sixty-four simulations, sixteen considered", 3, 60, 24, 64, 16),
        case("players alternate", 4, 40, 6, 50, 4, alternating=True),
        case("fewer actions than considered", 5, 40, 3, 24, 8),
        case("no noise", 6, 40, 10, 40, 8, gumbel_scale=0.0),
        case("confident prior", 9, 40, 16, 64, 16, logits_scale=4.0),
        case("illegal actions at the root", 10, 40, 16, 32, 8, invalid_count=5),
        case("some transitions end the game", 11, 40, 8, 48, 8, end_share=0.3),
        case("one simulation", 12, 20, 8, 1, 8),
        case("two hundred simulations", 13, 80, 10, 200, 8),
    ]
    sequences = [
        {
            "considered": considered,
            "simulations": simulations,
            "visits": list(seq_halving.get_sequence_of_considered_visits(considered, simulations)),
        }
        for considered in (1, 2, 3, 4, 5, 7, 8, 12, 16, 32)
        for simulations in (1, 2, 8, 16, 31, 50, 64, 128, 200)
    ]
    golden = {"mctx": mctx.__version__, "jax": jax.__version__, "sequences": sequences, "cases": cases}
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(golden, file, separators=(",", ":"))
        file.write("\n")


if __name__ == "__main__":
    main()
