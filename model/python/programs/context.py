"""Compiles quantized graphs for an NPU with Qualcomm's compiler, and reads what came out."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import command
import dlc
from arch import Wrong


@dataclass(frozen=True)
class Target:
    """A chip that a context is for, as Qualcomm's compiler numbers it."""

    soc: str
    soc_model: int
    arch: int  # 79 of v79
    vtcm_mb: int


@dataclass(frozen=True)
class Options:
    """How the compiler is asked to work."""

    libraries: Path
    name: Callable[[Path], None]  # gives the nodes of the graph in a file names: placement.name, which not each environment has that this module is for
    optimization: int | None = None  # 1 to 3; None is the compiler's own choice
    fallback: bool = False  # nodes may stay on the CPU
    schematics: Path | None = None  # where, for traces of operations, the schematics go that these are read by


@dataclass
class Facts:
    """What a context says of itself: build, SoC model and graphs by Qualcomm's own library, the rest in clear text within it."""

    build: str
    soc_model: int
    soc: str
    arch: int
    vtcm_mb: int
    optimization: int
    graphs: list[dict[str, Any]] = field(default_factory=list)


def compile_graphs(graphs: list[Path], folder: Path, targets: list[Target], o: Options) -> dict[str, Any]:
    """Compiles graphs, together if there are several, into folder/NAME_ctx.onnx and one binary, for one chip or for several; tells which nodes run where.

    Each compile is a process of its own: the provider keeps state, and a crash in it is a sentence. Graphs are found by fixed relative paths, because
    the compiler names a graph by its path, and names are in the bytes. What the compiler's own JSON says of a graph is in folder/json/NAME.
    """
    report = run(graphs, folder, targets, o, {})
    made = sorted(folder.glob("*.bin"))
    if len(made) != 1 or made[0].stat().st_size == 0:
        raise Wrong(f"The compiler ended well and left {len(made)} context binaries: {', '.join(p.name for p in made) or 'none'}.")
    report["binary"] = made[0]
    return report


def run(graphs: list[Path], folder: Path, targets: list[Target], o: Options, more: dict[str, Any]) -> dict[str, Any]:
    """Runs the compiler in a folder of its own, in which the graphs are meanwhile."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    put(graphs, folder, o)
    spec = {
        "graphs": [g.name for g in graphs],
        "libraries": str(o.libraries.resolve()),
        "soc_model": ",".join(str(t.soc_model) for t in targets),
        "vtcm_mb": targets[0].vtcm_mb,
        "optimization": o.optimization,
        "fallback": o.fallback,
        "optrace": o.schematics is not None,
        **more,
    }
    report = command.child("htp_compile", spec, folder)
    if o.schematics is not None:
        (o.schematics / folder.name).mkdir(parents=True)
        for schematic in folder.glob("*_schematic.bin"):
            schematic.rename(o.schematics / folder.name / schematic.name)
        for profile in folder.glob("compile*"):
            profile.unlink()
    for g in graphs:
        (folder / g.name).unlink()
    (folder / "weights.bin").unlink(missing_ok=True)
    return report


def put(graphs: list[Path], folder: Path, o: Options) -> None:
    """Puts graphs with their data into a folder, to be compiled there."""
    for g in graphs:
        for source in (g, g.parent / "weights.bin"):
            if source.is_file() and not (folder / source.name).exists():
                try:
                    os.link(source, folder / source.name)
                except OSError:  # a single file that is an input is a mount of its own, on the same device or not
                    shutil.copyfile(source, folder / source.name)
        o.name(folder / g.name)


def facts(binary: Path, libraries: Path) -> list[Facts]:
    """What each context of a file says: one, or one of each chip. Each is read through Qualcomm's libQnnSystem, in a process of its own."""
    with binary.open("rb") as f:
        several = f.read(4) == b"PK\x03\x04"
    if not several:
        return [fact(binary, libraries)]
    found = []
    for name, data in dlc.contexts(binary).items():
        with tempfile.TemporaryDirectory() as d:
            (Path(d) / name).write_bytes(data)
            found.append(fact(Path(d) / name, libraries))
    return found


def fact(binary: Path, libraries: Path) -> Facts:
    d = command.child("htp_facts", {"binary": str(binary.resolve()), "libraries": str(libraries.resolve())}, binary.parent)
    text = binary.read_bytes()
    found = re.search(rb"soc_type=([A-Za-z0-9_]+);arch=(\d+);", text)
    vtcm = re.search(rb"vtcm_size=(\d+)", text)  # bytes
    level = re.search(rb"\bOpO=(\d)", text)
    return Facts(
        build=d["build"],
        soc_model=d["soc_model"],
        soc=found[1].decode() if found else "",
        arch=int(found[2]) if found else 0,
        vtcm_mb=int(vtcm[1]) >> 20 if vtcm else 0,
        optimization=int(level[1]) if level else 0,
        graphs=d["graphs"],
    )


def check(found: list[Facts], targets: list[Target], graphs: int, optimization: int | None = None) -> None:
    """Refuses contexts that are not what was asked for: the compiler takes much for granted, and ends with exit code 0."""
    if len(found) != len(targets):
        raise Wrong(
            f"The file has {len(found)} contexts, for {', '.join(f.soc for f in found) or 'nothing'}; {', '.join(t.soc for t in targets)} were asked for."
        )
    by_model = {f.soc_model: f for f in found}
    for t in targets:
        of = by_model.get(t.soc_model, found[0])
        got = {
            "SoC model": of.soc_model,
            "arch": f"v{of.arch}",
            "VTCM": f"{of.vtcm_mb} MB",
            "number of graphs": len(of.graphs),
            "optimization": of.optimization,
        }
        want = {"SoC model": t.soc_model, "arch": f"v{t.arch}", "VTCM": f"{t.vtcm_mb} MB", "number of graphs": graphs, "optimization": optimization}
        wrong = [f"its {k} is {got[k]}, {want[k]} was asked for" for k in want if want[k] is not None and got[k] != want[k]]
        if wrong:
            raise Wrong(f"The context is not what was asked for, {t.soc}: " + "; ".join(wrong) + ".")
