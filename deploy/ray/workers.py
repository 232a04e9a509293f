"""Keeps one worker on each node of a Ray cluster, with all processors of the node.

    ray job submit --working-dir deploy/ray -- python workers.py /shared/store
    python deploy/ray/workers.py /shared/store              # on the head node

A worker that ends by a fault, or whose node is lost, is started again where there is a node; new nodes get one. This ends
when every worker has found nothing missing for --idle minutes, as when the leader has closed the work. The program is that
of LATRUNCULI, or `latrunculi` on the path of each node. The dashboard shows the tasks with their logs, and the metrics
latrunculi_workers, latrunculi_units and latrunculi_games. Units, checks and manifests are those of docs/workers.md.
"""

import argparse
import ctypes
import json
import os
import signal
import subprocess
import time

import ray
from ray.util.metrics import Gauge
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

PROGRAM = os.environ.get("LATRUNCULI", "latrunculi")
INTERVAL_SECS = 5.0
# A worker that failed is started again after so many seconds, twice as many each time.
PAUSE_SECS, PAUSE_SECS_MAX = 1.0, 60.0


def end_with_ray() -> None:
    """Lets the worker die with the process of Ray that began it, as when the node is taken away."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


@ray.remote(max_retries=0)
def work(command: list[str]) -> int:
    """Runs a worker to its end and returns its exit status. Its lines are in the log of the task."""
    return subprocess.run(command, preexec_fn=end_with_ray, check=False).returncode


class Workers:
    """The workers of the cluster: those that run by their tasks, those that have ended by their nodes."""

    def __init__(self, command: list[str]):
        self.command = command
        self.running: dict[ray.ObjectRef, str] = {}
        self.ended: set[str] = set()
        self.failures: dict[str, int] = {}
        self.begin_at: dict[str, float] = {}

    def keep(self) -> bool:
        """Starts what is missing, waits a while for ends, and tells whether there is still something to be done."""
        alive = {node["NodeID"]: node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0) >= 1}
        missing = alive.keys() - self.ended - set(self.running.values())
        for name in missing:
            if time.monotonic() >= self.begin_at.get(name, 0):
                cores = int(alive[name]["Resources"]["CPU"])
                here = NodeAffinitySchedulingStrategy(name, soft=False)
                task = work.options(num_cpus=cores, scheduling_strategy=here, name=f"latrunculi worker on {name[:8]}")
                self.running[task.remote([*self.command, "--threads", str(cores)])] = name
        for task in ray.wait(list(self.running), timeout=INTERVAL_SECS)[0] if self.running else []:
            name = self.running.pop(task)
            try:
                status = ray.get(task)
            except ray.exceptions.RayError as error:
                status = type(error).__name__
            print(f"the worker on node {name[:8]} has ended: {status}", flush=True)
            if status == 0:
                self.ended.add(name)
            self.failures[name] = self.failures.get(name, 0) + 1
            self.begin_at[name] = time.monotonic() + min(PAUSE_SECS_MAX, PAUSE_SECS * 2 ** self.failures[name])
        if not self.running:
            time.sleep(PAUSE_SECS)
        return bool(self.running or missing or not self.ended)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", help="the store of the leader, as every node sees it")
    parser.add_argument("--idle", default="30", metavar="MINUTES", help="when a worker ends that finds nothing missing")
    given = parser.parse_args()
    ray.init(address=os.environ.get("RAY_ADDRESS", "auto"))
    running = Gauge("latrunculi_workers", "Workers that run.")
    delivered = {name: Gauge(f"latrunculi_{name}", f"Delivered {name}.", ("worker", "host")) for name in ["units", "games"]}
    workers = Workers([PROGRAM, "worker", "--store", given.store, "--idle", given.idle])
    while workers.keep():
        running.set(len(workers.running))
        told = subprocess.run([PROGRAM, "status", "--store", given.store, "--json"], capture_output=True, check=False)
        for row in json.loads(told.stdout)["workers"] if told.returncode == 0 else []:
            for name, gauge in delivered.items():
                gauge.set(row[name], {"worker": row["worker"], "host": row["host"]})
    print("every worker has ended: nothing is missing", flush=True)


if __name__ == "__main__":
    main()
