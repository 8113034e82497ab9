"""Compiles quantised graphs: graphs, libraries, soc, soc_model, arch, vtcm_mb, optimization, fixed_addresses, fallback →
out: device/, emulator/GRAPH/, manifest.json, nodes.json; times: a JSON file.

Where the graphs have a points.json, every point in it must be in the graph that the compiler writes down, to the bit.

device/ has one context for all graphs, with their weights once. The emulator cannot load a shared one, so each graph has its own twin there.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import command
import context
from arch import Wrong


def main(a: dict[str, Any]) -> None:
    source, libraries = Path(a["graphs"]), Path(a["libraries"])
    graphs = [source] if source.is_file() else sorted(source.glob("*.onnx"), key=lambda p: (p.stem != "prefill", p.name))
    if not graphs:
        raise Wrong(f"{source} has no *.onnx.")
    target = context.Target(a["soc"], a["soc_model"], a["arch"], a["vtcm_mb"])
    out = command.fresh(a["out"])
    points = json.loads((source / "points.json").read_text()) if (source / "points.json").is_file() else {}
    nodes: dict[str, Any] = {}
    described, times = {}, {}
    found: dict[str, Any] = {}
    jobs = {"device": graphs} | ({f"emulator/{g.stem}": [g] for g in graphs} if len(graphs) > 1 else {})
    for folder, these in jobs.items():
        begun, alone = time.monotonic(), these[0].stem if len(these) == 1 else ""
        report = context.compile_graphs(these, out / folder, libraries, target, a.get("optimization"), a["fixed_addresses"], a["fallback"], points.get(alone))
        times[folder] = round(time.monotonic() - begun, 2)
        nodes.update(report["nodes"])
        found |= {alone: report["points"]} if "points" in report else {}
        of = context.facts(out / folder / report["binary"], libraries)
        context.check(of, target, len(these))
        described[folder] = {"file": f"{folder}/{report['binary']}", **of.__dict__}
    command.carry(source, out, "arch.json", "cache.json")
    (out / "nodes.json").write_text(json.dumps(nodes, indent=1) + "\n")
    files = {str(p.relative_to(out)): {"bytes": p.stat().st_size, "sha256": context.digest(p)} for p in sorted(out.rglob("*")) if p.is_file()}
    (out / "manifest.json").write_text(
        json.dumps({"target": target.__dict__, "contexts": described, "files": files} | ({"points": found} if found else {}), indent=1, sort_keys=True) + "\n"
    )
    Path(a["times"]).write_text(json.dumps(times) + "\n")


command.run(main)
