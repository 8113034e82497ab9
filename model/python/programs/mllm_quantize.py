"""Runs mllm's own quantizer, unmodified: sources, architecture, model, block_size, calibration, samples, max_length, device → out: model.safetensors,
config.json and the tokenizer's files.

Three things stand around its train.py, none of which touches its arithmetic: the packages whose __init__ loads a C++ extension are found without it;
the model stays on the CPU where that is asked for; and the data set, which it would load from a hub, is a text file whose paragraphs are the samples.
"""

from __future__ import annotations

import runpy
import shutil
import sys
from pathlib import Path
from typing import Any

import canonical
import command
import mllm
from arch import Wrong


def main(a: dict[str, Any]) -> None:
    sources, out = Path(a["sources"]).resolve(), command.fresh(a["out"])
    module = f"pymllm.mobile.backends.qualcomm.transformers.{a['architecture']}.train"
    if not sources.joinpath(*module.split(".")).with_suffix(".py").is_file():
        raise Wrong(f"{a['sources']} has no {module.replace('.', '/')}.py: it is to be mllm's source tree, of 2025-11 or later.")
    dataset = mllm.samples(Path(a["calibration"]).read_text(), a["samples"])
    prepared = Path("prepared")
    mllm.prepare(Path(a["model"]), prepared, a["block_size"])
    mllm.surround(sources, dataset, a["device"])
    flags = {"--model_path": prepared, "--max_length": a["max_length"], "--num_samples": len(dataset), "--output_dir": out}
    if a["architecture"] == "qwen3":
        flags["--infer_max_new_tokens"] = mllm.SAYS
    sys.argv = ["train.py", *(str(w) for pair in flags.items() for w in pair)]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
    canonical.rewrite(out / "model.safetensors")
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
        if (prepared / name).is_file():
            shutil.copyfile(prepared / name, out / name)
    shutil.rmtree(prepared)


command.run(main)
