"""Asks Qualcomm's compiler in which types it takes operations: taken.py PROGRAMS LIBRARIES SOC_MODEL VTCM_MB OUT.

Each operation is a graph of its own in each type. a16w8 is activations of 16 bits and weights of 8 (of norms unsigned with 8 bits, signed with 16), a16a8 the same for two activations, a16 activations alone, f16 and f32
floats. OUT is {OP: {TYPES: ""}}, with what the compiler says in place of "" where it does not take it. It fails where the compiler fails in a way that is no refusal.
"""

import json
import re
import sys
import tempfile
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ACTIVATIONS = {"a8": np.uint8, "a16": np.uint16}
WEIGHTS = {"w4": ml_dtypes.int4, "w8": np.int8, "w16": np.int16}
NORMS = {"w8": np.uint8, "w16": np.int16}
FLOATS = {"f16": TensorProto.FLOAT16, "f32": TensorProto.FLOAT}
SHAPE = (1, 8, 64)
# Of operations with weights: the shape of what they take and of the weights, along which axis these have a scale each, attributes, and the shape of what comes out.
PRODUCTS = {
    "MatMul": (SHAPE, (64, 64), 1, {}, SHAPE),
    "Conv": ((1, 8, 16, 16), (16, 8, 3, 3), 0, {"pads": [1, 1, 1, 1]}, (1, 16, 16, 16)),
    "LayerNormalization": (SHAPE, (64,), None, {"axis": -1}, SHAPE),
    "RMSNormalization": (SHAPE, (64,), None, {"axis": -1}, SHAPE),
}
ONE = "CumSum Elu Gelu Relu Softmax".split()
TWO = ["Add"]
# How a refusal reads: of Qualcomm's validation, of its compiler at its end, and of ONNX Runtime where the provider refuses a Conv whose layout it has changed.
REFUSALS = re.compile(
    r"QNN\.backendValidateOpConfig\(\) failed for node .* with error code 3110"
    r"|Failed to finalize QNN graph\. .*, Code: 1002$"
    r"|Node 'Conv_token_\d+' .* was inserted using the NHWC format as requested by QNNExecutionProvider, but was not selected by that EP"
)
r = np.random.default_rng(79)


class Graph:
    def __init__(self):
        self.nodes, self.inputs, self.outputs, self.constants = [], [], [], []

    def constant(self, a):
        name = f"c{len(self.constants)}"
        if a.dtype == ml_dtypes.int4:
            half = np.resize(a.astype(np.int8).reshape(-1) & 0xF, a.size + a.size % 2)
            self.constants.append(helper.make_tensor(name, TensorProto.INT4, a.shape, (half[0::2] | half[1::2] << 4).astype(np.uint8).tobytes(), raw=True))
        else:
            self.constants.append(numpy_helper.from_array(np.asarray(a), name))
        return name

    def node(self, op, inputs, name, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def given(self, name, shape, kind=TensorProto.FLOAT):
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def pair(self, x, kind):
        """x quantized and dequantized."""
        most = np.iinfo(kind).max
        of = self.constant(np.float32(8 / most)), self.constant(np.asarray(most // 2 + 1, kind))
        return self.node("DequantizeLinear", [self.node("QuantizeLinear", [x, *of], f"{x}_q"), *of], f"{x}_dq")

    def weight(self, kind, shape, axis):
        most = int(ml_dtypes.iinfo(kind).max)
        a, n = r.integers(1, most + 1, shape).astype(kind), () if axis is None else (shape[axis],)
        of = self.constant(np.full(n, 0.05, np.float32)), self.constant(np.zeros(n, kind))
        return self.node("DequantizeLinear", [self.constant(a), *of], "w_dq", **({} if axis is None else {"axis": axis}))

    def save(self, at, kind, shape):
        self.outputs.append(helper.make_tensor_value_info(self.nodes[-1].output[0], kind, shape))
        graph = helper.make_graph(self.nodes, at.stem, self.inputs, self.outputs, self.constants)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11, producer_name="hexmage"), at)


def made(op, types, at):
    """The graph of an operation, or None where it has no such types. The node that counts is called op."""
    g = Graph()
    floats = FLOATS.get(types)
    activation = ACTIVATIONS.get(types[:2].rstrip("w") if not types.startswith("a16") else "a16")

    def x(name, shape, kind=None):
        return g.given(name, shape, floats) if floats else g.pair(g.given(name, shape), kind or activation)

    if op in PRODUCTS:
        shape, weights, axis, attributes, out = PRODUCTS[op]
        if not floats and "w" not in types:
            if op != "MatMul" or types in ACTIVATIONS:
                return None
            second = x("y", (1, 64, 64), ACTIVATIONS["a16" if types.endswith("a16") else "a8"])
        elif floats:
            second = g.constant(r.standard_normal(weights).astype(helper.tensor_dtype_to_np_dtype(floats)))
        else:
            of = types[types.index("w") :]
            if axis is None and of not in NORMS:
                return None
            second = g.weight(NORMS[of] if axis is None else WEIGHTS[of], weights, axis)
        g.node(op, [x("x", shape), second], op, **attributes)
    elif types not in (*ACTIVATIONS, *FLOATS):
        return None
    else:
        out = SHAPE
        inputs = [x("x", SHAPE)] + ([x("y", SHAPE)] if op in TWO else [])
        if op == "CumSum":
            inputs.append(g.constant(np.array(2, np.int64)))
        g.node(op, inputs, op, **({"axis": -1} if op == "Softmax" else {}))
    if not floats:
        g.pair(op, activation)
    g.save(at, floats or TensorProto.FLOAT, out)
    return at


def main():
    sys.path.insert(0, sys.argv[1])
    import assigned
    import session

    libraries, soc, vtcm = Path(sys.argv[2]), sys.argv[3], sys.argv[4]
    options = {"backend_path": session.backend(libraries), "soc_model": soc, "vtcm_mb": vtcm}
    every = [*ACTIVATIONS, *FLOATS, *(a + w for a in ACTIVATIONS for w in WEIGHTS), *(a + b for a in ACTIVATIONS for b in ACTIVATIONS)]
    found = {}
    with tempfile.TemporaryDirectory() as d:
        for op in (*PRODUCTS, *ONE, *TWO):
            for types in every:
                at = made(op, types, Path(d) / "net.onnx")
                if at is None:
                    continue
                try:
                    nodes, _ = assigned.asked(str(at), libraries, options)
                    why = next(("" if n["on"] == "NPU" else n.get("why", "?") for n in nodes if n["op"] == op), "it is not there any more")
                except Exception as e:
                    why = str(e).strip()
                if why and not REFUSALS.search(why):
                    sys.exit(f"{op} {types} on {soc} is no refusal that is known: {why}")
                found.setdefault(op, {})[types] = why
            Path(sys.argv[5]).write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")


main()
