"""Patterns of nodes, as people write them, and where a graph has them.

A line is a node: `y = Mul(x, s)`. Names are variables: the same name is the same tensor. Numbers and lists of numbers are constants with these values,
`_` is an input that is not there, `axis=-1` an attribute, `axis=$a` one whose value $a then is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from arch import Wrong
from onnxgraph import Graph, dtype, text

MOST_LINES = 32
MOST_STEPS = 2_000_000  # tries of a search
COMMUTES = {"Add", "Mul", "And", "Or", "Xor", "Equal", "Max", "Min", "Sum"}  # of two inputs either may come first

_TOKEN = re.compile(r"""\s*(?:(?P<name>\$?[A-Za-z_][\w.]*)|(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|(?P<text>"[^"]*")|(?P<sign>[=(),\[\]]))""")


@dataclass(frozen=True)
class Variable:
    """A tensor, or with a $ the value of an attribute."""

    name: str

    @property
    def held(self) -> bool:
        return self.name.startswith("$")


Value = Variable | int | float | str | tuple[int | float, ...]


@dataclass(frozen=True)
class Line:
    """One node of a pattern."""

    source: str
    outputs: tuple[str, ...]
    domain: str
    op: str
    inputs: tuple[Value | None, ...]
    attributes: dict[str, Value] = field(default_factory=dict)


@dataclass
class Bound:
    """What variables stand for."""

    tensors: dict[str, str] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)

    def copy(self) -> Bound:
        return Bound(dict(self.tensors), dict(self.values))


@dataclass
class Match:
    nodes: list[onnx.NodeProto]  # one a line
    bound: Bound


class _Reader:
    """Reads a line."""

    def __init__(self, source: str) -> None:
        self.source, self.at = source, 0
        self.kind, self.now = "", ""
        self.next()

    def next(self) -> str:
        had = self.now
        if not self.source[self.at :].strip():
            self.kind, self.now = "end", ""
            return had
        m = _TOKEN.match(self.source, self.at)
        if m is None or m.lastgroup is None:
            raise self.wrong(f"{self.source[self.at :].strip()[:1]!r} is nothing that a line can have")
        self.kind, self.now, self.at = m.lastgroup, m.group(m.lastgroup), m.end()
        return had

    def wrong(self, what: str) -> Wrong:
        return Wrong(f"The pattern's line {self.source!r}: {what}. A line is like: y = Softmax(x, axis=-1)")

    def sign(self, sign: str) -> None:
        if self.now != sign or self.kind != "sign":
            raise self.wrong(f"{sign} is missing before {self.now!r}" if self.now else f"{sign} is missing at its end")
        self.next()

    def name(self) -> str:
        if self.kind != "name":
            raise self.wrong(f"a name is missing before {self.now!r}")
        return self.next()

    def number(self) -> int | float:
        if self.kind != "number":
            raise self.wrong(f"a number is missing before {self.now!r}")
        t = self.next()
        return float(t) if set(t) & set(".eE") else int(t)

    def value(self) -> Value:
        if self.kind == "name":
            return Variable(self.next())
        if self.kind == "text":
            return self.next()[1:-1]
        if self.now != "[":
            return self.number()
        self.next()
        items: list[int | float] = []
        while self.now != "]":
            items.append(self.number())
            if self.now == ",":
                self.next()
        self.sign("]")
        return tuple(items)

    def line(self) -> Line:
        outputs = [self.name()]
        while self.now == ",":
            self.next()
            outputs.append(self.name())
        self.sign("=")
        domain, _, op = self.name().rpartition(".")
        self.sign("(")
        inputs: list[Value | None] = []
        attributes: dict[str, Value] = {}
        while self.now != ")":
            v = self.value()
            if self.now == "=" and isinstance(v, Variable):
                self.next()
                attributes[v.name] = given = self.value()
                if isinstance(given, Variable) and not given.held:
                    raise self.wrong(f"{given.name} is no value: texts stand in quotes, and a value that is passed on is called ${given.name}")
            elif attributes:
                raise self.wrong("inputs come before attributes")
            else:
                inputs.append(None if v == Variable("_") else v)
            if self.now != ")":
                self.sign(",")
        self.sign(")")
        if self.kind != "end":
            raise self.wrong(f"{self.now!r} is too much")
        return Line(self.source, tuple(outputs), "" if domain == "ai.onnx" else domain, op, tuple(inputs), attributes)


def read(lines: list[str]) -> list[Line]:
    if not 1 <= len(lines) <= MOST_LINES:
        raise Wrong(f"A pattern has from 1 to {MOST_LINES} lines; this one has {len(lines)}.")
    found = [_Reader(line).line() for line in lines]
    made: set[str] = set()
    for line in found:
        for name in line.outputs:
            if name in made or name.startswith("$"):
                raise Wrong(f"The pattern's line {line.source!r} makes {name}, which cannot be made here, or is made by another line.")
            made.add(name)
    return found


def attribute(n: onnx.NodeProto, name: str, opset: int) -> Any:
    """An attribute's value, the op's own default if the node has none; None if there is neither."""
    for a in n.attribute:
        if a.name == name:
            return _plain(helper.get_attribute_value(a))
    try:
        default = onnx.defs.get_schema(n.op_type, opset, "" if n.domain == "ai.onnx" else n.domain).attributes[name].default_value
    except Exception:
        return None
    return _plain(helper.get_attribute_value(default)) if default.name else None


def _plain(v: Any) -> Any:
    if isinstance(v, bytes):
        return v.decode(errors="replace")
    return tuple(_plain(x) for x in v) if isinstance(v, list) else v


def _same(a: Any, b: Any) -> bool:
    """Whether an attribute has a value that a person wrote."""
    if isinstance(a, float) and isinstance(b, int | float):
        return bool(np.float32(a) == np.float32(b))
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))
    return type(a) is type(b) and bool(a == b)


class Search:
    """Looks for a pattern in a graph."""

    def __init__(self, graph: Graph, lines: list[Line], kept: set[str]) -> None:
        """kept are variables whose tensors go on being made, and so may be taken by anybody."""
        self.g, self.lines, self.kept = graph, lines, kept
        self.makers, self.takers, self.ends = graph.makers(), graph.takers(), graph.ends()
        self.opsets = {domain: graph.opset(domain) for domain in {line.domain for line in lines}}
        self.values: dict[str, np.ndarray | None] = {}
        self.steps = 0
        self.near: tuple[int, str] = (0, "")  # how many lines the best try had, and what stood in its way

    def all(self, nodes: list[onnx.NodeProto]) -> list[Match]:
        """Places, none of which shares a node with another; nodes are those that the last line may be."""
        used: set[int] = set()
        found = []
        for n in nodes:
            for m in self._from({len(self.lines) - 1: n}, Bound(), used):
                found.append(m)
                used |= {id(x) for x in m.nodes}
                break
        return found

    def _from(self, chosen: dict[int, onnx.NodeProto], bound: Bound, used: set[int]) -> Iterator[Match]:
        n, i = chosen[len(self.lines) - 1], len(self.lines) - 1
        if id(n) not in used:
            for b in self._unify(self.lines[i], n, bound):
                yield from self._rest({i: n}, b, used)

    def _rest(self, chosen: dict[int, onnx.NodeProto], bound: Bound, used: set[int]) -> Iterator[Match]:
        if len(chosen) == len(self.lines):
            m = Match([chosen[i] for i in range(len(self.lines))], bound)
            if self._closed(m):
                yield m
            return
        i, candidates = self._next(chosen, bound)
        tried = False
        for n in candidates:
            if id(n) in used or any(n is x for x in chosen.values()):
                continue
            for b in self._unify(self.lines[i], n, bound):
                tried = True
                yield from self._rest({**chosen, i: n}, b, used)
        if not tried:
            at = next(iter(chosen.values()))
            seen = "; ".join(text(n) for n in candidates[:3]) or "an input or a constant"
            self._note(len(chosen), f"at {text(at)}: {self.lines[i].source!r} is not there, but {seen}")

    def _next(self, chosen: dict[int, onnx.NodeProto], bound: Bound) -> tuple[int, list[onnx.NodeProto]]:
        """The next line to look for, and the nodes that it can be."""
        rest = [i for i in range(len(self.lines) - 1, -1, -1) if i not in chosen]
        for i in rest:
            for name in self.lines[i].outputs:
                if name in bound.tensors:
                    n = self.makers.get(bound.tensors[name])
                    return i, [] if n is None else [n]
        for i in rest:
            for v in self.lines[i].inputs:
                if isinstance(v, Variable) and v.name in bound.tensors:
                    return i, self.takers.get(bound.tensors[v.name], [])
        raise Wrong(f"The pattern's line {self.lines[rest[0]].source!r} shares no tensor with the lines behind it.")

    def _unify(self, line: Line, n: onnx.NodeProto, bound: Bound) -> Iterator[Bound]:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise Wrong("The pattern can be looked for in too many ways: say more of its nodes, or name some with `nodes`.")
        if n.op_type != line.op or ("" if n.domain == "ai.onnx" else n.domain) != line.domain or len(line.outputs) > len(n.output):
            return
        if any(n.output[len(line.outputs) :]):
            return
        inputs = list(n.input)
        while inputs and not inputs[-1]:
            inputs.pop()
        if len(inputs) != len(line.inputs):
            return
        b = bound.copy()
        for name, v in line.attributes.items():
            has = attribute(n, name, self.opsets[line.domain])
            if has is None or (isinstance(v, Variable) and not self._hold(v, has, b)) or (not isinstance(v, Variable) and not _same(has, v)):
                return
        for name, made in zip(line.outputs, n.output, strict=False):
            if not made or b.tensors.setdefault(name, made) != made:
                return
        orders = [inputs, inputs[::-1]] if line.op in COMMUTES and len(inputs) == 2 else [inputs]
        for order in orders:
            c = b.copy()
            if all(self._operand(v, name, c) for v, name in zip(line.inputs, order, strict=True)):
                yield c

    def _hold(self, v: Variable, has: Any, b: Bound) -> bool:
        return v.held and (b.values.setdefault(v.name, has) is has or _same(b.values[v.name], has))

    def _operand(self, v: Value | None, name: str, b: Bound) -> bool:
        if v is None or not name:
            return v is None and not name
        if isinstance(v, Variable) and not v.held:
            return b.tensors.setdefault(v.name, name) == name
        if name not in self.values:
            self.values[name] = self._small(name)
        a = self.values[name]
        if a is None:
            return False
        if isinstance(v, Variable):
            return a.size == 1 and self._hold(v, a.reshape(-1)[0].item(), b)
        if isinstance(v, tuple):
            return a.ndim == 1 and a.shape == (len(v),) and bool((a == np.asarray(v).astype(a.dtype)).all())
        return not isinstance(v, str) and a.size == 1 and bool(a.reshape(-1)[0] == np.asarray(v).astype(a.dtype))

    def _small(self, name: str) -> np.ndarray | None:
        """The value of a constant that a person may have written down."""
        t = self.g.constants.get(name)
        if t is not None and int(np.prod(t.dims, dtype=np.int64)) > 64:
            return None
        return self.g.constant(name, self.makers)

    def _closed(self, m: Match) -> bool:
        """Whether nobody else takes what is no longer made."""
        own = {id(n) for n in m.nodes}
        for line in self.lines:
            for name in line.outputs:
                t = m.bound.tensors[name]
                if name in self.kept:
                    continue
                others = [n for n in self.takers.get(t, []) if id(n) not in own]
                if others or t in self.ends:
                    who = f"taken by {text(others[0])}" if others else "an output of the graph"
                    self._note(len(self.lines), f"at {text(m.nodes[-1])}: all lines are there, but {name}, {t}, is {who}, too, and would not be made any more")
                    return False
        return True

    def _note(self, lines: int, what: str) -> None:
        if lines > self.near[0]:
            self.near = (lines, what)


def write(g: Graph, lines: list[Line], m: Match, types: dict[str, int]) -> list[onnx.NodeProto]:
    """The nodes of a pattern in the place of a match: names that the match has are these tensors, others are new."""
    base = m.nodes[-1].output[0]
    tensors = dict(m.bound.tensors)
    made = []
    for line in lines:
        for name in line.outputs:
            if name not in tensors:
                tensors[name] = g.fresh(f"{base}_{name}")
        like = next((types[tensors[v.name]] for v in line.inputs if isinstance(v, Variable) and types.get(tensors.get(v.name, ""), 0)), TensorProto.FLOAT)
        inputs = []
        for v in line.inputs:
            if v is None:
                inputs.append("")
            elif isinstance(v, Variable) and not v.held:
                if v.name not in tensors:
                    raise Wrong(f"{line.source!r} takes {v.name}, which neither the pattern nor a line before has.")
                inputs.append(tensors[v.name])
            else:
                inputs.append(_literal(g, _value(line, v, m), like))
        attributes = {k: _value(line, v, m) for k, v in line.attributes.items()}
        n = helper.make_node(
            line.op, inputs, [tensors[name] for name in line.outputs], name=g.fresh(f"{tensors[line.outputs[0]]}/{line.op}"), domain=line.domain
        )
        n.attribute.extend(helper.make_attribute(k, list(v) if isinstance(v, tuple) else v) for k, v in attributes.items())
        for name in line.attributes:
            _fits(n, name, line, g.opset(line.domain))
        for name in line.outputs:
            types.setdefault(tensors[name], like)
        made.append(n)
    return made


def _value(line: Line, v: Value, m: Match) -> Any:
    if not isinstance(v, Variable):
        return v
    if v.name not in m.bound.values:
        raise Wrong(f"{line.source!r} has {v.name}, and the pattern has no value by that name.")
    return m.bound.values[v.name]


def _fits(n: onnx.NodeProto, name: str, line: Line, opset: int) -> None:
    """Gives an attribute the type that the op wants, such as a float that was written as 1."""
    try:
        want = onnx.defs.get_schema(n.op_type, opset, n.domain).attributes
    except Exception:
        return  # an op that ONNX itself does not have
    if name not in want:
        raise Wrong(f"{line.source!r}: {n.op_type} of operator set {opset} has no attribute {name}; it has {', '.join(sorted(want)) or 'none'}.")
    a = next(a for a in n.attribute if a.name == name)
    if want[name].type == onnx.defs.OpSchema.AttrType.FLOAT and a.type == onnx.AttributeProto.INT:
        a.CopyFrom(helper.make_attribute(name, float(a.i)))


def _literal(g: Graph, v: Any, like: int) -> str:
    """A constant for a number or a list of them: lists of whole numbers are int64, a number has the type of what it goes with."""
    whole = all(isinstance(x, int) for x in v) if isinstance(v, tuple) else False
    kind = np.dtype(np.int64) if whole else dtype(like)
    a = np.asarray(v).astype(kind)
    words = [f"{x:.6g}" if isinstance(x, float) else str(x) for x in (v if isinstance(v, tuple) else (v,))]
    return g.put(re.sub(r"[^\w.+-]+", "_", "_".join(["constant", *words, kind.name])), a)


def interior(before: list[Line], after: list[Line]) -> set[str]:
    """Variables that are made by both, so that their tensors stay; those that are made anew must not be taken by after unless it makes them."""
    made = {name for line in before for name in line.outputs}
    again = {name for line in after for name in line.outputs}
    if not made & again:
        raise Wrong(f"`by` makes none of what the pattern makes ({', '.join(sorted(made))}): nothing would be left for others to take.")
    for line in after:
        for v in line.inputs:
            if isinstance(v, Variable) and v.name in made - again:
                raise Wrong(f"{line.source!r} takes {v.name}, which the pattern's nodes made, and they are gone. Make it in `by`, too.")
    return made & again
