"""What a quantizer of another environment calibrates with: graphs, calibration, samples → out: GRAPH/NUMBER.npz, what each graph is given, by name.

Graphs of onnx_llm read a text, and what they are given meanwhile is kept; for any other graph calibration is a folder of samples already.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx

import arch
import calibrate
import command
import foreign
import plain
import tokens


def main(a: dict[str, Any]) -> None:
    source, keep = Path(a["graphs"]), foreign.keep(command.fresh(a["out"]))
    if not (source / "arch.json").is_file():
        at = plain.graph(source)
        for _, feeds in plain.samples(Path(a["calibration"]), plain.inputs(onnx.load(at, load_external_data=False))):
            keep(at.stem, feeds)
        return
    words = tokens.Text(source)
    calibrate.feeds(source, arch.load(source / "arch.json"), words.lines(Path(a["calibration"]), a["samples"]), keep)


command.run(main)
