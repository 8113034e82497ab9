"""The edits of onnx_edit. Each takes a graph and what the step says, changes the graph, and gives the places that it changed."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

import pattern
from arch import Wrong
from onnxgraph import KINDS, Graph, dims, dtype, renamed, shape, taken, text

SHOWN = 12  # places that a message lists
MOST_FOLDED = 1 << 30  # bytes of what nodes may be folded to
FLOATS = {"float16": TensorProto.FLOAT16, "bfloat16": TensorProto.BFLOAT16, "float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE}
TYPES = {**FLOATS, "int32": TensorProto.INT32, "int64": TensorProto.INT64}
QUANTISED = {
    "int4": (TensorProto.INT4, -8, 7),
    "uint4": (TensorProto.UINT4, 0, 15),
    "int8": (TensorProto.INT8, -128, 127),
    "uint8": (TensorProto.UINT8, 0, 255),
    "int16": (TensorProto.INT16, -32768, 32767),
    "uint16": (TensorProto.UINT16, 0, 65535),
}
WIDE = 21  # the operator set from which on QuantizeLinear takes 4 and 16 bits

Ranges = Callable[[list[str]], dict[str, tuple[float, float]]]
Evaluate = Callable[[onnx.ModelProto, Graph], dict[str, np.ndarray]]


@dataclass
class Place:
    """Where an edit changed something: a name, and lines that begin with -, + or ~."""

    at: str
    lines: list[str] = field(default_factory=list)


@dataclass
class Tools:
    """What edits need of those that run graphs."""

    ranges: Ranges  # least and greatest value of tensors, by the name that they have now
    evaluate: Evaluate  # the outputs of a model without inputs, whose large constants are beside a graph


def matching(pattern_: str, names: Sequence[str]) -> list[str]:
    """Names that are as the pattern has them: * is any run of letters."""
    if "*" not in pattern_:
        return [n for n in names if n == pattern_]
    whole = re.compile(".*".join(re.escape(p) for p in pattern_.split("*")), re.S)
    return [n for n in names if whole.fullmatch(n)]


def select(kind: str, patterns: Sequence[str], names: Sequence[str]) -> list[str]:
    """The names that one of the patterns has, in the graph's order; each pattern must have some."""
    found: set[str] = set()
    for p in patterns:
        some = matching(p, names)
        if not some:
            raise Wrong(f"There is no {kind} called {p!r}{near(p, names)}.")
        found.update(some)
    return [n for n in names if n in found]


def near(name: str, names: Sequence[str]) -> str:
    like = difflib.get_close_matches(name.replace("*", ""), names, 3, 0.6)
    return f"; the names nearest to it are {', '.join(like)}" if like else f"; there are {', '.join(names[:3])}, …" if names else ""


def called(n: onnx.NodeProto) -> str:
    """A node's name; of one that has none that of its first output."""
    return n.name or next((o for o in n.output if o), "")


def nodes(g: Graph, e: dict[str, Any]) -> list[onnx.NodeProto]:
    """The nodes that an edit names."""
    chosen = set(select("node", e["nodes"], [called(n) for n in g.nodes]))
    return [n for n in g.nodes if called(n) in chosen]


def rename(g: Graph, e: dict[str, Any], _: Tools) -> list[Place]:
    kind = "tensor" if e.get("tensors") else "node"
    (old,) = e[kind + "s"]
    names = g.tensors() if kind == "tensor" else [called(n) for n in g.nodes]
    found = select(kind, [old], names)
    if e["to"].count("*") not in (0, old.count("*")):
        raise Wrong(f"{old!r} has {old.count('*')} *, and {e['to']!r} has {e['to'].count('*')}: give both as many.")
    pairs = [(n, _filled(old, e["to"], n)) for n in found]
    have = {*names, *(g.tensors() if kind == "node" else [])} - set(found)
    for n, new in pairs:
        if new in have or not new:
            raise Wrong(f"{n} cannot be called {new!r}: " + ("something else has that name." if new else "that is no name."))
        have.add(new)
    places = []
    for n, new in pairs:
        if kind == "tensor":
            g.rename(n, new)
        else:
            for node in g.nodes:
                if called(node) == n:
                    node.name = new
        places.append(Place(n, [f"~ {n} → {new}"]))
    return places


def _filled(old: str, new: str, name: str) -> str:
    """The new name, with what the old one's stars stood for."""
    m = re.fullmatch("(.*)".join(re.escape(p) for p in old.split("*")), name, re.S)
    for part in m.groups() if m and "*" in new else ():
        new = new.replace("*", part.replace("*", "\0"), 1)
    return new.replace("\0", "*")


SEEDED = {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial", "Bernoulli", "Dropout"}
KEPT = {"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"}  # folded only where they are named: they say how something is quantised


def fold(g: Graph, e: dict[str, Any], tools: Tools) -> list[Place]:
    named = {id(n) for n in nodes(g, e)} if e.get("nodes") else None
    known = {*g.constants, *(o for n in g.nodes if n.op_type == "Constant" for o in n.output)}
    ends = g.ends()
    chosen = []
    for n in g.nodes:
        wanted = id(n) in named if named is not None else n.op_type not in KEPT
        inner = any(a.type in (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS) for a in n.attribute)
        if wanted and not inner and n.op_type not in SEEDED and not ends & set(n.output) and all(name in known for name in taken(n)):
            chosen.append(n)
            known |= set(n.output)
    if not chosen:
        why = "of those that are named" if named is not None else "of the graph"
        raise Wrong(f"No node {why} takes constants alone, and makes no output.")
    types = g.known()
    for n in chosen:
        for o in n.output:
            if o in types and all(isinstance(d, int) for d in dims(types[o])):
                size = int(np.prod([float(d) for d in dims(types[o])]))
                if size > MOST_FOLDED / 8:
                    raise Wrong(f"{text(n)} would be a constant of {size} elements. Name the nodes to fold with `nodes`.")
    own = {id(n) for n in chosen}
    makers = {id(n) for n in g.nodes if n.op_type == "Constant"} | own
    used = {name for n in g.nodes if id(n) not in own for name in taken(n)} & {o for n in chosen for o in n.output}
    part = g.proto([n for n in g.nodes if id(n) in makers], [onnx.ValueInfoProto(name=o) for o in sorted(used)])
    values = tools.evaluate(part, g) if used else {}
    before = g.dead()
    g.nodes = [n for n in g.nodes if id(n) not in own]
    places = []
    for n in chosen:
        made = [o for o in n.output if o in values]
        for o in made:
            t = onnx.numpy_helper.from_array(np.ascontiguousarray(values[o]).reshape(values[o].shape), o)
            g.constants[o] = t
        places.append(Place(called(n), [f"- {text(n)}", *(f"+ {o}: {values[o].dtype}{list(values[o].shape)}, a constant" for o in made)]))
    g.drop(before)
    return places


def replace(g: Graph, e: dict[str, Any], _: Tools) -> list[Place]:
    before, after = pattern.read(e["pattern"]), pattern.read(e["by"])
    kept = pattern.interior(before, after)
    search = pattern.Search(g, before, kept)
    found = search.all(nodes(g, e) if e.get("nodes") else g.nodes)
    if not found:
        count, why = search.near
        ops = sorted({n.op_type for n in g.nodes})
        missing = [line.op for line in before if line.op not in ops]
        if missing:
            why = f"the graph has no node {missing[0]}{near(missing[0], ops)}"
        elif count:
            why = f"the nearest has {count} of its {len(before)} lines, {why}"
        else:
            why = f"no {before[-1].op} is as {before[-1].source!r} wants it"
        raise Wrong(f"The pattern is nowhere: {why}.")
    known = g.known()
    places, types = [], {name: v.type.tensor_type.elem_type for name, v in known.items() if v.type.tensor_type.elem_type}
    for line in after:
        if line.domain and not g.opset(line.domain):
            g.model.opset_import.append(helper.make_opsetid(line.domain, 1))
    dead = g.dead()
    for m in found:
        own = {id(n) for n in m.nodes}
        new = pattern.write(g, after, m, types)
        i = min(k for k, n in enumerate(g.nodes) if id(n) in own)
        rest = [n for n in g.nodes if id(n) not in own]
        g.nodes = [*rest[:i], *new, *rest[i:]]
        for name in (m.bound.tensors[v] for v in kept):  # of an op that ONNX does not know nobody would say it
            if name in known and known[name].type.tensor_type.elem_type:
                g.hints[name] = known[name]
        places.append(Place(called(m.nodes[-1]), [*(f"- {text(n)}" for n in m.nodes), *(f"+ {text(n)}" for n in new)]))
    g.sort()
    g.drop(dead)
    return places


def precision(g: Graph, e: dict[str, Any], _: Tools) -> list[Place]:
    kind, types = TYPES[e["type"]], g.types()
    if e.get("tensors"):
        return [_stored(g, name, kind, e["type"], types) for name in select("tensor", e["tensors"], g.tensors())]
    if e["type"] not in FLOATS:
        raise Wrong(f"Nodes compute in {', '.join(FLOATS)}; {e['type']} is a type for tensors.")
    return _computed(g, nodes(g, e), kind, e["type"], types)


def _type(types: dict[str, int], name: str) -> int:
    if not types.get(name):
        raise Wrong(f"It is not known of which type {name} is: ONNX's own inference does not say.")
    return types[name]


def _word(kind: int) -> str:
    """What a type is called in names."""
    return next((k for k, v in TYPES.items() if v == kind), KINDS.get(kind, str(kind)))


def _stored(g: Graph, name: str, kind: int, word: str, types: dict[str, int]) -> Place:
    """One tensor in another type: an input, an output, a constant, or what a node makes, which is rounded to it there."""
    old = _type(types, name)
    if old == kind:
        raise Wrong(f"{name} is {word} already.")
    was = g.fresh(f"{name}_{_word(old)}")
    back = g.node("Cast", [name], was, to=old)
    place = Place(name, [f"~ {name}: {_word(old)} → {word}"])
    if name in g.ends():
        for n in g.nodes:
            for i, o in enumerate(n.output):
                if o == name:
                    n.output[i] = was
        if name in g.constants or any(v.name == name for v in g.inputs):
            raise Wrong(f"{name} is an output as it comes in: name an input or an output that nodes make.")
        g.take(name, was)
        cast = g.node("Cast", [was], name, to=kind)
        g.nodes.append(cast)
        g.outputs = [renamed(v, name, kind) if v.name == name else v for v in g.outputs]
        place.lines.append(f"+ {text(cast)}")
    elif name in g.constants:
        g.take(name, was)
        a = g.value(g.constants[name]).astype(dtype(kind))
        g.constants[name] = onnx.numpy_helper.from_array(np.ascontiguousarray(a).reshape(a.shape), name)
        g.nodes.insert(0, back)
        place.lines.append(f"+ {text(back)}")
    elif any(v.name == name for v in g.inputs):
        g.take(name, was)
        g.inputs = [renamed(v, name, kind) if v.name == name else v for v in g.inputs]
        g.nodes.insert(0, back)
        place.lines.append(f"+ {text(back)}")
    else:
        low = g.fresh(f"{name}_{word}")
        g.take(name, was)
        cast, back = g.node("Cast", [name], low, to=kind), g.node("Cast", [low], was, to=old)
        g.nodes += [cast, back]
        place.lines += [f"+ {text(cast)}", f"+ {text(back)}"]
    g.sort()
    return place


def _computed(g: Graph, chosen: list[onnx.NodeProto], kind: int, word: str, types: dict[str, int]) -> list[Place]:
    """Nodes that compute in another type: what they take is cast to it, what they make is cast back; between two of them nothing is."""
    floats, before = set(FLOATS.values()), g.dead()
    casts: dict[str, str] = {}  # by the tensor's name: what it is called in that type
    new, places = [], []
    for n in chosen:
        if n.op_type == "Cast":
            raise Wrong(f"{text(n)} is a Cast: its own type says what it makes.")
        place = Place(called(n), [f"~ {text(n)}: in {word}"])
        for o in n.output:
            if o and _type(types, o) in floats - {kind}:
                low = g.fresh(f"{o}_{word}")
                casts[o] = low
                new.append((low, o, types[o]))
        places.append(place)
    ends = {o: low for low, o, _ in new}
    count = 0
    for n, place in zip(chosen, places, strict=True):
        for i, name in enumerate(n.input):
            if not name or _type(types, name) not in floats - {kind}:
                continue
            if name not in casts:
                if name in g.constants:
                    a = g.value(g.constants[name]).astype(dtype(kind))
                    casts[name] = g.put(f"{name}_{word}", a)
                else:
                    low = g.fresh(f"{name}_{word}")
                    casts[name] = low
                    g.nodes.append(g.node("Cast", [name], low, to=kind))
                    place.lines.append(f"+ {text(g.nodes[-1])}")
            n.input[i] = casts[name]
            count += 1
        for i, o in enumerate(n.output):
            if o in ends:
                n.output[i] = ends[o]
                count += 1
    if not count:
        raise Wrong(f"None of these nodes takes or makes floats of another type than {word}.")
    for low, o, old in new:
        g.nodes.append(g.node("Cast", [low], o, to=old))
        place = next(p for p, n in zip(places, chosen, strict=True) if low in n.output)
        place.lines.append(f"+ {text(g.nodes[-1])}")
    gone = {text(n) for n in g.drop(before)}
    for place in places:
        place.lines = [line for line in place.lines if line[2:] not in gone]
    g.sort()
    return places


def insert_qdq(g: Graph, e: dict[str, Any], tools: Tools) -> list[Place]:
    kind, least, most = QUANTISED[e["type"]]
    if (e["type"].endswith("16") or e["type"].endswith("4")) and g.opset() < WIDE:
        raise Wrong(f"QuantizeLinear takes {e['type']} from operator set {WIDE} on; {g.name} has {g.opset()}.")
    names, types = select("tensor", e["tensors"], g.tensors()), g.types()
    for name in names:
        if _type(types, name) != TensorProto.FLOAT:
            raise Wrong(f"{name} is {_word(types[name])}: what is quantised is float32.")
    axis, given = e.get("axis"), e.get("scale") is not None
    if axis is not None and any(n not in g.constants for n in names):
        raise Wrong(f"A scale for each index of an axis is for constants; {next(n for n in names if n not in g.constants)} is none.")
    seen = {} if given else tools.ranges([n for n in names if n not in g.constants])
    symmetric = least < 0
    places = []
    for name in names:
        a = g.value(g.constants[name]) if name in g.constants else None
        if a is not None and (a.size == 0 or (axis is not None and not -a.ndim <= axis < a.ndim)):
            raise Wrong(f"{name} has the shape {list(a.shape)}: " + (f"there is no axis {axis}." if a.size else "it has no elements."))
        scale: Any
        zero: Any
        if given:
            scale, zero = np.float32(e["scale"]), np.asarray(e.get("zero_point") or 0)
        elif a is not None:
            keep = tuple(i for i in range(a.ndim) if axis is None or i != axis % a.ndim)
            scale, zero = _scaled(a.min(keep), a.max(keep), least, most, symmetric)
        else:
            scale, zero = _scaled(np.asarray(seen[name][0]), np.asarray(seen[name][1]), least, most, symmetric)
        if not (least <= int(np.min(zero)) and int(np.max(zero)) <= most):
            raise Wrong(f"The zero point {int(np.max(zero))} is none of {e['type']}, which has {least} to {most}.")
        stored = dtype(kind)
        parameters = [g.put(f"{name}_scale", np.asarray(scale, np.float32)), g.put(f"{name}_zero", np.asarray(zero).astype(stored))]
        more = {"axis": axis} if axis is not None else {}
        q, said = g.fresh(f"{name}_q"), f"scale {float(np.min(scale)):g}" if np.size(scale) == 1 else f"{np.size(scale)} scales"
        place = Place(name, [f"~ {name}: {e['type']}, {said}, zero point {int(np.max(zero))}"])
        if a is not None:
            wide = [1] * a.ndim
            if axis is not None:
                wide[axis] = -1
            exact = np.round(a / np.reshape(scale, wide)) + np.reshape(zero, wide)
            now = g.fresh(f"{name}_now")
            g.take(name, now)
            made = np.clip(exact, least, most).astype(np.int32).astype(stored)
            q = g.put(q, made)
            if name not in g.ends():
                del g.constants[name]
            pair = [g.node("DequantizeLinear", [q, *parameters], now, **more)]
        elif name in g.ends():
            exact_ = g.fresh(f"{name}_exact")
            for n in g.nodes:
                for i, o in enumerate(n.output):
                    if o == name:
                        n.output[i] = exact_
            pair = [g.node("QuantizeLinear", [exact_, *parameters], q), g.node("DequantizeLinear", [q, *parameters], name)]
        else:
            now = g.fresh(f"{name}_now")
            g.take(name, now)
            pair = [g.node("QuantizeLinear", [name, *parameters], q), g.node("DequantizeLinear", [q, *parameters], now)]
        g.nodes += pair
        place.lines += [f"+ {text(n)}" for n in pair]
        places.append(place)
    g.sort()
    return places


def _scaled(low: np.ndarray, high: np.ndarray, least: int, most: int, symmetric: bool) -> tuple[np.ndarray, np.ndarray]:
    """Scale and zero point of a range, zero being in it: of signed types around zero, of unsigned ones from the least value to the greatest."""
    low, high = np.minimum(np.asarray(low, np.float64), 0), np.maximum(np.asarray(high, np.float64), 0)
    if symmetric:
        scale = np.maximum(np.maximum(-low, high) / most, 1e-9).astype(np.float32)
        return scale, np.zeros(scale.shape, np.int64)
    scale = np.maximum((high - low) / (most - least), 1e-9).astype(np.float32)
    return scale, np.clip(np.round(least - low / scale), least, most).astype(np.int64)


def remove_qdq(g: Graph, e: dict[str, Any], _: Tools) -> list[Place]:
    takers, ends = g.takers(), g.ends()
    pairs: list[tuple[onnx.NodeProto, list[onnx.NodeProto]]] = []
    why = "it has no QuantizeLinear"
    for n in g.nodes:
        if n.op_type != "QuantizeLinear":
            continue
        after = takers.get(n.output[0], [])
        if n.output[0] in ends or not after or any(m.op_type != "DequantizeLinear" or m.input[0] != n.output[0] for m in after):
            why = f"what {text(n)} makes is not dequantised alone"
        elif any(not _alike(g, n, m) for m in after):
            why = f"{text(after[0])} has another scale or zero point than {text(n)}"
        else:
            pairs.append((n, after))
    have = [name for q, dqs in pairs for name in (q.input[0], q.output[0], *(d.output[0] for d in dqs))]
    if not pairs:
        raise Wrong(f"There is no pair of QuantizeLinear and DequantizeLinear to take away: {why}.")
    chosen = set(select("tensor with a pair", e["tensors"], have))
    places, before = [], g.dead()
    for q, dqs in pairs:
        if not chosen & {q.input[0], q.output[0], *(d.output[0] for d in dqs)}:
            continue
        place = Place(q.input[0], [f"- {text(n)}" for n in (q, *dqs)])
        source = q.input[0]
        for d in dqs:
            g.take(d.output[0], source)
            if d.output[0] in ends:
                maker = g.makers().get(source)
                if maker is None or source in ends:
                    raise Wrong(f"{d.output[0]} is an output, and what is quantised for it, {source}, is an input or an output, too: it cannot be both.")
                end = d.output[0]
                d.output[0] = g.fresh(f"{end}_gone")
                for i, o in enumerate(maker.output):
                    if o == source:
                        maker.output[i] = end
                g.take(source, end)
                place.lines.append(f"~ {source} → {end}")
                source = end
        places.append(place)
    g.drop(before)
    g.sort()
    return places


def _alike(g: Graph, q: onnx.NodeProto, d: onnx.NodeProto) -> bool:
    """Whether a pair has one scale and one zero point: the same tensors, or the same values."""
    makers = g.makers()
    for a, b in zip(list(q.input[1:]), list(d.input[1:]), strict=False):
        x, y = g.constant(a, makers), g.constant(b, makers)
        if a != b and (x is None or y is None or x.shape != y.shape or not bool((x == y).all())):
            return False
    return len(q.input) == len(d.input)


def fix_shape(g: Graph, e: dict[str, Any], _: Tools) -> list[Place]:
    was = {v.name: shape(v) for v in g.inputs}
    if e.get("tensors"):
        chosen = set(select("input", e["tensors"], [v.name for v in g.inputs]))
        sizes: list[int] = e["shape"]
    else:
        chosen = {v.name for v in g.inputs}
        names = sorted({str(d) for v in g.inputs for d in dims(v) if isinstance(d, str) and d != "?"})
        for name in e["dims"]:
            if name not in names:
                raise Wrong(f"No input has a dimension {name!r}{near(name, names) if names else '; all of them are fixed, or have no name'}.")
    known: dict[str, int] = dict(e.get("dims") or {})
    for v in g.inputs:
        if v.name not in chosen:
            continue
        old, had = v.type.tensor_type.shape.dim, shape(v)
        if e.get("tensors"):
            if len(old) != len(sizes) and v.type.tensor_type.HasField("shape"):
                raise Wrong(f"{v.name} has the shape {had}, of {len(old)} dimensions, and shape has {len(sizes)}.")
            for d, size in zip(old, sizes, strict=False):
                if d.HasField("dim_value") and d.dim_value != size:
                    raise Wrong(f"{v.name} has the shape {had}, which is fixed: it cannot be {sizes}.")
                if d.dim_param and known.setdefault(d.dim_param, size) != size:
                    raise Wrong(f"{d.dim_param} of {v.name} would be {size}, and is {known[d.dim_param]} elsewhere.")
            if had != str(list(sizes)):
                del v.type.tensor_type.shape.dim[:]
                v.type.tensor_type.shape.dim.extend(onnx.TensorShapeProto.Dimension(dim_value=size) for size in sizes)
    for v in g.inputs:  # a name is the same size everywhere
        had = shape(v)
        for d in v.type.tensor_type.shape.dim:
            if d.dim_param in known and not d.HasField("dim_value"):
                d.dim_value = known[d.dim_param]
    for v in g.outputs:
        for d in v.type.tensor_type.shape.dim:
            if d.dim_param in known and not d.HasField("dim_value"):
                d.dim_value = known[d.dim_param]
    places = [Place(v.name, [f"~ {v.name}: {was[v.name]} → {shape(v)}"]) for v in g.inputs if was[v.name] != shape(v)]
    if not places:
        raise Wrong("The inputs have these shapes already.")
    for v in g.hints.values():
        for d in v.type.tensor_type.shape.dim:
            if d.dim_param in known:
                d.dim_value = known[d.dim_param]
        if not all(isinstance(d, int) for d in dims(v)):
            v.type.tensor_type.ClearField("shape")
    g.infer()
    return places


EDITS: dict[str, Callable[[Graph, dict[str, Any], Tools], list[Place]]] = {
    "rename": rename,
    "fold": fold,
    "replace": replace,
    "precision": precision,
    "insert_qdq": insert_qdq,
    "remove_qdq": remove_qdq,
    "fix_shape": fix_shape,
}


def apply(g: Graph, number: int, e: dict[str, Any], tools: Tools) -> list[Place]:
    """One edit, held to the number of places that it expects."""
    before = {o: text(n) for n in g.nodes for o in n.output if o}
    try:
        places = EDITS[e["kind"]](g, e, tools)
    except Wrong as w:
        raise Wrong(f"{g.name}: edit {number}, {e['kind']}, is expected at {count(e['expect'])}. {w}") from w
    counted(g, number, e, places)
    for n in g.nodes:
        for o in n.output:
            if o and before.get(o) != text(n):
                g.by[o] = number
    return places


def count(n: int) -> str:
    return "1 place" if n == 1 else f"{n} places"


def counted(g: Graph, number: int, e: dict[str, Any], places: list[Place]) -> None:
    if len(places) == e["expect"]:
        return
    shown = "".join(f"\n  {p.at}" for p in places[:SHOWN]) + (f"\n  … and {len(places) - SHOWN} more" if len(places) > SHOWN else "")
    how = "say more of what is meant, or expect so many" if len(places) > e["expect"] else "look for what it should have found beside these"
    raise Wrong(f"{g.name}: edit {number}, {e['kind']}, is expected at {count(e['expect'])}, and has {len(places)}: {how}.{shown}")


def split(g: Graph, number: int, e: dict[str, Any]) -> tuple[list[Graph], list[Place]]:
    """Two graphs: what makes the named tensors, and all else."""
    try:
        names = select("tensor that a node makes", e["tensors"], [o for n in g.nodes for o in n.output if o])
        graphs = _halves(g, names, e["into"])
    except Wrong as w:
        raise Wrong(f"{g.name}: edit {number}, split, is expected at {count(e['expect'])}. {w}") from w
    places = [Place(name, [f"~ {name}: from {e['into'][0]} to {e['into'][1]}"]) for name in names]
    counted(g, number, e, places)
    return graphs, places


def _halves(g: Graph, names: list[str], into: list[str]) -> list[Graph]:
    makers, known, first = g.makers(), g.known(), g.behind(names)
    free: set[str] = set(g.constants)  # what needs no input, and may be in both
    for n in g.nodes:
        if all(name in free for name in taken(n)) and n.op_type not in SEEDED:
            free |= set(n.output)
    rest = [n for n in g.nodes if id(n) not in first]
    if not rest:
        raise Wrong(f"All nodes are before {', '.join(names)}: nothing would be behind.")
    makes = {o for n in g.nodes if id(n) in first for o in n.output if o}
    also: dict[str, onnx.NodeProto] = {}
    again: set[str] = set()
    for n in rest:
        for name in taken(n):
            if name in makes and name not in names:
                again.add(name) if name in free else also.setdefault(name, n)
    if also:
        shown = "".join(f"\n  {name}, which {text(n)} takes" for name, n in list(also.items())[:SHOWN])
        raise Wrong(f"{len(also)} more tensors go from the one to the other: name them in tensors, too, or cut elsewhere.{shown}")
    copies = g.behind(again)
    ends = [known[name] if name in known and known[name].type.tensor_type.elem_type else None for name in names]
    if None in ends:
        raise Wrong(f"It is not known of which type {names[ends.index(None)]} is: ONNX's own inference does not say.")
    between = [v for v in ends if v is not None]
    mine = [v for v in g.outputs if v.name in makes or v.name not in makers]
    halves = [
        (into[0], [n for n in g.nodes if id(n) in first], g.inputs, [*mine, *(v for v in between if v.name not in {m.name for m in mine})]),
        (into[1], [n for n in g.nodes if id(n) not in first or id(n) in copies], [*g.inputs, *between], [v for v in g.outputs if v not in mine]),
    ]
    if not halves[1][3]:
        raise Wrong(f"All outputs are before {', '.join(names)}: nothing would be behind.")
    made = []
    for name, ns, inputs, outputs in halves:
        h = g.copy(name)
        h.nodes = list(ns)
        used = {t for n in ns for t in taken(n)} | {v.name for v in outputs}
        h.inputs, h.outputs = [v for v in inputs if v.name in used], list(outputs)
        h.constants = {k: t for k, t in g.constants.items() if k in used}
        h.model.graph.name = name
        made.append(h)
    return made
