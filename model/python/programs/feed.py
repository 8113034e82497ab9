"""A decoder's graphs by name, and what they are given for tokens: decoder.py says the shapes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from arch import Arch, Wrong

MASK = -100.0  # far below what attention scores reach, near enough for 16 bits to tell scores apart
SEES = 65535  # where a token looks, of graphs that are quantized as mllm does
GRAPHS = ("prefill", "decode")
TABLE = "embedding.bin"  # the embedding outside of the graphs, float16 [vocabulary, hidden]


def found(source: Path) -> list[Path]:
    """The graphs of a folder, that which takes a prompt first, or one file."""
    graphs = [source] if source.is_file() else sorted(source.glob("*.onnx"), key=lambda p: (not p.stem.startswith("prefill"), p.name))
    if not graphs:
        raise Wrong(f"{source} has no *.onnx.")
    return graphs


def stems(names: Iterable[str], graph: str) -> list[str]:
    """Of names those of a graph: itself, or of one that is cut into parts GRAPH_0 and so on, in their order."""
    have = set(names)
    if graph in have:
        return [graph]
    found: list[str] = []
    while f"{graph}_{len(found)}" in have:
        found.append(f"{graph}_{len(found)}")
    return found


def inputs(arch: Arch, tokens: list[int], width: int, past: int, cache: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What a graph that takes `width` tokens is given for those, after `past` others that are in the cache."""
    mask = np.full((1, 1, width, arch.context + width), MASK, np.float32)
    mask[..., :past] = 0
    for i in range(width):
        mask[0, 0, i, arch.context : arch.context + i + 1] = 0
    cos, sin = arch.rotation(past, width)
    ids = np.asarray([*tokens, *[0] * (width - len(tokens))], np.int32).reshape(1, width)
    return {"input_ids": ids, "mask": mask, "cos": cos, "sin": sin, **cache}


def embedded(table: np.ndarray, tokens: list[int], width: int) -> dict[str, np.ndarray]:
    """What graphs take in the place of tokens whose embedding is outside: their rows, and that of token 0 for what fills a chunk up."""
    return {"embedded": np.asarray(table[[*tokens, *[0] * (width - len(tokens))]], np.float32)[None]}


def integers(arch: Arch, width: int, past: int) -> dict[str, np.ndarray]:
    """What the graphs of mllm_graphs.py take in the place of mask, cosine and sine."""
    positions = np.minimum(np.arange(past, past + width), arch.context - 1).astype(np.int32)  # of what fills a chunk up it does not matter
    looks = np.zeros((1, 1, width, arch.context + width), np.uint16)
    looks[..., :past] = SEES
    for i in range(width):
        looks[0, 0, i, arch.context : arch.context + i + 1] = SEES
    return {"position_ids": positions, "looks": looks}


def apart(arch: Arch, texts: list[list[int]], width: int, cache: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What a graph that takes `width` tokens is given for several short texts side by side, none of which sees another, with nothing in the cache."""
    lengths = [len(t) for t in texts]
    looks = np.zeros((width, width), bool)
    positions: list[int] = []
    for n in lengths:
        at = len(positions)
        looks[at : at + n, at : at + n] = np.tril(np.ones((n, n), bool))
        positions += range(n)
    rest = np.arange(len(positions), width)
    looks[rest, rest] = True
    positions += [0] * len(rest)
    mask = np.full((1, 1, width, arch.context + width), MASK, np.float32)
    mask[0, 0, :, arch.context :][looks] = 0
    sees = np.zeros((1, 1, width, arch.context + width), np.uint16)
    sees[0, 0, :, arch.context :][looks] = SEES
    cos, sin = (t[:, :, positions] for t in arch.rotation(0, width))
    ids = np.asarray([t for text in texts for t in text] + [0] * len(rest), np.int32).reshape(1, width)
    return {"input_ids": ids, "mask": mask, "cos": cos, "sin": sin, "position_ids": np.asarray(positions, np.int32), "looks": sees, **cache}
