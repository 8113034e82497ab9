"""A model as static graphs: model, context, chunk, layers, embedding → out: prefill.onnx, decode.onnx, weights.bin, arch.json, tokenizer.json, chat_template.jinja,
special_tokens.json; with embedding "outside" embedding.bin.

The graphs are float, or quantised where the model is: as mllm's quantiser wrote it. Then there are cache.json and points.json, too.
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
            raise Wrong("What mllm's quantiser wrote has its embedding quantised, and becomes graphs that have it inside: leave embedding out.")
        out = command.fresh(a["out"])
        for name, text in upstream.write(Path(a["model"]), out, a["context"], a["chunk"], a.get("layers")):
            (out / name).write_text(text)
        return
    found, files = weights.open_model(Path(a["model"]))
    found.arch = found.arch.sized(a["context"], a["chunk"], a.get("layers"), outside)
    out = command.fresh(a["out"])
    for name, text in files.items():
        (out / name).write_text(text)
    decoder.write(out, found.arch, found)


command.run(main)
