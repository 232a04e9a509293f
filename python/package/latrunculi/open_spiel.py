"""Latrunculi as a game of OpenSpiel, every ruleset.

    import pyspiel, latrunculi.open_spiel
    game = pyspiel.load_game("latrunculi(ruleset=savard)")
    game = pyspiel.load_game("latrunculi", {"ruleset": "my-rules.toml"})

Players 0 and 1 are player 1 and player 2. Actions are numbers (docs/python.md, "Actions as numbers"); a turn may consist of several.
The observation tensor is Game.observation() of a player, [C + P, H, W]; the observation string the line of the position.
"""

from __future__ import annotations

import numpy as np
import pyspiel

from . import Game, Ruleset

_TYPE = pyspiel.GameType(
    short_name="latrunculi",
    long_name="Latrunculi",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.DETERMINISTIC,
    information=pyspiel.GameType.Information.PERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=2,
    min_num_players=2,
    provides_information_state_string=False,
    provides_information_state_tensor=False,
    provides_observation_string=True,
    provides_observation_tensor=True,
    parameter_specification={"ruleset": "bell"},
)


class LatrunculiGame(pyspiel.Game):
    """The game of one ruleset."""

    def __init__(self, params: dict | None = None):
        params = dict(params or {})
        self.ruleset = Ruleset(params.get("ruleset", "bell"))
        info = pyspiel.GameInfo(
            num_distinct_actions=self.ruleset.action_count,
            max_chance_outcomes=0,
            num_players=2,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=self.ruleset.actions_max,
        )
        super().__init__(_TYPE, info, params)

    # OpenSpiel's AlphaZero hands the game to its processes.
    def __reduce__(self):
        return _load, (str(self),)

    def new_initial_state(self) -> LatrunculiState:
        return LatrunculiState(self)

    def make_py_observer(self, iig_obs_type=None, params=None) -> LatrunculiObserver:
        if params:
            raise ValueError(f"observation parameters are not supported: {params}")
        return LatrunculiObserver(self.ruleset)


class LatrunculiState(pyspiel.State):
    """A position of a game; `game` is the latrunculi.Game."""

    def __init__(self, game: LatrunculiGame):
        super().__init__(game)
        self.game = Game(game.ruleset)

    def current_player(self) -> int:
        return pyspiel.PlayerId.TERMINAL if self.game.is_over else self.game.player - 1

    def _legal_actions(self, player: int) -> list[int]:
        return sorted(self.game.legal_indices().tolist())

    def _apply_action(self, action: int) -> None:
        self.game.play(action)

    def _action_to_string(self, player: int, action: int) -> str:
        return self.game.text_of(action)

    def is_terminal(self) -> bool:
        return self.game.is_over

    def returns(self) -> list[float]:
        winner = self.game.result
        return [0.0, 0.0] if not winner else [1.0, -1.0] if winner == 1 else [-1.0, 1.0]

    def __str__(self) -> str:
        return self.game.position


class LatrunculiObserver:
    """What a player sees of a state."""

    def __init__(self, ruleset: Ruleset):
        self.tensor = np.zeros(int(np.prod(ruleset.observation_shape)), np.float32)
        self.dict = {"observation": self.tensor.reshape(ruleset.observation_shape)}

    def set_from(self, state: LatrunculiState, player: int) -> None:
        self.dict["observation"][:] = state.game.observation(player + 1)

    def string_from(self, state: LatrunculiState, player: int) -> str:
        return state.game.position


def _load(text: str) -> pyspiel.Game:
    """Loads a game where this module is, in another process too."""
    return pyspiel.load_game(text)


pyspiel.register_game(_TYPE, LatrunculiGame)
