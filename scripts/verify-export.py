#!/usr/bin/env python3
"""Compares exported files with the program's own answers, from Python.

    latrunculi export MODEL --check-data 1000 --out exported
    python3 -m venv venv && venv/bin/pip install -r scripts/requirements.txt
    venv/bin/python scripts/verify-export.py exported/model.json

Reads, beside the named description, whatever is there of NAME.pt (torch), NAME.onnx (onnx, onnxruntime),
NAME.weights.safetensors and NAME.weights.npz (numpy: the operations of the description, in the forty lines of
`run_operations`), and asks each for the positions of NAME.check.npz. Prints the largest difference of each output and
the versions of the packages. Exit status 1 when a difference is above the tolerance or a file is broken.
"""

import argparse
import hashlib
import json
import pathlib
import sys

import numpy as np


def run_operations(description, weights, planes, scalars):
    """Runs the network that `description` describes; returns the outputs by name. All in numpy."""

    def convolution(board, weight, bias):
        padded = np.pad(board, ((0, 0), (0, 0), (1, 1), (1, 1)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
        return np.einsum("bchwyx,ocyx->bohw", windows, weight, optimize=True) + bias[:, None, None]

    def softmax(logits):
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)

    names = [weight["name"] for weight in description["weights"]]
    values = []
    for op in description["operations"]:
        value = {key: values[op[key]] for key in ("input", "left", "right", "board", "squares", "factor") if key in op}
        weight = {key: weights[names[op[key]]] for key in ("weight", "bias") if "weight" in op and op[key] is not None}
        match op["op"]:
            case "planes": result = planes
            case "scalars": result = scalars
            case "convolution": result = convolution(value["input"], weight["weight"], weight["bias"])
            case "linear": result = value["input"] @ weight["weight"].T + weight.get("bias", np.float32(0))
            case "add": result = value["left"] + value["right"]
            case "add_bias": result = value["board"] + values[op["bias"]][:, :, None, None]
            case "scale": result = value["board"] * value["factor"][:, :, None, None]
            case "relu": result = np.maximum(value["input"], 0)
            case "tanh": result = np.tanh(value["input"])
            case "softmax": result = softmax(value["input"])
            case "mean": result = value["board"].mean(axis=(2, 3))
            case "max": result = value["board"].max(axis=(2, 3))
            case "size_scale": result = value["input"] * np.float32((np.prod(value["board"].shape[2:]) ** 0.5 - 9) / 4)
            case "concat": result = np.concatenate([values[place] for place in op["inputs"]], axis=1)
            case "slice": result = value["input"].take(range(op["start"], op["start"] + op["len"]), axis=op["dim"])
            case "mean_squares": result = value["squares"].mean(axis=1)
            case "max_squares": result = value["squares"].max(axis=1)
            case "squares": result = value["board"].reshape(*value["board"].shape[:2], -1).transpose(0, 2, 1)
            case "transpose": result = value["input"].transpose(0, 2, 1)
            case "reshape": result = value["input"].reshape(-1, *op["size"])
            case "flatten": result = value["input"].reshape(len(value["input"]), -1)
            case "product": result = value["left"] @ value["right"]
            case "float": result = value["input"]
            case unknown: raise ValueError(f"this script does not know the operation {unknown!r}")
        values.append(result)
    return {name: values[place] for name, place in description["operation_outputs"].items()}


def torchscript(path, description, planes, scalars):
    import torch

    torch.set_num_threads(1)
    extra = {"meta.json": ""}
    module = torch.jit.load(str(path), _extra_files=extra)
    yield json.loads(extra["meta.json"])
    with torch.inference_mode():
        answers = module(torch.from_numpy(planes), torch.from_numpy(scalars))
    names = [output["name"] for output in description["outputs"]]
    yield dict(zip(names, (answer.numpy() for answer in answers), strict=True))


def onnx(path, description, planes, scalars):
    import onnx
    import onnxruntime

    model = onnx.load(str(path))
    onnx.checker.check_model(model, full_check=True)
    yield json.loads({entry.key: entry.value for entry in model.metadata_props}["description"])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    for name, size in [(entry.name, entry.shape) for entry in session.get_inputs()]:
        wanted = next(entry["shape"] for entry in description["inputs"] if entry["name"] == name)
        if size != wanted:
            raise ValueError(f"input {name!r} has the shape {size}, the description says {wanted}")
    names = [output.name for output in session.get_outputs()]
    # The batch is free: one position, then some, then the rest at once.
    parts = [session.run(names, {"planes": planes[part], "scalars": scalars[part]})
             for part in (slice(0, 1), slice(1, 8), slice(8, None)) if len(planes[part])]
    yield {name: np.concatenate(pieces) for name, pieces in zip(names, zip(*parts))}


def safetensors(path, description, planes, scalars):
    from safetensors import safe_open

    with safe_open(str(path), framework="numpy") as file:
        yield json.loads(file.metadata()["description"])
        yield run_operations(description, {name: file.get_tensor(name) for name in file.keys()}, planes, scalars)


def npz(path, description, planes, scalars):
    arrays = np.load(path)
    yield json.loads(bytes(arrays["description"]))
    yield run_operations(description, arrays, planes, scalars)


READERS = {"pt": torchscript, "onnx": onnx, "weights.safetensors": safetensors, "weights.npz": npz}


def verify(path, tolerance, positions_min):
    """Verifies what lies beside one description; returns whether all is well."""
    description = json.loads(path.read_text(encoding="utf-8"))
    check = np.load(path.with_suffix(".check.npz"))
    planes, scalars = check["planes"], check["scalars"]
    distinct = len({hashlib.sha256(board.tobytes() + rest.tobytes()).digest() for board, rest in zip(planes, scalars)})
    rulesets = ", ".join(f"{ruleset['name']} ({ruleset['fingerprint']})" for ruleset in description["rulesets"])
    print(f"{path}: trained on {rulesets}; board {planes.shape[3]}x{planes.shape[2]}, "
          f"{len(planes)} positions, {distinct} of them different")
    is_good = True
    if len(planes) < positions_min:
        print(f"  only {len(planes)} positions; {positions_min} are wanted (latrunculi export --check-data)")
        is_good = False
    found = [(extension, path.with_suffix("." + extension)) for extension in READERS]
    found = [(extension, file) for extension, file in found if file.exists()]
    if not found:
        print("  no exported file beside it")
        return False
    for extension, file in found:
        own, answers = READERS[extension](file, description, planes, scalars)
        if own != description:
            print(f"  {file.name}: its own description differs from {path.name}")
            is_good = False
        differences = {}
        for output in description["outputs"]:
            name, answer, reference = output["name"], answers[output["name"]], check[output["name"]]
            same = answer.shape == reference.shape and answer.dtype == reference.dtype
            differences[name] = float(np.abs(answer - reference).max()) if same else float("inf")
        is_close = all(difference <= tolerance for difference in differences.values())
        is_good &= is_close
        shown = ", ".join(f"{name} {difference:.1e}" for name, difference in differences.items())
        print(f"  {file.name:<28} {'ok' if is_close else 'DIFFERS'}: {shown}")
    return is_good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("descriptions", nargs="+", type=pathlib.Path, help="NAME.json of exported models")
    parser.add_argument("--tolerance", type=float, default=1e-4, help="largest difference allowed (default 1e-4)")
    parser.add_argument("--positions", type=int, default=1000, help="fewest positions allowed (default 1000)")
    arguments = parser.parse_args()
    results = [verify(path, arguments.tolerance, arguments.positions) for path in arguments.descriptions]
    packages = ("numpy", "torch", "onnx", "onnxruntime", "safetensors")
    versions = (f"{name} {sys.modules[name].__version__}" for name in packages if name in sys.modules)
    print(f"Python {sys.version.split()[0]}, " + ", ".join(versions))
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
