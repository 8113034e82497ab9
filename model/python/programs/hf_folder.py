"""A model as a Hugging Face folder in float32: model → out: config.json, model.safetensors, and the tokenizer's files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

import command
import weights
from arch import Arch, Wrong

SPECIAL = ("bos", "eos", "pad", "unk")
GGUF = {"bos": "bos", "eos": "eos", "pad": "padding", "unk": "unknown"}  # the same names in a GGUF
FEW = 4096  # positions that its config allows, where nobody says another number


def main(a: dict[str, Any]) -> None:
    found, files = weights.open_model(Path(a["model"]))
    out = command.fresh(a["out"])
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "model_input_names": ["input_ids", "attention_mask"]}
    if "special_tokens.json" in files:
        settings |= json.loads(files.pop("special_tokens.json"))
    for name, text in files.items():
        (out / name).write_text(text)
    ids, word = special(Path(a["model"]))
    if pad := padding(ids, word, found.arch.stop, files.get("tokenizer.json")):
        settings["pad_token"] = pad
    (out / "tokenizer_config.json").write_text(json.dumps(settings, indent=1) + "\n")
    own_head = found.own_head()
    (out / "config.json").write_text(json.dumps(config(found.arch, not own_head, ids), indent=1) + "\n")
    keys = [key for key in weights.TOP if key != "head" or own_head]
    keys += [f"{i}.{key}" for i in range(found.arch.layers) for key in weights.LAYER if found.has(f"{i}.{key}")]
    write(out / "model.safetensors", found, keys)


def special(path: Path) -> tuple[dict[str, int], Any]:
    """The special tokens of a Hugging Face folder or a GGUF, as weights.open_model takes them, and the word that a folder pads with."""
    if path.is_dir() and (path / "config.json").is_file():
        config, generation, tokenizer = (
            json.loads((path / name).read_text()) if (path / name).is_file() else {} for name in ("config.json", "generation_config.json", "tokenizer_config.json")
        )
        named = {kind: next((d[f"{kind}_token_id"] for d in (generation, config) if d.get(f"{kind}_token_id") is not None), None) for kind in SPECIAL}
        ids = {kind: value[0] if isinstance(value, list) and value else value for kind, value in named.items()}
        return {kind: i for kind, i in ids.items() if isinstance(i, int)}, tokenizer.get("pad_token")
    if path.is_dir():
        ggufs = sorted(path.glob("*.gguf"))
        if len(ggufs) != 1:
            raise Wrong(f"{path} has neither a config.json nor one GGUF.")
        path = ggufs[0]
    import gguf  # slow to import, and only needed here

    fields = {kind: gguf.GGUFReader(path).get_field(f"tokenizer.ggml.{name}_token_id") for kind, name in GGUF.items()}
    return {kind: int(f.contents()) for kind, f in fields.items() if f is not None}, None


def padding(ids: dict[str, int], word: Any, stop: tuple[int, ...], tokenizer: str | None) -> str | None:
    """What texts of a batch are filled up with, which transformers does not do without: the model's own word, else that of its own token, else what an answer ends with."""
    if isinstance(word, dict):
        word = word.get("content")
    if word or not tokenizer:
        return word or None
    first = [*([ids["pad"]] if "pad" in ids else []), *stop]
    return Tokenizer.from_str(tokenizer).id_to_token(first[0]) if first else None


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
