"""Latrunculi as an environment of PettingZoo (AEC).

    from latrunculi import latrunculi_v0
    env = latrunculi_v0.env(ruleset="bell", render_mode="ansi")

Agents: "player_1" and "player_2". A turn may consist of several actions: they are steps of the same agent.

Observation: {"observation": [C + P, H, W] float32 in [0, 1] as Game.observation() gives it to the agent, "action_mask": [A] int8,
1 for legal; all 0 for the agent who is not to act}. Actions: Discrete(A), docs/python.md, "Actions as numbers".

Rewards: 1, 0 or -1 for each agent when the game ends, else 0. An illegal action ends the game: -1 for its agent
(TerminateIllegalWrapper).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from . import Game, Ruleset

AGENTS = ["player_1", "player_2"]


def env(ruleset: Any = "bell", render_mode: str | None = None) -> AECEnv:
    """Returns the environment with the usual wrappers. ruleset: a Ruleset, or what makes one."""
    wrapped = raw_env(ruleset, render_mode)
    wrapped = wrappers.TerminateIllegalWrapper(wrapped, illegal_reward=-1)
    wrapped = wrappers.AssertOutOfBoundsWrapper(wrapped)
    return wrappers.OrderEnforcingWrapper(wrapped)


class raw_env(AECEnv):
    """The environment without wrappers: an illegal action raises ValueError."""

    metadata = {"name": "latrunculi_v0", "render_modes": ["human", "ansi"], "is_parallelizable": False, "render_fps": 2}

    def __init__(self, ruleset: Any = "bell", render_mode: str | None = None):
        super().__init__()
        self.ruleset = Ruleset(ruleset)
        self.render_mode = render_mode
        self.possible_agents = AGENTS[:]
        actions = self.ruleset.action_count
        observation = spaces.Dict(
            {
                "observation": spaces.Box(0.0, 1.0, self.ruleset.observation_shape, np.float32),
                "action_mask": spaces.Box(0, 1, (actions,), np.int8),
            }
        )
        self.observation_spaces = {agent: observation for agent in AGENTS}
        self.action_spaces = {agent: spaces.Discrete(actions) for agent in AGENTS}

    def observation_space(self, agent: str) -> spaces.Space:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict | None = None) -> None:
        self.game = Game(self.ruleset)
        self.agents = AGENTS[:]
        self.rewards = dict.fromkeys(AGENTS, 0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self.infos = {agent: {} for agent in AGENTS}
        self.agent_selection = AGENTS[self.game.player - 1]

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        player = AGENTS.index(agent) + 1
        mask = self.game.action_mask()
        if self.game.player != player:
            mask[:] = 0
        return {"observation": self.game.observation(player), "action_mask": mask}

    def step(self, action: int | None) -> None:
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0
        self._clear_rewards()
        self.game.play(action)
        if self.game.is_over:
            winner = self.game.result
            if winner:
                self.rewards = {agent: 1 if AGENTS[winner - 1] == agent else -1 for agent in AGENTS}
            self.terminations = dict.fromkeys(AGENTS, True)
            self.agent_selection = AGENTS[1 - AGENTS.index(agent)]
        else:
            self.agent_selection = AGENTS[self.game.player - 1]
        self._accumulate_rewards()
        if self.render_mode == "human":
            self.render()

    def render(self) -> str | None:
        if self.render_mode is None:
            return None
        if self.render_mode == "ansi":
            return self.game.render()
        print(self.game.render())
        return None

    def close(self) -> None:
        pass
