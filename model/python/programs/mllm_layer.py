"""Graphs of one layer and of the head that give the range of each of mllm's points of quantization. Weights are inputs.

Inputs of a layer: h float [T, hidden]; cos, sin float [T, 1, head_dim]; keep bool [heads / kv_heads * T, T], true where
a token looks; weights by Hugging Face's names below the layer. Outputs: after float [T, hidden]; POINT/low, POINT/high.
"""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import runtime
from arch import Arch
from lpbq import Span, union

PENALTY = -20.0  # what is added to a row's least score where a token does not look
ROTATED = ("q", "k")
MATRICES = (*(f"self_attn.{t}_proj" for t in "qkvo"), *(f"mlp.{t}_proj" for t in ("gate", "up", "down")))


def matrices(a: Arch) -> dict[str, tuple[int, int]]:
    """Outputs and inputs of a layer's matrices."""
    q, kv = a.heads * a.head_dim, a.kv_heads * a.head_dim
    up = (a.intermediate, a.hidden)
    return dict(zip(MATRICES, [(q, a.hidden), (kv, a.hidden), (kv, a.hidden), (a.hidden, q), up, up, up[::-1]]))


def norms(a: Arch) -> dict[str, int]:
    """Widths of a layer's norms."""
    found = {"input_layernorm": a.hidden, "post_attention_layernorm": a.hidden}
    return found | ({f"self_attn.{t}_norm": a.head_dim for t in ROTATED} if normed(a) else {})


def normed(a: Arch) -> bool:
    """Whether heads have norms."""
    return a.architecture == "qwen3"


def shared(a: Arch, t: str) -> tuple[str, str]:
    """The two points of a rotation that share a range."""
    return f"self_attn.{t}_{'norm_output' if normed(a) else 'proj_input'}_qdq", f"self_attn.{t}_rope_neg_half_qdq"


class Graph:
    """A graph in the making; each value has the name of the node that makes it."""

    def __init__(self, epsilon: float) -> None:
        self.epsilon = epsilon
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}
        self.inputs: dict[str, onnx.ValueInfoProto] = {}
        self.outputs: list[str] = []

    def given(self, name: str, rank: int, kind: int = TensorProto.FLOAT) -> str:
        self.inputs[name] = helper.make_tensor_value_info(name, kind, [None] * rank)
        return name

    def op(self, kind: str, *inputs: str | int | float | list[int], **attributes: int | float | list[int]) -> str:
        out = f"{kind}_{len(self.nodes)}"
        names = [i if isinstance(i, str) else self.constant(i) for i in inputs]
        self.nodes.append(helper.make_node(kind, names, [out], name=out, **attributes))
        return out

    def constant(self, value: int | float | list[int]) -> str:
        a = np.array(value, np.float32 if isinstance(value, float) else np.int64)
        name = f"constant_{a.dtype}_{value}"
        self.constants[name] = numpy_helper.from_array(a, name)
        return name

    def seen(self, name: str, x: str) -> str:
        """Notes a value's range."""
        for end, kind in (("low", "ReduceMin"), ("high", "ReduceMax")):
            self.out(f"{name}/{end}", self.op(kind, x, keepdims=0))
        return x

    def out(self, name: str, x: str) -> None:
        self.nodes.append(helper.make_node("Identity", [x], [name], name=name))
        self.outputs.append(name)

    def norm(self, x: str, weight: str) -> str:
        return self.op("RMSNormalization", x, self.given(weight + ".weight", 1), axis=-1, epsilon=self.epsilon)

    def linear(self, x: str, name: str, bias: bool) -> str:
        ends = [self.given(name + ".weight", 2), *([self.given(name + ".bias", 1)] if bias else [])]
        return self.op("Gemm", x, *ends, transB=1)

    def session(self) -> Session:
        outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in self.outputs]
        graph = helper.make_graph(
            self.nodes, "part", list(self.inputs.values()), outputs, list(self.constants.values())
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11)
        return Session(self.outputs, runtime.cpu(model.SerializeToString(), runtime.options()))


class Session:
    """A graph that runs."""

    def __init__(self, outputs: list[str], session: runtime.onnxruntime.InferenceSession) -> None:
        self.outputs, self.session = outputs, session
        self.points = sorted(name.removesuffix("/low") for name in outputs if name.endswith("/low"))

    def __call__(self, feeds: dict[str, np.ndarray]) -> tuple[np.ndarray, dict[str, Span]]:
        """The first output, and the range of each point."""
        out = dict(zip(self.outputs, self.session.run(self.outputs, feeds)))
        ranges = {p: union((0.0, 0.0), (float(out[p + "/low"]), float(out[p + "/high"]))) for p in self.points}
        return np.asarray(out[self.outputs[0]]), ranges


def layer(a: Arch, biases: set[str]) -> Session:
    """The graph of a layer, some of whose matrices have biases.

    Its points are mllm's, and of each rotation two: q/before shares a range with q/after, the halves. The same of k.
    """
    g = Graph(a.epsilon)
    h, cos, sin = g.given("h", 2), g.given("cos", 3), g.given("sin", 3)
    keep, half = g.given("keep", 2, TensorProto.BOOL), a.head_dim // 2
    heads = {"q": a.heads, "k": a.kv_heads, "v": a.kv_heads}

    def linear(x: str, name: str) -> str:
        return g.linear(x, name, name in biases)

    def split(x: str, t: str) -> str:
        return g.op("Reshape", x, [-1, heads[t], a.head_dim])

    def rotate(x: str, t: str, shares: str) -> str:
        name = f"self_attn.{t}_rope_"
        g.seen(f"{t}/before", shares)
        first, second = (g.op("Slice", x, [i * half], [(i + 1) * half], [2]) for i in range(2))
        turned = g.seen(f"{t}/after", g.op("Concat", g.op("Neg", second), first, axis=2))
        straight = g.seen(name + "mul_0_output_qdq", g.op("Mul", x, cos))
        crossed = g.seen(name + "mul_1_output_qdq", g.op("Mul", turned, sin))
        return g.seen(name + "add_0_output_qdq", g.op("Add", straight, crossed))

    n = g.norm(g.seen("input_layernorm_input_qdq", h), "input_layernorm")
    g.seen(f"self_attn.{'q' if normed(a) else 'v'}_proj_input_qdq", n)
    rotated = {}
    for t in ROTATED:
        x = linear(n, f"self_attn.{t}_proj")
        if normed(a):
            x = g.norm(split(g.seen(f"self_attn.{t}_norm_input_qdq", x), t), f"self_attn.{t}_norm")
            rotated[t] = rotate(x, t, x)
        else:
            rotated[t] = rotate(split(g.seen(f"self_attn.{t}_proj_output_qdq", x), t), t, n)
    g.seen("self_attn.k_cast_to_int8_qdq", rotated["k"])
    v = g.seen("self_attn.v_cast_to_int16_qdq", linear(n, "self_attn.v_proj"))
    v = g.op("Transpose", split(g.seen("self_attn.v_cast_to_int8_qdq", v), "v"), perm=[1, 0, 2])

    q = g.op("Reshape", g.op("Transpose", rotated["q"], perm=[1, 0, 2]), [a.kv_heads, -1, a.head_dim])
    x = g.seen("self_attn.qk_matmul_output_qdq", g.op("MatMul", q, g.op("Transpose", rotated["k"], perm=[1, 2, 0])))
    x = g.seen("self_attn.mul_0_output_qdq", g.op("Mul", x, scaling(a)))
    least = g.seen("self_attn.reduce_min_output_qdq", g.op("ReduceMin", x, [-1], keepdims=1))
    away = g.seen("self_attn.minus_0_output_qdq", g.op("Add", least, PENALTY))
    x = g.seen("self_attn.where_attn_qdq", g.op("Where", keep, x, away))
    x = g.seen("self_attn.softmax_output_qdq", g.op("Softmax", x, axis=-1))
    x = g.seen("self_attn.attn_value_matmul_output_qdq", g.op("MatMul", x, v))
    x = g.op("Transpose", g.op("Reshape", x, [a.heads, -1, a.head_dim]), perm=[1, 0, 2])
    x = linear(g.op("Reshape", x, [-1, a.heads * a.head_dim]), "self_attn.o_proj")
    h = g.seen("add_0_output_qdq", g.op("Add", h, g.seen("add_0_lhs_input_qdq", x)))

    n = g.seen("mlp.up_proj_input_qdq", g.norm(h, "post_attention_layernorm"))
    up = g.seen("mlp.up_proj_output_qdq", linear(n, "mlp.up_proj"))
    gate = g.seen("mlp.gate_proj_output_qdq", linear(n, "mlp.gate_proj"))
    x = g.seen("mlp.act_output_qdq", g.op("Mul", gate, g.op("Sigmoid", gate)))
    x = linear(g.seen("mlp.down_proj_input_qdq", g.op("Mul", x, up)), "mlp.down_proj")
    g.out("after", g.op("Add", h, g.seen("add_1_lhs_input_qdq", x)))
    g.outputs.insert(0, g.outputs.pop())
    return g.session()


def scaling(a: Arch) -> float:
    return float(np.float32(a.head_dim**-0.5))


def head(a: Arch) -> Session:
    """The graph of the final norm and of some outputs of the head: h float [N, hidden], norm.weight, lm_head.weight."""
    g = Graph(a.epsilon)
    x = g.seen("lm_head_input_qdq", g.norm(g.given("h", 2), "norm"))
    g.out("logits", g.seen("lm_head_output_qdq", g.linear(x, "lm_head", False)))
    g.outputs.insert(0, g.outputs.pop())
    return g.session()
