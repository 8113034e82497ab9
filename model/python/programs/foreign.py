"""Graphs for quantizers that others wrote, and what comes of them: float graphs whole, quantized ones with their tensors in one file, as ours have them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

import feed
import tensors
from arch import Wrong

MOST = 1_900_000_000  # bytes of a graph with its tensors: a message of protocol buffers holds no more than 2 GiB


def graphs(source: Path) -> list[Path]:
    """The graphs of a folder, that which takes a prompt first, or one file. What is quantized already is refused."""
    found = feed.found(source)
    for at in found:
        model = onnx.load(at, load_external_data=False)
        if any(n.op_type in ("QuantizeLinear", "DequantizeLinear") for n in model.graph.node):
            raise Wrong(f"{at.name} is quantized already: give it to htp_context as it is.")
        if not any(v.type.tensor_type.elem_type == TensorProto.FLOAT for v in model.graph.input):
            raise Wrong(f"{at.name} has no float input: there is nothing to quantize.")
    return found


def whole(at: Path) -> onnx.ModelProto:
    """A graph with its tensors in it."""
    size = sum(p.stat().st_size for p in {at, *(at.parent / name for name in data(at))})
    if size > MOST:
        raise Wrong(
            f"{at.name} has {size / 1e9:.1f} GB with its tensors, and this quantizer takes graphs of "
            f"{MOST / 1e9:.1f} GB at most. Use method lpbq or a16w8, or fewer layers."
        )
    model = onnx.load(at, load_external_data=False)  # which refuses files with several links, as inputs of an action are
    for t in model.graph.initializer:
        if t.data_location == TensorProto.EXTERNAL:
            t.CopyFrom(numpy_helper.from_array(np.asarray(tensors.read(at.parent, t)), t.name))
    return model


def data(at: Path) -> set[str]:
    """The files beside a graph that its tensors are in."""
    found = set()
    for t in onnx.load(at, load_external_data=False).graph.initializer:
        for e in t.external_data if t.data_location == TensorProto.EXTERNAL else ():
            if e.key == "location":
                if "/" in e.value or not (at.parent / e.value).is_file():
                    raise Wrong(f"The tensor {t.name} of {at.name} is not where its graph says.")
                found.add(e.value)
    return found


def keep(folder: Path) -> Callable[[str, dict[str, np.ndarray]], None]:
    """Writes what graphs are given into a folder, as samples reads it."""
    counts: dict[str, int] = {}

    def kept(graph: str, feeds: dict[str, np.ndarray]) -> None:
        (folder / graph).mkdir(exist_ok=True)
        np.savez(folder / graph / f"{counts.get(graph, 0):04}.npz", **feeds)  # type: ignore[arg-type]
        counts[graph] = counts.get(graph, 0) + 1

    return kept


def samples(folder: Path, graph: str) -> Iterator[dict[str, np.ndarray]]:
    """What onnx_samples kept for a graph."""
    files = sorted((folder / graph).glob("*.npz"))
    if not files:
        raise Wrong(f"Calibration has no samples for {graph}.")
    for path in files:
        with np.load(path, allow_pickle=False) as z:
            yield {name: z[name] for name in z.files}


def write(models: dict[str, onnx.ModelProto], folder: Path) -> None:
    """Writes quantized graphs; tensors of the same bytes are there once, whatever they are called."""
    kept = tensors.DataFile(folder)
    for name, model in models.items():
        made = []
        for t in model.graph.initializer:
            a = numpy_helper.to_array(t)
            made.append(kept.tensor(t.name, a, hashlib.sha256(np.ascontiguousarray(a).tobytes() + str((a.dtype, a.shape)).encode()).hexdigest()))
        del model.graph.initializer[:]
        model.graph.initializer.extend(made)
        onnx.save(model, folder / f"{name}.onnx")
    kept.close()
