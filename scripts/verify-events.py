#!/usr/bin/env python3
"""Compares the TensorBoard events of a training run with its metrics, read by TensorBoard itself.

    python3 -m venv venv && venv/bin/pip install -r scripts/requirements.txt
    venv/bin/python scripts/verify-events.py runs/quick-1

Every number of metrics.jsonl must be there under its name and generation, and none besides. Exit status 1 when one
differs.
"""

import json
import pathlib
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator


def numbers(values, prefix=""):
    """Returns the numbers of a line of metrics by name; those within objects as object/number."""
    found = {}
    for name, value in values.items():
        if isinstance(value, dict):
            found.update(numbers(value, f"{prefix}{name}/"))
        elif isinstance(value, (bool, int, float)):
            found[prefix + name] = float(value)
    return found


def main():
    run = pathlib.Path(sys.argv[1])
    accumulator = EventAccumulator(str(run / "tensorboard"), size_guidance={"scalars": 0})
    accumulator.Reload()
    written = {
        (tag, event.step): event.value
        for tag in accumulator.Tags()["scalars"]
        for event in accumulator.Scalars(tag)
    }
    expected = {}
    for text in (run / "metrics.jsonl").read_text().splitlines():
        line = json.loads(text)
        expected.update({(name, line["generation"]): value for name, value in numbers(line).items()})
    faults = [f"{key}: {expected.get(key)} and {written.get(key)}" for key in sorted(expected.keys() ^ written.keys())]
    for key in expected.keys() & written.keys():
        # Events hold 32 bits.
        if abs(expected[key] - written[key]) > 1e-6 * max(1.0, abs(expected[key])):
            faults.append(f"{key}: {expected[key]} and {written[key]}")
    print("\n".join(faults) if faults else f"{len(expected)} numbers, all as in metrics.jsonl")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
