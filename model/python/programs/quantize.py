"""Quantizes a decoder's float graphs: every tensor gets a QuantizeLinear and a DequantizeLinear, as Qualcomm's compiler takes them.

Activations are uint16 (A16), and so is the cache, or uint8 about 128. The matrices of the layers are, by method,
  a16w8  int8, a scale each output
  a16w4  int4, a scale each output
  lpbq   int4 in blocks of inputs; a block's scale is an integer of 4 bits, 1 to 15, times a float each output: the scheme of mllm's ahead-of-time way
  mobilequant  int8, a scale each output, and what goes into them and comes out has 8 bits, too; all else keeps 16: softmax, norms, the rest of attention
The head stays int8 with a scale each output, and so do high-precision layers and matrices; embedding, norms and biases are uint16.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper

import feed
import parts
import tensors
from arch import Arch, Wrong
from calibrate import Seen

METHODS = ("a16w8", "a16w4", "lpbq", "mobilequant")
Point = tuple[np.float32, np.uint16 | np.uint8]  # scale and zero point of a tensor
SAME = {"Reshape", "Transpose", "Slice", "Concat", "Gather"}  # what comes out has the scale of what goes in
TOP = 65535
WIDE = "_wide"  # a key or value in 16 bits, before it goes into a cache of 8


def per_output(w: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Integers [in, out] of -most..most and a float32 scale each output."""
    scale = np.maximum(np.abs(w).max(0) / most, 1e-8).astype(np.float32)
    return np.clip(np.round(w / scale), -most, most).astype(np.int8), scale


def lpbq(w: np.ndarray, block: int, squares: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """int4 values as int8 [in, out], block scales uint8 [in / block, out] of 1..15, and a float32 scale each output.

    Of the scales that a block may have, the one with the least error is taken, each input weighing as much as its square was seen to be.
    """
    inputs, outputs = w.shape
    if inputs % block:
        raise Wrong(f"A matrix of {inputs} inputs does not divide into blocks of {block}.")
    blocks = w.reshape(inputs // block, block, outputs)
    importance = np.ones(inputs) if squares is None else np.asarray(squares) + 1e-12
    weight = (importance / importance.mean()).reshape(inputs // block, block, 1).astype(np.float32)
    reach = np.abs(blocks).max(1) / 7
    scale = np.maximum(reach.max(0) / 15, 1e-9).astype(np.float32)
    exact = np.clip(np.ceil(reach / scale - 1e-6), 1, 15)
    best, least = exact.astype(np.uint8), np.full(exact.shape, np.inf, np.float32)
    for less in range(6):  # a smaller scale cuts the largest values off and is finer for the rest
        level = np.clip(exact - less, 1, 15).astype(np.float32)
        step = (level * scale)[:, None]
        error = (weight * (np.clip(np.round(blocks / step), -8, 7) * step - blocks) ** 2).sum(1)
        better = error < least
        least, best = np.where(better, error, least), np.where(better, level, best).astype(np.uint8)
    q = np.clip(np.round(blocks / (best * scale)[:, None]), -8, 7).reshape(inputs, outputs).astype(np.int8)
    return q, best, scale


def asymmetric(low: float, high: float, kind: type[Any]) -> tuple[np.float32, Any]:
    """Scale and zero point of unsigned integers for a range."""
    top = int(np.iinfo(kind).max)
    scale = np.float32(max(high - low, 1e-4) / top)
    return scale, kind(min(max(round(-low / float(scale)), 0), top))


class Quantizer:
    """One method over all graphs of a folder: they share weights, and so scales."""

    def __init__(self, source: Path, folder: Path, method: str, block: int, seen: Seen, kv: str = "uint16", high: Collection[str] = ()) -> None:
        if method not in METHODS:
            raise Wrong(f"method {method!r} is unknown. Use {', '.join(METHODS)}.")
        self.source, self.method, self.block, self.seen = source, method, block, seen
        self.kv, self.high = kv, frozenset(high)
        self.data = tensors.DataFile(folder)
        self.cache: dict[str, dict[str, float | str]] = {}
        self.matrices: dict[str, list[tuple[str, onnx.TensorProto]]] = {}

    def kept(self, matrix: str) -> bool:
        """Whether a matrix is quantized as a16w8 does, whatever the method."""
        return matrix == "head" or matrix in self.high or matrix.rpartition(".")[0] in self.high

    def graph(self, model: onnx.ModelProto) -> onnx.ModelProto:
        """The graph, quantized."""
        g = model.graph
        floats = {t.name: t for t in g.initializer if t.data_type == TensorProto.FLOAT}
        matrices = {n.input[1] for n in g.node if n.op_type == "MatMul" and n.input[1] in floats}
        values = {n: tensors.read(self.source, t) for n, t in floats.items() if n not in matrices}
        parameters, narrow = self.parameters(g, values, np.uint16), self.parameters(g, values, np.uint8)
        if unknown := sorted(self.high - matrices - {m.rpartition(".")[0] for m in matrices}):
            raise Wrong(f"high_precision_layers: the model has no {', '.join(unknown)}. Layers are 0, 1, …, matrices 0.q, 0.down, ….")
        eight = {m for m in matrices if not self.kept(m)} if self.method == "mobilequant" else set()
        nodes: list[onnx.NodeProto] = []
        initializers: dict[str, onnx.TensorProto] = {t.name: t for t in g.initializer if t.name not in floats}
        done: set[str] = set()
        now: dict[str, str] = {}  # the name under which a tensor goes on

        def constant(name: str, a: np.ndarray) -> str:
            if name not in initializers:
                initializers[name] = self.data.tensor(name, a)
            return name

        def pair(t: str) -> list[str]:
            scale, zero = parameters[t]
            return [constant(t + "_scale", np.asarray(scale)), constant(t + "_zero", np.asarray(zero))]

        def node(kind: str, inputs: list[str], output: str, **attributes: Any) -> None:
            nodes.append(helper.make_node(kind, inputs, [output], name=f"{output}/{kind}", **attributes))

        def rounded(of: str, to: str, key: str, scale: Any, zero: Any) -> str:
            """A tensor, rounded to integers of zero's type."""
            if to not in done:
                done.add(to)
                names = [constant(key + "_scale", np.asarray(scale)), constant(key + "_zero", np.asarray(zero))]
                node("QuantizeLinear", [of, *names], to + "_q")
                node("DequantizeLinear", [to + "_q", *names], to)
            return to

        for t in floats:
            if t in matrices:
                names = []
                for suffix, made in self.matrix(t, floats[t]):
                    initializers[t + suffix] = made
                    names.append(t + suffix)
                if len(names) == 5:
                    node("DequantizeLinear", names[:3], t + "_steps", axis=1)
                    node("DequantizeLinear", [names[3], t + "_steps", names[4]], t + "_now", axis=0, block_size=self.block)
                else:
                    node("DequantizeLinear", names, t + "_now", axis=1)
            else:
                scale, zero = parameters[t]
                constant(t + "_q", np.clip(np.round(values[t] / scale) + int(zero), 0, TOP).astype(np.uint16))
                node("DequantizeLinear", [t + "_q", *pair(t)], t + "_now")
            now[t] = t + "_now"
        cached = [v.name for v in (*g.input, *g.output) if v.name.startswith(("past_", "new_"))]
        outputs = {o.name for o in g.output}
        for v in g.input:
            if v.type.tensor_type.elem_type == TensorProto.FLOAT:
                if v.name not in cached:
                    node("QuantizeLinear", [v.name, *pair(v.name)], v.name + "_q")
                node("DequantizeLinear", [v.name if v.name in cached else v.name + "_q", *pair(v.name)], v.name + "_now")
                now[v.name] = v.name + "_now"
        for n in g.node:
            made, out = onnx.NodeProto(), n.output[0]
            made.CopyFrom(n)
            for i, t in enumerate(made.input):
                made.input[i] = now.get(t, t)
            few = n.op_type == "MatMul" and n.input[1] in eight
            x = n.input[0]
            if few:
                made.input[0] = rounded(now[x], x + "_in8", x + "_in8", *narrow[x])
            nodes.append(made)
            if out not in parameters:
                continue
            made.output[0] = exact = out + "_exact"
            if few:
                exact = rounded(exact, out + "_out8", out + "_out8", *narrow[out])
            q = out if out in cached else out + "_q"
            now[out] = out if out in outputs and out not in cached else out + "_now"
            if out + WIDE in parameters:
                exact = rounded(exact, out + WIDE, out + WIDE, *parameters[out + WIDE])
            node("QuantizeLinear", [exact, *pair(out)], q)
            node("DequantizeLinear", [q, *pair(out)], now[out])
        made = helper.make_graph(nodes, g.name, self.ends(g.input, parameters), self.ends(g.output, parameters), list(initializers.values()))
        return helper.make_model(made, opset_imports=model.opset_import, ir_version=model.ir_version, producer_name="hexmage")

    def ends(self, values: list[onnx.ValueInfoProto], parameters: dict[str, Point]) -> list[onnx.ValueInfoProto]:
        """Inputs or outputs, with those of the cache as integers."""
        out = []
        for v in values:
            w = onnx.ValueInfoProto()
            w.CopyFrom(v)
            if v.name.startswith(("past_", "new_")):
                w.type.tensor_type.elem_type = TensorProto.UINT8 if self.kv == "uint8" else TensorProto.UINT16
                scale, zero = parameters[v.name]
                self.cache[v.name] = {"scale": float(scale), "zero_point": int(zero), "type": self.kv}
            out.append(w)
        return out

    def parameters(self, g: onnx.GraphProto, values: dict[str, np.ndarray], kind: type[Any]) -> dict[str, Point]:
        """Scale and zero point of each tensor that is no matrix, for unsigned integers of a kind; alike for those that only move values."""
        names = {t for n in g.node for t in (*n.input, *n.output)}
        ranges = {t: r for t, r in self.seen.ranges.items() if t in names}
        for name, a in values.items():
            ranges[name] = min(0.0, float(a.min())), max(0.0, float(a.max()))
        root: dict[str, str] = {}

        def find(t: str) -> str:
            while t in root and root[t] != t:
                t = root[t]
            return t

        for n in g.node:
            if n.op_type in SAME:
                out = n.output[0]
                if self.kv == "uint8" and out.startswith("new_"):
                    out += WIDE
                    ranges[out] = ranges[n.output[0]]
                for t in n.input:
                    if t in ranges and find(t) != find(out):
                        root[find(t)] = find(out)
        joined: dict[str, tuple[float, float]] = {}
        for t, (low, high) in ranges.items():
            have = joined.get(find(t), (0.0, 0.0))
            joined[find(t)] = min(low, have[0]), max(high, have[1])
        eight = {find(t) for t in ranges if t.startswith("past_")} if self.kv == "uint8" else set()
        made: dict[str, Point] = {}
        for t in ranges:
            low, high = joined[find(t)]
            if find(t) in eight:
                made[t] = np.float32(max(-low, high, 1e-4) / 127), np.uint8(128)
            else:
                made[t] = asymmetric(low, high, kind)
        return made

    def matrix(self, name: str, t: onnx.TensorProto) -> list[tuple[str, onnx.TensorProto]]:
        """The tensors that a matrix becomes, by suffix; made once for all graphs."""
        if name not in self.matrices:
            w = np.asarray(tensors.read(self.source, t), np.float32)
            squares = self.seen.squares.get(name)
            if self.method == "lpbq" and not self.kept(name):
                q, blocks, scale = lpbq(w, self.block, squares)
                made = [
                    ("_blocks", blocks),
                    ("_scale", scale),
                    ("_zero", np.zeros(scale.shape, np.uint8)),
                    ("_q", q.astype(ml_dtypes.int4)),
                    ("_q_zero", np.zeros(blocks.shape, ml_dtypes.int4)),
                ]
            else:
                four = self.method == "a16w4" and not self.kept(name)
                q, scale = per_output(w, 7 if four else 127)
                kind = ml_dtypes.int4 if four else np.int8
                made = [("_q", q.astype(kind)), ("_scale", scale), ("_zero", np.zeros(scale.shape, kind))]
            self.matrices[name] = [(suffix, self.data.tensor(name + suffix, a)) for suffix, a in made]
        return self.matrices[name]


def write(source: Path, folder: Path, method: str, block: int, seen: Seen, kv: str, arch: Arch, shards: int, high: Collection[str] = ()) -> None:
    """Writes the quantized graphs in shards, their tensors, and cache.json with scale and zero point of each cache tensor."""
    counts = parts.layers(arch, method, shards)
    q = Quantizer(source, folder, method, block, seen, kv, high)
    for name, tokens in zip(feed.GRAPHS, (arch.chunk, 1), strict=True):
        whole = q.graph(onnx.load(source / f"{name}.onnx", load_external_data=False))
        if shards == 1:
            onnx.save(whole, folder / f"{name}.onnx")
            continue
        for i, part in enumerate(parts.cut(whole, counts, tokens, arch.hidden)):
            onnx.save(part, folder / f"{name}_{i}.onnx")
    q.data.close()
    (folder / "cache.json").write_text(json.dumps(q.cache, indent=1, sort_keys=True) + "\n")
