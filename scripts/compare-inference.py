#!/usr/bin/env python3
"""The network in play of this program beside what Python's libraries make of the same network, exported.

    cargo build --release
    python3 -m venv venv && venv/bin/pip install -r scripts/requirements.txt openvino
    target/release/latrunculi export models/universal.safetensors --out exported
    venv/bin/python scripts/compare-inference.py models/universal.safetensors exported --ruleset bell-8x8

Measured are PyTorch (the operations of exported/MODEL.json one by one, and through torch.compile; each in f32 and with
bfloat16 autocast), ONNX Runtime (f32) and OpenVINO (f32, and bfloat16 where it has it) on the exported files, and every
kernel of `latrunculi bench inference`. Python gets its inputs ready made and returns the whole policy; the program encodes the
positions and returns the logits of the legal actions. One thread each, in turns, round after round; the middle of positions per
second of the processor counts, which other work on the machine disturbs less than those of the clock.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import time

import numpy as np
import torch
import torch.nn.functional as functional
from safetensors.torch import load_file


def network_of(description, weights):
    """Returns the network of a description as a function of planes and scalars."""

    names = [weight["name"] for weight in description["weights"]]

    def run(planes, scalars):
        values = []
        for op in description["operations"]:
            value = {key: values[op[key]] for key in ("input", "left", "right", "board", "squares", "factor") if key in op}
            weight = {key: weights[names[op[key]]] for key in ("weight", "bias") if "weight" in op and op[key] is not None}
            match op["op"]:
                case "planes": result = planes
                case "scalars": result = scalars
                case "convolution": result = functional.conv2d(value["input"], weight["weight"], weight["bias"], padding=1)
                case "linear": result = functional.linear(value["input"], weight["weight"], weight.get("bias"))
                case "add": result = value["left"] + value["right"]
                case "add_bias": result = value["board"] + values[op["bias"]][:, :, None, None]
                case "scale": result = value["board"] * value["factor"][:, :, None, None]
                case "relu": result = functional.relu(value["input"])
                case "tanh": result = torch.tanh(value["input"])
                case "softmax": result = torch.softmax(value["input"], 1)
                case "mean": result = value["board"].mean((2, 3))
                case "max": result = value["board"].amax((2, 3))
                case "size_scale":
                    area = value["board"].shape[2] * value["board"].shape[3]
                    result = value["input"] * ((area**0.5 - 9) / 4)
                case "concat": result = torch.cat([values[place] for place in op["inputs"]], 1)
                case "slice": result = value["input"].narrow(op["dim"], op["start"], op["len"])
                case "mean_squares": result = value["squares"].mean(1)
                case "max_squares": result = value["squares"].amax(1)
                case "squares": result = value["board"].flatten(2).transpose(1, 2)
                case "transpose": result = value["input"].transpose(1, 2)
                case "reshape": result = value["input"].reshape(-1, *op["size"])
                case "flatten": result = value["input"].flatten(1)
                case "product": result = value["left"] @ value["right"]
                case "float": result = value["input"].float()
                case unknown: raise ValueError(f"this script does not know the operation {unknown!r}")
            values.append(result)
        return [values[place] for place in description["operation_outputs"].values()]

    return run


def of_torch(run, planes, scalars, bf16):
    """Returns a function that computes a batch with PyTorch."""
    inputs = torch.from_numpy(planes).contiguous(memory_format=torch.channels_last), torch.from_numpy(scalars)

    def answer():
        with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            return run(*inputs)

    return answer


def of_onnxruntime(path, inputs):
    """Returns a function that computes a batch with ONNX Runtime."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, inputs)


def of_openvino(path, inputs, precision):
    """Returns a function that computes a batch with OpenVINO."""
    import openvino

    settings = {"INFERENCE_PRECISION_HINT": precision, "INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1}
    core = openvino.Core()
    model = core.read_model(str(path))
    model.reshape({name: list(value.shape) for name, value in inputs.items()})
    request = core.compile_model(model, "CPU", settings).create_infer_request()
    return lambda: request.infer(inputs)


def measure(answer, seconds):
    """Returns batches per second of the processor."""
    answer()
    count, begun, computed = 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - begun < seconds or count < 3:
        answer()
        count += 1
    return count / (time.process_time() - computed)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = pathlib.Path(__file__).resolve().parent.parent
    parser.add_argument("model", type=pathlib.Path, help="a model file")
    parser.add_argument("exported", type=pathlib.Path, help="the folder where `latrunculi export` has written it")
    parser.add_argument("--program", default=str(root / "target/release/latrunculi"))
    parser.add_argument("--ruleset", default="bell-8x8", help="the size of the board")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)

    def of_program(bench, *options):
        command = [arguments.program, "bench", bench, "--json", "--device", "cpu", "--threads", "1", "--ruleset",
                   arguments.ruleset, *options]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    shape = of_program("training", "--seconds", "0.1")
    base = arguments.exported / arguments.model.stem
    description = json.loads(base.with_suffix(".json").read_text(encoding="utf-8"))
    random = np.random.default_rng(1)
    board = (arguments.batch, shape["planes"], shape["ranks"], shape["files"])
    inputs = {
        "planes": (random.random(board) < 0.15).astype(np.float32),
        "scalars": random.random((arguments.batch, shape["scalars"])).astype(np.float32),
    }
    run = network_of(description, load_file(base.with_suffix(".weights.safetensors")))
    compiled = torch.compile(run)
    onnx = base.with_suffix(".onnx")
    answers = {
        "PyTorch f32": of_torch(run, *inputs.values(), False),
        "PyTorch bf16": of_torch(run, *inputs.values(), True),
        "PyTorch compiled f32": of_torch(compiled, *inputs.values(), False),
        "PyTorch compiled bf16": of_torch(compiled, *inputs.values(), True),
        "ONNX Runtime f32": of_onnxruntime(onnx, inputs),
        "OpenVINO f32": of_openvino(onnx, inputs, "f32"),
        "OpenVINO bf16": of_openvino(onnx, inputs, "bf16"),
    }
    found = {}
    for _ in range(arguments.rounds):
        options = ["--model", str(arguments.model), "--batches", str(arguments.batch), "--seconds", str(arguments.seconds)]
        for row in of_program("inference", *options):
            found.setdefault(row["kernel"], []).append(row["positions_per_processor_sec"])
        for name, answer in answers.items():
            found.setdefault(name, []).append(arguments.batch * measure(answer, arguments.seconds))
    middle = {name: statistics.median(rates) for name, rates in found.items()}
    best = max(rate for name, rate in middle.items() if name in answers)
    if arguments.json:
        print(json.dumps({"ruleset": arguments.ruleset, "batch": arguments.batch, "positions_per_processor_sec": middle}, indent=2))
        return
    print(f"{arguments.model.name}, {shape['files']}x{shape['ranks']}, batches of {arguments.batch}, one thread, torch {torch.__version__}")
    print(f"{'':<24} {'per proc. second':>18} {'by the best of Python':>24}")
    for name, rate in sorted(middle.items(), key=lambda entry: -entry[1]):
        print(f"{name:<24} {rate:>18.0f} {rate / best:>24.2f}")


if __name__ == "__main__":
    main()
