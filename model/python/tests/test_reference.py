"""Tests that a reference run computes what its graph says on this processor: test_reference.py PROGRAMS [saturating].

The word saturating says that the processor is x86 with AVX2 and without VNNI: there ONNX Runtime's default options must give wrong values, or the test shows nothing.
"""

from __future__ import annotations

import sys
import unittest
from pathlib import Path

PROGRAMS, SATURATING = sys.argv[1], sys.argv[2:] == ["saturating"]
sys.path.insert(0, str(Path(PROGRAMS).resolve()))

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import runtime
from runtime import onnxruntime

ROWS, COLUMNS, SIDE = 32, 64, 3  # SIDE of a Conv's kernel
TYPES = {"uint8": TensorProto.UINT8, "uint16": TensorProto.UINT16}
ONE_STEP = 0.01  # of 16-bit outputs, the share that may be one step off: measured 0.0024, on AVX-512 with VNNI as on AVX2


class Case:
    """A product of activations by full-range int8 weights between DequantizeLinear and QuantizeLinear, and its values by numpy's integers."""

    def __init__(self, op: str, depth: int, kind: str = "uint8", zero: int = 128, exact: bool = True) -> None:
        r = np.random.default_rng(depth + zero)
        top = int(np.iinfo(kind).max)
        x = r.integers(0, top + 1, (ROWS, depth)).astype(kind)
        w = r.integers(-128, 128, (depth, COLUMNS)).astype(np.int8)
        if op == "Conv":  # on one place, so that it is the same product
            x, w = x.reshape(ROWS, -1, SIDE, SIDE), w.T.reshape(COLUMNS, -1, SIDE, SIDE)
        sums = (x.reshape(ROWS, -1).astype(np.int64) - zero) @ (w.reshape(COLUMNS, -1).T if op == "Conv" else w).astype(np.int64)
        # Powers of two leave each float as exact as an integer; others are rounded.
        of_x, of_w = (np.float32(2.0**-9), np.float32(2.0**-7)) if exact else (np.float32(0.00213), np.float32(0.0117))
        unit = float(of_x) * float(of_w)
        of_y = np.float32(np.abs(sums).max() * unit * 2 / top)
        if exact:
            of_y = np.float32(2.0 ** np.ceil(np.log2(of_y)))
        middle = (top + 1) // 2
        shape = (ROWS, COLUMNS, 1, 1) if op == "Conv" else (ROWS, COLUMNS)
        self.x, self.want = x, np.clip(np.rint(sums * (unit / float(of_y))) + middle, 0, top).astype(kind).reshape(shape)
        held = {"sx": of_x, "zx": np.array(zero, kind), "w": w, "sw": of_w, "zw": np.int8(0), "sy": of_y, "zy": np.array(middle, kind)}
        nodes = [
            helper.make_node("DequantizeLinear", ["x", "sx", "zx"], ["xf"]),
            helper.make_node("DequantizeLinear", ["w", "sw", "zw"], ["wf"]),
            helper.make_node(op, ["xf", "wf"], ["yf"]),
            helper.make_node("QuantizeLinear", ["yf", "sy", "zy"], ["y"]),
        ]
        inputs, outputs = ([helper.make_tensor_value_info(n, TYPES[kind], s)] for n, s in (("x", x.shape), ("y", shape)))
        graph = helper.make_graph(nodes, op, inputs, outputs, [numpy_helper.from_array(np.asarray(a), n) for n, a in held.items()])
        self.model: onnx.ModelProto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)

    def off(self, o: onnxruntime.SessionOptions) -> np.ndarray:
        """How many steps each value is off."""
        got = runtime.cpu(self.model.SerializeToString(), o).run(None, {"x": self.x})[0]
        steps: np.ndarray = np.abs(np.asarray(got, np.int64) - self.want.astype(np.int64))
        return steps


class Reference(unittest.TestCase):
    def test_integers(self) -> None:
        """Where all sums are below 2^24 the values are those of integer arithmetic. By default, on a saturating processor, most are not."""
        for op, depth in (("MatMul", 256), ("MatMul", 512), ("Gemm", 512), ("Conv", 27 * SIDE * SIDE)):
            for zero in (0, 128):
                case = Case(op, depth, zero=zero)
                default = onnxruntime.SessionOptions()
                default.log_severity_level = 3
                before, now = case.off(default), case.off(runtime.options())
                line = f"{op} of {depth}, zero point {zero}: by default {np.mean(before > 0):.3f} of the values are wrong, by up to {before.max()} steps"
                print(f"{line}; as a reference {np.mean(now > 0):.3f}")
                self.assertEqual(now.max(), 0, line)
                if SATURATING:
                    self.assertGreater(np.mean(before > 0), 0.5, f"{line}: this processor does not saturate")

    def test_wider(self) -> None:
        """Elsewhere floats round: a value is one step off at most, and few are."""
        for kind, depth in (("uint8", 512), ("uint8", 4096), ("uint16", 512), ("uint16", 4096)):
            off = Case("MatMul", depth, kind, zero=(int(np.iinfo(kind).max) + 1) // 2, exact=False).off(runtime.options())
            share = float(np.mean(off > 0))
            print(f"{kind}, depth {depth}, any scales: {share:.5f} of the values are off, by up to {off.max()} steps")
            self.assertLessEqual(off.max(), 1)
            self.assertLessEqual(share, ONE_STEP)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
