"""Looks for the layers that a scheme breaks: graphs, scheme, block_size, calibration, samples, text, least, most → found: a JSON file; table: a JSON file.

Layers from the first on are quantised by the scheme, the others as a16w8, and the outputs compared with the float model's: the first layer with which
they are bad is the one. Quantised as a16w8 it is an exception; then the next is looked for, until all of the model is good.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx

import arch
import calibrate
import command
import compare
import quantize
import session
import tokens
from arch import Wrong

Score = Callable[[set[str]], float]  # of a set of layers and matrices that are exceptions: the mean cosine to the float model


def main(a: dict[str, Any]) -> dict[str, Any]:
    source = Path(a["graphs"])
    if not (source / "arch.json").is_file():
        raise Wrong(f"{source} has no arch.json: layers are looked for in graphs of onnx_llm.")
    of, words = arch.load(source / "arch.json"), tokens.Text(source)
    ids = words.encode(Path(a["text"]).read_text())[: of.context]
    seen = calibrate.observe(source, of, words.lines(Path(a["calibration"]), a["samples"]))
    want = session.Decoder(of, session.cpu(source / "prefill.onnx"), None, None).read(ids)
    tried: list[tuple[str, float]] = []

    def score(keep: set[str]) -> float:
        with tempfile.TemporaryDirectory(dir=".") as made:
            folder = Path(made)
            quantize.write(source, folder, a["scheme"], a["block_size"], seen, "uint16", of, 1, keep)
            got = session.Decoder(of, session.cpu(folder / "prefill.onnx"), None, session.zeros(folder)).read(ids)
        return compare.rows(want, got)["cosine"]

    found = search(of.layers, matrices(source), score, a["least"], a["most"], tried)
    Path(a["found"]).write_text(json.dumps(found, indent=1) + "\n")
    table = {
        "title": a["title"],
        "columns": [{"name": "tried", "label": "", "unit": ""}, {"name": "cosine", "label": "cosine", "unit": ""}],
        "lines": [[what, f"{cosine:.4f}"] for what, cosine in tried],
        "note": found["says"],
    }
    Path(a["table"]).write_text(json.dumps(table, indent=1, ensure_ascii=False) + "\n")
    return {"first": found["first"]}


def matrices(source: Path) -> list[str]:
    """The layers' matrices by name, in the graph's order."""
    g = onnx.load(source / "prefill.onnx", load_external_data=False).graph
    have = {t.name for t in g.initializer}
    return [n.input[1] for n in g.node if n.op_type == "MatMul" and n.input[1] in have and "." in n.input[1]]


def search(layers: int, every: list[str], score: Score, least: float, most: int, tried: list[tuple[str, float]]) -> dict[str, Any]:
    """The first layer that breaks, and the exceptions with which all of the model is good."""

    def at(what: str, keep: set[str]) -> float:
        tried.append((what, score(keep)))
        return tried[-1][1]

    def rest(first: int) -> set[str]:
        return {str(i) for i in range(first, layers)}

    before = at("all layers", set())
    found: dict[str, Any] = {"first": "", "keep": [], "before": before, "after": before, "hcl": ""}
    if before >= least:
        return found | {"says": f"No layer breaks: all of the model has a cosine of {before:.4f}, and {least:g} is wanted."}
    if (none := at("no layer", rest(0))) < least:
        return found | {"says": f"It is no layer's matrices: with all of them as a16w8 the cosine is {none:.4f}, and {least:g} is wanted."}
    keep: set[str] = set()
    while found["after"] < least:
        if len(keep) == most:
            return found | {"says": f"More than {most} layers break, the first is {found['first']}: the scheme is not for this model."}
        good, bad = 0, layers  # so many of the first layers are good, and so many are bad
        while bad - good > 1:
            middle = (good + bad) // 2
            name = f"the first {middle} layers" + (f", without {', '.join(sorted(keep))}" if keep else "")
            good, bad = (middle, bad) if at(name, keep | rest(middle)) >= least else (good, middle)
        layer = str(bad - 1)
        found["first"] = found["first"] or layer
        keep.add(narrowed(layer, [m for m in every if m.startswith(f"{layer}.")], keep | rest(bad), at, least))
        found["keep"] = sorted(keep, key=lambda k: (int(k.split(".")[0]), k))
        found["after"] = at(f"all layers, without {', '.join(found['keep'])}", keep)
    found["hcl"] = f"keep = {json.dumps(found['keep'])}"
    return found | {"says": f"Layer {found['first']} is the first that breaks. With this in the step onnx_quantize the cosine is {found['after']:.4f}: {found['hcl']}"}


def narrowed(layer: str, own: list[str], keep: set[str], at: Callable[[str, set[str]], float], least: float) -> str:
    """The one matrix of a layer that breaks, where it is one; else the layer."""
    for matrix in own:
        if at(f"as far as layer {layer}, without {matrix}", keep | {matrix}) >= least:
            return matrix
    return layer


command.run(main)
