#!/usr/bin/env python3
"""Plays a game of any ruleset with an exported network and prints its record, which `latrunculi inspect --verify` checks:

    python scripts/play-onnx.py exported/model.onnx savard > game.jsonl
    python scripts/play-onnx.py exported/model.onnx my-rules.toml --program target/release/latrunculi --opponent greedy

`latrunculi engine` (docs/PROTOCOL.md) knows the rules and encodes the positions; the network chooses the action with the
largest logit. It plays both sides, or the first against an agent of the program."""
import argparse, json, subprocess, sys
import numpy as np, onnxruntime

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("model", help="an .onnx file that `latrunculi export` wrote")
parser.add_argument("ruleset", help="a shipped ruleset, or the path of a ruleset file")
parser.add_argument("--program", default="latrunculi", help="the program latrunculi [default: the one on the path]")
parser.add_argument("--opponent", help="an agent that plays the second side, as alphabeta:nodes=2000")
options = parser.parse_args()

session = onnxruntime.InferenceSession(options.model)
command = [options.program, "engine", "--ruleset", options.ruleset, "--agent", options.opponent or "random"]
engine = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ask(command):
    """Sends a command and returns its answer, which ends with an empty line; the engine refuses with `?`."""
    print(command, file=engine.stdin, flush=True)
    lines = []
    for line in iter(engine.stdout.readline, "\n"):
        if not line:
            sys.exit("the engine has ended")
        if not line.startswith("info "):
            lines.append(line.rstrip("\n"))
    if lines[0].startswith("?"):
        sys.exit(f"{command}: {lines[0]}")
    return "\n".join([lines[0][1:].strip()] + lines[1:]).strip()


def best_action(position):
    """Returns the legal action with the largest logit: the sum of two entries of the vector, which a zero follows."""
    inputs = {name: np.array([position[name]], np.float32) for name in ("planes", "scalars")}
    logits = np.append(session.run(["policy_logits"], inputs)[0][0], np.float32(0))
    return max(position["actions"], key=lambda action: logits[action["indices"]].sum())["action"]


while (state := json.loads(ask("state")))["outcome"] is None:
    if options.opponent and state["to_act"] == 2:
        ask("genmove")
    else:
        ask("play " + best_action(json.loads(ask("encode"))))
record = json.loads(ask("record"))
record["agents"] = ["python", options.opponent or "python"]
print(json.dumps(record))
ask("quit")
