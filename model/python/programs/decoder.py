"""A decoder as two static graphs, prefill of a chunk and decode of one token, with the key/value cache as inputs and outputs.

Inputs, for a chunk of S tokens and a cache of C:
  input_ids int32 [1, S]; mask float [1, 1, S, C + S], 0 where a token looks and feed.MASK where not; cos, sin float [1, 1, S, head_dim / 2];
  past_k_I, past_v_I float [1, kv_heads, C, head_dim] of layer I.
With arch.outside embedded float [1, S, hidden] takes the place of input_ids: rows of embedding.bin, float16 [vocabulary, hidden], which is written beside
the graphs.
Outputs: logits float [1, S, vocabulary]; new_k_I, new_v_I float [1, kv_heads, S, head_dim], which the caller puts into the cache.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

import feed
from arch import Arch
from tensors import DataFile, Nodes
from weights import Weights


def build(name: str, arch: Arch, tokens: int, weights: Weights, data: DataFile) -> onnx.ModelProto:
    """One of the graphs, float."""
    b, a, s = Nodes(data), arch, tokens
    keys = a.context + s

    def weight(key: str) -> str:
        return b.constant(key, weights[key])

    def norm(x: str, key: str, out: str) -> str:
        return b.op("RMSNormalization", [x, weight(key)], out, axis=-1, epsilon=a.epsilon)

    def heads(x: str, count: int, out: str) -> str:
        x = b.op("Reshape", [x, b.ints(1, s, count, a.head_dim)], out + "_split")
        return x

    def rotate(x: str, out: str) -> str:
        half = a.head_dim // 2
        one = b.op("Slice", [x, b.ints(0), b.ints(half), b.ints(3)], out + "_first")
        two = b.op("Slice", [x, b.ints(half), b.ints(a.head_dim), b.ints(3)], out + "_second")
        left = b.op("Sub", [b.op("Mul", [one, "cos"], out + "_first_cos"), b.op("Mul", [two, "sin"], out + "_second_sin")], out + "_left")
        right = b.op("Add", [b.op("Mul", [two, "cos"], out + "_second_cos"), b.op("Mul", [one, "sin"], out + "_first_sin")], out + "_right")
        return b.op("Concat", [left, right], out, axis=3)

    first = ("embedded", TensorProto.FLOAT, [1, s, a.hidden]) if a.outside else ("input_ids", TensorProto.INT32, [1, s])
    inputs = [first, ("mask", TensorProto.FLOAT, [1, 1, s, keys])]
    inputs += [(t, TensorProto.FLOAT, [1, 1, s, a.head_dim // 2]) for t in ("cos", "sin")]
    outputs = [("logits", TensorProto.FLOAT, [1, s, a.vocabulary])]
    x = "embedded" if a.outside else b.op("Gather", [weight("embedding"), "input_ids"], "embedded", axis=0)
    for i in range(a.layers):
        o = f"layer{i}_"
        n = norm(x, f"{i}.attention_norm", o + "attention_norm")
        parts = {}
        for t, count in (("q", a.heads), ("k", a.kv_heads), ("v", a.kv_heads)):
            y = b.op("MatMul", [n, weight(f"{i}.{t}")], o + t)
            if weights.has(f"{i}.{t}_bias"):
                y = b.op("Add", [y, weight(f"{i}.{t}_bias")], o + t + "_biased")
            y = heads(y, count, o + t)
            if t != "v" and weights.has(f"{i}.{t}_norm"):
                y = norm(y, f"{i}.{t}_norm", o + t + "_norm")
            parts[t] = b.op("Transpose", [y], f"new_v_{i}" if t == "v" else o + t + "_heads", perm=[0, 2, 1, 3])
        q, k, v = rotate(parts["q"], o + "q_rotated"), rotate(parts["k"], f"new_k_{i}"), parts["v"]
        every_k = b.op("Concat", [f"past_k_{i}", k], o + "keys", axis=2)
        every_v = b.op("Concat", [f"past_v_{i}", v], o + "values", axis=2)
        q = b.op("Mul", [q, b.constant("scale", np.asarray(a.head_dim**-0.5, np.float32))], o + "q_scaled")
        q = b.op("Reshape", [q, b.ints(1, a.kv_heads, a.group * s, a.head_dim)], o + "q_grouped")
        scores = b.op("MatMul", [q, b.op("Transpose", [every_k], o + "keys_turned", perm=[0, 1, 3, 2])], o + "scores")
        scores = b.op("Reshape", [scores, b.ints(1, a.heads, s, keys)], o + "scores_split")
        seen = b.op("Softmax", [b.op("Add", [scores, "mask"], o + "scores_masked")], o + "attention", axis=-1)
        seen = b.op("Reshape", [seen, b.ints(1, a.kv_heads, a.group * s, keys)], o + "attention_grouped")
        y = b.op("MatMul", [seen, every_v], o + "mixed")
        y = b.op("Reshape", [y, b.ints(1, a.heads, s, a.head_dim)], o + "mixed_split")
        y = b.op("Reshape", [b.op("Transpose", [y], o + "mixed_turned", perm=[0, 2, 1, 3]), b.ints(1, s, a.heads * a.head_dim)], o + "mixed_joined")
        x = b.op("Add", [x, b.op("MatMul", [y, weight(f"{i}.o")], o + "o")], o + "after_attention")
        n = norm(x, f"{i}.mlp_norm", o + "mlp_norm")
        gate = b.op("MatMul", [n, weight(f"{i}.gate")], o + "gate")
        gate = b.op("Mul", [gate, b.op("Sigmoid", [gate], o + "gate_sigmoid")], o + "gate_silu")
        up = b.op("MatMul", [n, weight(f"{i}.up")], o + "up")
        y = b.op("MatMul", [b.op("Mul", [gate, up], o + "gated"), weight(f"{i}.down")], o + "down")
        x = b.op("Add", [x, y], o + "out")
        for t in "kv":
            inputs.append((f"past_{t}_{i}", TensorProto.FLOAT, [1, a.kv_heads, a.context, a.head_dim]))
            outputs.append((f"new_{t}_{i}", TensorProto.FLOAT, [1, a.kv_heads, s, a.head_dim]))
    b.op("MatMul", [norm(x, "norm", "final_norm"), weight("head")], "logits")
    graph = helper.make_graph(
        b.nodes, name, [helper.make_tensor_value_info(*v) for v in inputs], [helper.make_tensor_value_info(*v) for v in outputs], list(b.initializers.values())
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11, producer_name="hexmage")


def write(folder: Path, arch: Arch, weights: Weights) -> None:
    """Writes both graphs, their tensors, arch.json, and the embedding if it is outside, into a folder."""
    data = DataFile(folder)
    for name, tokens in zip(feed.GRAPHS, (arch.chunk, 1), strict=True):
        onnx.save(build(name, arch, tokens, weights, data), folder / f"{name}.onnx")
    data.close()
    if arch.outside:
        weights["embedding"].astype(np.float16).tofile(folder / feed.TABLE)
    arch.save(folder / "arch.json")
