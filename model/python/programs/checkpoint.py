"""A PyTorch checkpoint as safetensors: model → out: model.safetensors. It runs nothing that the checkpoint names.

A checkpoint is a zip archive: data.pkl is a pickle that makes a dict of tensors, and data/KEY has the bytes of a storage, of which tensors are views. A pickle is
a program that may call any function of Python. Here it finds the functions that rebuild tensors, and nothing else.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import pickle
import pickletools
import resource
import signal
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import command
from arch import Wrong


class Type(NamedTuple):
    name: str  # as safetensors has it; "" if each tensor of a storage says it
    size: int  # bytes of an element


TYPES = {  # by the names that PyTorch has for them
    ("float32", "FloatStorage"): Type("F32", 4),
    ("float16", "HalfStorage"): Type("F16", 2),
    ("bfloat16", "BFloat16Storage"): Type("BF16", 2),
    ("float64", "DoubleStorage"): Type("F64", 8),
    ("int8", "CharStorage"): Type("I8", 1),
    ("uint8", "ByteStorage"): Type("U8", 1),
    ("bool", "BoolStorage"): Type("BOOL", 1),
    ("int16", "ShortStorage"): Type("I16", 2),
    ("int32", "IntStorage"): Type("I32", 4),
    ("int64", "LongStorage"): Type("I64", 8),
    ("complex64", "ComplexFloatStorage"): Type("C64", 8),
    ("uint16",): Type("U16", 2),
    ("uint32",): Type("U32", 4),
    ("uint64",): Type("U64", 8),
    ("float8_e4m3fn",): Type("F8_E4M3", 1),
    ("float8_e5m2",): Type("F8_E5M2", 1),
}
LARGEST = 16 << 20  # bytes of a pickle
MEMORY = 8 << 30  # bytes of address space while a pickle is read
SECONDS = 60  # for a pickle
DIMENSIONS = 64
SHARED = 4  # tensors may have so many times the bytes of the file: tied weights have two names


class Storage(NamedTuple):
    key: str
    type: Type


class Tensor(NamedTuple):
    """A view of a storage. Numbers are elements."""

    storage: str
    type: Type
    first: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


class Call(NamedTuple):
    """A function that a pickle may call. It is a tuple because nothing can set attributes of a tuple."""

    of: Callable[..., Any]

    def __call__(self, *args: Any) -> Any:
        return self.of(*args)


def rebuild(storage: Storage, first: int, shape: tuple[int, ...], strides: tuple[int, ...], *more: Any) -> Tensor:
    if not isinstance(storage, Storage) or len(shape) != len(strides) or not all(type(n) is int and n >= 0 for n in (first, *shape, *strides)):
        raise Wrong("arguments make no tensor")
    if len(shape) > DIMENSIONS or any(n >= 1 << 63 for n in (first, *shape, *strides)):
        raise Wrong("tensor has too many dimensions, or too large ones")
    if any(isinstance(m, dict) and m for m in more[2:]):
        raise Wrong("tensor is a conjugate or negative view: call resolve_conj() and resolve_neg() before you save it")
    of = more[2] if len(more) > 2 and isinstance(more[2], Type) else storage.type
    if not of.size:
        raise Wrong("type of a tensor's elements is unknown")
    return Tensor(storage.key, of, first, tuple(shape), tuple(strides))


FOUND: dict[tuple[str, str], Any] = {
    ("collections", "OrderedDict"): Call(lambda: OrderedDict()),
    **{("torch._utils", f"_rebuild_tensor{version}"): Call(rebuild) for version in ("", "_v2", "_v3")},
    ("torch._utils", "_rebuild_parameter"): Call(lambda tensor, _requires_grad, _hooks: tensor),
    ("torch.storage", "UntypedStorage"): Type("", 0),
    **{("torch", name): of for names, of in TYPES.items() for name in names},
}


class Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in FOUND:
            raise Wrong(f"pickle imports {module[:100]}.{name[:100]}, which a dict of tensors does not need: save the model's state_dict() alone")
        return FOUND[module, name]

    def persistent_load(self, pid: Any) -> Storage:
        if not (isinstance(pid, tuple) and len(pid) == 5 and pid[0] == "storage" and isinstance(pid[1], Type) and isinstance(pid[2], str)):
            raise Wrong("pickle refers to something else than a storage")
        return Storage(pid[2], pid[1])


@contextlib.contextmanager
def bounded() -> Iterator[None]:
    """Bounds memory and time: a small pickle may ask for any. The alarm ends the process, as no handler runs in the midst of an instruction of a pickle."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = MEMORY if hard == resource.RLIM_INFINITY else min(MEMORY, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def unpickled(data: bytes) -> dict[str, Tensor]:
    """The tensors by name. As mllm's converter does, it leaves out values that are no tensors and names that begin with _."""
    for op, arg, _ in pickletools.genops(data):
        if op.name.endswith("PUT") and isinstance(arg, int) and arg > len(data):  # the table of a pickle is as long as its largest index
            raise Wrong(f"pickle stores a value at index {arg}")
    with bounded():
        made = Unpickler(io.BytesIO(data)).load()
    if isinstance(made, dict) and isinstance(made.get("model"), dict):  # as mllm's converter does
        made = made["model"]
    if not isinstance(made, dict) or not all(isinstance(name, str) for name in made):
        raise Wrong("pickle makes no dict of tensors: save the model's state_dict()")
    made = {name: t for name, t in made.items() if not name.startswith("_")}
    for name, t in made.items():
        if isinstance(t, dict):
            raise Wrong(f"{name} is a dict, not a tensor: save the state_dict() of one model")
    return {name: t for name, t in made.items() if isinstance(t, Tensor)}


def elements(name: str, t: Tensor, storage: np.ndarray) -> np.ndarray:
    """The elements of a tensor, which are in its storage, and each of them once."""
    of = storage[: len(storage) // t.type.size * t.type.size].view(f"V{t.type.size}")[t.first :]
    if 0 in t.shape:
        return np.empty(0, of.dtype)
    reach = 1  # elements from the first to the last of the dimensions up to this one
    for step, n in sorted(zip(t.strides, t.shape, strict=True)):
        if n > 1 and step < reach:
            raise Wrong(f"{name} has elements twice: make the tensor contiguous() and save it again")
        reach += (n - 1) * step if n > 1 else 0
    if reach > len(of):
        raise Wrong(f"{name} of shape {list(t.shape)} reaches out of its storage")
    return np.lib.stride_tricks.as_strided(of, t.shape, [s * t.type.size for s in t.strides], writeable=False)


def convert(file: Path, to: Path) -> None:
    with zipfile.ZipFile(file) as z:
        entries = {i.filename.partition("/")[2]: i for i in z.infolist()}
        if "data.pkl" not in entries or entries["data.pkl"].file_size > LARGEST:
            raise Wrong(f"archive has no data.pkl of at most {LARGEST} bytes")
        if any(i.compress_type != zipfile.ZIP_STORED or i.flag_bits & 1 for i in entries.values()):
            raise Wrong("archive is compressed or encrypted")
        if "byteorder" in entries and z.read(entries["byteorder"]) != b"little":
            raise Wrong("numbers are big-endian")
        found = sorted(unpickled(z.read(entries["data.pkl"])).items())
    header, end = {}, 0
    for name, t in found:
        begin, end = end, end + math.prod(t.shape) * t.type.size
        header[name] = {"dtype": t.type.name, "shape": list(t.shape), "data_offsets": [begin, end]}
    if not header or end > SHARED * file.stat().st_size:
        raise Wrong(f"{len(header)} tensors have {end} bytes")
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    data = np.memmap(file, np.uint8, "r")
    with to.open("wb") as out:
        out.write(len(text).to_bytes(8, "little") + text)
        for name, t in found:
            if f"data/{t.storage}" not in entries:
                raise Wrong(f"{name}: archive has no storage {t.storage}")
            entry = entries[f"data/{t.storage}"]
            at = entry.header_offset + 30 + sum(int(n) for n in data[entry.header_offset + 26 :][:4].view("<u2"))  # behind its name and extra field
            out.write(elements(name, t, data[at : at + entry.file_size]).tobytes())


def main(a: dict[str, Any]) -> None:
    file, out = Path(a["model"]), command.fresh(a["out"])
    with file.open("rb") as f:
        if f.read(1) == b"\x80":
            raise Wrong(f"{file}: PyTorch before 1.6 wrote this checkpoint, or another program: load it with PyTorch and save it again")
    try:
        convert(file, out / "model.safetensors")
    except Exception as e:  # a damaged or hostile file may raise any
        raise Wrong(f"{file}: not a PyTorch checkpoint of a state dict: {e}") from e


if __name__ == "__main__":
    command.run(main)
