"""Writes a model with random weights as a Hugging Face folder, by default of the size of Qwen3-0.6B in bfloat16: made_up.py PROGRAMS FOLDER [KEY=NUMBER …]."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

CONFIG: dict[str, Any] = {
    "model_type": "qwen3", "hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": 28, "num_attention_heads": 16,
    "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151936, "rms_norm_eps": 1e-6, "rope_theta": 1e6, "tie_word_embeddings": True,
}
TYPES: dict[str, Any] = {"BF16": ml_dtypes.bfloat16, "F16": np.float16, "F32": np.float32}


def write(folder: Path, change: dict[str, Any], dtype: str = "BF16", files: int = 1) -> None:
    """The same arguments but dtype and files write the same weights, which all types hold."""
    import mllm_layer
    from arch import from_config

    config = CONFIG | change
    a = from_config(config)
    shapes: dict[str, tuple[int, ...]] = {"model.embed_tokens.weight": (a.vocabulary, a.hidden), "model.norm.weight": (a.hidden,)}
    if not config["tie_word_embeddings"]:
        shapes["lm_head.weight"] = (a.vocabulary, a.hidden)
    for i in range(a.layers):
        matrices = mllm_layer.matrices(a)
        biases = {name: shape[:1] for name, shape in matrices.items() if a.architecture == "qwen2" and name[-6:] in ("q_proj", "k_proj", "v_proj")}
        norms = {name: (width,) for name, width in mllm_layer.norms(a).items()}
        for end, of in (("weight", {**matrices, **norms}), ("bias", biases)):
            shapes |= {f"model.layers.{i}.{name}.{end}": shape for name, shape in of.items()}
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config))
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({letter: i for i, letter in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.ByteLevel(False), decoders.ByteLevel()
    tokenizer.save(str(folder / "tokenizer.json"))
    names = [f"model-{i + 1:05}-of-{files:05}.safetensors" for i in range(files)] if files > 1 else ["model.safetensors"]
    kind, where = np.dtype(TYPES[dtype]), {name: names[i % files] for i, name in enumerate(shapes)}
    if files > 1:
        (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": where}))
    random = {name: np.random.default_rng(i) for i, name in enumerate(shapes)}
    for file in names:
        header, end = {}, 0
        for name in (name for name in shapes if where[name] == file):
            size = int(np.prod(shapes[name])) * kind.itemsize
            header[name] = {"dtype": dtype, "shape": shapes[name], "data_offsets": [end, end := end + size]}
        text = json.dumps(header).encode()
        with (folder / file).open("wb") as f:
            f.write(len(text).to_bytes(8, "little") + text)
            for name in header:
                w = random[name].integers(-127, 128, shapes[name], np.int8).astype(np.float32)
                f.write((w / 128 + 1 if "norm" in name else w / 2048).astype(kind).tobytes())


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    write(Path(sys.argv[2]), {key: int(value) for key, value in (arg.split("=") for arg in sys.argv[3:])})
