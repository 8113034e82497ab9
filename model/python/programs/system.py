"""Reads contexts by Qualcomm's own library, libQnnSystem, through its C interface as Qualcomm documents it.

The layouts below are those of the interface's version 1 (QNN 2.47 to 2.51 were tried); what does not fit is refused.
"""

from __future__ import annotations

import ctypes as c
import mmap
import re
from pathlib import Path
from typing import Any

from arch import Wrong


class Version(c.Structure):
    _fields_ = [("major", c.c_uint32), ("minor", c.c_uint32), ("patch", c.c_uint32)]


class Provider(c.Structure):
    _fields_ = [
        ("backend", c.c_uint32),
        ("name", c.c_char_p),
        ("version", Version),
        ("create", c.c_void_p),
        ("binary_info", c.c_void_p),
        ("metadata", c.c_void_p),
        ("free", c.c_void_p),
    ]


class GraphInfo(c.Structure):
    _fields_ = [
        ("name", c.c_char_p),
        ("inputs", c.c_uint32),
        ("input", c.c_void_p),
        ("outputs", c.c_uint32),
        ("output", c.c_void_p),
        ("updateables", c.c_uint32),
        ("updateable", c.c_void_p),
        ("info_size", c.c_uint32),
        ("info", c.c_void_p),
        ("start", c.c_uint32),
        ("end", c.c_uint32),
    ]


class Graph(c.Structure):
    _fields_ = [("version", c.c_uint32), ("of", GraphInfo)]


class BinaryInfo(c.Structure):
    _fields_ = [
        ("backend", c.c_uint32),
        ("build", c.c_char_p),
        ("core", Version),
        ("api", Version),
        ("soc", c.c_char_p),
        ("blob_version", Version),
        ("blob_size", c.c_uint64),
        ("tensors", c.c_uint32),
        ("tensor", c.c_void_p),
        ("graphs", c.c_uint32),
        ("graph", c.POINTER(Graph)),
        ("platform", c.c_void_p),
        ("metadata_size", c.c_uint32),
        ("metadata", c.c_void_p),
        ("soc_model", c.c_uint32),
    ]


class Binary(c.Structure):
    _fields_ = [("version", c.c_uint32), ("of", BinaryInfo)]


def read(binary: Path, libraries: Path) -> dict[str, Any]:
    """Build, SoC model and graphs of a context."""
    library = load(libraries / "libQnnSystem.so")
    providers, count = c.POINTER(c.POINTER(Provider))(), c.c_uint32()
    if library.QnnSystemInterface_getProviders(c.byref(providers), c.byref(count)) != 0 or count.value < 1:
        raise Wrong("libQnnSystem offers no interface.")
    p = providers[0].contents
    if p.version.major != 1:
        raise Wrong(f"libQnnSystem has version {p.version.major} of its interface; 1 is known.")
    handle, info, size = c.c_void_p(), c.POINTER(Binary)(), c.c_uint64()
    if c.CFUNCTYPE(c.c_uint64, c.POINTER(c.c_void_p))(p.create)(c.byref(handle)) != 0:
        raise Wrong("libQnnSystem refuses to begin.")
    data = binary.read_bytes()
    buffer = c.create_string_buffer(data, len(data))
    get = c.CFUNCTYPE(c.c_uint64, c.c_void_p, c.c_void_p, c.c_uint64, c.POINTER(c.POINTER(Binary)), c.POINTER(c.c_uint64))
    code = get(p.binary_info)(handle, buffer, len(data), c.byref(info), c.byref(size))
    if code != 0:
        raise Wrong(f"{binary.name} is no context that libQnnSystem reads: error {code & 0xFFFF}.")
    if info.contents.version != 3:
        raise Wrong(f"{binary.name} is described in version {info.contents.version}; 3 is known.")
    b = info.contents.of
    graphs = [b.graph[i].of for i in range(b.graphs)]
    return {
        "build": b.build.decode(),
        "soc_model": b.soc_model,
        "graphs": [{"name": g.name.decode(), "inputs": g.inputs, "outputs": g.outputs} for g in graphs],
    }


def load(library: Path) -> c.CDLL:
    """Loads a library of Qualcomm's, or says what it lacks: ONNX Runtime would go on without it."""
    try:
        return c.CDLL(str(library.resolve()))
    except OSError as e:
        raise Wrong(
            f"{library.name} of Qualcomm's cannot be loaded: {e}. Beside what is in its folder it needs libatomic.so.1, libstdc++.so.6 and libgcc_s.so.1: "
            "those of toolchain gnu_runtime as the catalog has it."
        ) from e


def release(libraries: Path) -> str:
    """The release of a folder of Qualcomm's libraries, by what they say themselves: "v2.51.0.260929181845", or "an unknown release"."""
    with (libraries / "libQnnHtp.so").open("rb") as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as m:
        found = re.search(rb"v\d+\.\d+\.\d+\.\d{12}", m)
        return found[0].decode() if found else "an unknown release"


def later(a: str, b: str) -> bool:
    """Whether release a came after release b; False where one is not known."""
    numbers = [[int(n) for n in re.findall(r"\d+", r)[:3]] for r in (a, b)]
    return all(numbers) and numbers[0] > numbers[1]
