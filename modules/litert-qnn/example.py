"""Small models with random weights for those who have none at hand: net.tflite is for the NPU, and bent.tflite has an ATAN2 in its middle: example.py FOLDER."""

import sys
from pathlib import Path

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as tfl

ROWS, WIDE = 8, 64
out = Path(sys.argv[1])
out.mkdir(parents=True)
r = np.random.default_rng(79)


class Model:
    """A model with one graph that grows by an operation after the other."""

    def __init__(self) -> None:
        self.of = tfl.ModelT()
        self.of.version, self.of.description = 3, b"hexmage"
        self.of.operatorCodes, self.of.buffers = [], [tfl.BufferT()]
        self.graph = tfl.SubGraphT()
        self.graph.name, self.graph.tensors, self.graph.operators = b"main", [], []
        self.of.subgraphs = [self.graph]

    def tensor(self, name: str, shape: tuple[int, ...], content: np.ndarray | None = None) -> int:
        t = tfl.TensorT()
        t.name, t.shape, t.type = name.encode(), list(shape), tfl.TensorType.FLOAT32
        if content is not None:
            b = tfl.BufferT()
            b.data = np.frombuffer(content.astype(np.float32).tobytes(), np.uint8)
            t.buffer = len(self.of.buffers)
            self.of.buffers.append(b)
        self.graph.tensors.append(t)
        return len(self.graph.tensors) - 1

    def op(self, code: int, name: str, *inputs: int, kind: int = 0, options: object = None) -> int:
        c = tfl.OperatorCodeT()
        c.builtinCode, c.deprecatedBuiltinCode, c.version = code, min(code, 127), 1
        o = tfl.OperatorT()
        o.opcodeIndex, o.inputs = len(self.of.operatorCodes), list(inputs)
        o.outputs = [self.tensor(name, (ROWS, WIDE))]
        o.builtinOptionsType, o.builtinOptions = kind, options
        self.of.operatorCodes.append(c)
        self.graph.operators.append(o)
        return o.outputs[0]

    def dense(self, name: str, x: int) -> int:
        w = self.tensor(name + "_w", (WIDE, WIDE), r.standard_normal((WIDE, WIDE)) * 0.1)
        b = self.tensor(name + "_b", (WIDE,), np.zeros(WIDE))
        return self.op(tfl.BuiltinOperator.FULLY_CONNECTED, name, x, w, b, kind=tfl.BuiltinOptions.FullyConnectedOptions, options=tfl.FullyConnectedOptionsT())

    def write(self, at: Path, x: int, y: int) -> None:
        self.graph.inputs, self.graph.outputs = [x], [y]
        b = flatbuffers.Builder(0)
        b.Finish(self.of.Pack(b), b"TFL3")
        at.write_bytes(bytes(b.Output()))


for name in ("net", "bent"):
    m = Model()
    x = m.tensor("x", (ROWS, WIDE))
    y = m.op(tfl.BuiltinOperator.LOGISTIC, "kept", m.dense("first", x))
    if name == "bent":
        y = m.op(tfl.BuiltinOperator.ATAN2, "bent", y, m.tensor("one", (ROWS, WIDE), np.ones((ROWS, WIDE))))
    m.write(out / f"{name}.tflite", x, m.dense("second", y))
