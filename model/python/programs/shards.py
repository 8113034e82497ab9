"""Float tensors of a Hugging Face folder, one or several safetensors files, read in parts as float32."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import weights
from arch import Wrong

ONE, INDEX = "model.safetensors", "model.safetensors.index.json"
FLOATS = {"BF16", "F16", "F32"}
TOGETHER = "use a folder whose config.json and weights belong together"


@dataclass(frozen=True)
class Stored:
    """Where a tensor is."""

    path: Path
    dtype: str  # as safetensors names it
    shape: tuple[int, ...]
    begin: int  # byte of the file


class Shards:
    """The tensors of a folder by name. Nothing of them stays in memory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.stored: dict[str, Stored] = {}
        self.metadata: dict[str, str] = {}
        listed: dict[str, str] = {}
        if (folder / INDEX).is_file():
            listed = parsed(folder / INDEX).get("weight_map") or {}
            if not all(isinstance(file, str) and "/" not in file for file in listed.values()):
                raise Wrong(f"{folder / INDEX}: weight_map does not name files of its folder: download the model again")
        for file in sorted(set(listed.values())) or [ONE]:
            if not (folder / file).is_file():
                why = f"{INDEX} lists it" if listed else "the model's weights are expected there"
                raise Wrong(f"{folder / file}: file is missing, and {why}: download the model again")
            self.add(folder / file)
        for name, file in listed.items():
            if name not in self.stored:
                raise Wrong(
                    f"{folder / file}: tensor {name} is missing, and {INDEX} lists it: download the model again"
                )

    def add(self, path: Path) -> None:
        try:
            header, begin = weights.header(path)
        except ValueError as e:
            raise Wrong(f"{path}: header is not JSON ({e}): download the model again") from e
        size = path.stat().st_size
        for name, t in header.items():
            if name == "__metadata__":
                self.metadata |= t
                continue
            first, end = t["data_offsets"]
            if not 0 <= first <= end <= size - begin:
                raise Wrong(f"{path}: tensor {name} ends at byte {begin + end}, the file at {size}: download it again")
            self.stored[name] = Stored(path, t["dtype"], tuple(t["shape"]), begin + first)

    def has(self, name: str) -> bool:
        return name in self.stored

    def where(self, name: str) -> str:
        """The file and the tensor, for a message."""
        return f"{self.stored[name].path}: tensor {name}"

    def mapped(self, name: str, shape: tuple[int, ...]) -> np.memmap:
        """The tensor as stored. Its pages go with the array that this returns."""
        if name not in self.stored:
            raise Wrong(f"{self.folder}: tensor {name} is missing: {TOGETHER}")
        t = self.stored[name]
        if t.dtype not in FLOATS:
            raise Wrong(f"{self.where(name)} is {t.dtype}: use the model's weights in BF16, F16 or F32")
        if t.shape != shape:
            raise Wrong(f"{self.where(name)} is {list(t.shape)}, config.json means {list(shape)}: {TOGETHER}")
        kind = np.dtype(weights.TYPES[t.dtype])
        size = kind.itemsize * int(np.prod(shape, dtype=np.int64))
        if t.begin + size > t.path.stat().st_size:
            raise Wrong(f"{self.where(name)} ends beyond the file: download it again")
        return np.memmap(t.path, dtype=kind, mode="r", offset=t.begin, shape=shape)

    def read(self, name: str, shape: tuple[int, ...], first: int = 0, end: int | None = None) -> np.ndarray:
        """The tensor, or its rows from first to end, float32."""
        return self.finite(name, np.array(self.mapped(name, shape)[first:end], np.float32))

    def rows(self, name: str, shape: tuple[int, ...], ids: np.ndarray) -> np.ndarray:
        """Rows of a table, float32."""
        return self.finite(name, np.array(self.mapped(name, shape)[ids], np.float32))

    def finite(self, name: str, a: np.ndarray) -> np.ndarray:
        if not (np.isfinite(a.min(initial=0)) and np.isfinite(a.max(initial=0))):  # NaN goes through min and max
            raise Wrong(f"{self.where(name)} holds NaN or infinity: use undamaged weights")
        return a


def parsed(at: Path) -> dict[str, Any]:
    """A JSON object."""
    try:
        found = json.loads(at.read_text())
    except FileNotFoundError as e:
        raise Wrong(f"{at}: file is missing: use a folder in the Hugging Face layout") from e
    except ValueError as e:
        raise Wrong(f"{at}: file is not JSON ({e}): download it again") from e
    if not isinstance(found, dict):
        raise Wrong(f"{at}: file is not a JSON object: download it again")
    return found
