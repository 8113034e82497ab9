"""A model as static graphs: model, licenses, context_len, ar_len, layers, embedding → out: prefill.onnx, decode.onnx, weights.bin, arch.json, tokenizer.json,
chat_template.jinja, special_tokens.json, licenses/; with embedding "outside" embedding.bin.

A model that mllm quantized becomes quantized graphs, with cache.json and points.json. Other graphs are float.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import command
import decoder
import mllm_graphs
import weights
from arch import Wrong

TEXTS = re.compile(r"(licen[cs]e|notice|copying|use_policy)", re.IGNORECASE)  # files that a model's license asks to pass on


def main(a: dict[str, Any]) -> None:
    outside = a["embedding"] == "outside"
    if mllm_graphs.quantized(Path(a["model"])):
        if outside:
            raise Wrong("embedding: a model that mllm quantized has its embedding inside. Remove the argument.")
        out = command.fresh(a["out"])
        for name, text in mllm_graphs.write(Path(a["model"]), out, a["context_len"], a["ar_len"], a.get("layers")):
            (out / name).write_text(text)
        licenses(a, out)
        return
    found, files = weights.open_model(Path(a["model"]))
    found.arch = found.arch.sized(a["context_len"], a["ar_len"], a.get("layers"), outside)
    out = command.fresh(a["out"])
    for name, text in files.items():
        (out / name).write_text(text)
    decoder.write(out, found.arch, found)
    licenses(a, out)


def licenses(a: dict[str, Any], out: Path) -> None:
    """Copies the license texts of the model's folder, and those given: they go along as far as the context."""
    model, to = Path(a["model"]), out / command.LICENSES
    own = [p for p in model.iterdir() if p.is_file() and TEXTS.match(p.name)] if model.is_dir() else []
    for p in [*sorted(own), *(f for g in map(Path, a.get("licenses", [])) for f in (sorted(x for x in g.rglob("*") if x.is_file()) if g.is_dir() else [g]))]:
        to.mkdir(exist_ok=True)
        if (to / p.name).exists() and (to / p.name).read_bytes() != p.read_bytes():
            raise Wrong(f"{p.name}: two different license texts have this name. Rename one of the files.")
        (to / p.name).write_bytes(p.read_bytes())


command.run(main)
