"""What the tests share: the rulesets, one of which is a file of its own, and the program to compare with."""

import json
import os
import subprocess
from pathlib import Path

import pytest

OWN = """id = "own"
base = "bell-8x8"

[capture]
per_move = "one"
lines = "all"

[move]
lines = "all"
"""


@pytest.fixture(scope="session", params=["bell", "savard", "beads", "mac-12x8", "own.toml"])
def ruleset(request, tmp_path_factory):
    """Returns a ruleset as every function takes it."""
    if not request.param.endswith(".toml"):
        return request.param
    path = tmp_path_factory.mktemp("rulesets") / request.param
    path.write_text(OWN)
    return str(path)


@pytest.fixture(scope="session")
def program():
    """Returns what runs a command of the program and answers its JSON."""
    path = os.environ.get("LATRUNCULI") or Path(__file__).parents[2] / "target/debug/latrunculi"
    if not Path(path).exists():
        pytest.skip(f"there is no program {path} to compare with (cargo build -p latrunculi-cli, or LATRUNCULI=PATH)")

    def run(*arguments):
        done = subprocess.run([path, *map(str, arguments)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout) if "--json" in arguments else done.stdout

    run.path = path
    return run
