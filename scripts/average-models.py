#!/usr/bin/env python3
"""Averages the weights of models of one shape, as of a network and what further training made of it:

    scripts/average-models.py OUT.safetensors MODEL.safetensors MODEL.safetensors...

The mean has the description of the first model without its measured strength, and a note of the files that it is of.
Needs the Python standard library only."""

import array
import hashlib
import json
import struct
import sys
import zlib
from pathlib import Path


def read(path):
    """Returns the header of a model file, its weights, and a note of the file."""
    data = Path(path).read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    weights = array.array("f", data[8 + length :])
    if sys.byteorder == "big":
        weights.byteswap()
    return json.loads(data[8 : 8 + length]), weights, f"{Path(path).name} (SHA-256 {hashlib.sha256(data).hexdigest()})"


if len(sys.argv) < 4:
    sys.exit(__doc__)
out, *paths = sys.argv[1:]
try:
    headers, weights, notes = zip(*map(read, paths))
except (OSError, ValueError, struct.error) as error:
    sys.exit(f"a model cannot be read: {error}")
metadata = [header.pop("__metadata__") for header in headers]
for path, header, described in zip(paths, headers, metadata):
    if header != headers[0] or described["encoding"] != metadata[0]["encoding"]:
        sys.exit(f"{path}: its tensors or its encoding are not those of {paths[0]}")

mean = array.array("f", (sum(values) / len(values) for values in zip(*weights)))
if sys.byteorder == "big":
    mean.byteswap()
info = json.loads(metadata[0]["info"])
info["history"].update(strength=[], first_player=None)
info.setdefault("notes", {})["average"] = "mean of the weights of " + ", ".join(notes)
metadata[0].update(info=json.dumps(info, separators=(",", ":")), checksum=f"{zlib.crc32(mean.tobytes()):08x}")
header = json.dumps({"__metadata__": metadata[0], **headers[0]}, separators=(",", ":")).encode()
header += b" " * (-len(header) % 8)
Path(out).write_bytes(struct.pack("<Q", len(header)) + header + mean.tobytes())
