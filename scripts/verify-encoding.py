#!/usr/bin/env python3
"""Plays x-museum-quintana with an exported network and prints the record of the game, which `latrunculi inspect --verify` checks:

    python scripts/verify-encoding.py exported/model.onnx exported/model.json > game.jsonl

Here the documents are on trial: written from docs/SPECIFICATION.md and docs/FORMATS.md alone: men slide like rooks, a move takes every enemy man between the
moved man and another own one, no position comes twice, who has no man or no move has lost."""
import json, sys, numpy as np, onnxruntime
N, TURNS_MAX, STEPS = 8, 1000, np.array([(0, 1), (0, -1), (1, 0), (-1, 0)])
at = lambda board, square: board[tuple(square)] if (0 <= square).all() and (square < N).all() else None
turned = lambda board: -board[::-1]  # the board as the other player sees it: 1 own man, -1 enemy man, 0 empty

def moves(board):  # yields where from, where to, what is taken, and the board afterwards, as squares of (rank, file)
    for start in np.argwhere(board == 1):
        for step in STEPS:
            to = start + step
            while at(board, to) == 0:
                after = board.copy()
                after[tuple(start)], after[tuple(to)] = 0, 1
                taken = [tuple(to + s) for s in STEPS if at(after, to + s) == -1 and at(after, to + 2 * s) == 1]
                for square in taken: after[square] = 0
                yield tuple(start), tuple(to), taken, after
                to = to + step

def planes_of(board, own, enemy):  # the planes that speak of one side, seen from that side: 1 its men, -1 the other's
    other = np.pad(board == -1, 1)
    yield f"{own} men", board == 1
    between = other[1:-1, :-2] & other[1:-1, 2:] | other[:-2, 1:-1] & other[2:, 1:-1]
    yield f"{own} pieces flanked now", (board == 1) & between
    takes = [(to, taken) for _, to, taken, _ in moves(board) if taken]
    squares = lambda found: np.array([[(rank, file) in found for file in range(N)] for rank in range(N)])
    yield f"{enemy} pieces that could be taken next", squares({square for _, taken in takes for square in taken})
    yield f"where an {own} move would take", squares({to for to, _ in takes})

def inputs_of(board, turns, description):
    inputs = {i["name"]: i for i in description["inputs"]}
    of_ruleset = [e["name"] for e in inputs["scalars"]["scalars"]][inputs["scalars"]["of_position"]:]
    found = {"squares of the board": np.ones((N, N)), "turns played, of the cap": turns / TURNS_MAX,
             "nearness of the cap, 16 / (turns left + 16)": 16 / (TURNS_MAX - turns + 16),
             "own pieces on the board and in hand, of those at the start": (board == 1).sum() / 16,
             "enemy pieces on the board and in hand, of those at the start": (board == -1).sum() / 16,
             **dict(planes_of(board, "own", "enemy")), **dict(planes_of(-board, "enemy", "own")),
             **dict(zip(of_ruleset, description["rulesets"][0]["scalars"], strict=True))}
    none = {"planes": np.zeros((N, N)), "scalars": 0}  # the rest is 0 in this game
    return {name: np.array([[found.get(e["name"], none[name]) for e in i[name]]], np.float32) for name, i in inputs.items()}

session, description = onnxruntime.InferenceSession(sys.argv[1]), json.load(open(sys.argv[2]))
ruleset, board = description["rulesets"][0], np.repeat([1, 0, -1], [2, 4, 2])[:, None].repeat(N, axis=1)
actions, seen, result, reason = [], {(0, board.tobytes())}, "draw", "ply cap"
while len(actions) < TURNS_MAX:
    player = len(actions) % 2
    legal = [m for m in moves(board) if m[2] or (1 - player, turned(m[3]).tobytes()) not in seen]
    if not legal:
        result, reason = "21"[player], "no legal move" if (board == 1).any() else "eliminated"
        break
    logits = session.run(["policy_logits"], inputs_of(board, len(actions), description))[0][0]
    start, to, taken, after = max(legal, key=lambda m: logits[np.ravel_multi_index(m[0] + m[1], (N,) * 4)])
    actions.append("-".join("abcdefgh"[file] + str(N - rank if player else rank + 1) for rank, file in (start, to)))
    board = turned(after)
    seen = (set() if taken else seen) | {(1 - player, board.tobytes())}
print(json.dumps({"version": 1, "ruleset": ruleset["name"], "ruleset_fingerprint": ruleset["fingerprint"], "seed": 0,
                  "agents": ["python"] * 2, "opening": 0, "actions": actions, "result": result, "reason": reason}))
