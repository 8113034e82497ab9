"""Runs one graph on samples: graphs, libraries, inputs → out: a *.npz for each; said: a JSON file that says how many; times: a JSON file.

With libraries, graphs is what htp_context made, and runs on the vendor's emulator; else it runs on ONNX Runtime's own kernels.
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


def main(a: dict[str, Any]) -> dict[str, Any]:
    folder = Path(a["graphs"])
    if a.get("libraries"):
        at = plain.graph(folder / "device")
        run = session.htp(at, Path(a["libraries"]))
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
