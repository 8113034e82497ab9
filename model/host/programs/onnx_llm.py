"""A model as static graphs: model, context, chunk, layers → out: prefill.onnx, decode.onnx, weights.bin, arch.json, tokenizer.json, chat_template.jinja,
special_tokens.json.

The graphs are float, or quantised where the model is: as mllm's quantiser wrote it. Then there are cache.json and points.json, too.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import command
import decoder
import upstream
import weights


def main(a: dict[str, Any]) -> None:
    if upstream.quantised(Path(a["model"])):
        out = command.fresh(a["out"])
        for name, text in upstream.write(Path(a["model"]), out, a["context"], a["chunk"], a.get("layers")):
            (out / name).write_text(text)
        return
    found, files = weights.open_model(Path(a["model"]))
    found.arch = found.arch.sized(a["context"], a["chunk"], a.get("layers"))
    out = command.fresh(a["out"])
    for name, text in files.items():
        (out / name).write_text(text)
    decoder.write(out, found.arch, found)


command.run(main)
