"""Compiles quantised graphs for an NPU with the vendor's compiler, and reads what came out."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import command
import written_down
from arch import Wrong


@dataclass(frozen=True)
class Target:
    """The chip that a context is for, as the vendor's compiler numbers it."""

    name: str
    soc_model: int
    arch: int  # 79 of v79
    vtcm_mb: int


@dataclass
class Facts:
    """What a context binary says of itself, read by the vendor's own library."""

    build: str
    soc_model: int
    soc: str
    arch: int
    vtcm_mb: int
    graphs: list[dict[str, Any]] = field(default_factory=list)


def compile_graphs(
    graphs: list[Path], folder: Path, libraries: Path, target: Target, optimization: int | None, fixed: bool, fallback: bool, points: Any = None
) -> dict[str, Any]:
    """Compiles graphs, together if there are several, into folder/NAME_ctx.onnx and one binary; tells which nodes run where.

    With points, those of the one graph, they must be in what the compiler writes down of it.

    Each compile is a process of its own: the provider keeps state, and a crash in it is a sentence. Graphs are found by fixed relative paths, because
    the compiler names a graph by its path, and names are in the bytes.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for g in graphs:
        for source in (g, g.parent / "weights.bin"):
            if source.is_file() and not (folder / source.name).exists():
                os.link(source, folder / source.name) if same_device(source, folder) else shutil.copyfile(source, folder / source.name)
    spec = {
        "graphs": [g.name for g in graphs],
        "libraries": str(libraries.resolve()),
        "soc_model": target.soc_model,
        "vtcm_mb": target.vtcm_mb,
        "optimization": optimization,
        "fallback": fallback,
        "written_down": "graph" if points else "",
    }
    report = command.child("htp_compile", spec, folder, fixed)
    for g in graphs:
        (folder / g.name).unlink()
    (folder / "weights.bin").unlink(missing_ok=True)
    if points:
        report["points"] = written_down.check(folder / "graph", points)
        shutil.rmtree(folder / "graph")
    made = sorted(folder.glob("*.bin"))
    if len(made) != 1 or made[0].stat().st_size == 0:
        raise Wrong(f"The compiler ended well and left {len(made)} context binaries: {', '.join(p.name for p in made) or 'none'}.")
    report["binary"] = made[0].name
    return report


def same_device(a: Path, b: Path) -> bool:
    return a.stat().st_dev == b.stat().st_dev


def facts(binary: Path, libraries: Path) -> Facts:
    """Reads a context through the vendor's libQnnSystem, in a process of its own."""
    d = command.child("htp_facts", {"binary": str(binary.resolve()), "libraries": str(libraries.resolve())}, binary.parent)
    text = binary.read_bytes()
    found = re.search(rb"soc_type=([A-Za-z0-9_]+);arch=(\d+);", text)
    vtcm = re.search(rb"vtcm_size=(\d+)", text)  # bytes
    return Facts(
        build=d["build"],
        soc_model=d["soc_model"],
        soc=found[1].decode() if found else "",
        arch=int(found[2]) if found else 0,
        vtcm_mb=int(vtcm[1]) >> 20 if vtcm else 0,
        graphs=d["graphs"],
    )


def check(of: Facts, target: Target, graphs: int) -> None:
    """Refuses a context that is not what was asked for: the compiler takes much for granted, and ends with exit code 0."""
    got = {"SoC model": of.soc_model, "arch": f"v{of.arch}", "VTCM": f"{of.vtcm_mb} MB", "number of graphs": len(of.graphs)}
    want = {"SoC model": target.soc_model, "arch": f"v{target.arch}", "VTCM": f"{target.vtcm_mb} MB", "number of graphs": graphs}
    wrong = [f"its {k} is {got[k]}, {want[k]} was asked for" for k in want if got[k] != want[k]]
    if wrong:
        raise Wrong(f"The context is not what was asked for, {target.name}: " + "; ".join(wrong) + ".")


def digest(path: Path) -> str:
    with path.open("rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()
