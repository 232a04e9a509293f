"""Latrunculi as an environment of Gymnasium: one agent against a chosen opponent.

    import gymnasium, latrunculi.gymnasium_env
    env = gymnasium.make("latrunculi/Latrunculi-v0", ruleset="bell", opponent="alphabeta:nodes=200")

Observation: [C + P, H, W] float32 in [0, 1], Game.observation() of the agent. Actions: Discrete(A), docs/python.md, "Actions as
numbers"; which are legal says info["action_mask"], [A] int8, and action_masks(), which sb3-contrib asks.

Reward: 1, 0 or -1 when the game ends, else 0. An illegal action loses the game, with info["illegal"] = True.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from . import Game, Ruleset, search


class LatrunculiEnv(gymnasium.Env):
    """One agent against `opponent`, the text of an agent. player: 1, 2, or None to draw it for each game."""

    metadata = {"render_modes": ["ansi"]}

    def __init__(
        self, ruleset: Any = "bell", opponent: str = "random", player: int | None = None, render_mode: str | None = None
    ):
        self.ruleset = Ruleset(ruleset)
        self.opponent = opponent
        self.fixed_player = player
        self.render_mode = render_mode
        self.observation_space = spaces.Box(0.0, 1.0, self.ruleset.observation_shape, np.float32)
        self.action_space = spaces.Discrete(self.ruleset.action_count)
        self.game = Game(self.ruleset)
        self.player = player or 1
        # Refused here and not in the middle of a game.
        search(self.game, opponent)

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self.game = Game(self.ruleset)
        self.player = self.fixed_player or int(self.np_random.integers(1, 3))
        self._reply()
        return self._observation(), self._info()

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        if self.game.is_over:
            raise ValueError(f"the game is over: {self.game.reason}; call reset()")
        if not self.action_masks()[action]:
            return self._observation(), -1.0, True, False, self._info() | {"illegal": True}
        self.game.play(action)
        self._reply()
        winner = self.game.result
        reward = 0.0 if not winner else 1.0 if winner == self.player else -1.0
        return self._observation(), reward, self.game.is_over, False, self._info()

    def action_masks(self) -> np.ndarray:
        """Returns which actions are legal, [A] bool."""
        return self.game.action_mask().astype(bool)

    def render(self) -> str | None:
        return self.game.render() if self.render_mode == "ansi" else None

    def _reply(self) -> None:
        """Plays the opponent's actions until the agent is to act."""
        while self.game.player == 3 - self.player:
            seed = int(self.np_random.integers(1 << 32))
            self.game.play(search(self.game, self.opponent, seed=seed, analysis=False)["action"])

    def _observation(self) -> np.ndarray:
        return self.game.observation(self.player)

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self.game.action_mask(), "player": self.player}


gymnasium.register("latrunculi/Latrunculi-v0", entry_point=LatrunculiEnv)
