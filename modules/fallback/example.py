"""A small network with an operation in its middle that the NPU does not have: example.py FOLDER."""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

out = Path(sys.argv[1])
out.mkdir(parents=True)
r = np.random.default_rng(79)
constants = {name: r.standard_normal((64, 64)).astype(np.float32) * 0.05 for name in ("first", "second")}
nodes = [
    helper.make_node("MatMul", ["x", "first"], ["seen"], name="first"),
    helper.make_node("Relu", ["seen"], ["kept"], name="kept"),
    helper.make_node("Cosh", ["kept"], ["bent"], name="bent"),
    helper.make_node("MatMul", ["bent", "second"], ["y"], name="second"),
]
ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 8, 64]) for name in "xy"]
graph = helper.make_graph(nodes, "example", ends[:1], ends[1:], [numpy_helper.from_array(a, name) for name, a in constants.items()])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10, producer_name="hexmage"), out / "net.onnx")
