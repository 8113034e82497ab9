"""Replaces each Cosh of an ONNX graph, and checks that the outputs stay the same: edit.py IN OUT."""

import sys

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper


def replace(node: onnx.NodeProto) -> list[onnx.NodeProto]:
    """Returns the nodes for a node. cosh(x) is (exp(x) + exp(-x)) / 2."""
    if node.op_type != "Cosh":
        return [node]
    (x,), (y,) = node.input, node.output
    return [
        helper.make_node("Exp", [x], [y + "_exp"]),
        helper.make_node("Neg", [x], [y + "_neg"]),
        helper.make_node("Exp", [y + "_neg"], [y + "_exp_neg"]),
        helper.make_node("Add", [y + "_exp", y + "_exp_neg"], [y + "_sum"]),
        helper.make_node("Mul", [y + "_sum", "half"], [y]),
    ]


def outputs(path: str, feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
    return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, feeds)


before, after = sys.argv[1:]
model = onnx.load(before)
nodes = [new for node in model.graph.node for new in replace(node)]
if len(nodes) == len(model.graph.node):
    sys.exit(f"{before}: the graph has no Cosh")
del model.graph.node[:]
model.graph.node.extend(nodes)
model.graph.initializer.append(numpy_helper.from_array(np.float32(0.5), "half"))
onnx.checker.check_model(model, full_check=True)
onnx.save(model, after)

random = np.random.default_rng(1)
shapes = {i.name: [d.dim_value for d in i.type.tensor_type.shape.dim] for i in model.graph.input}
feeds = {name: random.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
for old, new in zip(outputs(before, feeds), outputs(after, feeds), strict=True):
    np.testing.assert_allclose(new, old, rtol=1e-5, atol=1e-6)
