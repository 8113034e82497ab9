"""What stands around mllm's train.py: the model as it wants it, its samples, and what it imports without needing it."""

from __future__ import annotations

import json
import os
import shutil
import sys
import types
from pathlib import Path
from typing import Any

import arch
from arch import Wrong

PACKAGES = ("pymllm", "pymllm.mobile", "pymllm.mobile.backends", "pymllm.mobile.backends.qualcomm", "pymllm.mobile.utils")
LEAST = 1024  # characters; train.py passes over shorter texts
THREADS = 4  # whatever the machine has: sums of other parts have other last bits
TOKENIZER = {"tokenizer_class": "PreTrainedTokenizerFast", "model_input_names": ["input_ids", "attention_mask"]}  # tokenizer.json as it is
PLAIN = "{% for m in messages %}{{ m.content }}{% endfor %}"
SAYS = 8  # tokens that qwen3's train.py generates in the end to see whether it can; the others go on to max_length


def prepare(source: Path, to: Path, block: int | None) -> None:
    """The model as mllm's programs read it: with a chat template, the keys of transformers 4, and a block size.

    Only train.py reads the block size, which stock configs lack.
    """
    shutil.copytree(source, to, copy_function=link)
    config = json.loads((to / "config.json").read_text())
    more = {} if block is None else {"linear_block_size": block}
    if "rope_parameters" in config:  # transformers 4 takes a config without rope_theta for one of 10000
        more |= arch.rope(config)
    if more:
        replace(to / "config.json", json.dumps(config | more, indent=2) + "\n")
    settings = to / "tokenizer_config.json"
    known = json.loads(settings.read_text()) if settings.is_file() else TOKENIZER
    if not known.get("chat_template") and not (to / "chat_template.jinja").is_file():
        replace(settings, json.dumps(known | {"chat_template": PLAIN}, indent=2) + "\n")


def link(a: str, b: str) -> None:
    os.symlink(os.path.realpath(a), b)


def replace(at: Path, text: str) -> None:
    at.unlink(missing_ok=True)
    at.write_text(text)


def samples(text: str, count: int) -> list[dict[str, str]]:
    """The paragraphs of a text that are long enough."""
    found = [{"text": " ".join(p.split())} for p in text.split("\n\n")]
    found = [s for s in found if len(s["text"]) >= LEAST]
    if not found:
        raise Wrong(f"The calibration text has no paragraph of {LEAST} characters, and mllm passes over shorter ones. Paragraphs end with an empty line.")
    return found[:count]


def surround(sources: Path, dataset: list[dict[str, str]], device: str) -> None:
    """Puts the three things in their places."""
    sys.path.insert(0, str(sources))
    for name in PACKAGES:
        package = types.ModuleType(name)
        package.__path__ = [str(sources.joinpath(*name.split(".")))]
        sys.modules[name] = package
    ffi: Any = types.ModuleType("pymllm.mobile.ffi")
    ffi.MLLM_FIND_TORCH_AVAILABLE = ffi.MLLM_FIND_NUMPY_AVAILABLE = True
    ffi.Tensor = type("Tensor", (), {})
    sys.modules["pymllm.mobile.ffi"] = ffi
    hub: Any = types.ModuleType("modelscope")
    hub.msdatasets = types.ModuleType("modelscope.msdatasets")
    hub.msdatasets.MsDataset = types.SimpleNamespace(load=lambda *_, **__: dataset)
    sys.modules |= {"modelscope": hub, "modelscope.msdatasets": hub.msdatasets}
    if device == "cpu":
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
    import torch  # slow, and only in this program's environment

    torch.set_num_threads(THREADS)
    torch.use_deterministic_algorithms(True, warn_only=True)
    if device == "cpu":
        torch.nn.Module.cuda = lambda self, device=None: self
    elif not torch.cuda.is_available():
        raise Wrong("device is cuda, and PyTorch finds no GPU that it can use: look at nvidia-smi, or quantize with device = cpu.")
