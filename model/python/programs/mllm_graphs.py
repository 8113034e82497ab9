"""A decoder as mllm's quantizer wrote it, as two static graphs that are quantized where mllm quantizes, with mllm's numbers.

Inputs, for a chunk of S tokens and a cache of C:
  input_ids int32 [1, S]; position_ids int32 [S]; looks uint16 [1, 1, S, C + S], SEES where a token looks and 0 where not;
  past_k_I, past_v_I uint8 [1, kv_heads, C, head_dim] of layer I.
Outputs: logits float [1, S, vocabulary]; new_k_I, new_v_I uint8 [1, kv_heads, S, head_dim], which the caller puts into the cache.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper

import weights
from arch import Arch, Wrong
from feed import GRAPHS, SEES
from tensors import DataFile, Nodes

BLOCK = {"qwen2": 32, "llama": 32}  # mllm has it fixed; of qwen3 config.json says it
PENALTY = -20.0  # what is added to a row's least score where a token does not look
FOLLOWS = (".eps", ".min_val", ".max_val", "_enabled")  # what the quantizer's watching leaves behind, and nobody computes with

Point = tuple[np.float32, int, str]  # scale, zero point, type


class File:
    """The tensors of a quantized model; each is marked when it is read."""

    def __init__(self, path: Path) -> None:
        self.tensors = dict(weights.safetensors(path))
        self.aliases = weights.metadata(path)
        self.read: set[str] = set()

    def name(self, name: str) -> str:
        return name if name in self.tensors else self.aliases.get(name, name)

    def has(self, name: str) -> bool:
        return self.name(name) in self.tensors

    def get(self, name: str, kind: str, shape: tuple[int, ...]) -> np.ndarray:
        a = self.tensors.get(self.name(name))
        if a is None:
            raise Wrong(f"The quantized model has no tensor {name}: was it made by mllm's quantizer of this architecture?")
        if a.dtype != np.dtype(kind) or a.shape != shape:
            raise Wrong(f"The tensor {name} is {a.dtype} {list(a.shape)}; {kind} {list(shape)} is meant by the config and its block size.")
        self.read.add(self.name(name))
        return a

    def rows(self, name: str) -> int:
        return int(self.tensors[name].shape[1]) if name in self.tensors and self.tensors[name].ndim == 3 else 0

    def point(self, name: str) -> Point:
        """A point of quantization: of eight bits where the cache begins, of sixteen elsewhere."""
        eight = "to_int8" in name
        inside = name if self.has(name + ".scale") else name + ".fake_quant"  # a weight's own, or that of an activation
        scale, zero = self.get(inside + ".scale", "float32", (1,))[0], int(self.get(inside + ".zero_point", "int32", (1,))[0])
        if not 0 < float(scale) < 1e9 or not 0 <= zero <= (255 if eight else 65535):
            raise Wrong(f"{name}: scale {scale}, zero point {zero} are not usable.")
        return np.float32(scale), zero, "uint8" if eight else "uint16"

    def unread(self, layers: int) -> list[str]:
        """Tensors that no graph of so many layers uses, without what the watching left."""

        def beyond(name: str) -> bool:
            return name.startswith("model.layers.") and int(name.split(".")[2]) > layers - 1

        rest = (n for n in self.tensors if n not in self.read and not n.endswith(FOLLOWS) and ".activation_post_process." not in n)
        return sorted(n for n in rest if not beyond(n))


def signed(nibbles: np.ndarray) -> np.ndarray:
    """The integers of -8 to 7 that the low four bits of bytes are."""
    return ((nibbles ^ 8) - 8).astype(ml_dtypes.int4)


def levels(flat: np.ndarray, outputs: int, blocks: int) -> np.ndarray:
    """Block scales [blocks, outputs]; stored they are an output after the other."""
    return flat.reshape(outputs, blocks).T


def quantized(folder: Path) -> bool:
    """Whether a folder has a model that mllm's quantizer wrote."""
    at = folder / "model.safetensors"
    return at.is_file() and any(name.endswith(".scale1") for name, _ in weights.safetensors(at))


class Graph(Nodes):
    """One of the graphs. A value is named by its dequantized tensor; `points` has the point behind each."""

    def __init__(self, file: File, arch: Arch, block: int, tokens: int, data: DataFile) -> None:
        super().__init__(data)
        self.file, self.arch, self.block, self.tokens = file, arch, block, tokens
        self.points: dict[str, Point] = {}  # by the quantized tensor
        self.at: dict[str, Point] = {}  # by the dequantized one

    def pair(self, p: Point) -> list[str]:
        name = f"{p[2]}_{p[0].tobytes().hex()}_{p[1]}"
        return [self.constant("scale_" + name, np.asarray(p[0])), self.constant("zero_" + name, np.asarray(p[1], p[2]))]

    def of(self, q: str, p: Point) -> str:
        """The value of a quantized tensor."""
        self.points[q], self.at[q + "_value"] = p, p
        return self.op("DequantizeLinear", [q, *self.pair(p)], q + "_value")

    def quantize(self, x: str, p: Point | str, name: str = "") -> str:
        """A value rounded at a point: mllm's by name, or another one."""
        p = self.file.point(p) if isinstance(p, str) else p
        return self.of(self.op("QuantizeLinear", [x, *self.pair(p)], name or x + "_q"), p)

    def move(self, kind: str, inputs: list[str], output: str, name: str = "", **attributes: Any) -> str:
        """What only moves values: the same point behind as before."""
        return self.quantize(self.op(kind, inputs, output, **attributes), self.at[inputs[0]], name)

    def scalar(self, value: float, p: Point | str, name: str) -> str:
        p = self.file.point(p) if isinstance(p, str) else p
        rounded = np.clip(np.round(np.float32(value) / p[0]) + p[1], 0, SEES).astype(p[2])
        return self.of(self.constant(name, rounded.reshape(1)), p)

    def stored(self, name: str, shape: tuple[int, ...]) -> str:
        """A norm or the embedding, uint16."""
        return self.of(self.constant(name, self.file.get(name + ".weight", "uint16", shape)), self.file.point(name))

    def linear(self, x: str, name: str, inputs: int, outputs: int, p: str, out: str) -> str:
        """A product with a matrix of int4 in blocks of inputs, whose scales are 1 to 16 times a float each output; with a bias, if there is one."""
        f, blocks = self.file, inputs // self.block
        if name + ".now" not in self.initializers:
            nibbles = f.get(name + ".weight", "int8", (1, 1, inputs, outputs))[0, 0]
            steps = levels(f.get(name + ".scale1", "uint8", (outputs * blocks,)), outputs, blocks)
            if nibbles.size and (nibbles.min() < 0 or nibbles.max() > 15) or steps.min() < 1 or steps.max() > 16:
                raise Wrong(f"{name}: weights of 0 to 15 and block scales of 1 to 16 are meant.")
            matrix = signed(nibbles)
            scale = [self.constant(name + ".scale1", steps), self.constant(name + ".scale2", f.get(name + ".scale2", "float32", (outputs,)))]
            dequantized = self.op("DequantizeLinear", [*scale, self.constant(name + ".zero1", np.zeros(outputs, np.uint8))], name + ".steps", axis=1)
            ends = [self.constant(name + ".weight", matrix), dequantized, self.constant(name + ".zero", np.zeros((blocks, outputs), matrix.dtype))]
            self.op("DequantizeLinear", ends, name + ".now", axis=0, block_size=self.block)
        y = self.op("MatMul", [x, name + ".now"], out)
        if not f.has(name + ".bias"):
            return self.quantize(y, p)
        bias = f.get(name + ".bias", "float32", (outputs,))
        low, high = min(0.0, float(bias.min())), max(1e-6, float(bias.max()))
        of_bias, (s, z, _) = between(low, high), f.point(p)
        y = self.quantize(y, between(min(0.0, (0 - z) * float(s) - high), max(0.0, (SEES - z) * float(s) - low)))  # cannot clip what stays after the sum
        rounded = np.clip(np.round(bias / of_bias[0]) + of_bias[1], 0, SEES).astype(np.uint16)
        return self.quantize(self.op("Add", [y, self.of(self.constant(name + ".bias", rounded), of_bias)], out + "_biased"), p)

    def norm(self, x: str, name: str, width: int, p: str, out: str) -> str:
        return self.quantize(self.op("RMSNormalization", [x, self.stored(name, (width,))], out, axis=-1, epsilon=self.arch.epsilon), p)

    def rotate(self, x: str, t: str, out: str) -> str:
        """t is mllm's name before _rope_…: the halves change places, the second with its sign turned."""
        half, width = self.arch.head_dim // 2, self.arch.head_dim
        first = self.move("Slice", [x, self.ints(0), self.ints(half), self.ints(3)], out + "_first")
        second = self.move("Slice", [x, self.ints(half), self.ints(width), self.ints(3)], out + "_second")
        turned = self.quantize(self.op("Neg", [second], out + "_turned"), t + "_rope_neg_half_qdq")
        swapped = self.quantize(self.op("Concat", [turned, first], out + "_swapped", axis=3), t + "_rope_neg_half_qdq")
        a = self.quantize(self.op("Mul", [x, "cos_q_value"], out + "_cos"), t + "_rope_mul_0_output_qdq")
        b = self.quantize(self.op("Mul", [swapped, "sin_q_value"], out + "_sin"), t + "_rope_mul_1_output_qdq")
        return self.quantize(self.op("Add", [a, b], out + "_rotated"), t + "_rope_add_0_output_qdq")

    def attention(self, i: int, x: str, keep: str) -> str:
        a, s, keys, o, u = self.arch, self.tokens, self.arch.context + self.tokens, f"layer{i}_", f"model.layers.{i}.self_attn."
        own = a.architecture == "qwen3"  # norms of the heads; the others have points of their own before k and v
        inner = {"q": x, "k": x, "v": x}
        if not own:
            inner |= {t: self.quantize(x, u + f"{t}_proj_input_qdq", o + t + "_in_q") for t in "kv"}
        ends = {"q": "q_norm_input_qdq", "k": "k_norm_input_qdq", "v": "v_cast_to_int16_qdq"}
        if not own:
            ends |= {"q": "q_proj_output_qdq", "k": "k_proj_output_qdq"}
        parts = {}
        for t, count in (("q", a.heads), ("k", a.kv_heads), ("v", a.kv_heads)):
            y = self.linear(inner[t], u + f"{t}_proj", a.hidden, count * a.head_dim, u + ends[t], o + t)
            y = self.move("Reshape", [y, self.ints(1, s, count, a.head_dim)], o + t + "_split")
            if own and t != "v":
                y = self.norm(y, u + f"{t}_norm", a.head_dim, u + f"{t}_norm_output_qdq", o + t + "_norm")
            parts[t] = self.move("Transpose", [y], o + t + "_heads", perm=[0, 2, 1, 3])
        q, k = (self.rotate(parts[t], u + t, o + t) for t in "qk")
        k = self.quantize(k, u + "k_cast_to_int8_qdq", f"new_k_{i}")
        v = self.quantize(parts["v"], u + "v_cast_to_int8_qdq", f"new_v_{i}")
        k = self.move("Concat", [self.of(f"past_k_{i}", self.at[k]), k], o + "keys", axis=2)
        v = self.move("Concat", [self.of(f"past_v_{i}", self.at[v]), v], o + "values", axis=2)
        q = self.move("Reshape", [q, self.ints(1, a.kv_heads, a.group * s, a.head_dim)], o + "q_grouped")
        k = self.move("Transpose", [k], o + "keys_turned", perm=[0, 1, 3, 2])
        y = self.quantize(self.op("MatMul", [q, k], o + "products"), u + "qk_matmul_output_qdq")
        y = self.move("Reshape", [y, self.ints(1, a.heads, s, keys)], o + "products_split")
        y = self.quantize(self.op("Mul", [y, self.scalar(a.head_dim**-0.5, u + "scaling_qdq", o + "scaling")], o + "scores"), u + "mul_0_output_qdq")
        least = self.quantize(self.op("ReduceMin", [y, self.ints(-1)], o + "least", keepdims=1), u + "reduce_min_output_qdq")
        away = self.op("Add", [least, self.scalar(PENALTY, u + "neg_20_qdq", o + "penalty")], o + "away")
        y = self.op("Where", [keep, y, self.quantize(away, u + "minus_0_output_qdq")], o + "scores_masked")
        y = self.op("Softmax", [self.quantize(y, u + "where_attn_qdq")], o + "attention", axis=-1)
        y = self.move("Reshape", [self.quantize(y, u + "softmax_output_qdq"), self.ints(1, a.kv_heads, a.group * s, keys)], o + "attention_grouped")
        y = self.quantize(self.op("MatMul", [y, v], o + "mixed"), u + "attn_value_matmul_output_qdq")
        y = self.move("Reshape", [y, self.ints(1, a.heads, s, a.head_dim)], o + "mixed_split")
        y = self.move("Transpose", [y], o + "mixed_turned", perm=[0, 2, 1, 3])
        y = self.move("Reshape", [y, self.ints(1, s, a.heads * a.head_dim)], o + "mixed_joined")
        return self.linear(y, u + "o_proj", a.heads * a.head_dim, a.hidden, f"model.layers.{i}.add_0_lhs_input_qdq", o + "o")

    def mlp(self, i: int, x: str) -> str:
        a, o, u = self.arch, f"layer{i}_", f"model.layers.{i}.mlp."
        up = self.linear(x, u + "up_proj", a.hidden, a.intermediate, u + "up_proj_output_qdq", o + "up")
        gate = self.linear(x, u + "gate_proj", a.hidden, a.intermediate, u + "gate_proj_output_qdq", o + "gate")
        sigmoid = self.quantize(self.op("Sigmoid", [gate], o + "gate_sigmoid"), u + "sigmoid_output_qdq")
        y = self.quantize(self.op("Mul", [gate, sigmoid], o + "gate_silu"), u + "act_output_qdq")
        y = self.quantize(self.op("Mul", [y, up], o + "gated"), u + "down_proj_input_qdq")
        return self.linear(y, u + "down_proj", a.intermediate, a.hidden, f"model.layers.{i}.add_1_lhs_input_qdq", o + "down")

    def build(self, name: str) -> onnx.ModelProto:
        a, s, f, rows = self.arch, self.tokens, self.file, self.file.rows("model.mllm_max_sin_embedding")
        if rows < a.context:
            raise Wrong(f"The model was quantized for {rows} tokens, and a cache of {a.context} is asked for: give quantize a larger max_length.")
        x = self.move("Gather", [self.stored("model.embed_tokens", (a.vocabulary, a.hidden)), "input_ids"], "embedded", axis=0)
        for t in ("cos", "sin"):
            table = f.get(f"model.mllm_max_{t}_embedding", "uint16", (1, rows, a.head_dim))[0]
            self.move("Gather", [self.of(self.constant(t + "_table", table), f.point(f"model.{t}_embedding_input_qdq")), "position_ids"], t, axis=0)
        mask: Point = (np.float32(0.001 / SEES), SEES, "uint16")
        keep = self.op("Equal", [self.of("looks", mask), self.scalar(0.0, mask, "sees")], "keep")
        for i in range(a.layers):
            u, o = f"model.layers.{i}.", f"layer{i}_"
            y = self.norm(x, u + "input_layernorm", a.hidden, u + "self_attn.q_proj_input_qdq", o + "attention_norm")
            x = self.quantize(self.op("Add", [x, self.attention(i, y, keep)], o + "after_attention"), u + "add_0_output_qdq")
            y = self.mlp(i, self.norm(x, u + "post_attention_layernorm", a.hidden, u + "mlp.up_proj_input_qdq", o + "mlp_norm"))
            after, end = f"model.layers.{i + 1}.input_layernorm_input_qdq", "model.norm_input_qdq"
            f.point(end)  # a truncated twin does without it: its last layer ends as it does where there is a next one
            x = self.quantize(self.op("Add", [x, y], o + "out"), after if f.has(after + ".fake_quant.scale") else end)
        y = self.norm(x, "model.norm", a.hidden, "lm_head_input_qdq", "final_norm")
        self.linear(y, "lm_head", a.hidden, a.vocabulary, "lm_head_output_qdq", "every_logit")
        self.nodes[-1].output[0] = "logits"
        inputs = [("input_ids", TensorProto.INT32, [1, s]), ("position_ids", TensorProto.INT32, [s])]
        inputs += [("looks", TensorProto.UINT16, [1, 1, s, a.context + s])]
        outputs = [("logits", TensorProto.FLOAT, [1, s, a.vocabulary])]
        for i in range(a.layers):
            inputs += [(f"past_{t}_{i}", TensorProto.UINT8, [1, a.kv_heads, a.context, a.head_dim]) for t in "kv"]
            outputs += [(f"new_{t}_{i}", TensorProto.UINT8, [1, a.kv_heads, s, a.head_dim]) for t in "kv"]
        takes, gives = ([helper.make_tensor_value_info(*v) for v in values] for values in (inputs, outputs))
        graph = helper.make_graph(self.nodes, name, takes, gives, list(self.initializers.values()))
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11, producer_name="hexmage")


def between(low: float, high: float) -> Point:
    """The point of a range with zero in it."""
    scale = np.float32((high - low) / SEES)
    return scale, int(np.clip(round(-low / float(scale)), 0, SEES)), "uint16"


def write(source: Path, folder: Path, context: int, chunk: int, layers: int | None) -> Iterable[tuple[str, str]]:
    """Writes both graphs, their tensors, arch.json, cache.json and points.json; gives the files that go with the model."""
    of, files = weights.described(source)
    config = json.loads((source / "config.json").read_text())
    block = BLOCK.get(of.architecture, config.get("linear_block_size", 0))
    if not isinstance(block, int) or block < 1 or any(n % block for n in (of.hidden, of.intermediate, of.heads * of.head_dim)):
        raise Wrong(f"config.json: linear_block_size is {block!r}: the quantizer's is needed, by which the widths divide.")
    cut = of.sized(context, chunk, layers)
    file, data = File(source / "model.safetensors"), DataFile(folder)
    points: dict[str, Any] = {}
    cache: dict[str, Any] = {}
    try:
        for name, tokens in zip(GRAPHS, (chunk, 1), strict=True):
            g = Graph(file, cut, block, tokens, data)
            onnx.save(g.build(name), folder / f"{name}.onnx")
            points[name] = {
                "points": {t: [float(p[0]), p[1], p[2]] for t, p in g.points.items()},
                "blocks": sorted(n.removesuffix(".now") for node in g.nodes for n in node.output if n.endswith(".now")),
            }
            cache |= {t: {"scale": float(p[0]), "zero_point": p[1], "type": p[2]} for t, p in g.points.items() if t.startswith(("past_", "new_"))}
    finally:
        data.close()
    if unread := file.unread(cut.layers):
        raise Wrong(f"{len(unread)} tensors of the model are used by nothing: {', '.join(unread[:8])}. Is it no {of.architecture}, as config.json says?")
    cut.save(folder / "arch.json")
    for at, what in (("points.json", points), ("cache.json", cache)):
        (folder / at).write_text(json.dumps(what, indent=1, sort_keys=True) + "\n")
    return files.items()
