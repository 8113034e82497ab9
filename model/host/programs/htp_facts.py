"""The part of htp_context that reads a context, in a process of its own: binary, libraries.

It does so by the vendor's own library, libQnnSystem, through its C interface as the vendor documents it.

The layouts below are those of the interface's version 1 (QNN 2.47 to 2.51 were tried); what does not fit is refused.
"""

from __future__ import annotations

import ctypes as c
from pathlib import Path
from typing import Any

import command
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
    library = c.CDLL(str(libraries / "libQnnSystem.so"))
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


command.run(lambda a: read(Path(a["binary"]), Path(a["libraries"])))
