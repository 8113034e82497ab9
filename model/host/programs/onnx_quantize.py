"""Quantises graphs: graphs, scheme, block_size, kv, splits, calibration, samples → out: the same quantised, and cache.json.

Those of onnx_llm are calibrated with a text, any other graph with a folder of samples.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import arch
import calibrate
import command
import plain
import quantize
import tokens
from arch import Wrong


def main(a: dict[str, Any]) -> None:
    source = Path(a["graphs"])
    if not (source / "arch.json").is_file():
        plain.quantise(plain.graph(source), Path(a["calibration"]), command.fresh(a["out"]), a["scheme"])
        return
    of, words = arch.load(source / "arch.json"), tokens.Text(source)
    lines = [line.strip() for line in Path(a["calibration"]).read_text().splitlines() if line.strip()]
    if not lines:
        raise Wrong(f"{a['calibration']} has no lines to calibrate with.")
    seen = calibrate.observe(source, of, [words.chat(line) for line in lines[: a["samples"]]])
    out = command.fresh(a["out"])
    quantize.write(source, out, a["scheme"], a["block_size"], seen, a["kv"], of, a["splits"])
    command.carry(source, out, "arch.json")


command.run(main)
