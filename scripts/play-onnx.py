#!/usr/bin/env python3
"""Plays a game of `x-museum-quintana` with an exported network through onnxruntime, and writes its record.

    python scripts/play-onnx.py exported/model.onnx exported/model.json > game.jsonl
    latrunculi inspect game.jsonl      # plays it over and checks every action

Rules and encoding are written from docs/SPECIFICATION.md and docs/FORMATS.md alone. Men slide like rooks; a move takes every
enemy man between the moved man and another own one; no position may come twice; who has no man or no move has lost.
"""
import json, sys
import numpy as np, onnxruntime

N, STEPS = 8, ((0, 1), (0, -1), (1, 0), (-1, 0))
on_board = lambda r, f: 0 <= r < N and 0 <= f < N

def moves(board):  # 1 own man, -1 enemy man; yields where from, where to, what is taken, the board after it
    for r, f in np.argwhere(board == 1):
        for dr, df in STEPS:
            to = (r + dr, f + df)
            while on_board(*to) and board[to] == 0:
                after = board.copy()
                after[r, f], after[to] = 0, 1
                beside = [((to[0] + y, to[1] + x), (to[0] + 2 * y, to[1] + 2 * x)) for y, x in STEPS]
                taken = [a for a, b in beside if on_board(*b) and after[a] == -1 and after[b] == 1]
                for square in taken: after[square] = 0
                yield (r, f), to, taken, after
                to = (to[0] + dr, to[1] + df)

def flanked(board):  # own men between two enemies
    enemy = np.pad(board == -1, 1)
    return (board == 1) & (enemy[1:-1, :-2] & enemy[1:-1, 2:] | enemy[:-2, 1:-1] & enemy[2:, 1:-1])

def encode(board, turns, description):
    plane = lambda squares: np.array([[(r, f) in squares for f in range(N)] for r in range(N)])
    planes = {"own men": board == 1, "enemy men": board == -1, "squares of the board": board == board,
              "own pieces flanked now": flanked(board), "enemy pieces flanked now": flanked(-board)}
    for side, other, view in (("own", "enemy", board), ("enemy", "own", -board)):
        takes = [(to, taken) for _, to, taken, _ in moves(view) if taken]
        planes[f"{other} pieces that could be taken next"] = plane({square for _, taken in takes for square in taken})
        planes[f"where an {side} move would take"] = plane({to for to, _ in takes})
    scalars = {"turns played, of the cap": turns / 1000, "nearness of the cap, 16 / (turns left + 16)": 16 / (1016 - turns)}
    for side, man in (("own", 1), ("enemy", -1)):
        scalars[f"{side} pieces on the board and in hand, of those at the start"] = (board == man).sum() / 16
    inputs = {"planes": (planes, np.zeros((N, N))), "scalars": (scalars, 0.0)}  # what is not named here is 0 in this game
    return {i["name"]: np.array([[inputs[i["name"]][0].get(e["name"], e.get("constant", inputs[i["name"]][1]))
                                  for e in i[i["name"]]]], dtype=np.float32) for i in description["inputs"]}

session, description = onnxruntime.InferenceSession(sys.argv[1]), json.load(open(sys.argv[2]))
board = np.zeros((N, N), int)  # always seen from the player to act
board[:2], board[-2:] = 1, -1
actions, seen, result, reason = [], {(0, board.tobytes())}, "draw", "max_plies"
while len(actions) < 1000:
    mover = len(actions) % 2
    turned = lambda board: -board[::-1]
    legal = [m for m in moves(board) if m[2] or (1 - mover, turned(m[3]).tobytes()) not in seen]
    if not legal or not (board == 1).any():
        result, reason = "21"[mover], "no_legal_move" if (board == 1).any() else "elimination"
        break
    logits = session.run(["policy_logits"], encode(board, len(actions), description))[0][0]
    start, to, taken, after = max(legal, key=lambda m: logits[(m[0][0] * N + m[0][1]) * N * N + m[1][0] * N + m[1][1]])
    text = lambda square: "abcdefgh"[square[1]] + str(N - square[0] if mover else square[0] + 1)
    actions.append(f"{text(start)}-{text(to)}")
    board = turned(after)
    seen = (set() if taken else seen) | {(1 - mover, board.tobytes())}
print(json.dumps({"version": 1, "ruleset": description["ruleset"]["name"], "seed": 0, "opening": 0, "agents": ["python"] * 2,
                  "ruleset_fingerprint": description["ruleset"]["fingerprint"], "actions": actions, "result": result, "reason": reason}))
