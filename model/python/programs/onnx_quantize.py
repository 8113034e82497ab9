"""Quantizes graphs: graphs, method, block_size of lpbq, rotate, high_precision_layers, kv, num_shards, calibration, samples, checkpoint → out: the graphs
quantized, and cache.json.

Graphs of onnx_llm are calibrated with a text, any other graph with a folder of samples. checkpoint is a folder with the ranges of the texts that an interrupted run
has read; ONNX Runtime's quantizer has none, and leaves the cache in floats.
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
        if a["rotate"] or a["high_precision_layers"] or a["num_shards"] > 1 or a["kv"] != "uint16":
            raise Wrong(f"{source.name}: rotate, high_precision_layers, num_shards and kv are for graphs of onnx_llm. Remove them.")
        plain.quantize(plain.graph(source), Path(a["calibration"]), command.fresh(a["out"]), a["method"])
        return
    of, texts = arch.load(source / "arch.json"), tokens.Text(source).lines(Path(a["calibration"]), a["samples"])
    out = command.fresh(a["out"])
    with tempfile.TemporaryDirectory(dir=".") as made:
        graphs = source
        if a["rotate"]:
            graphs = rotate.write(source, of, command.fresh(f"{made}/rotated"))
        if a["method"] == "ort":
            by_onnxruntime(graphs, of, texts, command.fresh(f"{made}/ort"), out)
        else:
            seen = calibrate.observe(graphs, of, texts, Path(a["checkpoint"]))
            quantize.write(graphs, out, a["method"], a.get("block_size", 0), seen, a["kv"], of, a["num_shards"], a["high_precision_layers"])
        command.carry(graphs, out, "arch.json")


def by_onnxruntime(source: Path, of: arch.Arch, texts: list[list[int]], made: Path, out: Path) -> None:
    """Quantizes each graph by ONNX Runtime, calibrated with its own inputs."""
    given = command.fresh(f"{made}/given")
    calibrate.feeds(source, of, texts, foreign.keep(given))
    models = {}
    for graph in feed.GRAPHS:
        to = command.fresh(f"{made}/{graph}") / f"{graph}.onnx"
        plain.qdq(source / to.name, lambda graph=graph: foreign.samples(given, graph), to)  # type: ignore[misc]
        models[graph] = onnx.load(to)
    foreign.write(models, out)


command.run(main)
