"""A model as a Hugging Face folder in float32: model → out: config.json, model.safetensors, and the tokenizer's files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

import command
import origin
import weights
from arch import Arch

FEW = 4096  # positions that its config allows, where nobody says another number


def main(a: dict[str, Any]) -> None:
    found, files = weights.open_model(Path(a["model"]))
    out = command.fresh(a["out"])
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "model_input_names": ["input_ids", "attention_mask"]}
    if "special_tokens.json" in files:
        settings |= json.loads(files.pop("special_tokens.json"))
    for name, text in files.items():
        (out / name).write_text(text)
    said = origin.of(Path(a["model"]))
    if pad := padding(said, found.arch.stop, files.get("tokenizer.json")):
        settings["pad_token"] = pad
    (out / "tokenizer_config.json").write_text(json.dumps(settings, indent=1) + "\n")
    own_head = found.own_head()
    (out / "config.json").write_text(json.dumps(config(found.arch, not own_head, said.ids), indent=1) + "\n")
    keys = [key for key in weights.TOP if key != "head" or own_head]
    keys += [f"{i}.{key}" for i in range(found.arch.layers) for key in weights.LAYER if found.has(f"{i}.{key}")]
    write(out / "model.safetensors", found, keys)


def padding(said: origin.Origin, stop: tuple[int, ...], tokenizer: str | None) -> str | None:
    """What texts of a batch are filled up with, which transformers does not do without: the model's own word, else that of its own token, else what an answer ends with."""
    word = said.tokenizer.get("pad_token")
    if isinstance(word, dict):
        word = word.get("content")
    if word or not tokenizer:
        return word or None
    ids = [*([said.ids["pad"]] if "pad" in said.ids else []), *stop]
    return Tokenizer.from_str(tokenizer).id_to_token(ids[0]) if ids else None


def config(of: Arch, tied: bool, ids: dict[str, int]) -> dict[str, Any]:
    """config.json, as transformers reads it. ids are special tokens."""
    made: dict[str, Any] = {
        "architectures": [of.architecture.capitalize() + "ForCausalLM"],
        "model_type": of.architecture,
        "hidden_act": "silu",
        "tie_word_embeddings": tied,
        "attention_bias": False,
        "mlp_bias": False,
        "hidden_size": of.hidden,
        "intermediate_size": of.intermediate,
        "num_hidden_layers": of.layers,
        "num_attention_heads": of.heads,
        "num_key_value_heads": of.kv_heads,
        "head_dim": of.head_dim,
        "vocab_size": of.vocabulary,
        "rms_norm_eps": of.epsilon,
        "rope_theta": of.theta,
        "max_position_embeddings": FEW,
        "torch_dtype": "float32",
    }
    if of.scaling:
        made["rope_scaling"] = of.scaling
    if of.stop:
        made["eos_token_id"] = of.stop[0]
    if "bos" in ids:
        made["bos_token_id"] = ids["bos"]
    return made


def write(at: Path, found: weights.Weights, keys: list[str]) -> None:
    """The tensors, one after the other, under Hugging Face's names and in its layout, matrices [out, in]."""

    def stored(key: str) -> np.ndarray:
        a, last = found[key], key.rpartition(".")[2]
        return np.ascontiguousarray(a.T if last in weights.MATRICES or last == "head" else a, dtype="<f4")

    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    offset = 0
    for key in keys:
        layer, _, last = key.rpartition(".")
        name = f"model.layers.{layer}.{weights.LAYER[last][0]}" if layer else weights.TOP[last][0]
        shape = found.shape(last)
        if last in weights.MATRICES or last == "head":
            shape = shape[::-1]
        size = 4 * int(np.prod(shape, dtype=np.int64))
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with at.open("wb") as f:
        f.write(len(text).to_bytes(8, "little") + text)
        for key in keys:
            f.write(stored(key).tobytes())


command.run(main)
