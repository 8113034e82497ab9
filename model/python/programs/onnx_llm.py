"""A model as static graphs: model, context_len, ar_len, layers, embedding → out: prefill.onnx, decode.onnx, weights.bin, arch.json, tokenizer.json, chat_template.jinja,
special_tokens.json; with embedding "outside" embedding.bin.

A model that mllm quantized becomes quantized graphs, with cache.json and points.json. Other graphs are float.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import command
import decoder
import upstream
import weights
from arch import Wrong


def main(a: dict[str, Any]) -> None:
    outside = a["embedding"] == "outside"
    if upstream.quantised(Path(a["model"])):
        if outside:
            raise Wrong("embedding: a model that mllm quantized has its embedding inside. Remove the argument.")
        out = command.fresh(a["out"])
        for name, text in upstream.write(Path(a["model"]), out, a["context_len"], a["ar_len"], a.get("layers")):
            (out / name).write_text(text)
        return
    found, files = weights.open_model(Path(a["model"]))
    found.arch = found.arch.sized(a["context_len"], a["ar_len"], a.get("layers"), outside)
    out = command.fresh(a["out"])
    for name, text in files.items():
        (out / name).write_text(text)
    decoder.write(out, found.arch, found)


command.run(main)
