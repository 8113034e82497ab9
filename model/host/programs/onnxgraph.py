"""An ONNX graph that is being edited: who makes a tensor, who takes it, what it is called; and its file, with large tensors beside it."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, helper, numpy_helper

from arch import Wrong
from tensors import DATA, dtype_of, external

SMALL = 1024  # bytes of a tensor that stays in the graph's own file
SHOWN = 8  # elements of a list that a text has
KINDS = {number: name.lower() for name, number in TensorProto.DataType.items() if number}
ARITY = {"QuantizeLinear": 2, "DequantizeLinear": 2, "Gather": 2}  # inputs at least


class Graph:
    """A model's main graph. Names of tensors are as ONNX has them: one name, one tensor, for inputs, constants and what nodes make alike."""

    def __init__(self, name: str, model: onnx.ModelProto, folder: Path) -> None:
        """folder has the files that tensors are in which are not in the model's own."""
        self.name, self.folder, self.model = name, folder, model
        self.nodes = list(model.graph.node)
        self.constants = {t.name: t for t in model.graph.initializer}
        self.inputs = [v for v in model.graph.input if v.name not in self.constants]
        self.outputs = list(model.graph.output)
        self.hints = {v.name: v for v in model.graph.value_info}  # types and shapes that the file has of what nodes make
        self.now: dict[str, str] = {}  # what tensors are called that had another name before
        self.by: dict[str, int] = {}  # which edit, from 1 on, last changed the node that makes a tensor

    def copy(self, name: str) -> Graph:
        """The same, to be edited apart."""
        made = Graph(name, self.proto(), self.folder)
        made.now, made.by = dict(self.now), dict(self.by)
        return made

    def proto(self, nodes: Iterable[onnx.NodeProto] | None = None, outputs: Iterable[onnx.ValueInfoProto] | None = None) -> onnx.ModelProto:
        """The model, or the part of it that some of its nodes and other outputs are, with the constants that these take."""
        made, old = onnx.ModelProto(), self.model
        made.ir_version, made.producer_name, made.producer_version = old.ir_version, old.producer_name, old.producer_version
        made.domain, made.model_version, made.doc_string = old.domain, old.model_version, old.doc_string
        made.opset_import.extend(old.opset_import)
        made.metadata_props.extend(old.metadata_props)
        made.functions.extend(old.functions)
        made.graph.name, made.graph.doc_string = old.graph.name, old.graph.doc_string
        made.graph.node.extend(self.nodes if nodes is None else nodes)
        made.graph.output.extend(self.outputs if outputs is None else outputs)
        wanted = {name for n in made.graph.node for name in taken(n)} | {v.name for v in made.graph.output}
        made.graph.input.extend(v for v in self.inputs if nodes is None or v.name in wanted)
        made.graph.initializer.extend(t for name, t in self.constants.items() if nodes is None or name in wanted)
        if nodes is None:
            made.graph.quantization_annotation.extend(old.graph.quantization_annotation)
            ends = self.ends()
            made.graph.value_info.extend(self.hints[name] for name in self.makers() if name in self.hints and name not in ends)
        return made

    def tensors(self) -> list[str]:
        """All names, inputs first, then constants, then what nodes make, in their order."""
        return [*(v.name for v in self.inputs), *self.constants, *(name for n in self.nodes for name in n.output if name)]

    def makers(self) -> dict[str, onnx.NodeProto]:
        return {name: n for n in self.nodes for name in n.output if name}

    def takers(self) -> dict[str, list[onnx.NodeProto]]:
        found: dict[str, list[onnx.NodeProto]] = {}
        for n in self.nodes:
            for name in taken(n):
                found.setdefault(name, []).append(n)
        return found

    def ends(self) -> set[str]:
        """Names of the outputs."""
        return {v.name for v in self.outputs}

    def known(self) -> dict[str, onnx.ValueInfoProto]:
        """Type and shape of each tensor, where ONNX's own inference finds them."""
        made = self.proto()
        try:
            made = onnx.shape_inference.infer_shapes(made, data_prop=True)
        except Exception:  # of an op that it does not know; what it has is not less true for that
            pass
        found = {v.name: v for v in (*made.graph.value_info, *self.inputs, *self.outputs)}
        for name, t in self.constants.items():
            found[name] = helper.make_tensor_value_info(name, t.data_type, list(t.dims))
        return found

    def types(self) -> dict[str, int]:
        """Type of each tensor's elements, where it is known."""
        return {name: v.type.tensor_type.elem_type for name, v in self.known().items() if v.type.tensor_type.elem_type}

    def opset(self, domain: str = "") -> int:
        return next((o.version for o in self.model.opset_import if (o.domain or "ai.onnx") == (domain or "ai.onnx")), 0)

    def constant(self, name: str, makers: dict[str, onnx.NodeProto]) -> np.ndarray | None:
        """The value of a tensor that is one of the graph's constants, or that a node Constant makes."""
        if name in self.constants:
            return self.value(self.constants[name])
        n = makers.get(name)
        if n is None or n.op_type != "Constant" or n.domain not in ("", "ai.onnx") or len(n.attribute) != 1:
            return None
        v = helper.get_attribute_value(n.attribute[0])
        if isinstance(v, TensorProto):
            return self.value(v)
        return np.asarray(v, {"f": np.float32, "i": np.int64}.get(np.asarray(v).dtype.kind)) if n.attribute[0].name.startswith(("value_f", "value_i")) else None

    def raw(self, t: onnx.TensorProto) -> bytes:
        """The bytes of a tensor, wherever they are."""
        if t.data_location != TensorProto.EXTERNAL:
            return t.raw_data if t.HasField("raw_data") else bytes(numpy_helper.from_array(array(t)).raw_data)
        where = {e.key: e.value for e in t.external_data}
        at = PurePosixPath(where.get("location", ""))
        if not at.name or at.is_absolute() or ".." in at.parts:
            raise Wrong(f"The tensor {t.name} is said to be in {str(at)!r}, which is no file beside the graph.")
        path = self.folder / at
        if not path.is_file():
            raise Wrong(f"The tensor {t.name} is in {at}, which is not beside {self.name}.onnx: give onnx_edit the folder with all of the model's files.")
        size = path.stat().st_size
        try:
            offset = int(where.get("offset", 0))
            length = int(where.get("length", size - offset))
        except ValueError as e:
            raise Wrong(f"The tensor {t.name}: {e}.") from e
        if offset < 0 or length < 0 or offset + length > size:
            raise Wrong(f"The tensor {t.name} is not where its graph says: {length} bytes at {offset} of {at}, which has {size}.")
        with path.open("rb") as f:
            f.seek(offset)
            return f.read(length)

    def value(self, t: onnx.TensorProto) -> np.ndarray:
        """The values of a tensor, wherever its bytes are."""
        if t.data_location != TensorProto.EXTERNAL:
            return array(t)
        return array(TensorProto(name=t.name, data_type=t.data_type, dims=t.dims, raw_data=self.raw(t)))

    def fresh(self, name: str) -> str:
        """A name that nothing has, this one if it can be."""
        have = {*self.tensors(), *(n.name for n in self.nodes)}
        found, i = name, 2
        while found in have:
            found, i = f"{name}_{i}", i + 1
        return found

    def put(self, name: str, a: np.ndarray) -> str:
        """A constant, under this name, or under another if something else has it."""
        t = numpy_helper.from_array(np.ascontiguousarray(a).reshape(a.shape), name)
        old = self.constants.get(name)
        if old is not None and old.data_type == t.data_type and list(old.dims) == list(t.dims) and self.raw(old) == t.raw_data:
            return name
        t.name = self.fresh(name)
        self.constants[t.name] = t
        return t.name

    def node(self, op: str, inputs: list[str], output: str, **attributes: Any) -> onnx.NodeProto:
        """A new node, which is not among the graph's yet."""
        return helper.make_node(op, inputs, [output], name=self.fresh(f"{output}/{op}"), **attributes)

    def rename(self, old: str, new: str) -> None:
        """Calls a tensor something else, wherever it is named."""
        for n in self.nodes:
            _rename(n, old, new)
        for i, v in enumerate(self.inputs):
            if v.name == old:
                self.inputs[i] = renamed(v, new)
        for i, v in enumerate(self.outputs):
            if v.name == old:
                self.outputs[i] = renamed(v, new)
        if old in self.hints:
            self.hints[new] = renamed(self.hints.pop(old), new)
        if old in self.constants:
            self.constants = {(new if k == old else k): t for k, t in self.constants.items()}
            self.constants[new] = retitled(self.constants[new], new)
        for q in self.model.graph.quantization_annotation:
            if q.tensor_name == old:
                q.tensor_name = new
            for e in q.quant_parameter_tensor_names:
                if e.value == old:
                    e.value = new
        first = next((k for k, v in self.now.items() if v == old), old)
        self.now[first] = new
        if old in self.by:
            self.by[new] = self.by.pop(old)

    def take(self, old: str, new: str, but: Iterable[onnx.NodeProto] = ()) -> int:
        """Has all nodes take another tensor than before, but for some; how many do."""
        spared, count = {id(n) for n in but}, 0
        for n in self.nodes:
            if id(n) not in spared and old in taken(n):
                _retake(n, old, new)
                count += 1
        return count

    def behind(self, names: Iterable[str]) -> set[int]:
        """The nodes, by id, that make these tensors, and all that these nodes need."""
        makers, found, wait = self.makers(), set[int](), list(names)
        while wait:
            n = makers.get(wait.pop())
            if n is not None and id(n) not in found:
                found.add(id(n))
                wait.extend(taken(n))
        return found

    def dead(self) -> tuple[set[int], set[str]]:
        """Nodes, by id, that no output needs, and constants that nobody takes."""
        live = self.behind(self.ends())
        used = self.ends().union(*(taken(n) for n in self.nodes if id(n) in live))
        return {id(n) for n in self.nodes if id(n) not in live}, self.constants.keys() - used

    def drop(self, before: tuple[set[int], set[str]]) -> list[onnx.NodeProto]:
        """Takes away what is dead and was not before, and gives the nodes of it."""
        nodes, constants = self.dead()
        gone = [n for n in self.nodes if id(n) in nodes - before[0]]
        self.nodes = [n for n in self.nodes if id(n) not in nodes - before[0]]
        for name in constants - before[1]:
            del self.constants[name]
        return gone

    def sort(self) -> None:
        """Puts each node behind those whose tensors it takes, and leaves the order as it is otherwise."""
        place = {id(n): i for i, n in enumerate(self.nodes)}
        makers = self.makers()
        wait: dict[int, int] = {}
        next_: dict[int, list[int]] = {}
        for i, n in enumerate(self.nodes):
            needs = {place[id(makers[name])] for name in taken(n) if name in makers}
            wait[i] = len(needs)
            for j in needs:
                next_.setdefault(j, []).append(i)
        ready = [i for i, count in wait.items() if count == 0]
        heapq.heapify(ready)
        order = []
        while ready:
            i = heapq.heappop(ready)
            order.append(i)
            for j in next_.get(i, ()):
                wait[j] -= 1
                if wait[j] == 0:
                    heapq.heappush(ready, j)
        if len(order) < len(self.nodes):
            stuck = next(self.nodes[i] for i, count in wait.items() if count > 0)
            raise Wrong(f"{self.name}: nodes need each other's outputs, among them {text(stuck)}.")
        self.nodes = [self.nodes[i] for i in order]

    def infer(self) -> None:
        """Notes the shapes of outputs that had open dimensions, where they have none any more."""
        try:
            made = onnx.shape_inference.infer_shapes(self.proto(), data_prop=True)
        except Exception:  # of an op that it does not know; ONNX Runtime will say what it makes of it
            return
        for i, v in enumerate(made.graph.output):
            if v.type.tensor_type.HasField("shape") and all(d.HasField("dim_value") for d in v.type.tensor_type.shape.dim):
                self.outputs[i] = v


def taken(n: onnx.NodeProto) -> list[str]:
    """The names that a node takes, those of graphs within it among them."""
    return [
        *(name for name in n.input if name),
        *(name for g in _inner(n) for m in g.node for name in taken(m)),
        *(v.name for g in _inner(n) for v in g.output),
    ]


def _inner(n: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    for a in n.attribute:
        if a.type == AttributeProto.GRAPH:
            yield a.g
        yield from a.graphs


def _rename(n: onnx.NodeProto, old: str, new: str) -> None:
    _retake(n, old, new)
    for i, name in enumerate(n.output):
        if name == old:
            n.output[i] = new


def _retake(n: onnx.NodeProto, old: str, new: str) -> None:
    for i, name in enumerate(n.input):
        if name == old:
            n.input[i] = new
    for g in _inner(n):
        for m in g.node:
            _rename(m, old, new)
        for v in g.output:
            if v.name == old:
                v.name = new


def renamed(v: onnx.ValueInfoProto, name: str, kind: int | None = None) -> onnx.ValueInfoProto:
    """The same input or output by another name, and of another type if given."""
    made = onnx.ValueInfoProto()
    made.CopyFrom(v)
    made.name = name
    if kind is not None:
        made.type.tensor_type.elem_type = kind
    return made


def retitled(t: onnx.TensorProto, name: str) -> onnx.TensorProto:
    made = TensorProto()
    made.CopyFrom(t)
    made.name = name
    return made


def text(n: onnx.NodeProto) -> str:
    """A node as people write it: y = Softmax(x, axis=-1)."""
    op = n.op_type if n.domain in ("", "ai.onnx") else f"{n.domain}.{n.op_type}"
    inputs = [name or "_" for name in n.input]
    return f"{', '.join(name or '_' for name in n.output)} = {op}({', '.join(inputs + [f'{a.name}={_attribute(a)}' for a in n.attribute])})"


def _attribute(a: onnx.AttributeProto) -> str:
    v = helper.get_attribute_value(a)
    if isinstance(v, list):
        return f"[{', '.join(_element(x) for x in v[:SHOWN])}{', …' if len(v) > SHOWN else ''}]"
    return _element(v)


def _element(v: Any) -> str:
    if isinstance(v, bytes):
        return repr(v[:64].decode(errors="replace"))
    if isinstance(v, TensorProto):
        return f"{KINDS.get(v.data_type, v.data_type)}{list(v.dims)}"
    if isinstance(v, onnx.GraphProto):
        return f"a graph of {len(v.node)} nodes"
    return f"{v:g}" if isinstance(v, float) else str(v) if isinstance(v, int) else type(v).__name__


def array(t: onnx.TensorProto) -> np.ndarray:
    try:
        return numpy_helper.to_array(t)
    except Exception as e:
        raise Wrong(f"The tensor {t.name} is not what a tensor of type {KINDS.get(t.data_type, t.data_type)} and shape {list(t.dims)} is: {e}.") from e


def dtype(kind: int) -> np.dtype:
    """The type of arrays for a type of tensors."""
    if kind not in KINDS:
        raise Wrong(f"There is no type of tensors with the number {kind}.")
    return dtype_of(kind)


def dims(v: onnx.ValueInfoProto) -> list[int | str]:
    """A shape, with names of open dimensions, and "?" for those that have none."""
    return [d.dim_value if d.HasField("dim_value") else d.dim_param or "?" for d in v.type.tensor_type.shape.dim]


def shape(v: onnx.ValueInfoProto) -> str:
    return f"[{', '.join(str(d) for d in dims(v))}]"


def load(at: Path) -> Graph:
    """Reads a model; what is beside it is read when it is needed."""
    try:
        model = onnx.load(at, load_external_data=False)
    except Exception as e:
        raise Wrong(f"{at.name} is no ONNX model: {e}.") from e
    if not model.graph.node or not model.graph.output or not model.opset_import:
        raise Wrong(f"{at.name} is no ONNX model with nodes, outputs and an operator set.")
    if model.graph.sparse_initializer:
        raise Wrong(f"{at.name} has sparse constants, which onnx_edit does not know.")
    values = [*model.graph.input, *model.graph.output, *model.graph.value_info]
    named = [*(v.name for v in values), *(t.name for t in model.graph.initializer), *(d.dim_param for v in values for d in v.type.tensor_type.shape.dim)]
    if not all(isinstance(name, str) for name in named):  # bytes are what a text is that is none
        raise Wrong(f"{at.name} is no ONNX model: a name of it is no text.")
    for n in model.graph.node:
        _sound(at, n)
    for t in model.graph.initializer:
        if t.data_type not in KINDS:
            raise Wrong(f"{at.name} is no ONNX model: its constant {t.name} has the type {t.data_type}, which there is not.")
    g = Graph(at.stem, model, at.parent)
    if len(set(g.tensors())) < len(g.tensors()):
        raise Wrong(f"{at.name}: two tensors have the same name, which ONNX does not allow.")
    return g


def _sound(at: Path, n: onnx.NodeProto) -> None:
    """Refuses nodes that no graph can have, so that nobody else has to look."""
    if not all(isinstance(name, str) for name in (*n.input, *n.output, n.name, n.op_type, n.domain, *(a.name for a in n.attribute))):
        raise Wrong(f"{at.name} is no ONNX model: a name of it is no text.")
    if not n.op_type or not any(n.output) or len(n.input) < ARITY.get(n.op_type, 0):
        raise Wrong(f"{at.name} is no ONNX model: the node {n.name or list(n.output)} has no op, no output or too few inputs.")
    for a in n.attribute:
        try:
            helper.get_attribute_value(a)
        except Exception as e:
            raise Wrong(f"{at.name} is no ONNX model that can be edited: {a.name} of {n.name or n.op_type}: {e}.") from e
    for g in _inner(n):
        for m in g.node:
            _sound(at, m)


class File:
    """The one file of large tensors beside the graphs of a folder, each content once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.at: dict[bytes, int] = {}
        self.file = (folder / DATA).open("wb")

    def save(self, g: Graph) -> Graph:
        """Writes a graph; it is then the one that the file has."""
        for name, t in g.constants.items():
            g.constants[name] = self._placed(g, t)
        onnx.save(g.proto(), self.folder / f"{g.name}.onnx")
        g.folder = self.folder
        return g

    def _placed(self, g: Graph, t: onnx.TensorProto) -> onnx.TensorProto:
        if t.data_type == TensorProto.STRING:
            return t
        raw = g.raw(t)
        if len(raw) < SMALL:
            return TensorProto(name=t.name, data_type=t.data_type, dims=t.dims, doc_string=t.doc_string, raw_data=raw)
        key = hashlib.sha256(raw).digest()
        if key not in self.at:
            self.file.write(b"\0" * (-self.file.tell() % 64))
            self.at[key] = self.file.tell()
            self.file.write(raw)
        made = external(t.name, t.data_type, list(t.dims), self.at[key], len(raw))
        made.doc_string = t.doc_string
        return made

    def close(self) -> None:
        self.file.close()
        if not self.at:
            (self.folder / DATA).unlink()
