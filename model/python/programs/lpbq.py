"""The arithmetic of mllm's quantizer (pymllm, W4A16 LPBQ), in float32 step by step as train.py does it; and its file.

What comes from weights alone equals train.py's to the bit.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

TOP = 65535  # of 16 bits
EPS16, EPS8 = np.float32(0.0001 / 65535), np.float32(0.0001 / 255)  # least scales
LEVELS = 16  # a block's scale is 1 to 16 times its output's
SLICE = 1 << 18  # weights that one thread rounds at once: they stay in its cache
KINDS = {"F32": np.float32, "I32": np.int32, "U16": np.uint16, "I8": np.int8, "U8": np.uint8}

Span = tuple[float, float]  # least and greatest value, zero among them
Point = tuple[np.float32, int]  # scale and zero point


def span(a: np.ndarray) -> Span:
    return float(a.min(initial=0)), float(a.max(initial=0))


def union(a: Span, b: Span) -> Span:
    return min(a[0], b[0]), max(a[1], b[1])


def affine(s: Span) -> Point:
    """The point of 16 bits over a span."""
    low, high = np.float32(s[0]), np.float32(s[1])
    scale = max(np.float32(np.float32(high - low) / np.float32(TOP)), EPS16)
    return scale, min(max(-int(np.rint(np.float32(low / scale))), 0), TOP)


def centered(s: Span) -> Point:
    """The point of 8 bits around 128, of the key/value cache."""
    return max(np.float32(np.float32(max(-s[0], s[1])) / np.float32(127.5)), EPS8), 128


def store(a: np.ndarray, p: Point) -> np.ndarray:
    """Values of an embedding, a norm or a table, uint16."""
    q: np.ndarray = np.clip(np.rint(a / p[0] + np.float32(p[1])), 0, TOP).astype(np.uint16)
    return q


def blocks(w: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Quantizes a matrix [out, in] in blocks of inputs.

    Returns weights of 4 bits, int8 [in, out]; a scale of 1 to 16 a block, uint8 [out * in / size]; a scale an output,
    float32 [out]. The matrix becomes what mllm's quantizer computes with: it is rounded by the scales of blocks before
    these are rounded.
    """
    outputs, inputs = w.shape
    nibbles = np.empty((inputs, outputs), np.int8)
    scale1, scale2 = np.empty((outputs, inputs // size), np.uint8), np.empty(outputs, np.float32)

    def rows(at: slice) -> None:
        part = w[at].reshape(-1, inputs // size, size)
        most = np.abs(part)
        while most.shape[-1] > 1:  # numpy is slow at reducing a short axis
            half = most.shape[-1] // 2
            most = np.maximum(most[..., :half], most[..., half:])
        scale = np.maximum(most[..., 0] / np.float32(7), EPS16)
        scale2[at] = scale.max(-1) / np.float32(LEVELS)
        scale1[at] = np.clip(np.rint(scale / scale2[at, None]), 1, LEVELS)
        part *= (np.float32(1) / scale)[..., None]
        np.clip(np.rint(part, out=part), -7, 7, out=part)
        nibbles[:, at] = (part.reshape(-1, inputs).astype(np.int8) & 15).T
        part *= scale[..., None]

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(rows, slices(outputs, max(1, SLICE // inputs))))
    return nibbles, scale1.reshape(-1), scale2


def slices(count: int, size: int) -> Iterator[slice]:
    for first in range(0, count, size):
        yield slice(first, min(first + size, count))


class Output:
    """A safetensors file whose tensors are written in any order, each whole or in parts."""

    def __init__(self, path: Path, tensors: dict[str, tuple[str, tuple[int, ...]]], metadata: dict[str, str]) -> None:
        """tensors are type and shape by name. The largest elements come first, so each tensor is aligned."""
        self.shape, self.kind, self.begin = {}, {}, {}
        header: dict[str, object] = {"__metadata__": dict(sorted(metadata.items()))}
        end = 0
        for name, (dtype, shape) in sorted(tensors.items(), key=lambda t: (-np.dtype(KINDS[t[1][0]]).itemsize, t[0])):
            kind = np.dtype(KINDS[dtype])
            self.shape[name], self.kind[name], self.begin[name] = shape, kind, end
            end += kind.itemsize * int(np.prod(shape, dtype=np.int64))
            header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [self.begin[name], end]}
        text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
        text += b" " * (-len(text) % 8)
        self.data = 8 + len(text)
        self.left = {name: int(np.prod(shape, dtype=np.int64)) for name, shape in self.shape.items()}
        self.file = path.open("wb")
        self.file.write(len(text).to_bytes(8, "little") + text)
        self.file.truncate(self.data + end)

    def put(self, name: str, a: np.ndarray, first: int = 0) -> None:
        """Writes a tensor, or the part of it that begins at an element."""
        if a.dtype != self.kind[name] or a.size > self.left[name]:
            raise AssertionError(f"{name}: {a.dtype} {a.shape} for {self.kind[name]} {self.shape[name]}")
        self.file.seek(self.data + self.begin[name] + first * a.itemsize)
        self.file.write(np.ascontiguousarray(a).data)
        self.left[name] -= a.size

    def columns(self, name: str, a: np.ndarray, first: int) -> None:
        """Writes columns of a matrix."""
        for i, row in enumerate(a):
            self.put(name, row, i * self.shape[name][-1] + first)

    def point(self, name: str, p: Point) -> None:
        self.put(name + "scale", np.full(1, p[0], np.float32))
        self.put(name + "zero_point", np.full(1, p[1], np.int32))

    def __enter__(self) -> Output:
        return self

    def __exit__(self, wrong: object, *_: object) -> None:
        self.file.close()
        missing = [name for name, count in self.left.items() if count]
        if missing and not wrong:
            raise AssertionError(f"tensors that are not written: {missing[:8]}")
