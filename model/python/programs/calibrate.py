"""Ranges of every tensor of a decoder, from texts that it reads."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

import feed
import session
from arch import Arch

SO_FAR = "seen.npz"  # of a checkpoint: what was seen of the texts that were read


@dataclass
class Seen:
    """What calibration saw: least and greatest value of each tensor, and the mean square of each column of what a MatMul by weights takes."""

    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)
    squares: dict[str, np.ndarray] = field(default_factory=dict)  # by the weight's name, float64 [in]
    rows: dict[str, int] = field(default_factory=dict)
    texts: int = 0  # that were read

    def keep(self, folder: Path) -> None:
        """Leaves what was seen so far in a checkpoint, to the bit; whole, or not at all."""
        half = folder / f"{SO_FAR}.half"
        said = json.dumps({"texts": self.texts, "ranges": self.ranges, "rows": self.rows})
        with half.open("wb") as f:
            np.savez(f, said=np.asarray(said), **{f"squares/{key}": a for key, a in self.squares.items()})
        half.replace(folder / SO_FAR)

    def note(self, name: str, a: np.ndarray) -> None:
        low, high = self.ranges.get(name, (0.0, 0.0))  # zero is in every range
        self.ranges[name] = min(low, float(a.min())), max(high, float(a.max()))


def so_far(folder: Path | None) -> Seen:
    """What was seen before this was stopped, or nothing yet."""
    seen = Seen()
    if folder is None or not (folder / SO_FAR).is_file():
        return seen
    with np.load(folder / SO_FAR, allow_pickle=False) as kept:
        said = json.loads(str(kept["said"]))
        seen.texts, seen.rows, seen.ranges = said["texts"], said["rows"], {name: (low, high) for name, (low, high) in said["ranges"].items()}
        for name in kept.files:
            if name != "said":
                seen.squares[name.removeprefix("squares/")] = kept[name]
    return seen


def whole(speak: session.Decoder, texts: list[list[int]]) -> Iterator[list[int]]:
    """Texts, each made as long as whole chunks by what the model says itself: no row is padding, so no range is wider than the model's own."""
    arch = speak.arch
    for ids in texts:
        ids = ids[: arch.context - arch.context % arch.chunk]
        missing = -len(ids) % arch.chunk
        if missing:
            ids = ids + speak.say(ids, missing).tokens
        yield ids[: len(ids) - len(ids) % arch.chunk] or (ids + ids * arch.chunk)[: arch.chunk]  # it stopped early


def decoder(folder: Path, arch: Arch) -> session.Decoder:
    """The float model, on the processor."""
    return session.Decoder(arch, session.cpu(folder / "prefill.onnx"), session.cpu(folder / "decode.onnx"), None, session.table(folder, arch))


def observe(folder: Path, arch: Arch, texts: list[list[int]], checkpoint: Path | None = None) -> Seen:
    """Lets the float model read texts, and notes what it sees. Tensors of the same name in prefill and decode are the same.

    With a checkpoint, a folder, it goes on after the texts that were read before it was stopped.
    """
    speak = decoder(folder, arch)
    model = onnx.load(folder / "prefill.onnx", load_external_data=False)
    seen = so_far(checkpoint)
    by_input: dict[str, list[str]] = {}
    weights = {t.name for t in model.graph.initializer}
    kinds = {v.name: v.type.tensor_type.elem_type for v in onnx.shape_inference.infer_shapes(model).graph.value_info}
    have = {o.name for o in model.graph.output}
    for n in model.graph.node:
        if n.op_type == "MatMul" and n.input[1] in weights:
            by_input.setdefault(n.input[0], []).append(n.input[1])
        for name in n.output:
            if name not in have and kinds.get(name, TensorProto.FLOAT) == TensorProto.FLOAT:
                model.graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))
    every = session.cpu(model.SerializeToString(), folder)

    def watched(feeds: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        out = every(feeds)
        for name, a in (*feeds.items(), *out.items()):
            if a.dtype == np.float32:
                seen.note(name, a)
        for name, keys in by_input.items():
            rows = np.asarray(out[name], np.float64).reshape(-1, out[name].shape[-1])
            for key in keys:
                seen.squares[key] = seen.squares.get(key, 0.0) + (rows**2).sum(0)
                seen.rows[key] = seen.rows.get(key, 0) + len(rows)
        return out

    watch = session.Decoder(arch, watched, None, None, speak.table)
    for ids in whole(speak, texts[seen.texts :]):
        watch.clear()
        watch.read(ids)
        seen.texts += 1
        if checkpoint is not None:
            seen.keep(checkpoint)
        print(f"progress 0 0 read {seen.texts} of {len(texts)} texts", file=sys.stderr, flush=True)  # the numbers of such a line are bytes
    seen.ranges["mask"] = (feed.MASK, 0.0)
    seen.ranges["cos"] = seen.ranges["sin"] = (-1.0, 1.0)
    if speak.table is not None:
        seen.ranges["embedded"] = min(0.0, float(speak.table.min())), max(0.0, float(speak.table.max()))  # as if all rows were in the graph
    return seen


def feeds(folder: Path, arch: Arch, texts: list[list[int]], keep: Callable[[str, dict[str, np.ndarray]], None]) -> None:
    """Lets the float model read texts as observe does, and keeps what its graphs are given: prefill each chunk, decode one token after each text."""
    speak = decoder(folder, arch)
    given = {g: [i.name for i in onnx.load(folder / f"{g}.onnx", load_external_data=False).graph.input] for g in feed.GRAPHS}

    def kept(graph: str, run: session.Run) -> session.Run:
        def runs(feeds: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
            keep(graph, {name: feeds[name] for name in given[graph]})
            return run(feeds)

        return runs

    assert speak.decode is not None
    watch, decode = session.Decoder(arch, kept("prefill", speak.prefill), None, None, speak.table), kept("decode", speak.decode)
    for ids in whole(speak, texts):
        watch.clear()
        row = watch.read(ids)[-1]
        if watch.past < arch.context:
            watch.step(decode, [int(row.argmax())], 1)
