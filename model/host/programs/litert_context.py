"""Compiles a .tflite with LiteRT's plug-in of the vendor's: model, libraries, target, fallback → out: NAME.tflite, contexts/*.bin, refused.json,
manifest.json, ir/*.json; dlc: a folder, if asked for; times: a JSON file.

It runs in the environment litert, which has the plug-in and the program that runs it; the compiler is the one that htp_context has.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import ai_edge_litert
from ai_edge_litert import schema_py_generated as tfl
from flatbuffers import flexbuffers

import command
import context
import dlc
import emptylib
from arch import Wrong

REFUSED = re.compile(r"Op #\d+ '(\w+)'[^\n]*? is not supported in Qualcomm Compiler\.?")
PARTITIONED = "Partitioned subgraph<"
MAGIC = b"TFL3"
DISPATCH = b"DISPATCH_OP"  # what stands for what a plug-in has compiled
LPAI = "libQnnLpai.so"  # of another core, which the plug-in looks for, too, and which no public package has for x86


def main(a: dict[str, Any]) -> None:
    model, libraries, target = Path(a["model"]), Path(a["libraries"]).resolve(), context.Target(**a["target"])
    if model.suffix != ".tflite" or not model.is_file():
        raise Wrong(f"{model.name} is not a .tflite.")
    out = command.fresh(a["out"])
    dlcs = command.fresh(a["dlc"]) if "dlc" in a else None
    begun = time.monotonic()
    compiled = out / model.name
    said = run(model.resolve(), compiled, libraries, target, {"ir_json": command.fresh(str(out / "ir"))})
    seconds = round(time.monotonic() - begun, 2)
    left = refused(said)
    if not compiled.is_file() or compiled.read_bytes()[4:8] != MAGIC:
        raise Wrong(f"{model.name} could not be compiled: {reason(said, left)}")
    if left and not a["fallback"]:
        raise Wrong(
            f"{len(left)} operations of {model.name} are not for the NPU: {named(left)}. "
            "Put others in their place, or let them stay on the CPU with fallback = true, of which the kind fallback says what crosses."
        )
    described = contexts(compiled, out / "contexts", libraries, target)
    (out / "refused.json").write_text(json.dumps(left, indent=1) + "\n")
    if dlcs is not None:
        write_dlcs(model.resolve(), libraries, target, dlcs)
    files = command.files(out)
    manifest = {"target": target.__dict__, "contexts": described, "files": files}
    (out / "manifest.json").write_text(json.dumps(manifest, indent=1, sort_keys=True) + "\n")
    Path(a["times"]).write_text(json.dumps({"compile": seconds}) + "\n")


def write_dlcs(model: Path, libraries: Path, target: context.Target, dlcs: Path) -> None:
    """Writes each partition as a DLC. Where the plug-in writes these it compiles no contexts, so this is a run of its own."""
    with tempfile.TemporaryDirectory() as d:
        said = run(model, Path(d) / model.name, libraries, target, {"dlc": dlcs})
    made = sorted(dlcs.glob("*.dlc"))
    if not made:
        raise Wrong(f"{model.name} was compiled, and the plug-in writes no DLC of it.\n{command.tail(said, 20)}")
    for p in made:
        dlc.without_times(p)


def run(model: Path, compiled: Path, libraries: Path, target: context.Target, folders: dict[str, Path]) -> str:
    """Runs LiteRT's program, which also writes into folders, by what they are for; what it said. It ends with an error and leaves an empty file where it fails, which is for others to see."""
    litert = Path(ai_edge_litert.__path__[0])
    with tempfile.TemporaryDirectory() as d:
        (Path(d) / LPAI).write_bytes(emptylib.library(LPAI))
        argv = [
            str(litert / "tools" / "apply_plugin_main"),
            "--cmd=apply",
            f"--model={model}",
            f"--o={compiled.resolve()}",
            "--err=--",
            "--soc_manufacturer=Qualcomm",
            f"--soc_model={target.soc}",
            f"--libs={litert / 'vendors' / 'qualcomm' / 'compiler'}",
            f"--qualcomm_vtcm_size={target.vtcm_mb}",
            *(f"--qualcomm_{of}_dir={folder.resolve()}" for of, folder in folders.items()),
        ]
        paths = [str(libraries), d, str(litert), *(os.path.abspath(p) for p in os.environ.get("LD_LIBRARY_PATH", "").split(":") if p)]
        r = subprocess.run(argv, cwd=d, env={**os.environ, "LD_LIBRARY_PATH": ":".join(paths)}, capture_output=True, text=True, errors="replace", check=False)
        if r.returncode < 0:
            raise Wrong(f"LiteRT's compiler crashed with signal {-r.returncode}.\n{command.tail(r.stdout + r.stderr)}")
        return r.stdout + r.stderr


def refused(said: str) -> list[dict[str, str]]:
    """The operations that the plug-in does not take, in their order, with what it says of each. It numbers those of each subgraph from 0, and says when it is
    through with one: of what it says twice before that one is meant.
    """
    found: list[dict[str, str]] = []
    for of in said.split(PARTITIONED):
        found += [{"op": op, "why": why} for why, op in {m[0]: m[1] for m in REFUSED.finditer(of)}.items()]
    return found


def named(left: list[dict[str, str]]) -> str:
    return "; ".join(r["why"].rstrip(".") for r in left[:20]) + ("; …" if len(left) > 20 else "")


def reason(said: str, left: list[dict[str, str]]) -> str:
    """Why nothing came out: what is refused, and else what the program said at its end."""
    return f"{named(left)}." if left else "\n" + command.tail(said, 20)


def contexts(compiled: Path, to: Path, libraries: Path, target: context.Target) -> list[dict[str, Any]]:
    """Puts each context that is within the compiled model into a file of its own, and reads it: it must be for the target."""
    to.mkdir()
    data = compiled.read_bytes()
    found = []
    for i, (at, size) in enumerate(places(data)):
        if size == 0:
            raise Wrong(f"{compiled.name} was compiled, and its context {i} is empty.")
        binary = to / f"{i}.bin"
        binary.write_bytes(data[at : at + size])
        facts = context.fact(binary, libraries)
        context.check([facts], [target], len(facts.graphs))
        found.append({"file": f"contexts/{binary.name}", "offset": at, **facts.__dict__})
    if not found:
        raise Wrong(f"{compiled.name} was compiled, and no context is in it.")
    return found


def places(data: bytes) -> list[tuple[int, int]]:
    """Where contexts are in a compiled model, and how long each is, in bytes, as the operations say that stand for what was compiled."""
    found = set()
    model = tfl.Model.GetRootAs(data, 0)
    for g in range(model.SubgraphsLength()):
        graph = model.Subgraphs(g)
        for o in range(graph.OperatorsLength()):
            op = graph.Operators(o)
            if model.OperatorCodes(op.OpcodeIndex()).CustomCode() == DISPATCH:
                of = flexbuffers.Loads(op.CustomOptionsAsNumpy().tobytes())
                found.add((int(of["bytecode_offset"]), int(of["bytecode_size"])))
    return sorted(found)


command.run(main)
