"""A model as static graphs: model, context, chunk, layers → out: prefill.onnx, decode.onnx, weights.bin, arch.json, tokenizer.json, chat_template.jinja,
special_tokens.json."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import command
import decoder
import weights


def main(a: dict[str, Any]) -> None:
    found, files = weights.open_model(Path(a["model"]))
    found.arch = found.arch.sized(a["context"], a["chunk"], a.get("layers"))
    out = command.fresh(a["out"])
    for name, text in files.items():
        (out / name).write_text(text)
    decoder.write(out, found.arch, found)


command.run(main)
