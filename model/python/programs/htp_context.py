"""Compiles graphs: graphs, libraries, target, socs, optimization_level, allow_cpu_fallback, allow_fp16, share_weights →
out: device/, emulator/GRAPH/, graphs/GRAPH.json and GRAPH.trace.json, manifest.json, nodes.json, placed.json; times: a JSON file, of each folder the seconds
and the compiler's peak of memory; schematics: a folder, if operations are to be traced.

Where the graphs have a points.json, every point in it must be in the graph that the compiler writes down, to the bit.

device/ has one context for all graphs, with their weights once, or for one graph a file with a context for each of socs. The emulator loads neither, so
each graph has a context of its own there, for the target. Without share_weights device/ has these contexts, too, in place of the one. Of a language model
device/ also has the texts of its license, and decoder.txt and rotation.f32: device.py.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import onnx

import command
import context
import device
import dlc
import feed
import placement
import qnngraph
from arch import Wrong


def main(a: dict[str, Any]) -> None:
    source = Path(a["graphs"])
    graphs = feed.found(source)
    target, socs = context.Target(**a["target"]), [context.Target(**t) for t in a.get("socs", [])]
    if socs and len(graphs) > 1:
        raise Wrong(
            f"{source.name} has {len(graphs)} graphs, and contexts for several SoCs in one file do not share weights. "
            "Compile one graph, or each SoC in a step of its own: for_each = target in place of socs."
        )
    o = context.Options(Path(a["libraries"]), placement.name, a.get("optimization_level"), a["allow_cpu_fallback"], command.fresh(a["schematics"]) if "schematics" in a else None)
    out = command.fresh(a["out"])
    points = json.loads((source / "points.json").read_text()) if (source / "points.json").is_file() else {}
    nodes: dict[str, Any] = {}
    described, times = {}, {}
    found: dict[str, Any] = {}
    apart = len(graphs) > 1 and not a.get("share_weights", True)
    jobs = [] if apart else [("device" + at, these, socs or [target]) for at, these in together(source, graphs).items()]
    if socs or len(graphs) > 1:
        jobs += [(f"emulator/{g.stem}", [g], [target]) for g in graphs]
    for folder, these, targets in jobs:
        begun = time.monotonic()
        report = context.compile_graphs(these, out / folder, targets, o)
        times[folder] = {"seconds": round(time.monotonic() - begun, 2), "peak_mb": report["peak_mb"]}
        binary = report["binary"]
        if len(targets) > 1:
            dlc.without_times(binary)
        of = context.facts(binary, o.libraries)
        graphs_in = sum(len({n["part"] for n in report["nodes"][g.stem] if n["on"] == "NPU"}) for g in these)  # of one that was taken apart, each part
        context.check(of, targets, graphs_in, o.optimization)
        described[folder] = {"file": f"{folder}/{binary.name}", **(of[0].__dict__ if len(targets) == 1 else {"contexts": [f.__dict__ for f in of]})}
        nodes.update(report["nodes"])
        if len(these) == 1 and these[0].stem in points:
            name = these[0].stem
            found[name] = qnngraph.check_points(qnngraph.read(out / folder / "json" / name), points[name])
        if apart or folder.startswith("device"):
            say_graphs(these, out / folder / "json", out / "graphs", a["allow_fp16"])
        shutil.rmtree(out / folder / "json")
    if apart:
        (out / "device").mkdir()
        for p in sorted(out.glob("emulator/*/*")):
            shutil.copyfile(p, out / "device" / p.name)
    if a["allow_cpu_fallback"]:
        explain(graphs, nodes, target, o, out)
    if (source / "arch.json").is_file():
        made = next(c for name, c in described.items() if name.startswith("emulator" if apart else "device"))
        device.write(source, out / "device", not apart, f"for {made['soc']}, Hexagon v{made['arch']}, compiled by QAIRT {made['build'].removeprefix('v')}")
    (out / "placed.json").write_text(json.dumps(placement.document(graphs, out / "device", nodes), indent=1) + "\n")
    command.carry(source, out, "arch.json", "cache.json")
    if (out / command.LICENSES).is_dir():
        shutil.move(out / command.LICENSES, out / "device")
    (out / "nodes.json").write_text(json.dumps(nodes, indent=1) + "\n")
    files = command.files(out)
    manifest = {"target": target.__dict__, "socs": [t.__dict__ for t in socs], "contexts": described, "files": files} | ({"points": found} if found else {})
    (out / "manifest.json").write_text(json.dumps(manifest, indent=1, sort_keys=True) + "\n")
    Path(a["times"]).write_text(json.dumps(times) + "\n")


def together(source: Path, graphs: list[Path]) -> dict[str, list[Path]]:
    """The graphs of each context, by where in device/ it is to be: all, or of a language model that is cut into parts those of each part."""
    found: dict[str, list[Path]] = {}
    for g in graphs:
        _, _, part = g.stem.rpartition("_")
        found.setdefault(f"/{part}" if part.isdigit() and (source / "arch.json").is_file() else "", []).append(g)
    return found


def explain(graphs: list[Path], nodes: dict[str, Any], target: context.Target, o: context.Options, out: Path) -> None:
    """Adds to nodes that stay on the CPU why they do. It takes another compile, in a process of its own: what is logged would move the compiler's memory.

    Where that one fails there is no reason, which standard error says: what was compiled is sound without.
    """
    for g in graphs:
        if any(n["on"] == "CPU" for n in nodes[g.stem]):
            with tempfile.TemporaryDirectory(dir=out) as d:
                context.put([g], Path(d), o)
                spec = {"graph": g.name, "libraries": str(o.libraries.resolve()), "soc_model": target.soc_model, "vtcm_mb": target.vtcm_mb}
                try:
                    why = {n["name"]: n["why"] for n in command.child("htp_reasons", spec, Path(d))["nodes"] if "why" in n}
                except Wrong as e:
                    print(f"Why nodes of {g.name} stay on the CPU is not known, the compile that was to tell failed: {e}", file=sys.stderr)
                    continue
            for n in nodes[g.stem]:
                if n["on"] == "CPU" and n["name"] in why:
                    n["why"] = why[n["name"]]


def say_graphs(graphs: list[Path], dumps: Path, to: Path, fp16: bool) -> None:
    """Writes what the compiler made of each graph, GRAPH.json; of one that it took apart GRAPH.1.json and so on, too. GRAPH.trace.json says of which nodes."""
    to.mkdir(exist_ok=True)
    for g in graphs:
        made = qnngraph.read(dumps / g.stem)
        (to / f"{g.stem}.trace.json").write_bytes((dumps / g.stem / qnngraph.TRACE).read_bytes())
        if not fp16:
            qnngraph.check(g.name, onnx.load(g, load_external_data=False), made)
        for i, m in enumerate(made):
            (to / (f"{g.stem}.{i}.json" if i else f"{g.stem}.json")).write_text(json.dumps(m, indent=1, sort_keys=True) + "\n")


command.run(main)
