"""Quantises graphs: graphs, scheme, block_size, rotate, keep, kv, splits, calibration, samples, checkpoint → out: the same quantised, and cache.json.

Those of onnx_llm are calibrated with a text, any other graph with a folder of samples. ort is ONNX Runtime's own quantiser, whose graphs keep a float cache.
checkpoint is a folder with what was seen of the texts before this was stopped; ONNX Runtime's quantiser has none.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import onnx

import arch
import calibrate
import command
import feed
import foreign
import plain
import quantize
import rotate
import tokens
from arch import Wrong


def main(a: dict[str, Any]) -> None:
    source = Path(a["graphs"])
    if not (source / "arch.json").is_file():
        if a["rotate"] or a["keep"] or a["splits"] > 1 or a["kv"] != "uint16":
            raise Wrong("rotate, keep, splits and kv are for graphs of onnx_llm: nobody knows the layers of any other graph.")
        plain.quantise(plain.graph(source), Path(a["calibration"]), command.fresh(a["out"]), a["scheme"])
        return
    if a["scheme"] == "ort" and (a["keep"] or a["splits"] > 1 or a["kv"] != "uint16"):
        raise Wrong("keep, splits and kv are for the schemes of ours, not for ort, whose graphs are whole and have a float cache.")
    of, texts = arch.load(source / "arch.json"), tokens.Text(source).lines(Path(a["calibration"]), a["samples"])
    out = command.fresh(a["out"])
    with tempfile.TemporaryDirectory(dir=".") as made:
        graphs = source
        if a["rotate"]:
            graphs = rotate.write(source, of, command.fresh(f"{made}/rotated"))
        if a["scheme"] == "ort":
            by_onnxruntime(graphs, of, texts, command.fresh(f"{made}/ort"), out)
        else:
            seen = calibrate.observe(graphs, of, texts, Path(a["checkpoint"]))
            quantize.write(graphs, out, a["scheme"], a["block_size"], seen, a["kv"], of, a["splits"], a["keep"])
        command.carry(graphs, out, "arch.json")


def by_onnxruntime(source: Path, of: arch.Arch, texts: list[list[int]], made: Path, out: Path) -> None:
    """The graphs, quantised by ONNX Runtime, each with what it is given itself."""
    given = command.fresh(f"{made}/given")
    calibrate.feeds(source, of, texts, foreign.keep(given))
    models = {}
    for graph in feed.GRAPHS:
        to = command.fresh(f"{made}/{graph}") / f"{graph}.onnx"
        plain.qdq(source / to.name, lambda graph=graph: foreign.samples(given, graph), to)  # type: ignore[misc]
        models[graph] = onnx.load(to)
    foreign.write(models, out)


command.run(main)
