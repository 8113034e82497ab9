"""Runs a graph and what was made of it on the same samples, and says how far their outputs are from each other, and from which tensor on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto

import plain
import runtime
from arch import Wrong
from onnxgraph import Graph, dims, dtype, shape, taken, text
from runtime import onnxruntime

Feeds = dict[str, np.ndarray]

MOVES = {"Cast", "Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Transpose"}  # what an index goes through on its way to a Gather
BATCH = 256  # tensors that are looked at in one run
MEANT = 0.001  # of a smaller difference a message says how to allow it
MOST_SAMPLE = 1 << 30  # elements of an input that is made up


@dataclass
class Gap:
    """How far a tensor is from the original's."""

    difference: float = 0.0  # the largest, of any element
    of: float = 0.0  # the largest absolute value of the original
    sample: str = ""

    @property
    def part(self) -> float:
        """The difference as a part of the largest value."""
        return 0.0 if self.difference == 0 else self.difference / self.of if self.of > 0 else float("inf")

    def __str__(self) -> str:
        return f"{self.difference:.3g} of {self.of:.3g}, a part of {self.part:.2g}"


def session(model: bytes, folder: Path, what: str) -> onnxruntime.InferenceSession:
    """A graph on ONNX Runtime's own kernels, node by node as it stands there: its optimiser would compute other things of other graphs."""
    o = runtime.options(folder, optimize=False)
    o.use_deterministic_compute = True
    o.add_session_config_entry("session.disable_prepacking", "1")  # a product by a constant is then the one by the same values that a node makes
    try:
        return runtime.cpu(model, o)
    except Exception as e:
        raise Wrong(f"ONNX Runtime does not load {what}: {_short(e)}") from e


def _short(e: Exception) -> str:
    return " ".join(str(e).split())[:600]


def run(s: onnxruntime.InferenceSession, feeds: Feeds, what: str) -> Feeds:
    names = [o.name for o in s.get_outputs()]
    try:
        return dict(zip(names, s.run(names, {i.name: feeds[i.name] for i in s.get_inputs()}), strict=True))
    except KeyError as e:
        raise Wrong(f"{what} takes {e.args[0]}, which no sample has.") from e
    except Exception as e:
        raise Wrong(f"ONNX Runtime does not run {what}: {_short(e)}") from e


def evaluate(model: onnx.ModelProto, g: Graph) -> Feeds:
    """The outputs of a model without inputs."""
    return run(session(model.SerializeToString(), g.folder, f"what is folded of {g.name}"), {}, f"what is folded of {g.name}")


class Samples:
    """What both graphs are given: files, or made up by a seed. Inputs have the original's names and types."""

    def __init__(self, original: Graph, folder: str, count: int, seed: int) -> None:
        self.original, self.folder, self.count, self.seed = original, folder, count, seed
        self.bounds: dict[str, int] = {}  # of inputs that are indices: what they are less than

    def each(self, edited: list[Graph], back: dict[str, str]) -> Iterator[tuple[str, Feeds]]:
        """Name and inputs of each sample. back has the original's name of each input that now has another."""
        sizes = {back.get(v.name, v.name): v for g in edited for v in g.inputs}
        wanted = {v.name: sizes.get(v.name, v) for v in self.original.inputs}
        if self.folder:
            yield from plain.samples(Path(self.folder), {v.name: (_dtype(v), dims(wanted[v.name])) for v in self.original.inputs})
        else:
            yield from self._seeded(wanted)

    def _seeded(self, wanted: dict[str, onnx.ValueInfoProto]) -> Iterator[tuple[str, Feeds]]:
        r = np.random.default_rng(self.seed)
        open_ = {name: shape(v) for name, v in wanted.items() if not all(isinstance(d, int) for d in dims(v))}
        if open_:
            name, has = next(iter(open_.items()))
            raise Wrong(
                f'{name} has the shape {has}, so no samples can be made up: give some (samples = a folder of *.npz), or fix its shape (edit "fix_shape").'
            )
        if not self.bounds:
            self.bounds = {v.name: _bound(self.original, v.name) for v in self.original.inputs}
        for i in range(self.count):
            yield f"made up {i + 1}", {v.name: _random(r, _dtype(v), [int(d) for d in dims(wanted[v.name])], self.bounds[v.name]) for v in self.original.inputs}


def _dtype(v: onnx.ValueInfoProto) -> np.dtype:
    if not v.type.HasField("tensor_type") or v.type.tensor_type.elem_type in (TensorProto.UNDEFINED, TensorProto.STRING):
        raise Wrong(f"The input {v.name} is no tensor of numbers.")
    return dtype(v.type.tensor_type.elem_type)


def _random(r: np.random.Generator, kind: np.dtype, size: list[int], bound: int) -> np.ndarray:
    if np.prod([float(d) for d in size]) > MOST_SAMPLE:
        raise Wrong(f"An input of shape {size} is too large to be made up: give samples.")
    if kind == np.bool_:
        return r.integers(0, 2, size).astype(kind)
    if kind.kind in "iu":
        info = np.iinfo(kind)
        low, high = (0, bound) if bound else (info.min, info.max + 1) if kind.itemsize < 4 else (0, 2)
        return r.integers(low, high, size, dtype=np.int64).astype(kind)
    return r.standard_normal(size).astype(kind)


def _bound(g: Graph, name: str) -> int:
    """What an index is less than that a Gather takes, 0 if none takes it."""
    takers, wait, seen = g.takers(), [name], {name}
    while wait:
        t = wait.pop()
        for n in takers.get(t, []):
            data = g.constants.get(n.input[0]) if n.op_type == "Gather" and n.input[1] == t else None
            axis = next((a.i for a in n.attribute if a.name == "axis"), 0)
            if data is not None and -len(data.dims) <= axis < len(data.dims):
                return int(data.dims[axis])
            if n.op_type in MOVES and n.output[0] not in seen:
                seen.add(n.output[0])
                wait.append(n.output[0])
    return 0


def gap(original: np.ndarray, edited: np.ndarray, name: str, sample: str) -> Gap:
    if original.shape != edited.shape:
        raise Wrong(f"{name} has the shape {list(edited.shape)} after the edits, and had {list(original.shape)} before (sample {sample}).")
    a, b = original.astype(np.float64).reshape(-1), edited.astype(np.float64).reshape(-1)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    of = float(np.max(np.abs(a[np.isfinite(a)]), initial=0.0))
    if same.all():
        return Gap(0.0, of, sample)
    with np.errstate(invalid="ignore"):
        d = np.abs(a - b)[~same]
    return Gap(float("inf") if np.isnan(d).any() else float(d.max()), of, sample)


def gaps(a: Feeds, b: Feeds, names: dict[str, str], sample: str) -> dict[str, Gap]:
    """Of each tensor, by the original's name; names has what each is called afterwards."""
    return {name: gap(a[name], b[now], name, sample) for name, now in names.items() if np.asarray(a[name]).dtype.kind != "O"}


class Both:
    """The original, and the graph, or the two one after the other, that were made of it."""

    def __init__(self, original: Graph, edited: list[Graph], samples: Samples) -> None:
        self.original, self.edited, self.samples = original, edited, samples
        self.now = edited[-1].now
        self.back = {now: was for was, now in self.now.items()}
        made = {v.name for g in edited for v in g.outputs}
        self.names = {v.name: self.now.get(v.name, v.name) for v in original.outputs}
        lost = [name for name, now in self.names.items() if now not in made]
        if lost:
            raise Wrong(f"The output {lost[0]} is gone after the edits.")

    def feeds(self, feeds: Feeds) -> Feeds:
        """A sample as the edited graphs take it: by their names, in their types."""
        kinds = {v.name: _dtype(v) for g in self.edited for v in g.inputs}
        return {self.now.get(k, k): a.astype(kinds.get(self.now.get(k, k), a.dtype)) for k, a in feeds.items()}

    def compare(self, tolerance: float) -> tuple[dict[str, Gap], int]:
        """The worst of each output, and how many samples there were. A worse one than is allowed ends it, and says where it begins."""
        a = session(self.original.proto().SerializeToString(), self.original.folder, f"{self.original.name} as it was")
        b = [session(g.proto().SerializeToString(), g.folder, f"{g.name} after the edits") for g in self.edited]
        worst: dict[str, Gap] = {}
        count = 0
        for sample, feeds in self.samples.each(self.edited, self.back):
            count += 1
            before = run(a, feeds, f"{self.original.name} as it was, on sample {sample}")
            after = self.feeds(feeds)
            for s, g in zip(b, self.edited, strict=True):
                after |= run(s, after, f"{g.name} after the edits, on sample {sample}")
            found = gaps(before, after, self.names, sample)
            for name, x in found.items():
                if x.part > tolerance:
                    raise Wrong(self._refused(name, x, feeds, tolerance))
                if name not in worst or x.part > worst[name].part:
                    worst[name] = x
        return worst, count

    def _refused(self, output: str, x: Gap, feeds: Feeds, tolerance: float) -> str:
        says = [
            f"{self.original.name} says something else after the edits: {output} differs by {x} (sample {x.sample}); allowed is a part of {tolerance:g}.",
            *self._first(feeds, x.sample, tolerance),
        ]
        if np.isfinite(x.part) and x.part < MEANT:
            says.append(f"If that is meant, say how much may differ: tolerance = {_above(x.part):g}.")
        return "\n".join(says)

    def _first(self, feeds: Feeds, sample: str, tolerance: float) -> list[str]:
        """Which tensor is the first that differs by more than is allowed, found by graphs that are cut off behind some of the tensors that both have."""
        makers = {o: n for g in self.edited for o, n in g.makers().items()}
        was = self.original.makers()
        both = [o for n in self.original.nodes for o in n.output if o and self.now.get(o, o) in makers]
        base = self.feeds(feeds)
        for g in self.edited[:-1]:  # what the next one takes
            base |= _cut(g, [v.name for v in g.outputs if v.name in g.makers()], base)
        for i in range(0, len(both), BATCH):
            names = {name: self.now.get(name, name) for name in both[i : i + BATCH]}
            a = _cut(self.original, list(names), feeds)
            b = dict(base)
            for g in self.edited:
                made = g.makers()
                b |= _cut(g, [now for now in names.values() if now in made], base)
            for name, now in names.items():
                if name not in a or now not in b:
                    continue
                x = gap(a[name], b[now], name, sample) if a[name].shape == b[now].shape else Gap(float("inf"), 0.0, sample)
                if x.part > tolerance:
                    n = makers[now]
                    by = [g.by[t] for t in (now, *taken(n)) for g in self.edited if t in g.by]
                    says = f"The first tensor that differs by more is {now}: by {x}."
                    if name in was and text(was[name]) != text(n):
                        says += f" It was {text(was[name])}, and is {text(n)}."
                    else:
                        says += f" It is {text(n)}."
                    return [says + (f" Edit {by[0]} was there: see whether it does what was meant." if by else "")]
        return ["No tensor before it that both graphs have differs by more."]


def _above(part: float) -> float:
    """A round number that is a bit more."""
    power = 10.0 ** np.floor(np.log10(part))
    return float(np.ceil(part / power) * power)


def _cut(g: Graph, names: list[str], feeds: Feeds) -> Feeds:
    """Some tensors that nodes of a graph make."""
    if not names:
        return {}
    live = g.behind(names)
    made = g.proto([n for n in g.nodes if id(n) in live], [onnx.ValueInfoProto(name=name) for name in names])
    return run(session(made.SerializeToString(), g.folder, f"a part of {g.name}"), feeds, f"a part of {g.name}")


def ranges(g: Graph, samples: Samples, back: dict[str, str], names: list[str]) -> dict[str, tuple[float, float]]:
    """Least and greatest value of tensors, over all samples."""
    made = g.makers()
    mine = [name for name in names if name in made]
    found: dict[str, tuple[float, float]] = {}
    kinds = {v.name: _dtype(v) for v in g.inputs}
    for _, feeds in samples.each([g], back):
        given = {g.now.get(k, k): a.astype(kinds.get(g.now.get(k, k), a.dtype)) for k, a in feeds.items()}
        for name, a in (given | _cut(g, mine, given)).items():
            if name in names and a.size:
                low, high = found.get(name, (0.0, 0.0))
                found[name] = min(low, float(a.min())), max(high, float(a.max()))
    return {name: found.get(name, (0.0, 0.0)) for name in names}
