"""Writes a small ONNX graph with a Cosh: make.py OUT."""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

weight = np.random.default_rng(79).standard_normal((16, 16)).astype(np.float32) * 0.1
nodes = [helper.make_node("MatMul", ["x", "weight"], ["product"]), helper.make_node("Cosh", ["product"], ["y"])]
inputs, outputs = ([helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 16])] for name in "xy")
graph = helper.make_graph(nodes, "net", inputs, outputs, [numpy_helper.from_array(weight, "weight")])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), sys.argv[1])
