"""The one form of a safetensors file: the same tensors and metadata give the same bytes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import weights


def rewrite(path: Path) -> None:
    """Sorts metadata and tensors of the header by name; the data stays where it is."""
    tensors, begin = weights.header(path)
    said = tensors.pop("__metadata__", None) or {}
    sorted_: dict[str, Any] = {"__metadata__": dict(sorted(said.items()))} if said else {}
    text = json.dumps(sorted_ | dict(sorted(tensors.items())), separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    to = path.with_name(path.name + ".new")
    with path.open("rb") as old, to.open("wb") as new:
        old.seek(begin)
        new.write(len(text).to_bytes(8, "little") + text)
        shutil.copyfileobj(old, new, 1 << 20)
    to.replace(path)
