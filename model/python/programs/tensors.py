"""Graphs in the making that share one data file, so that prefill and decode have their weights once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from arch import Wrong

DATA = "weights.bin"


class DataFile:
    """One file of large tensors that several graphs refer to; each name is written once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.at: dict[str, tuple[int, int]] = {}
        self.file = (folder / DATA).open("wb")

    def tensor(self, name: str, a: np.ndarray, key: str = "") -> onnx.TensorProto:
        """The tensor, in the graph itself if it is small. Tensors of one key, which is the name if there is none, are written once."""
        t, key = numpy_helper.from_array(np.asarray(a, order="C"), name), key or name
        if len(t.raw_data) < 1024:
            return t
        if key not in self.at:
            self.file.write(b"\0" * (-self.file.tell() % 64))
            self.at[key] = (self.file.tell(), len(t.raw_data))
            self.file.write(t.raw_data)
        offset, length = self.at[key]
        return external(name, t.data_type, list(a.shape), offset, length)

    def close(self) -> None:
        self.file.close()


class Nodes:
    """The nodes of a graph in the making, and its constants."""

    def __init__(self, data: DataFile) -> None:
        self.data = data
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: dict[str, onnx.TensorProto] = {}

    def op(self, kind: str, inputs: list[str], output: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [output], name=f"{output}/{kind}", **attributes))
        return output

    def constant(self, name: str, a: np.ndarray) -> str:
        if name not in self.initializers:
            self.initializers[name] = self.data.tensor(name, a)
        return name

    def ints(self, *values: int) -> str:
        return self.constant("ints_" + "_".join(map(str, values)), np.array(values, np.int64))


def external(name: str, kind: int, dims: list[int], offset: int, length: int) -> onnx.TensorProto:
    """A tensor whose bytes are in DATA."""
    t = onnx.TensorProto(name=name, data_type=kind, dims=dims, data_location=TensorProto.EXTERNAL)
    for key, value in (("location", DATA), ("offset", str(offset)), ("length", str(length))):
        t.external_data.add(key=key, value=value)
    return t


def read(folder: Path, t: onnx.TensorProto) -> np.ndarray:
    """The values of a tensor, wherever its bytes are."""
    if t.data_location != TensorProto.EXTERNAL:
        return numpy_helper.to_array(t)
    where = {e.key: e.value for e in t.external_data}
    kind = dtype_of(t.data_type)
    offset, length = int(where.get("offset", 0)), int(where["length"])
    count = int(np.prod(t.dims, dtype=np.int64))
    at = folder / where["location"]
    if "/" in where["location"] or kind.itemsize * count != length or offset + length > at.stat().st_size:
        raise Wrong(f"The tensor {t.name} is not where its graph says.")
    return np.memmap(at, dtype=kind, mode="r", offset=offset, shape=tuple(t.dims))


def dtype_of(kind: int) -> np.dtype:
    return np.dtype(onnx.helper.tensor_dtype_to_np_dtype(kind))
