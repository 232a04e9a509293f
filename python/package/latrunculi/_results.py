"""Matches and studies, and what they come to."""

from __future__ import annotations

import csv
import io
import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from . import _native

Progress = Callable[[int, int, str], Any]


@dataclass(frozen=True)
class _Result:
    summary: dict[str, Any]
    rows: list[dict[str, Any]]

    def to_pandas(self):
        """Returns the rows as a pandas.DataFrame."""
        import pandas

        return pandas.DataFrame(self.rows)


@dataclass(frozen=True)
class MatchResult(_Result):
    """What a match came to.

    summary: what `latrunculi match --json` prints. rows: the counted games, one record each, with "pair", "beginner" (the
    agent who began, 0 or 1) and "margin" (material at the end, for the player who began, in shares of a side's men).
    """

    @property
    def score(self) -> float | None:
        """The mean score of the first agent, in [0, 1]."""
        return self.summary["score"]

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the expected score."""
        interval = self.summary["interval"]
        return interval and (interval["lower"], interval["upper"])

    def __repr__(self) -> str:
        first, second = self.summary["agents"]
        return f"<{first} against {second}: score {self.score}, 95 % interval {self.interval}, {self.summary['games']} games>"


@dataclass(frozen=True)
class StudyResult(_Result):
    """What a balance study came to.

    summary: summary.json of the study; rows: balance.csv, one for each ruleset and agent (docs/FORMATS.md, "Studies"). "score",
    "lower" and "upper" are the first player's mean score, in [0, 1], and its interval.
    """

    def __repr__(self) -> str:
        scores = ", ".join(f"{row['ruleset']} {row['score']} [{row['lower']}, {row['upper']}]" for row in self.rows)
        return f"<first player's score: {scores}>"


def _number(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return {"": None, "true": True, "false": False}.get(text, text)


def play_match(
    first: str,
    second: str,
    ruleset: Any,
    *,
    games: int | None = None,
    sprt: tuple[float, float] | None = None,
    seed: int = 0,
    opening: int | None = None,
    opening_policy: str | None = None,
    opening_temperature: float = 1.0,
    ledger: str | os.PathLike[str] | None = None,
    threads: int = 0,
    games_at_once: int = 64,
    progress: Progress | None = None,
) -> MatchResult:
    """Plays two agents against each other, in pairs of games from one opening with seats swapped.

    The result is that of `latrunculi match` with the same options. ruleset: a Ruleset, or what makes one. games: None for 200, or
    with sprt at most 20,000. sprt: two leads of the first agent in Elo; the match ends when it is decided which of them holds.
    opening: the number of drawn actions at the beginning, None for the usual one; opening_policy: an agent from whose policy, at
    opening_temperature, they are drawn instead of from all legal actions. ledger: a file where each game is written as it ends,
    and from which a stopped match goes on. threads: 0 for one per core. progress(done, expected, text) is called as games end.
    Ctrl-C ends the match.

    Raises ValueError for unknown agents and rulesets.
    """
    summary, rows = _native.play_match(
        first, second, ruleset, games=(20_000 if sprt else 200) if games is None else games, sprt=sprt, seed=seed, opening=opening,
        opening_policy=opening_policy, opening_temperature=opening_temperature, ledger=ledger, threads=threads,
        games_at_once=games_at_once, progress=progress,
    )  # fmt: skip
    return MatchResult(summary, rows)


def balance(
    rulesets: str | Iterable[str],
    agents: str | Sequence[str],
    *,
    out: str | os.PathLike[str] | None = None,
    threads: int = 0,
    games_at_once: int = 64,
    store: str | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> StudyResult:
    """Measures the first player's advantage: each agent plays itself until the interval of the score is narrow enough.

    The result is that of `latrunculi balance`. rulesets: names or paths, "all" for every reconstruction. out: a folder for games
    and report; a study in it goes on, also with further agents. store: a folder or bucket where workers (`latrunculi worker
    --store URL`) play the games. settings: those of a study file, as max_games=200, half_width=0.03 (scores in [0, 1]),
    seed=1, metrics=True. progress(done, expected, text) is called as games end. Ctrl-C ends the study.

    Raises ValueError for unknown agents, rulesets and settings.
    """
    settings |= {
        "rulesets": [rulesets] if isinstance(rulesets, str) else [os.fspath(name) for name in rulesets],
        "agents": [agents] if isinstance(agents, str) else list(agents),
    }
    if "max_games" in settings:
        # As the command: the fewest games are no more than the most.
        settings.setdefault("min_games", min(400, settings["max_games"]))
    with tempfile.TemporaryDirectory() as folder:
        summary, table = _native.balance(
            settings, out or folder, threads=threads, games_at_once=games_at_once, store=store, progress=progress
        )
    rows = [{name: _number(text) for name, text in row.items()} for row in csv.DictReader(io.StringIO(table))]
    return StudyResult(summary, rows)
