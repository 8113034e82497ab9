"""Runs one graph on samples: graphs, libraries, inputs → out: a *.npz for each; said: a JSON file that says how many; times: a JSON file;
profile: where its time goes, a folder.

With libraries, graphs is what htp_context made, and runs on Qualcomm's emulator; else it runs on ONNX Runtime's own kernels. profile is filled if
profiling says how: basic, detailed, optrace.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import onnx

import command
import plain
import session
from arch import Wrong


def main(a: dict[str, Any]) -> dict[str, Any]:
    folder = Path(a["graphs"])
    if a.get("libraries"):
        alone = [p for p in (folder / "emulator").glob("*") if p.is_dir()]
        folder = alone[0] if len(alone) == 1 else folder / "device" if (folder / "device").is_dir() else folder
        if len(graphs := sorted(folder.glob("*.onnx"))) > 1:
            raise Wrong(
                f"{folder} has {len(graphs)} graphs in one context, for a device: Qualcomm's emulator loads no such context. "
                f"Give htp_emulate one graph of the same htp_context, such as emulator/{graphs[0].stem.removesuffix('_ctx')}."
            )
        at = plain.graph(folder)
        ops = [n.op_type for n in onnx.load(at, load_external_data=False).graph.node]
        parts = ops.count("EPContext")
        run = session.htp(at, Path(a["libraries"]), session.profiled(a, at), parts, len(ops) > parts)
    else:
        at = plain.graph(folder)
        run = session.cpu(at)
    wanted = plain.inputs(onnx.load(at, load_external_data=False))
    out = command.fresh(a["out"])
    times = []
    for name, feeds in plain.samples(Path(a["inputs"]), wanted):
        begun = time.monotonic()
        made = run(feeds)
        times.append(round(time.monotonic() - begun, 3))
        np.savez(out / f"{name}.npz", **made)  # type: ignore[arg-type]
    Path(a["times"]).write_text(json.dumps({"sample": times}) + "\n")
    Path(a["said"]).write_text(json.dumps({"samples": len(times)}) + "\n")
    return {"samples": len(times)}


command.run(main)
