"""Tests of checkpoint.py: test_checkpoint.py PROGRAMS."""

from __future__ import annotations

import io
import json
import os
import pickle
import resource
import signal
import sys
import tempfile
import unittest
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

PROGRAMS = sys.argv.pop(1)
sys.path.insert(0, str(Path(PROGRAMS).resolve()))

import checkpoint
import weights
from arch import Wrong

HERE = Path(__file__).parent / "checkpoints"
DTYPES = {  # of PyTorch
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "F64": "float64",
    "I8": "int8",
    "U8": "uint8",
    "I16": "int16",
    "I32": "int32",
    "I64": "int64",
    "BOOL": "bool",
    "C64": "complex64",
    "U16": "uint16",
    "U32": "uint32",
    "F8_E4M3": "float8_e4m3fn",
}


def run(file: Path) -> dict[str, tuple[str, list[int], bytes]]:
    """What the program makes of a file: type, shape and bytes by name."""
    with tempfile.TemporaryDirectory() as folder:
        checkpoint.main({"model": str(file), "out": folder})
        header, begin = weights.header(Path(folder) / "model.safetensors")
        data = (Path(folder) / "model.safetensors").read_bytes()[begin:]
        return {name: (t["dtype"], t["shape"], data[slice(*t["data_offsets"])]) for name, t in header.items()}


def archive(pickled: bytes, method: int = zipfile.ZIP_STORED, **storages: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as z:
        z.writestr("archive/data.pkl", pickled)
        for key, data in storages.items():
            z.writestr(f"archive/data/{key}", data)
    return made.getvalue()


class View:
    """A tensor as torch.save pickles it: a view of a storage of floats."""

    def __init__(
        self, key: str, first: int, shape: tuple[int, ...], strides: tuple[int, ...], of: str = "FloatStorage", negative: bool = False
    ) -> None:
        self.key, self.first, self.shape, self.strides, self.of, self.negative = key, first, shape, strides, of, negative


def pickled(tensors: dict[Any, Any]) -> bytes:
    """A pickle of protocol 2, written by hand: this machine has no PyTorch to name functions of."""
    text = lambda s: b"X" + len(s).to_bytes(4, "little") + s.encode()
    number = lambda n: b"\x8a\x08" + n.to_bytes(8, "little", signed=True)
    many = lambda numbers: b"(" + b"".join(map(number, numbers)) + b"t"
    out = b"\x80\x02ccollections\nOrderedDict\n)R("
    for name, v in tensors.items():
        out += text(name) if isinstance(name, str) else number(name)
        if not isinstance(v, View):
            out += pickle.dumps(v, 2)[2:-1]
            continue
        out += b"ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + f"ctorch\n{v.of}\n".encode() + text(v.key) + text("cpu") + number(4) + b"tQ"
        out += number(v.first) + many(v.shape) + many(v.strides) + b"\x89ccollections\nOrderedDict\n)R"
        out += b"}" + text("neg") + b"\x88s" if v.negative else b""
        out += b"tR"
    return out + b"u."


class TestCheckpoint(unittest.TestCase):
    def refused(self, data: bytes, says: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "m.pth"
            file.write_bytes(data)
            with self.assertRaises(Wrong) as caught:
                run(file)
            self.assertIn(says, str(caught.exception))
            self.assertIn("m.pth: ", str(caught.exception))

    def test_real(self) -> None:
        """What PyTorch 2.6.0 wrote (make.py) has the bytes that PyTorch says it has."""
        for file, listed in (("dict.pth", "dict.json"), ("protocol4.pth", "dict.json"), ("module.pth", "module.json"), ("inner.pth", "module.json")):
            want = {t["name"]: (t["dtype"], t["shape"], bytes.fromhex(t["data"])) for t in json.loads((HERE / listed).read_text())}
            got = {name: (DTYPES[dtype], shape, data) for name, (dtype, shape, data) in run(HERE / file).items()}
            self.assertEqual(got, want, file)
        for file, says in (
            ("legacy.pth", "before 1.6"),
            ("whole.pth", "imports torch.nn.modules.container.Sequential"),
            ("quantized.pth", "imports torch._utils._rebuild_qtensor"),
        ):
            self.refused_file(HERE / file, says)

    def refused_file(self, file: Path, says: str) -> None:
        with self.assertRaises(Wrong) as caught:
            run(file)
        self.assertIn(says, str(caught.exception))

    def test_hostile(self) -> None:
        """A pickle that imports anything but what tensors need is refused by that name, and runs nothing."""
        with tempfile.TemporaryDirectory() as folder:
            mark = Path(folder) / "was run"

            class Hostile:
                def __reduce__(self) -> tuple[Any, ...]:
                    return os.system, (f"touch '{mark}'",)

            for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
                self.refused(archive(pickle.dumps(Hostile(), protocol)), f"imports {os.system.__module__}.system")
                self.refused(archive(pickle.dumps({"w": Hostile()}, protocol)), "imports")
            self.assertFalse(mark.exists())
        for text, says in {
            b"\x80\x02c__builtin__\neval\n.": "imports __builtin__.eval",
            b"\x80\x02cbuiltins\ngetattr\n.": "imports builtins.getattr",
            b"\x80\x02ctorch.hub\nload\n.": "imports torch.hub.load",
            b"\x80\x04\x8c\x05torch\x8c\x17serialization.os.system\x93.": "imports torch.serialization.os.system",
            b"\x80\x02ctorch\nload\n.": "imports torch.load",
            b"\x80\x02ccheckpoint\nmain\n.": "imports checkpoint.main",
            b"\x80\x02c__main__\nNet\n)\x81.": "state_dict() alone",
            b"\x80\x02(ios\nsystem\n.": "imports os.system",
            b"\x80\x02\x82\x01.": "",  # a registered class
            b"\x80\x02\xff.": "",  # an operation that is none
            b"\x80\x02X\xff\xff\xff\xffa.": "",  # a text that ends early
            b"\x80\x02Nr\xff\xff\xff\x7f.": "index 2147483647",
            b"\x80\x02ccollections\nOrderedDict\n)R}X\x03\x00\x00\x00getNsb.": "",  # hides a method
            b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n}X\x02\x00\x00\x00ofNsb.": "",  # sets an attribute of a function
            b"\x80\x02ccollections\nOrderedDict\n]\x85R.": "",  # an OrderedDict of something
            b"\x80\x02X\x01\x00\x00\x00a)R.": "",  # calls a text
            b"\x80\x02X\x01\x00\x00\x00aQ.": "else than a storage",
            b"\x80\x02].": "no dict",
            b"\x80\x02}.": "0 tensors",
            b"\x80\x02}": "",  # no end
            b"": "",
        }.items():
            self.refused(archive(text), says)

    def test_bounded(self) -> None:
        """A key of nested tuples, whose hash takes twice the time for each level, ends with the process."""
        child = os.fork()
        if child == 0:
            checkpoint.SECONDS = 1
            checkpoint.unpickled(b"\x80\x02}N" + b"2\x86" * 64 + b"Ns.")
            os._exit(0)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), -signal.SIGALRM)
        self.assertEqual(checkpoint.unpickled(pickled({"step": 7})), {})
        self.assertEqual(resource.getrlimit(resource.RLIMIT_AS)[0], resource.RLIM_INFINITY)

    def test_views(self) -> None:
        floats = bytes(range(16))
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "m.pth"
            views = {"b": View("0", 0, (2, 2), (1, 2)), "a": View("0", 1, (2,), (1,)), "scalar": View("0", 3, (), ()), "_private": View("0", 0, (1,), (1,)), "step": 7}
            file.write_bytes(archive(pickled(views), **{"0": floats}))
            want = {
                "a": ("F32", [2], floats[4:12]),
                "b": ("F32", [2, 2], floats[:4] + floats[8:12] + floats[4:8] + floats[12:]),
                "scalar": ("F32", [], floats[12:]),
            }
            self.assertEqual(run(file), want)
            self.assertEqual(list(run(file)), sorted(want))
        one = {"0": floats}
        for view, says in {
            View("0", 0, (5,), (1,)): "reaches out",
            View("0", 1, (4,), (1,)): "reaches out",
            View("0", 5, (), ()): "reaches out",
            View("0", 0, (2,), (4,)): "reaches out",
            View("0", 0, (4,), (0,)): "elements twice",
            View("0", 0, (2, 2), (1, 1)): "elements twice",
            View("0", -1, (1,), (1,)): "no tensor",
            View("0", 0, (-1,), (1,)): "no tensor",
            View("0", 0, (1,), (-1,)): "no tensor",
            View("0", 0, (1, 1), (1,)): "no tensor",
            View("0", 0, (1 << 40,), (1,)): "bytes",
            View("0", 0, (1,) * 65, (1,) * 65): "too many dimensions",
            View("0", 0, (1,), (1,), negative=True): "negative view",
            View("1", 0, (1,), (1,)): "no storage 1",
            View("../data.pkl", 0, (1,), (1,)): "no storage",
            View("0", 0, (1,), (1,), "QInt8Storage"): "imports torch.QInt8Storage",
        }.items():
            self.refused(archive(pickled({"w": view}), **one), says)
        self.refused(self.bomb(), "tensors have")
        self.refused(archive(pickled({7: View("0", 0, (1,), (1,))}), **one), "no dict")
        self.refused(archive(pickled({"a": OrderedDict(b=1)}), **one), "a is a dict")
        self.refused(archive(pickled({"w": View("0", 0, (1,), (1,))}), zipfile.ZIP_DEFLATED, **one), "compressed")
        self.refused(b"PK\x03\x04", "not a PyTorch checkpoint")

    def bomb(self) -> bytes:
        """Many names of one storage, which would make a file thousands of times as large."""
        return archive(pickled({f"w{i}": View("0", 0, (1 << 18,), (1,)) for i in range(200)}), **{"0": bytes(1 << 20)})


if __name__ == "__main__":
    unittest.main()
