"""The Roman board game Latrunculi: rules, networks, searches, matches and studies.

Ruleset  the rules: a shipped name, a file, or a dict of parameters
Game     a game: legal actions, play, undo, board as text and image, features for networks
Network  a trained network: policy, win-draw-loss and margin of many games at once
VectorGame  many games at once, arrays in and out

search, play_match and balance do what the commands `analyse`, `match` and `balance` of the program do. The modules
latrunculi.latrunculi_v0 (PettingZoo), latrunculi.gymnasium_env and latrunculi.open_spiel are environments of these libraries.

Agents are texts, as "random", "greedy", "alphabeta:nodes=2000", "mcts:sims=500", "net:sims=64" or "net:MODEL,sims=64".
"""

from importlib.metadata import version as _version

from ._native import Game, Network, Ruleset, VectorGame, rulesets, search
from ._results import MatchResult, StudyResult, balance, play_match

__version__ = _version("latrunculi")
__all__ = [
    "Game",
    "MatchResult",
    "Network",
    "Ruleset",
    "StudyResult",
    "VectorGame",
    "balance",
    "play_match",
    "rulesets",
    "search",
]
