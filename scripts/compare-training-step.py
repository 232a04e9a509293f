#!/usr/bin/env python3
"""The training step of this program beside those that Python PyTorch makes of the same network.

    cargo build --release -p latrunculi-cli
    python3 -m venv venv && venv/bin/pip install torch==2.11.0
    venv/bin/python scripts/compare-training-step.py --blocks 4 --channels 32 --batch 256

Same network (residual trunk with standardised weights, global pooling, policy map, value heads), same board, batch and
number of threads, AdamW with gradient clipping and averaged weights. Python gets its inputs ready made, has no
positions to draw, and leaves out what the rules add to the weights. It is measured in f32 and, where the processor
has bf16, with bf16 autocast and with the trunk cast to bf16 by hand, each also channels-last, with the foreach and the fused
optimiser; with --compile f32 and bf16 by hand also through torch.compile. All take turns, round after round, and the middle
counts, in samples per second of the clock and, with one thread, of the processor, which other work on the machine disturbs less.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import time

import torch
import torch.nn.functional as functional
from torch import nn


class Network(nn.Module):
    """The network of model/src/network.rs as somebody would write it in Python."""

    def __init__(self, planes, scalars, blocks, channels, kind=torch.float32, keys=16, features=16, hidden=64):
        super().__init__()
        # The kind of the trunk: weights stay in 32 bits and are cast in every step.
        self.kind = kind
        self.blocks, self.keys, self.features = blocks, keys, features
        self.stem = nn.Conv2d(planes, channels, 3, padding=1)
        self.scalars = nn.Linear(scalars, channels, bias=False)
        count = 2 * blocks
        self.trunk = nn.ParameterList(nn.Parameter(torch.randn(channels, channels, 3, 3) * 0.05) for _ in range(count))
        self.gain = nn.Parameter(torch.ones(count, channels))
        self.bias = nn.Parameter(torch.zeros(count, channels))
        self.pool = nn.ModuleList(nn.Linear(2 * channels, channels, bias=False) for _ in range(blocks // 2))
        self.head = nn.Linear(channels, 2 * keys + features)
        self.summary = nn.Linear(2 * features, hidden)
        self.last = nn.Linear(hidden, 6 + 4 * keys)

    def convolve(self, board, index, weights):
        return functional.conv2d(board, weights[index], self.bias[index].to(board.dtype), padding=1)

    def linear(self, layer, values):
        bias = None if layer.bias is None else layer.bias.to(self.kind)
        return functional.linear(values, layer.weight.to(self.kind), bias)

    def forward(self, planes, scalars):
        stacked = torch.stack(list(self.trunk))
        rows = stacked.flatten(2)
        centred = rows - rows.mean(2, keepdim=True)
        scale = self.gain[..., None] * torch.rsqrt(centred.square().sum(2, keepdim=True) + 1e-6)
        weights = (centred * scale).view_as(stacked).to(self.kind)
        if planes.is_contiguous(memory_format=torch.channels_last):
            weights = [weight.contiguous(memory_format=torch.channels_last) for weight in weights.unbind(0)]
        else:
            weights = weights.unbind(0)
        stem = functional.conv2d(planes, self.stem.weight.to(self.kind), self.stem.bias.to(self.kind), padding=1)
        board = functional.relu(stem + self.linear(self.scalars, scalars)[..., None, None])
        for block in range(self.blocks):
            inner = functional.relu(self.convolve(board, 2 * block, weights))
            branch = self.convolve(inner, 2 * block + 1, weights)
            if block % 2 == 1:
                pooled = torch.cat([inner.mean((2, 3)), inner.amax((2, 3))], 1)
                branch = branch + self.linear(self.pool[block // 2], pooled)[..., None, None]
            board = functional.relu(board + branch)
        squares = self.linear(self.head, board.flatten(2).transpose(1, 2)).float()
        origin, target, features = squares.split([self.keys, self.keys, self.features], 2)
        target = target.transpose(1, 2)
        features = functional.relu(features)
        hidden = functional.relu(self.summary(torch.cat([features.mean(1), features.amax(1)], 1)))
        last = self.last(hidden).float()
        value, margin, stop_pass, queries = last.split([3, 1, 2, 4 * self.keys], 1)
        moves = torch.bmm(origin / self.keys**0.5, target).flatten(1)
        places = torch.bmm(queries.view(-1, 4, self.keys), target).flatten(1)
        return torch.cat([moves, places, stop_pass], 1), value, margin.squeeze(1).tanh()


class Python:
    """One way to make a step in Python."""

    def __init__(self, shape, arguments, precision, channels_last, fused, compiled=False):
        torch.manual_seed(1)
        self.autocast, self.batch = precision == "bf16 autocast", arguments.batch
        kind = torch.bfloat16 if precision == "bf16 by hand" else torch.float32
        marks = [(channels_last, "channels-last"), (True, "fused" if fused else "foreach"), (compiled, "compiled")]
        self.name = " ".join([precision] + [mark for is_so, mark in marks if is_so])
        self.network = Network(shape["planes"], shape["scalars"], arguments.blocks, arguments.channels, kind)
        self.run = torch.compile(self.network) if compiled else self.network
        self.planes = (torch.rand(arguments.batch, shape["planes"], shape["ranks"], shape["files"]) < 0.15).float()
        if channels_last:
            self.network = self.network.to(memory_format=torch.channels_last)
            self.planes = self.planes.contiguous(memory_format=torch.channels_last)
        self.planes = self.planes.to(kind)
        self.scalars = torch.rand(arguments.batch, shape["scalars"]).to(kind)
        policy_len = (shape["files"] * shape["ranks"]) ** 2 + 4 * shape["files"] * shape["ranks"] + 2
        # Forty legal actions a position.
        self.legal = torch.randint(0, policy_len, (arguments.batch, 40))
        self.policy = torch.full((arguments.batch, 40), 1 / 40)
        self.value = torch.full((arguments.batch, 3), 1 / 3)
        self.margin = torch.zeros(arguments.batch)
        self.optimizer = torch.optim.AdamW(
            self.network.parameters(), lr=1e-3, betas=(0.9, 0.98), weight_decay=0.02, fused=fused, foreach=not fused
        )
        self.average = [parameter.detach().clone() for parameter in self.network.parameters()]

    def step(self):
        with torch.autocast("cpu", torch.bfloat16, enabled=self.autocast):
            logits, value, margin = self.run(self.planes, self.scalars)
        log_policy = logits.float().gather(1, self.legal).log_softmax(1)
        loss = -(self.policy * log_policy).sum(1).mean()
        loss = loss - 1.5 * (self.value * value.float().log_softmax(1)).sum(1).mean()
        loss = loss + 0.25 * (margin.float() - self.margin).square().mean()
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        parameters = list(self.network.parameters())
        nn.utils.clip_grad_norm_(parameters, 2.0, foreach=True)
        self.optimizer.step()
        with torch.no_grad():
            torch._foreach_lerp_(self.average, [parameter.detach() for parameter in parameters], 0.01)
        return loss.item()

    def measure(self, seconds):
        self.step()
        steps, begun, computed = 0, time.perf_counter(), time.thread_time()
        while time.perf_counter() - begun < seconds or steps < 3:
            self.step()
            steps += 1
        clock, computed = time.perf_counter() - begun, time.thread_time() - computed
        return steps * self.batch / clock, steps * self.batch / computed


def ours(arguments, f32):
    command = [arguments.program, "bench", "training", "--json", "--plain", "--device", "cpu", "--ruleset", arguments.ruleset]
    for name in ["blocks", "channels", "batch", "threads", "seconds"]:
        command += [f"--{name}", str(getattr(arguments, name))]
    output = subprocess.run(command + ["--f32"] * f32, check=True, capture_output=True, text=True).stdout
    return json.loads(output)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    root = pathlib.Path(__file__).resolve().parent.parent
    parser.add_argument("--program", default=str(root / "target/release/latrunculi"))
    parser.add_argument("--ruleset", default="bell-8x8")
    parser.add_argument("--blocks", type=int, default=4)
    parser.add_argument("--channels", type=int, default=32)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--compile", action="store_true", help="measures torch.compile too, which takes minutes to begin")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    shape = ours(argparse.Namespace(**{**vars(arguments), "seconds": 0.1}), False)
    # Without these instructions bf16 takes ten times as long as f32.
    described = pathlib.Path("/proc/cpuinfo")
    has_bf16 = described.exists() and "bf16" in described.read_text()
    pythons = [
        Python(shape, arguments, precision, channels_last, fused)
        for precision in ["f32"] + ["bf16 autocast", "bf16 by hand"] * has_bf16
        for channels_last in [False, True]
        for fused in [False, True]
    ]
    if arguments.compile:
        for precision in ["f32"] + ["bf16 by hand"] * has_bf16:
            pythons.append(Python(shape, arguments, precision, True, True, compiled=True))
    found = {}
    for _ in range(arguments.rounds):
        for f32 in [True, False]:
            rates = ours(arguments, f32)
            name = "this program, f32" if f32 else "this program, auto"
            processor = rates["samples_per_processor_sec"] or rates["samples_per_sec"]
            found.setdefault(name, []).append((rates["samples_per_sec"], processor))
        for python in pythons:
            found.setdefault(python.name, []).append(python.measure(arguments.seconds))
    middle = {name: [statistics.median(column) for column in zip(*rates)] for name, rates in found.items()}
    # With several threads neither side tells what its processor time was.
    counted = 1 if arguments.threads == 1 else 0
    best = max(rates[counted] for name, rates in middle.items() if not name.startswith("this"))
    mine = max(rates[counted] for name, rates in middle.items() if name.startswith("this"))
    report = {
        "torch": torch.__version__,
        "network": shape["network"],
        "batch": arguments.batch,
        "threads": arguments.threads,
        "samples_per_sec": {name: rates[0] for name, rates in middle.items()},
        "samples_per_processor_sec": {name: rates[1] for name, rates in middle.items()},
        "ours_to_best_python": mine / best,
    }
    if arguments.json:
        print(json.dumps(report, indent=2))
        return
    print(f"{report['network']}, batch {arguments.batch}, {arguments.threads} thread(s), torch {torch.__version__}")
    print(f"{'':<36} {'per second':>12} {'per proc. second':>18}")
    for name, (clock, processor) in middle.items():
        print(f"{name:<36} {clock:>12.0f} {processor:>18.0f}")
    print(f"this program's best to Python's best: {report['ours_to_best_python']:.3f}")


if __name__ == "__main__":
    main()
