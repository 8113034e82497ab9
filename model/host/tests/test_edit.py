"""Tests of onnx_edit, run in the locked environment: test_edit.py PROGRAMS."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

PROGRAMS = sys.argv.pop(1)
sys.path.insert(0, str(Path(PROGRAMS).resolve()))
PROGRAM = str(Path(PROGRAMS).resolve() / "onnx_edit.py")

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import arch
import command
import decoder
import edits
import equal
import onnxgraph
import pattern
import session
import weights
from arch import Wrong

with mock.patch.object(command, "run"):
    import onnx_edit

R = np.random.default_rng(5)
W = R.standard_normal((4, 4)).astype(np.float32)


def model(nodes: list[onnx.NodeProto], inputs: list[Any], outputs: list[Any], constants: dict[str, np.ndarray], opset: int = 21) -> onnx.ModelProto:
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "g", [value(*v) for v in inputs], [value(*v) for v in outputs], [numpy_helper.from_array(a, name) for name, a in constants.items()]
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def silu(batch: int | str = 1) -> onnx.ModelProto:
    """Twice x·w with an activation of two nodes, and a sum."""
    n = helper.make_node
    nodes = [
        n("MatMul", ["x", "w"], ["a"], name="one"),
        n("Sigmoid", ["a"], ["s"], name="gate"),
        n("Mul", ["s", "a"], ["b"], name="act"),
        n("MatMul", ["b", "w"], ["c"], name="two"),
        n("Sigmoid", ["c"], ["t"], name="gate2"),
        n("Mul", ["c", "t"], ["d"], name="act2"),
        n("Mul", ["d", "half"], ["e"], name="halved"),
        n("Add", ["e", "x"], ["y"], name="sum"),
    ]
    f = TensorProto.FLOAT
    return model(nodes, [("x", f, [batch, 4])], [("y", f, [batch, 4])], {"w": W, "half": np.float32(0.5).reshape(())})


class Case(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.at = Path(self.folder.name)
        self.addCleanup(os.chdir, Path.cwd())
        os.chdir(self.at)

    def graph(self, m: onnx.ModelProto | None = None) -> onnxgraph.Graph:
        onnx.save(m or silu(), self.at / "g.onnx")
        return onnxgraph.load(self.at / "g.onnx")

    def edit(self, *es: dict[str, Any], m: onnx.ModelProto | None = None, at: str = "g.onnx", **more: Any) -> str:
        """What the program does with a graph; gives what it says is wrong."""
        if m is not None or at == "g.onnx":
            onnx.save(m or silu(), self.at / "g.onnx")
        self.out = self.at / f"out{len(list(self.at.glob('out*')))}"
        args = {"model": at, "graphs": [], "edits": es, "samples": "", "random": 2, "seed": 1, "tolerance": 0, "out": self.out.name, "facts": "facts.json"}
        try:
            onnx_edit.main(json.loads(json.dumps(args | more)))
        except Wrong as e:
            return str(e)
        return ""

    def ops(self, name: str = "g") -> list[str]:
        return [n.op_type for n in onnx.load(self.out / f"{name}.onnx").graph.node]

    def facts(self) -> Any:
        return json.loads((self.at / "facts.json").read_text())


SILU = {"kind": "replace", "expect": 2, "pattern": ["s = Sigmoid(x)", "y = Mul(x, s)"], "by": ["y = com.microsoft.QuickGelu(x, alpha=1.0)"]}


class Patterns(Case):
    def found(self, lines: list[str], by: list[str], m: onnx.ModelProto | None = None) -> tuple[list[pattern.Match], str]:
        g = self.graph(m)
        before = pattern.read(lines)
        s = pattern.Search(g, before, pattern.interior(before, pattern.read(by)))
        return s.all(g.nodes), s.near[1]

    def test_what_a_line_can_have(self) -> None:
        (line,) = pattern.read(['y, z = com.acme.Op(x, _, 1e-5, [1, -1], mode="fast", axis=$a, perm=[0, 1])'])
        self.assertEqual((line.outputs, line.domain, line.op), (("y", "z"), "com.acme", "Op"))
        self.assertEqual(line.inputs, (pattern.Variable("x"), None, 1e-5, (1, -1)))
        self.assertEqual(line.attributes, {"mode": "fast", "axis": pattern.Variable("$a"), "perm": (0, 1)})

    def test_what_it_cannot(self) -> None:
        for lines, says in (
            ([], "from 1 to 32 lines"),
            (["y = Relu(x"], r"\) is missing at its end|, is missing"),
            (["y Relu(x)"], "= is missing before 'Relu'"),
            (["y = Relu(x) z"], "'z' is too much"),
            (["y = Relu(x, axis=left)"], "left is no value"),
            (["y = Relu(axis=1, x)"], "inputs come before attributes"),
            (["y = Relu(#)"], "'#' is nothing"),
            (["y = Relu(x)", "y = Relu(y)"], "makes y"),
        ):
            with self.assertRaisesRegex(Wrong, says):
                pattern.read(lines)

    def test_noise_is_refused_in_a_sentence(self) -> None:
        r = np.random.default_rng(3)
        letters = list('yx =(),[]"$_.1-eRelu\n\\#\0')
        for _ in range(3000):
            try:
                pattern.read(["".join(r.choice(letters, r.integers(1, 30)))])
            except Wrong:
                pass

    def test_either_order_of_what_commutes(self) -> None:
        found, _ = self.found(["s = Sigmoid(x)", "y = Mul(x, s)"], ["y = Relu(x)"])
        self.assertEqual([m.bound.tensors for m in found], [{"x": "a", "s": "s", "y": "b"}, {"x": "c", "s": "t", "y": "d"}])
        self.assertEqual([], self.found(["y = MatMul(w, x)", "z = Sigmoid(w)"], ["y = Relu(x)", "z = Relu(w)"])[0])

    def test_constants_and_what_is_held(self) -> None:
        found, _ = self.found(["y = Mul(x, 0.5)"], ["y = Relu(x)"])
        self.assertEqual([m.bound.tensors["y"] for m in found], ["e"])
        found, _ = self.found(["y = Mul(x, $by)"], ["y = Relu(x)"])
        self.assertEqual([m.bound.values for m in found], [{"$by": 0.5}])
        self.assertEqual([], self.found(["y = Mul(x, 0.25)"], ["y = Relu(x)"])[0])

    def test_defaults_count(self) -> None:
        m = model([helper.make_node("Softmax", ["x"], ["y"])], [("x", TensorProto.FLOAT, [1, 4])], [("y", TensorProto.FLOAT, [1, 4])], {})
        self.assertEqual(len(self.found(["y = Softmax(x, axis=-1)"], ["y = Relu(x)"], m)[0]), 1)
        self.assertEqual(len(self.found(["y = Softmax(x, axis=1)"], ["y = Relu(x)"], m)[0]), 0)

    def test_what_others_take_stays(self) -> None:
        m = silu()
        m.graph.node[-1].input[1] = "s"
        found, near = self.found(["s = Sigmoid(x)", "y = Mul(x, s)"], ["y = Relu(x)"], m)
        self.assertEqual([x.bound.tensors["y"] for x in found], ["d"])
        self.assertIn("s, s, is taken by y = Add(e, s), too", near)
        found, _ = self.found(["s = Sigmoid(x)", "y = Mul(x, s)"], ["s = Relu(x)", "y = Mul(x, s)"], m)
        self.assertEqual(len(found), 2)  # it goes on being made

    def test_places_do_not_overlap(self) -> None:
        n = helper.make_node
        m = model([n("Relu", ["x"], ["a"]), n("Relu", ["a"], ["b"]), n("Relu", ["b"], ["y"])], [("x", 1, [1])], [("y", 1, [1])], {})
        found, _ = self.found(["a = Relu(x)", "b = Relu(a)"], ["b = Relu(x)"], m)
        self.assertEqual(len(found), 1)

    def test_lines_that_share_nothing(self) -> None:
        with self.assertRaisesRegex(Wrong, "shares no tensor with the lines behind it"):
            self.found(["p = Sigmoid(q)", "y = Mul(x, 0.5)"], ["y = Relu(x)"])

    def test_too_many_ways(self) -> None:
        with mock.patch.object(pattern, "MOST_STEPS", 3), self.assertRaisesRegex(Wrong, "in too many ways"):
            self.found(["s = Sigmoid(x)", "y = Mul(x, s)"], ["y = Relu(x)"])


class Edits(Case):
    def test_replace(self) -> None:
        self.assertEqual(self.edit(SILU, tolerance=1e-6), "")
        self.assertEqual(self.ops(), ["MatMul", "QuickGelu", "MatMul", "QuickGelu", "Mul", "Add"])
        self.assertEqual(self.facts()["g"]["nodes"], {"before": 8, "after": 6})
        said = (self.out / "diff.txt").read_text()
        for line in ("- s = Sigmoid(a)", "+ b = com.microsoft.QuickGelu(a, alpha=1)", "1. replace: 2 places", "g, 8 nodes → g of 6 nodes"):
            self.assertIn(line, said)

    def test_a_wrong_edit_is_refused(self) -> None:
        wrong = SILU | {"by": ["y = Relu(x)"]}
        said = self.edit({"kind": "rename", "expect": 1, "nodes": ["sum"], "to": "total"}, wrong)
        self.assertIn("g says something else after the edits: y differs by ", said)
        self.assertIn("The first tensor that differs by more is b: ", said)
        self.assertIn("It was b = Mul(s, a), and is b = Relu(a). Edit 2 was there", said)

    def test_a_small_difference_is_one(self) -> None:
        m = silu()
        close = {"kind": "replace", "expect": 1, "pattern": ["y = Mul(x, 0.5)"], "by": ["y = Mul(x, 0.5001)"]}
        said = self.edit(close, m=m)
        self.assertRegex(said, r"The first tensor that differs by more is e: .* a part of 0\.0002")
        self.assertRegex(said, r"tolerance = [0-9.e-]+[0-9]\.$")
        self.assertEqual(self.edit(close, m=m, tolerance=0.01), "")
        self.assertGreater(self.facts()["g"]["difference"], 0)

    def test_too_many_and_too_few(self) -> None:
        said = self.edit(SILU | {"expect": 1})
        self.assertIn("edit 1, replace, is expected at 1 place, and has 2", said)
        self.assertIn("\n  act\n  act2", said)
        self.assertIn("is expected at 3 places, and has 2", self.edit(SILU | {"expect": 3}))
        said = self.edit(SILU | {"pattern": ["s = Sigmoid(x)", "y = Add(x, s)"]})
        self.assertIn("the nearest has 1 of its 2 lines, at y = Add(e, x)", said)
        self.assertIn("has no node Sigmoyd; the names nearest to it are Sigmoid", self.edit(SILU | {"pattern": ["y = Sigmoyd(x)"]}))
        self.assertIn("no node called 'gates'; the names nearest to it are gate", self.edit({"kind": "fold", "expect": 1, "nodes": ["gates"]}))

    def test_rename(self) -> None:
        said = self.edit(
            {"kind": "rename", "expect": 2, "nodes": ["act*"], "to": "activation*"},
            {"kind": "rename", "expect": 1, "tensors": ["x"], "to": "in"},
            {"kind": "rename", "expect": 1, "tensors": ["y"], "to": "out"},
            {"kind": "rename", "expect": 1, "tensors": ["w"], "to": "weights"},
        )
        self.assertEqual(said, "")
        m = onnx.load(self.out / "g.onnx")
        self.assertEqual([v.name for v in (*m.graph.input, *m.graph.output)], ["in", "out"])
        self.assertEqual([n.name for n in m.graph.node if n.op_type == "Mul"][:2], ["activation", "activation2"])
        self.assertEqual(self.facts()["g"]["outputs"]["y"]["difference"], 0)
        self.assertIn("something else has that name", self.edit({"kind": "rename", "expect": 1, "tensors": ["x"], "to": "y"}))
        self.assertIn("cannot be called 'q'", self.edit({"kind": "rename", "expect": 2, "nodes": ["act*"], "to": "q"}))

    def test_rename_within_a_branch(self) -> None:
        n = helper.make_node
        branch = lambda name, op: helper.make_graph([n(op, ["a"], [name])], name, [], [helper.make_tensor_value_info(name, 1, [1, 4])])  # noqa: E731
        m = model(
            [n("Relu", ["x"], ["a"]), n("If", ["c"], ["y"], then_branch=branch("p", "Neg"), else_branch=branch("q", "Exp"))],
            [("x", 1, [1, 4]), ("c", TensorProto.BOOL, [])],
            [("y", 1, [1, 4])],
            {},
        )
        self.assertEqual(self.edit({"kind": "rename", "expect": 1, "tensors": ["a"], "to": "b"}, m=m), "")
        made = onnx.load(self.out / "g.onnx").graph.node[1]
        self.assertEqual([a.g.node[0].input[0] for a in made.attribute], ["b", "b"])

    def test_fold(self) -> None:
        n = helper.make_node
        nodes = [
            n("Constant", [], ["k"], value=numpy_helper.from_array(np.float32([[2.0]]))),
            n("Mul", ["w", "k"], ["w2"], name="scaled"),
            n("Transpose", ["w2"], ["w3"], name="turned", perm=[1, 0]),
            n("MatMul", ["x", "w3"], ["y"]),
        ]
        m = model(nodes, [("x", 1, [1, 4])], [("y", 1, [1, 4])], {"w": W})
        self.assertEqual(self.edit({"kind": "fold", "expect": 3}, m=m), "")
        self.assertEqual(self.ops(), ["MatMul"])
        g = onnxgraph.load(self.out / "g.onnx")
        self.assertEqual(list(g.constants), ["w3"])
        np.testing.assert_array_equal(g.value(g.constants["w3"]), (W * np.float32(2)).T)
        self.assertIn("No node of the graph takes constants alone", self.edit({"kind": "fold", "expect": 1}))

    def test_fold_leaves_what_is_quantised(self) -> None:
        n = helper.make_node
        nodes = [n("DequantizeLinear", ["q", "s"], ["w"], name="dq"), n("MatMul", ["x", "w"], ["y"])]
        m = model(nodes, [("x", 1, [1, 4])], [("y", 1, [1, 4])], {"q": (W * 20).astype(np.int8), "s": np.float32(0.05).reshape(())})
        self.assertIn("No node", self.edit({"kind": "fold", "expect": 1}, m=m))
        self.assertEqual(self.edit({"kind": "fold", "expect": 1, "nodes": ["dq"]}, m=m), "")
        self.assertEqual(self.ops(), ["MatMul"])

    def test_precision_of_nodes(self) -> None:
        half = {"kind": "precision", "expect": 3, "nodes": ["one", "gate", "act"], "type": "float16"}
        self.assertEqual(self.edit(half, tolerance=0.01), "")
        self.assertEqual(self.ops(), ["Cast", "MatMul", "Sigmoid", "Mul", "Cast", "MatMul", "Sigmoid", "Mul", "Mul", "Add"])
        self.assertGreater(self.facts()["g"]["difference"], 1e-6)
        g = onnxgraph.load(self.out / "g.onnx")
        self.assertEqual(
            {name: t.data_type for name, t in g.constants.items()}, {"w": TensorProto.FLOAT, "half": TensorProto.FLOAT, "w_float16": TensorProto.FLOAT16}
        )
        self.assertIn("says something else after the edits", self.edit(half))
        self.assertEqual(self.edit(half | {"type": "float64"}, tolerance=1e-5), "")
        self.assertIn("None of these nodes", self.edit(half | {"type": "float32"}))

    def test_precision_of_tensors(self) -> None:
        of = lambda name, kind="float16": {"kind": "precision", "expect": 1, "tensors": [name], "type": kind}  # noqa: E731
        for name in ("x", "y", "w", "b"):
            self.assertEqual(self.edit(of(name), tolerance=0.01), "", name)
            m = onnx.load(self.out / "g.onnx")
            kinds = {v.name: v.type.tensor_type.elem_type for v in (*m.graph.input, *m.graph.output)}
            kinds |= {t.name: t.data_type for t in m.graph.initializer}
            if name != "b":
                self.assertEqual(kinds[name], TensorProto.FLOAT16)
            self.assertEqual(self.ops().count("Cast"), 2 if name == "b" else 1, name)
        self.assertIn("x is float32 already", self.edit(of("x", "float32")))
        ids = model([helper.make_node("Gather", ["w", "i"], ["y"])], [("i", TensorProto.INT64, [3])], [("y", 1, [3, 4])], {"w": W})
        self.assertEqual(self.edit(of("i", "int32"), m=ids), "")

    def test_insert_and_remove_qdq(self) -> None:
        put = {"kind": "insert_qdq", "expect": 2, "tensors": ["a", "y"], "type": "uint16"}
        weight = {"kind": "insert_qdq", "expect": 1, "tensors": ["w"], "type": "int8", "axis": 1}
        self.assertEqual(self.edit(put, weight, tolerance=0.02), "")
        self.assertEqual((self.ops().count("QuantizeLinear"), self.ops().count("DequantizeLinear")), (2, 3))
        g = onnxgraph.load(self.out / "g.onnx")
        self.assertNotIn("w", g.constants)
        self.assertEqual((g.value(g.constants["w_q"]).dtype, list(g.constants["w_scale"].dims)), (np.dtype(np.int8), [4]))
        np.testing.assert_allclose(g.value(g.constants["w_q"]) * g.value(g.constants["w_scale"]), W, atol=0.02)
        (self.at / "q.onnx").write_bytes((self.out / "g.onnx").read_bytes())
        said = self.edit({"kind": "remove_qdq", "expect": 2, "tensors": ["*"]}, at="q.onnx", tolerance=0.001)
        self.assertEqual(said, "")
        self.assertEqual((self.ops("q").count("QuantizeLinear"), self.ops("q").count("DequantizeLinear")), (0, 1))
        self.assertEqual([v.name for v in onnx.load(self.out / "q.onnx").graph.output], ["y"])
        self.assertIn("it has no QuantizeLinear", self.edit({"kind": "remove_qdq", "expect": 1, "tensors": ["*"]}))

    def test_qdq_of_what_is_given(self) -> None:
        put = {"kind": "insert_qdq", "expect": 1, "tensors": ["x"], "type": "int8", "scale": 0.25}
        self.assertIn("says something else", self.edit(put, tolerance=0.001))
        self.assertEqual(self.edit(put, tolerance=0.5), "")
        self.assertIn("The zero point 300 is none of int8", self.edit(put | {"zero_point": 300}, tolerance=0.5))
        self.assertIn("QuantizeLinear takes uint16 from operator set 21 on", self.edit(put | {"type": "uint16"}, m=_older(silu()), tolerance=0.5))
        for kind in ("int4", "uint4", "uint8", "int16"):
            self.assertEqual(self.edit(put | {"type": kind, "tensors": ["w"], "scale": None}, tolerance=0.9), "", kind)

    def test_fix_shape(self) -> None:
        m = silu("n")
        self.assertIn('edit "fix_shape"', self.edit({"kind": "rename", "expect": 1, "nodes": ["sum"], "to": "z"}, m=m))
        self.assertEqual(self.edit({"kind": "fix_shape", "expect": 1, "dims": {"n": 3}}, m=m), "")
        self.assertEqual([onnxgraph.dims(v) for v in onnx.load(self.out / "g.onnx").graph.output], [[3, 4]])
        self.assertEqual(self.edit({"kind": "fix_shape", "expect": 1, "tensors": ["x"], "shape": [2, 4]}, m=m), "")
        self.assertEqual([onnxgraph.dims(v) for v in onnx.load(self.out / "g.onnx").graph.output], [[2, 4]])
        self.assertIn("which is fixed", self.edit({"kind": "fix_shape", "expect": 1, "tensors": ["x"], "shape": [2, 5]}, m=m))
        self.assertIn("No input has a dimension 'm'", self.edit({"kind": "fix_shape", "expect": 1, "dims": {"m": 3}}, m=m))
        self.assertIn("of 2 dimensions, and shape has 1", self.edit({"kind": "fix_shape", "expect": 1, "tensors": ["x"], "shape": [4]}, m=m))

    def test_split(self) -> None:
        cut = {"kind": "split", "expect": 1, "tensors": ["b"], "into": ["front", "back"]}
        self.assertEqual(self.edit(cut), "")
        self.assertEqual((self.ops("front"), self.ops("back")), (["MatMul", "Sigmoid", "Mul"], ["MatMul", "Sigmoid", "Mul", "Mul", "Add"]))
        back = onnx.load(self.out / "back.onnx").graph
        self.assertEqual(sorted(v.name for v in back.input), ["b", "x"])
        self.assertEqual(self.facts()["g"]["into"], ["front", "back"])
        said = self.edit(cut | {"tensors": ["s"]})
        self.assertIn("1 more tensors go from the one to the other", said)
        self.assertIn("a, which b = Mul(s, a) takes", said)
        self.assertIn("nothing would be behind", self.edit(cut | {"tensors": ["y"]}))
        self.assertEqual(self.edit(SILU | {"expect": 2}, cut, tolerance=1e-6), "")

    def test_samples(self) -> None:
        (self.at / "s").mkdir()
        name = {"kind": "rename", "expect": 1, "nodes": ["sum"], "to": "z"}
        self.assertIn("s has 0 files", self.edit(name, samples="s"))
        np.savez(self.at / "s" / "one.npz", x=np.zeros((1, 5), np.float32))
        self.assertIn("one.npz: x is float32 [1, 5]; the graph takes float32 [1, 4]", self.edit(name, samples="s"))
        np.savez(self.at / "s" / "one.npz", x=np.ones((1, 4), np.float32))
        self.assertEqual(self.edit(name, samples="s"), "")
        self.assertEqual(self.facts()["g"]["samples"], 1)
        # zeros alone would not tell Sigmoid's product from Relu
        np.savez(self.at / "s" / "one.npz", x=np.zeros((1, 4), np.float32))
        self.assertEqual(self.edit(SILU | {"by": ["y = Relu(x)"]}, samples="s"), "")

    def test_no_numbers_are_numbers(self) -> None:
        a = np.array([1.0, np.nan, np.inf])
        self.assertEqual(equal.gap(a, a.copy(), "x", "").part, 0)
        self.assertEqual(equal.gap(a, np.array([1.0, 2.0, np.inf]), "x", "").part, np.inf)
        self.assertEqual(equal.gap(a, np.array([1.0, np.nan, -np.inf]), "x", "").part, np.inf)
        self.assertEqual(equal.gap(np.zeros(2), np.ones(2), "x", "").part, np.inf)
        with self.assertRaisesRegex(Wrong, r"has the shape \[2\] after"):
            equal.gap(a, np.zeros(2), "x", "")

    def test_the_same_bytes(self) -> None:
        made = []
        for _ in range(2):
            self.assertEqual(self.edit(SILU, tolerance=1e-6), "")
            made.append({p.name: p.read_bytes() for p in self.out.iterdir()})
        self.assertEqual(made[0], made[1])


def _older(m: onnx.ModelProto) -> onnx.ModelProto:
    m.opset_import[0].version = 19
    return m


class Hostile(Case):
    def test_what_is_no_model(self) -> None:
        name = {"kind": "rename", "expect": 1, "nodes": ["sum"], "to": "z"}
        for raw in (b"", b"hello", b"\x08\x0a", silu().SerializeToString()[:-40]):
            (self.at / "bad.onnx").write_bytes(raw)
            self.assertIn("is no ONNX model", self.edit(name, at="bad.onnx"))

    def test_content_that_is_elsewhere(self) -> None:
        (self.at / "w.bin").write_bytes(W.tobytes())
        for where, says in (
            ({"location": "../w.bin"}, "which is no file beside the graph"),
            ({"location": "/etc/passwd"}, "which is no file beside the graph"),
            ({"location": "no.bin"}, "which is not beside g.onnx"),
            ({"location": "w.bin", "offset": "8"}, ""),
            ({"location": "w.bin", "offset": "8", "length": "64"}, "is not where its graph says"),
            ({"location": "w.bin", "offset": "-8"}, "is not where its graph says"),
            ({"location": "w.bin", "offset": "x"}, "invalid literal"),
        ):
            m = silu()
            t = m.graph.initializer[0]
            t.ClearField("raw_data")
            t.data_location = TensorProto.EXTERNAL
            for k, v in where.items():
                t.external_data.add(key=k, value=v)
            onnx.save(m, self.at / "g.onnx")
            g = onnxgraph.load(self.at / "g.onnx")
            if says:
                with self.assertRaisesRegex(Wrong, says):
                    g.raw(g.constants["w"])
            else:
                self.assertEqual(len(g.raw(g.constants["w"])), 56)

    def test_flipped_bytes(self) -> None:
        """A model in which something is flipped is read, or refused in a sentence, by whatever looks at it without running it."""
        raw, r = silu().SerializeToString(), np.random.default_rng(7)
        read = 0
        for _ in range(400):
            b = bytearray(raw)
            for i in r.integers(0, len(b), r.integers(1, 4)):
                b[i] = r.integers(0, 256)
            (self.at / "g.onnx").write_bytes(bytes(b))
            try:
                g = onnxgraph.load(self.at / "g.onnx")
                read += 1
                g.sort()
                edits.apply(g, 1, SILU, edits.Tools(lambda _: {}, lambda *_: {}))
                edits.split(g, 2, {"expect": 1, "tensors": ["b"], "into": ["f", "b"]})
            except Wrong:
                pass
        self.assertGreater(read, 50)


CONFIG = {
    "model_type": "llama",
    "hidden_size": 64,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "num_hidden_layers": 2,
    "intermediate_size": 128,
    "vocab_size": 96,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
}


NORM = {
    "kind": "replace",
    "expect": 5,
    "pattern": ["y = RMSNormalization(x, w, axis=-1, epsilon=$e)"],
    "by": ["q = Mul(x, x)", "m = ReduceMean(q, [-1], keepdims=1)", "p = Add(m, $e)", "r = Sqrt(p)", "n = Div(x, r)", "y = Mul(n, w)"],
}


class Decoders(Case):
    """The float graphs of a language model, as onnx_llm makes them."""

    def setUp(self) -> None:
        super().setUp()
        of = arch.from_config(CONFIG).sized(24, 8, None)
        r = np.random.default_rng(1)
        kept: dict[str, np.ndarray] = {}

        def read(name: str, _: str) -> np.ndarray | None:
            short = name.rsplit(".layers.", 1)[-1].split(".", 1)[-1] if ".layers." in name else name
            ours = [k for k, (hf, _) in {**weights.LAYER, **weights.TOP}.items() if hf == short][0]
            if ours.endswith("_bias") or ours in ("q_norm", "k_norm"):
                return None
            if name not in kept:
                shape = w.shape(ours)
                a = (r.standard_normal(shape) / np.sqrt(shape[0]) if len(shape) > 1 else 1 + 0.1 * r.standard_normal(shape)).astype(np.float32)
                kept[name] = np.ascontiguousarray(a.T) if ours in weights.MATRICES or ours == "head" else a
            return kept[name]

        w = weights.Weights(of, read)
        (self.at / "float").mkdir()
        decoder.write(self.at / "float", of, w)
        (self.at / "float" / "tokenizer.json").write_text("{}")
        self.arch = of

    def test_both_graphs_say_the_same(self) -> None:
        self.assertEqual(self.edit(NORM, SILU, at="float", tolerance=1e-5), "")
        self.assertEqual(
            sorted(p.name for p in self.out.iterdir()), sorted("arch.json decode.onnx diff.txt manifest.json prefill.onnx tokenizer.json weights.bin".split())
        )
        for name in ("prefill", "decode"):
            self.assertNotIn("RMSNormalization", self.ops(name))
            self.assertLess(self.facts()[name]["difference"], 1e-5)
        ids = list(np.random.default_rng(2).integers(0, 96, 11))
        rows = [
            session.Decoder(self.arch, session.cpu(d / "prefill.onnx"), session.cpu(d / "decode.onnx"), None).read(ids) for d in (self.at / "float", self.out)
        ]
        np.testing.assert_allclose(rows[0], rows[1], rtol=1e-3, atol=1e-4)
        self.assertEqual((self.out / "weights.bin").stat().st_size, (self.at / "float" / "weights.bin").stat().st_size)

    def test_a_wrong_edit_names_where_it_begins(self) -> None:
        wrong = NORM | {"expect": 1, "nodes": ["layer1_mlp_norm/*"], "by": [*NORM["by"][:-1], "y = Mul(r, w)"]}
        said = self.edit(wrong, at="float", graphs=["prefill"], tolerance=1e-5)
        self.assertRegex(said, r"prefill says something else after the edits: logits differs by [0-9.]+ of ")
        self.assertIn("The first tensor that differs by more is layer1_mlp_norm: ", said)
        self.assertIn("and is layer1_mlp_norm = Mul(layer1_mlp_norm_r, 1.mlp_norm). Edit 1 was there", said)
        said = self.edit(SILU | {"expect": 1, "nodes": ["layer1_gate_silu/*"], "by": ["y = Sigmoid(x)"]}, at="float", tolerance=1e-5)
        self.assertIn("The first tensor that differs by more is layer1_gate_silu: ", said)

    def test_the_program(self) -> None:
        for by, code in (("y = com.microsoft.QuickGelu(x, alpha=1.0)", 0), ("y = Relu(x)", 1)):
            args = {
                "model": "float",
                "graphs": [],
                "edits": [SILU | {"by": [by]}],
                "samples": "",
                "random": 1,
                "seed": 1,
                "tolerance": 1e-5,
                "out": by[4:8],
                "facts": "f.json",
            }
            Path("args.json").write_text(json.dumps(args))
            r = subprocess.run([sys.executable, "-s", PROGRAM, "args.json"], capture_output=True, text=True, check=False)
            self.assertEqual(r.returncode, code, r.stderr)
            self.assertNotIn("Traceback", r.stderr)
            self.assertIn("" if code == 0 else "decode says something else after the edits", r.stderr)

    def test_halves(self) -> None:
        cut = {"kind": "split", "expect": 1, "tensors": ["layer0_out"], "into": ["front", "back"]}
        self.assertEqual(self.edit(cut, at="float", graphs=["prefill"]), "")
        self.assertEqual(sorted(p.stem for p in self.out.glob("*.onnx")), ["back", "decode", "front"])
        self.assertEqual(set(self.facts()["prefill"]["outputs"]), {"logits", "new_k_0", "new_v_0", "new_k_1", "new_v_1"})
        self.assertIn("name one with graphs", self.edit(cut, at="float"))
        self.assertIn("would write decode.onnx", self.edit(cut | {"into": ["decode", "back"]}, at="float", graphs=["prefill"]))
        self.assertIn("no graph 'prefil' to edit; the names nearest to it are prefill", self.edit(cut, at="float", graphs=["prefil"]))


if __name__ == "__main__":
    unittest.main(verbosity=1)
