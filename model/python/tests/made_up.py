"""Writes a made-up model of Qwen3-0.6B's size: PYTHONPATH=PROGRAMS made_up.py FOLDER [KEY=NUMBER …]."""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer, models, pre_tokenizers

import arch
import mllm_layer
import weights

CONFIG: dict[str, Any] = {"model_type": "qwen3", "rms_norm_eps": 1e-6, "rope_theta": 1e6, "tie_word_embeddings": True}
CONFIG |= {"hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": 28, "vocab_size": 151936}
CONFIG |= {"num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128}


def write(folder: Path, change: dict[str, Any], dtype: str = "BF16", files: int = 1) -> None:
    """Writes a folder. The weights are the same in each type and in any number of files."""
    config = CONFIG | change
    a = arch.from_config(config)
    shapes: dict[str, tuple[int, ...]] = {"model.norm.weight": (a.hidden,)}
    for name in ("model.embed_tokens", "lm_head")[: 2 - config["tie_word_embeddings"]]:
        shapes[f"{name}.weight"] = (a.vocabulary, a.hidden)
    for i in range(a.layers):
        for name, shape in mllm_layer.matrices(a).items():
            shapes[f"model.layers.{i}.{name}.weight"] = shape
            if a.architecture == "qwen2" and name in mllm_layer.MATRICES[:3]:
                shapes[f"model.layers.{i}.{name}.bias"] = shape[:1]
        for name, width in mllm_layer.norms(a).items():
            shapes[f"model.layers.{i}.{name}.weight"] = (width,)
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config))
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({letter: i for i, letter in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(False)
    tokenizer.save(str(folder / "tokenizer.json"))
    names = [f"model-{i + 1:05}-of-{files:05}.safetensors" for i in range(files)]
    kind, where = np.dtype(weights.TYPES[dtype]), dict(zip(shapes, itertools.cycle(names)))
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": where}))
    random = {name: np.random.default_rng(i) for i, name in enumerate(shapes)}
    for file in names:
        header, end = {}, 0
        for name in (name for name in shapes if where[name] == file):
            begin, end = end, end + int(np.prod(shapes[name])) * kind.itemsize
            header[name] = {"dtype": dtype, "shape": shapes[name], "data_offsets": [begin, end]}
        with (folder / file).open("wb") as f:
            f.write(len(text := json.dumps(header).encode()).to_bytes(8, "little") + text)
            for name in header:
                w = random[name].integers(-127, 128, shapes[name], np.int8).astype(np.float32)
                f.write((w / 128 + 1 if "norm" in name else w / 2048).astype(kind).tobytes())


if __name__ == "__main__":
    write(Path(sys.argv[1]), {key: int(value) for key, value in (arg.split("=") for arg in sys.argv[2:])})
