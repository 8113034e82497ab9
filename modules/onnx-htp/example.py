"""A small network with random weights, and samples for it, for those who have none at hand: example.py FOLDER."""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

out = Path(sys.argv[1])
(out / "samples").mkdir(parents=True)
r = np.random.default_rng(79)
constants = {
    "filters": r.standard_normal((8, 3, 3, 3)).astype(np.float32) * 0.2,
    "bias": np.zeros(8, np.float32),
    "flat": np.array([1, -1], np.int64),
    "head": r.standard_normal((8 * 16 * 16, 10)).astype(np.float32) * 0.02,
}
nodes = [
    helper.make_node("Conv", ["image", "filters", "bias"], ["seen"], name="conv", pads=[1, 1, 1, 1]),
    helper.make_node("Relu", ["seen"], ["kept"], name="relu"),
    helper.make_node("Reshape", ["kept", "flat"], ["row"], name="reshape"),
    helper.make_node("MatMul", ["row", "head"], ["scores"], name="head"),
]
graph = helper.make_graph(
    nodes,
    "example",
    [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, 16, 16])],
    [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, 10])],
    [numpy_helper.from_array(a, name) for name, a in constants.items()],
)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10, producer_name="hexmage"), out / "net.onnx")
for i in range(8):
    np.savez(out / "samples" / f"{i}.npz", image=r.standard_normal((1, 3, 16, 16)).astype(np.float32))
