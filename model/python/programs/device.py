"""What the program of module onnx-device reads beside the graphs: decoder.txt, a name and its value a line, and rotation.f32, cosines and sines of each position.

The program has no reader of JSON. It takes the tables from here because another processor's cosines differ in the last bit.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import arch


def write(source: Path, to: Path, shared: bool, made: str) -> None:
    """Writes both files for the language model of a folder. shared says that its graphs are in one context, made names that context's chip and compiler."""
    of, cache = arch.load(source / "arch.json"), source / "cache.json"
    lines = [f"shared {int(shared)}", f"made {made}"]
    if of.stop:
        lines.append(f"stop {' '.join(map(str, of.stop))}")
    if cache.is_file():
        lines += [f"zero {name} {point['zero_point']}" for name, point in json.loads(cache.read_text()).items() if name.startswith("past_")]
    (to / "decoder.txt").write_text("\n".join(lines) + "\n")
    np.stack(of.rotation(0, of.context + of.chunk)).tofile(to / "rotation.f32")
