"""Weights of a model, from a Hugging Face folder or a GGUF file, in one layout whatever they came from."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

import arch
from arch import Arch, Wrong

# Names of a layer's tensors: ours, Hugging Face's, GGUF's. Matrices are [out, in] in both files, and [in, out] here, as MatMul takes them.
LAYER = {
    "attention_norm": ("input_layernorm.weight", "attn_norm.weight"),
    "q": ("self_attn.q_proj.weight", "attn_q.weight"),
    "k": ("self_attn.k_proj.weight", "attn_k.weight"),
    "v": ("self_attn.v_proj.weight", "attn_v.weight"),
    "o": ("self_attn.o_proj.weight", "attn_output.weight"),
    "q_bias": ("self_attn.q_proj.bias", "attn_q.bias"),
    "k_bias": ("self_attn.k_proj.bias", "attn_k.bias"),
    "v_bias": ("self_attn.v_proj.bias", "attn_v.bias"),
    "q_norm": ("self_attn.q_norm.weight", "attn_q_norm.weight"),
    "k_norm": ("self_attn.k_norm.weight", "attn_k_norm.weight"),
    "mlp_norm": ("post_attention_layernorm.weight", "ffn_norm.weight"),
    "gate": ("mlp.gate_proj.weight", "ffn_gate.weight"),
    "up": ("mlp.up_proj.weight", "ffn_up.weight"),
    "down": ("mlp.down_proj.weight", "ffn_down.weight"),
}
TOP = {
    "embedding": ("model.embed_tokens.weight", "token_embd.weight"),
    "norm": ("model.norm.weight", "output_norm.weight"),
    "head": ("lm_head.weight", "output.weight"),
}
MATRICES = ("q", "k", "v", "o", "gate", "up", "down")


class Weights:
    """Tensors by our names, float32, read when asked for."""

    def __init__(self, of: Arch, read: Callable[[str, str], np.ndarray | None]) -> None:
        self.arch, self._read = of, read

    def __getitem__(self, name: str) -> np.ndarray:
        """The tensor "embedding", "norm", "head", or "LAYER.NAME" such as "3.q"."""
        layer, _, key = name.rpartition(".")
        hf, gguf = LAYER[key] if layer else TOP[key]
        prefix = (f"model.layers.{layer}.", f"blk.{layer}.") if layer else ("", "")
        a = self._read(prefix[0] + hf, prefix[1] + gguf)
        if a is None and name == "head":
            a = self._read(*TOP["embedding"])  # tied
        if a is None:
            raise Wrong(f"The model has no tensor {prefix[0] + hf}.")
        if key in MATRICES or key == "head":
            a = np.ascontiguousarray(a.T)
        want = self.shape(key)
        if a.shape != want:
            raise Wrong(f"The tensor {prefix[0] + hf} is {list(a.shape)}; the config means {list(want)}.")
        return a

    def has(self, name: str) -> bool:
        layer, _, key = name.rpartition(".")
        return self._read(f"model.layers.{layer}.{LAYER[key][0]}", f"blk.{layer}.{LAYER[key][1]}") is not None

    def own_head(self) -> bool:
        """Whether the head is a tensor of its own, and not the embedding once more."""
        return self._read(*TOP["head"]) is not None

    def shape(self, key: str) -> tuple[int, ...]:
        a = self.arch
        q, kv = a.heads * a.head_dim, a.kv_heads * a.head_dim
        return {
            "embedding": (a.vocabulary, a.hidden),
            "head": (a.hidden, a.vocabulary),
            "q": (a.hidden, q),
            "k": (a.hidden, kv),
            "v": (a.hidden, kv),
            "o": (q, a.hidden),
            "q_bias": (q,),
            "k_bias": (kv,),
            "v_bias": (kv,),
            "q_norm": (a.head_dim,),
            "k_norm": (a.head_dim,),
            "gate": (a.hidden, a.intermediate),
            "up": (a.hidden, a.intermediate),
            "down": (a.intermediate, a.hidden),
        }.get(key, (a.hidden,))


def open_model(path: Path) -> tuple[Weights, dict[str, str]]:
    """Opens a Hugging Face folder or a GGUF; also gives the files that go with it: tokenizer.json, chat_template.jinja, special_tokens.json."""
    if path.is_dir():
        ggufs = sorted(path.glob("*.gguf"))
        if (path / "config.json").is_file():
            return open_folder(path)
        if len(ggufs) == 1:
            return open_gguf(ggufs[0])
        raise Wrong(f"{path} has neither a config.json nor one GGUF: give the folder of a Hugging Face model, or a .gguf.")
    return open_gguf(path)


def open_folder(path: Path) -> tuple[Weights, dict[str, str]]:
    of, files = described(path)
    index = path / "model.safetensors.index.json"
    names = sorted(set(json.loads(index.read_text())["weight_map"].values())) if index.is_file() else ["model.safetensors"]
    tensors: dict[str, np.ndarray] = {}
    for name in names:
        if "/" in name or not (path / name).is_file():
            raise Wrong(f"{path} has no {name}.")
        tensors.update(safetensors(path / name))

    def read(hf: str, _: str) -> np.ndarray | None:
        a = tensors.get(hf)
        return None if a is None or a.dtype.name not in FLOATS else np.asarray(a, dtype=np.float32)

    return Weights(of, read), files


def described(path: Path) -> tuple[Arch, dict[str, str]]:
    """What a folder says of its model, and the files that go with it."""
    of = arch.from_config(json.loads((path / "config.json").read_text()))
    files = {}
    if (path / "tokenizer.json").is_file():
        files["tokenizer.json"] = (path / "tokenizer.json").read_text()
    at = path / "tokenizer_config.json"
    settings = json.loads(at.read_text()) if at.is_file() else {}
    template = settings.get("chat_template")
    if isinstance(template, list):  # several by name
        template = next((t["template"] for t in template if t.get("name") == "default"), None)
    if (path / "chat_template.jinja").is_file():
        template = (path / "chat_template.jinja").read_text()
    if isinstance(template, str):
        files["chat_template.jinja"] = template
        files["special_tokens.json"] = special_tokens({k: v["content"] if isinstance(v, dict) else v for k, v in settings.items() if k.endswith("os_token")})
    return of, files


FLOATS = ("float32", "float16", "bfloat16", "float64")
TYPES: dict[str, Any] = {"F32": np.float32, "F16": np.float16, "BF16": ml_dtypes.bfloat16, "F64": np.float64, "BOOL": np.bool_} | {
    f"{'U' if u else 'I'}{bits}": np.dtype(f"{u}int{bits}") for u in ("", "u") for bits in (8, 16, 32, 64)
}


def header(path: Path) -> tuple[dict[str, Any], int]:
    """The header of a safetensors file, and where its data begins."""
    with path.open("rb") as f:
        length = int.from_bytes(f.read(8), "little")
        if not 2 <= length <= min(path.stat().st_size - 8, 100 << 20):
            raise Wrong(f"{path.name} is no safetensors file: its header would have {length} bytes.")
        return dict(json.loads(f.read(length))), 8 + length


def metadata(path: Path) -> dict[str, str]:
    """What a file says beside its tensors; of tensors that are one and the same, the other name by the first."""
    return {k: str(v) for k, v in (header(path)[0].get("__metadata__") or {}).items()}


def safetensors(path: Path) -> Iterator[tuple[str, np.ndarray]]:
    """Maps the tensors of a file; the header's bounds are checked."""
    tensors, begin = header(path)
    data = np.memmap(path, dtype=np.uint8, mode="r", offset=begin)
    for name, t in tensors.items():
        if name == "__metadata__" or t["dtype"] not in TYPES:
            continue
        first, end = t["data_offsets"]
        kind = np.dtype(TYPES[t["dtype"]])
        if not 0 <= first <= end <= len(data) or end - first != kind.itemsize * int(np.prod(t["shape"], dtype=np.int64)):
            raise Wrong(f"{path.name}: the tensor {name} is not where its header says.")
        yield name, data[first:end].view(kind).reshape(t["shape"])


def open_gguf(path: Path) -> tuple[Weights, dict[str, str]]:
    import gguf  # slow to import, and only needed here

    reader = gguf.GGUFReader(path)
    tensors = {t.name: t for t in reader.tensors}

    def value(key: str) -> Any:
        f = reader.get_field(key)
        return None if f is None else f.contents()

    kind = value("general.architecture")
    if kind not in arch.ARCHITECTURES:
        raise Wrong(f"{path.name}: its architecture is {kind!r}; known are {', '.join(arch.ARCHITECTURES)}.")

    def number(key: str, default: float | None = None) -> float:
        v = value(f"{kind}.{key}")
        v = default if v is None else v
        if v is None:
            raise Wrong(f"{path.name} does not say {kind}.{key}.")
        return float(v)

    heads, hidden = int(number("attention.head_count")), int(number("embedding_length"))
    stop = value("tokenizer.ggml.eos_token_id")
    of = arch.checked(
        Arch(
            architecture=kind,
            layers=int(number("block_count")),
            hidden=hidden,
            heads=heads,
            kv_heads=int(number("attention.head_count_kv", heads)),
            head_dim=int(number("attention.key_length", hidden // heads)),
            intermediate=int(number("feed_forward_length")),
            vocabulary=int(tensors["token_embd.weight"].shape[1]),
            epsilon=number("attention.layer_norm_rms_epsilon"),
            theta=number("rope.freq_base", 10000.0),
            stop=() if stop is None else (int(stop),),
        )
    )

    def read(_: str, name: str) -> np.ndarray | None:
        t = tensors.get(name)
        if t is None:
            return None
        a = np.asarray(gguf.quants.dequantize(t.data, t.tensor_type), dtype=np.float32)
        if kind == "llama" and name.endswith(("attn_q.weight", "attn_k.weight")):
            n = heads if "attn_q" in name else of.kv_heads  # llama.cpp interleaves the halves that a rotation pairs
            a = a.reshape(n, of.head_dim // 2, 2, -1).swapaxes(1, 2).reshape(a.shape)
        return a

    files = {"tokenizer.json": gguf_tokenizer(value)}
    if template := value("tokenizer.chat_template"):
        words = value("tokenizer.ggml.tokens")
        ids = {t: value(f"tokenizer.ggml.{t}_id") for t in ("bos_token", "eos_token")}
        files["chat_template.jinja"] = template
        files["special_tokens.json"] = special_tokens({t: words[int(i)] for t, i in ids.items() if i is not None})
    return Weights(of, read), files


def special_tokens(words: dict[str, str | None]) -> str:
    """What a chat template calls bos_token and eos_token; a model may have none."""
    return json.dumps({t: words.get(t) or "" for t in ("bos_token", "eos_token")}, ensure_ascii=False) + "\n"


def gguf_tokenizer(value: Callable[[str], Any]) -> str:
    """tokenizer.json of a GGUF's byte-level BPE."""
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers

    if value("tokenizer.ggml.model") != "gpt2":
        raise Wrong(f"The GGUF's tokenizer is {value('tokenizer.ggml.model')!r}; byte-level BPE (gpt2) is known.")
    words, kinds = value("tokenizer.ggml.tokens"), value("tokenizer.ggml.token_type")
    merges = [tuple(m.split(" ", 1)) for m in value("tokenizer.ggml.merges")]
    t = Tokenizer(models.BPE(vocab={w: i for i, w in enumerate(words)}, merges=merges))
    contraction = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|"
    rest = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    split = {
        "smollm": [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)],
        "qwen2": [pre_tokenizers.Split(Regex(contraction + r"\p{N}" + rest), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)],
        "llama-bpe": [
            pre_tokenizers.Split(Regex(contraction + r"\p{N}{1,3}" + rest), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ],
    }
    pre = value("tokenizer.ggml.pre")
    if pre not in split:
        raise Wrong(f"The GGUF splits text as {pre!r} does; known are {', '.join(split)}.")
    t.pre_tokenizer = pre_tokenizers.Sequence(split[pre])
    t.decoder = decoders.ByteLevel()
    t.add_special_tokens([AddedToken(w, special=True, normalized=False) for w, k in zip(words, kinds, strict=True) if k == 3])
    return t.to_str(pretty=False)
