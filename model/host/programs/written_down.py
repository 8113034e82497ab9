"""What the compiler writes down of a graph (its JSON), held to the points of quantisation that were asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from arch import Wrong

TYPES = {0x408: "uint8", 0x416: "uint16"}  # as QNN numbers fixed-point types
SCALE_OFFSET, BLOCKWISE_EXPANSION = 0, 5  # as QNN numbers encodings

Bits = tuple[str, int, str]


def bits(scale: float, zero: int, kind: str) -> Bits:
    return np.float32(scale).tobytes().hex(), zero, kind


def check(folder: Path, wanted: dict[str, Any]) -> dict[str, int]:
    """Refuses a graph in which a point is missing or another, or that has one which nobody asked for; counts what it found."""
    files = [p for p in folder.glob("*.json") if "tensor_log" not in p.name]
    if len(files) != 1:
        raise Wrong(f"The compiler wrote down {len(files)} graphs, one was expected.")
    points = {name: bits(*p) for name, p in wanted["points"].items()}
    every = set(points.values())
    seen: set[Bits] = set()
    by_name = blocks = 0
    wrong: list[str] = []
    for name, t in json.loads(files[0].read_text())["graph"]["tensors"].items():
        q = t["quant_params"]
        if q["encoding"] == BLOCKWISE_EXPANSION:
            blocks += 1
        if q["encoding"] != SCALE_OFFSET or t["data_type"] not in TYPES:
            continue
        got = bits(q["scale_offset"]["scale"], -q["scale_offset"]["offset"], TYPES[t["data_type"]])
        seen.add(got)
        by_name += name in points
        if points.get(name, got) != got or got not in every:
            wrong.append(f"{name} has scale {q['scale_offset']['scale']} and zero point {got[1]} ({got[2]})")
    lost = sorted(n for n, p in points.items() if p not in seen)
    if lost:
        wrong.append(f"{len(lost)} points are not there: {', '.join(lost[:8])}")
    if blocks != len(wanted["blocks"]):
        wrong.append(f"{blocks} matrices are in blocks, {len(wanted['blocks'])} were")
    if wrong:
        raise Wrong("The compiler's graph is not quantised as it was asked for: " + "; ".join(wrong[:8]) + ".")
    return {"points": len(every), "tensors": by_name, "blocks": blocks}
