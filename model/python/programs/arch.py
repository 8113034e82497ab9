"""What a decoder is: its numbers, as config.json or a GGUF's header has them, and what follows from them."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

ARCHITECTURES = ("llama", "qwen2", "qwen3")


class Wrong(Exception):
    """What is wrong with the input, in a sentence that says what to do."""


@dataclass(frozen=True)
class Arch:
    """A decoder of the Llama family. Lengths are counts of elements or tokens."""

    architecture: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    intermediate: int
    vocabulary: int
    epsilon: float  # of RMS normalization
    theta: float  # base of the rotary embedding
    scaling: dict[str, Any] = field(default_factory=dict)  # of the rotary embedding, as config.json has it
    stop: tuple[int, ...] = ()  # tokens that end a text
    begin: int | None = None  # token that begins one, where the tokenizer puts one there
    context: int = 0  # tokens that the key/value cache holds
    chunk: int = 0  # tokens that prefill takes at once
    outside: bool = False  # the graphs are given embeddings, in the place of tokens

    @property
    def group(self) -> int:
        """Query heads that share a key/value head."""
        return self.heads // self.kv_heads

    def frequencies(self) -> np.ndarray:
        """Angle a position, float64 [head_dim / 2]; with llama3's scaling where the config asks for it."""
        inv = 1.0 / (self.theta ** (np.arange(0, self.head_dim, 2, dtype=np.float64) / self.head_dim))
        kind = self.scaling.get("rope_type", self.scaling.get("type", "default"))
        if kind in ("default", "mrope"):
            return inv
        if kind == "linear":
            return inv / float(self.scaling["factor"])
        if kind != "llama3":
            raise Wrong(f"The rotary embedding's scaling {kind!r} is not known; default, linear and llama3 are.")
        factor, low, high = (float(self.scaling[k]) for k in ("factor", "low_freq_factor", "high_freq_factor"))
        old = float(self.scaling["original_max_position_embeddings"])
        wave = 2 * math.pi / inv
        smooth = np.clip((old / wave - low) / (high - low), 0.0, 1.0)
        return np.where(wave < old / high, inv, np.where(wave > old / low, inv / factor, (1 - smooth) * inv / factor + smooth * inv))

    def rotation(self, first: int, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Cosine and sine of positions, float32 [1, 1, count, head_dim / 2]."""
        angle = np.arange(first, first + count)[:, None] * self.frequencies()[None]
        return np.cos(angle).astype(np.float32)[None, None], np.sin(angle).astype(np.float32)[None, None]

    def sized(self, context: int, chunk: int, layers: int | None, outside: bool = False) -> Arch:
        """The same with a cache, and with fewer layers if asked for: a truncated twin."""
        if chunk < 1 or context < chunk:
            raise Wrong(f"A cache of {context} tokens does not hold a chunk of {chunk}.")
        if layers is not None and not 1 <= layers <= self.layers:
            raise Wrong(f"The model has {self.layers} layers: layers = {layers} is not among them.")
        return replace(self, context=context, chunk=chunk, layers=layers or self.layers, outside=outside)

    def save(self, at: Path) -> None:
        at.write_text(json.dumps(asdict(self), indent=1, sort_keys=True) + "\n")


def load(at: Path) -> Arch:
    """Reads what save wrote."""
    d = json.loads(at.read_text())
    d["stop"] = tuple(d["stop"])
    return Arch(**d)


def rope(c: dict[str, Any]) -> dict[str, Any]:
    """rope_theta and rope_scaling of a config.json: transformers 5 writes both into rope_parameters."""
    of = dict(c.get("rope_parameters") or {})
    theta = of.pop("rope_theta", 10000.0) if c.get("rope_theta") is None else c["rope_theta"]
    return {"rope_theta": theta, "rope_scaling": c.get("rope_scaling") or of}


def from_config(c: dict[str, Any]) -> Arch:
    """Reads config.json of a Hugging Face folder, with the defaults of transformers."""
    kind = c.get("model_type")
    if kind not in ARCHITECTURES:
        raise Wrong(f"config.json: model_type is {kind!r}; known are {', '.join(ARCHITECTURES)}.")
    turns = rope(c)

    def number(key: str, default: float | None = None) -> float:
        v = default if c.get(key) is None else c[key]
        if not isinstance(v, int | float) or isinstance(v, bool) or v <= 0:
            raise Wrong(f"config.json: {key} is {v!r}, not a positive number.")
        return v

    hidden, heads = int(number("hidden_size")), int(number("num_attention_heads"))
    stop = c.get("eos_token_id")
    if (c.get("hidden_act") or "silu") != "silu":
        raise Wrong(f"config.json: hidden_act is {c['hidden_act']!r}; silu is known.")
    return checked(
        Arch(
            architecture=kind,
            layers=int(number("num_hidden_layers")),
            hidden=hidden,
            heads=heads,
            kv_heads=int(number("num_key_value_heads", heads)),
            head_dim=int(number("head_dim", 128 if kind == "qwen3" else hidden // heads)),
            intermediate=int(number("intermediate_size")),
            vocabulary=int(number("vocab_size")),
            epsilon=float(number("rms_norm_eps", 1e-6)),
            theta=float(number("rope_theta", turns["rope_theta"])),
            scaling=turns["rope_scaling"],
            stop=tuple(stop) if isinstance(stop, list) else () if stop is None else (stop,),
        )
    )


def checked(a: Arch) -> Arch:
    """Refuses numbers that no model has, before anything of their size is made."""
    if a.heads % a.kv_heads or a.head_dim % 2:
        raise Wrong(f"{a.heads} heads over {a.kv_heads} key/value heads of {a.head_dim} elements do not go together.")
    limits = {"layers": 1000, "hidden": 1 << 17, "heads": 1 << 10, "head_dim": 1 << 12, "intermediate": 1 << 19, "vocabulary": 1 << 20}
    for name, most in limits.items():
        if not 1 <= getattr(a, name) <= most:
            raise Wrong(f"{name} is {getattr(a, name)}; at most {most} is read.")
    return a
