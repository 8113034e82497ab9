"""For each operation that the facts say stays on the CPU two graphs, as it is and with what the facts put in its place, which say the same: remedies.py FOLDER.

FOLDER/OP.onnx and FOLDER/OP_changed.onnx, float graphs of one input, with an operation before and one behind. It fails if the two are not equal on the CPU.
FOLDER/nameless.onnx has nodes without names, and FOLDER/none.onnx one node, that stays on the CPU.
"""

import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

SHAPE = [1, 8, 64]
FLOAT = TensorProto.FLOAT


class Graph:
    """A graph that grows by a node after the other; values are names."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def number(self, value, kind=np.float32) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, kind), name))
        return name

    def __call__(self, op, *inputs, **attributes) -> str:
        ins = [i if isinstance(i, str) else self.number(i) for i in inputs]
        self.nodes.append(helper.make_node(op, ins, [f"v{len(self.nodes)}"], name=f"{op}_{len(self.nodes)}", **attributes))
        return self.nodes[-1].output[0]

    def save(self, at: Path, y: str, shape) -> None:
        self.nodes.append(helper.make_node("Sub", [y, self.number(0.125)], ["y"], name="end"))
        self.write(at, shape)

    def write(self, at: Path, shape) -> None:
        ends = [helper.make_tensor_value_info("x", FLOAT, SHAPE)], [helper.make_tensor_value_info("y", FLOAT, shape)]
        graph = helper.make_graph(self.nodes, at.stem, *ends, self.constants)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11, producer_name="hexmage"), at)


AXIS = np.array([-1], np.int64)


def last(g: Graph) -> str:
    return g.number(AXIS, np.int64)


def squares(g: Graph, x: str) -> str:
    return g("ReduceSum", g("Mul", x, x), last(g))


def arcsine(g: Graph, x: str) -> str:
    return g("Atan", g("Div", x, g("Sqrt", g("Sub", g.number(1.0), g("Mul", x, x)))))


def folded(g: Graph, x: str, *dims: int) -> str:
    return g("Reshape", x, g.number(dims, np.int64))


# Of each operation how it stands in a graph, what is put in its place, and the shape of what comes out.
PAIRS = {
    "Cosh": (lambda g, x: g("Cosh", x), lambda g, x: g("Mul", g("Add", g("Exp", x), g("Exp", g("Neg", x))), 0.5), SHAPE),
    "Sinh": (lambda g, x: g("Sinh", x), lambda g, x: g("Mul", g("Sub", g("Exp", x), g("Exp", g("Neg", x))), 0.5), SHAPE),
    "Asinh": (lambda g, x: g("Asinh", x), lambda g, x: g("Log", g("Add", x, g("Sqrt", g("Add", g("Mul", x, x), 1.0)))), SHAPE),
    "Acosh": (
        lambda g, x: g("Acosh", g("Add", g("Abs", x), 1.5)),
        lambda g, x: (lambda y: g("Log", g("Add", y, g("Sqrt", g("Sub", g("Mul", y, y), 1.0)))))(g("Add", g("Abs", x), 1.5)),
        SHAPE,
    ),
    "Atanh": (
        lambda g, x: g("Atanh", g("Mul", x, 0.4)),
        lambda g, x: (lambda y: g("Mul", g("Log", g("Div", g("Add", y, 1.0), g("Sub", g.number(1.0), y))), 0.5))(g("Mul", x, 0.4)),
        SHAPE,
    ),
    "Asin": (lambda g, x: g("Asin", g("Mul", x, 0.4)), lambda g, x: arcsine(g, g("Mul", x, 0.4)), SHAPE),
    "Acos": (lambda g, x: g("Acos", g("Mul", x, 0.4)), lambda g, x: g("Sub", g.number(np.pi / 2), arcsine(g, g("Mul", x, 0.4))), SHAPE),
    "Softsign": (lambda g, x: g("Softsign", x), lambda g, x: g("Div", x, g("Add", g("Abs", x), 1.0)), SHAPE),
    "Shrink": (
        lambda g, x: g("Shrink", x),
        lambda g, x: g("Where", g("Greater", g("Abs", x), 0.5), x, 0.0),
        SHAPE,
    ),
    "Celu": (lambda g, x: g("Celu", x, alpha=2.0), lambda g, x: g("Mul", g("Elu", g("Mul", x, 0.5)), 2.0), SHAPE),
    "ReduceL1": (lambda g, x: g("ReduceL1", x, last(g)), lambda g, x: g("ReduceSum", g("Abs", x), last(g)), [1, 8, 1]),
    "ReduceSumSquare": (lambda g, x: g("ReduceSumSquare", x, last(g)), squares, [1, 8, 1]),
    "ReduceLogSum": (
        lambda g, x: g("ReduceLogSum", g("Abs", x), last(g)),
        lambda g, x: g("Log", g("ReduceSum", g("Abs", x), last(g))),
        [1, 8, 1],
    ),
    "Trilu": (lambda g, x: g("Trilu", x, upper=0), lambda g, x: g("Mul", x, np.tril(np.ones(SHAPE[1:], np.float32))), SHAPE),
    "Hardmax": (
        lambda g, x: g("Hardmax", x),
        lambda g, x: g("Cast", g("Equal", x, g("ReduceMax", x, last(g))), to=FLOAT),
        SHAPE,
    ),
    "rank": (
        lambda g, x: folded(g, g("Sin", folded(g, x, 1, 2, 2, 2, 4, 16)), *SHAPE),
        lambda g, x: g("Sin", x),
        SHAPE,
    ),
}

out = Path(sys.argv[1])
out.mkdir(parents=True)
samples = {"x": np.random.default_rng(79).uniform(-2, 2, SHAPE).astype(np.float32)}
(out / "samples").mkdir()
np.savez(out / "samples" / "0.npz", **samples)
for op, (as_it_is, changed, shape) in PAIRS.items():
    said = []
    for name, build in ((op, as_it_is), (f"{op}_changed", changed)):
        g = Graph()
        g.save(out / f"{name}.onnx", build(g, g("Add", "x", 0.25)), shape)
        said.append(onnxruntime.InferenceSession(out / f"{name}.onnx", providers=["CPUExecutionProvider"]).run(None, samples)[0])
    np.testing.assert_allclose(*said, rtol=1e-4, atol=1e-5, err_msg=op)

g = Graph()
y = g("Sigmoid", g("Sinh", g("Tanh", g("Cosh", g("Sigmoid", g("Relu", "x"))))))
for n in g.nodes:
    n.ClearField("name")
g.save(out / "nameless.onnx", y, SHAPE)
g = Graph()
g.nodes.append(helper.make_node("Cosh", ["x"], ["y"], name="only"))
g.write(out / "none.onnx", SHAPE)
