"""A small network with random weights, and samples for it, for those who have none at hand: example.py FOLDER."""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WIDE = 64
out = Path(sys.argv[1])
r = np.random.default_rng(79)
constants = {
    "up": r.standard_normal((WIDE, 2 * WIDE)).astype(np.float32) * 0.1,
    "bias": r.standard_normal(2 * WIDE).astype(np.float32) * 0.1,
    "down": r.standard_normal((2 * WIDE, WIDE)).astype(np.float32) * 0.1,
    "last": r.standard_normal(WIDE).astype(np.float32) * 0.1,
}
nodes = [
    helper.make_node("MatMul", ["x", "up"], ["wide"], name="up"),
    helper.make_node("Add", ["wide", "bias"], ["moved"], name="bias"),
    helper.make_node("Sigmoid", ["moved"], ["gate"], name="sigmoid"),
    helper.make_node("Mul", ["moved", "gate"], ["bent"], name="mul"),
    helper.make_node("Identity", ["bent"], ["same"], name="identity"),  # for a pass to take away
    helper.make_node("MatMul", ["same", "down"], ["back"], name="down"),
    helper.make_node("Add", ["back", "last"], ["y"], name="last"),
]
value = {n: helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, WIDE]) for n in ("x", "y")}
graph = helper.make_graph(nodes, "example", [value["x"]], [value["y"]], [numpy_helper.from_array(a, n) for n, a in constants.items()])
out.mkdir(parents=True)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10, producer_name="hexmage"), out / "net.onnx")
(out / "raw" / "x").mkdir(parents=True)  # as a RawDataContainer has them
(out / "samples").mkdir()  # as onnx_run has them
for i in range(8):
    x = r.standard_normal((1, WIDE)).astype(np.float32)
    x.tofile(out / "raw" / "x" / f"{i}.bin")
    np.savez(out / "samples" / f"{i}.npz", x=x)
