"""Quantizes a model as mllm's train.py does, on ONNX Runtime: model, architecture, block_size, calibration, samples,
max_length, checkpoint → out: model.safetensors (W4A16 LPBQ, mllm's tensors), config.json, the tokenizer's files.

The model is a Hugging Face folder of any size. One layer is in memory at a time, and reads all samples before the next
layer is loaded. The folder checkpoint has ranges and hidden states. A run that is killed goes on after the last sample
of the last layer that it read.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import arch
import command
import lpbq
import mllm
import mllm_layer
import shards
import tokens
import weights
from arch import Arch, Wrong
from lpbq import Output, Point, Span
from shards import Shards

EMBEDDING, HEAD, NORM = "model.embed_tokens.weight", "lm_head.weight", "model.norm"
TABLES = {t: (f"model.mllm_max_{t}_embedding", f"model.{t}_embedding_input_qdq") for t in ("sin", "cos")}
SIGMOID = "mlp.sigmoid_output_qdq"
OWN = (SIGMOID, "self_attn.scaling_qdq", "self_attn.neg_20_qdq")  # a layer's points that no value of the graph has
PART = 1 << 24  # elements of the embedding and the head that are in memory at once
MARK = "simulated"  # what a file says that comes from a simulated model


def main(a: dict[str, Any]) -> None:
    source = Path(a["model"])
    config = shards.parsed(source / "config.json")
    of = arch.from_config(config)
    check(of, config, a)
    ids = samples(source, of, a)
    out = command.fresh(a["out"])
    if config.get("linear_block_size") == a["block_size"]:
        shutil.copyfile(source / "config.json", out / "config.json")
    else:
        changed = json.dumps(config | {"linear_block_size": a["block_size"]}, indent=2, ensure_ascii=False)
        (out / "config.json").write_text(changed + "\n")
    for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
        if (source / name).is_file():
            shutil.copyfile(source / name, out / name)
    tied, checkpoint = bool(config.get("tie_word_embeddings", False)), Path(a["checkpoint"])
    q = Quantizer(of, Shards(source), tied, a["block_size"], a["max_length"], ids, checkpoint)
    q.write(out / shards.ONE)


def check(of: Arch, config: dict[str, Any], a: dict[str, Any]) -> None:
    """Refuses what mllm's quantizer of the architecture does not compute."""
    if of.architecture != a["architecture"]:
        raise Wrong(
            f"config.json: the model is a {of.architecture}, not a {a['architecture']}: "
            f'write architecture = "{of.architecture}"'
        )
    widths = {
        "hidden_size": of.hidden,
        "intermediate_size": of.intermediate,
        "heads × head_dim": of.heads * of.head_dim,
    }
    for key, width in widths.items():
        if width % a["block_size"]:
            raise Wrong(f"config.json: {key} {width} is not a multiple of block_size {a['block_size']}: choose another")
    if config.get("use_sliding_window"):
        raise Wrong("config.json: use_sliding_window is true: use a model with full attention")


def samples(source: Path, of: Arch, a: dict[str, Any]) -> list[np.ndarray]:
    """The calibration text's samples as train.py has them, with the tokenizer's own special tokens.

    A user says Qwen's by the chat template. Llama's are as they are.
    """
    _, files = weights.described(source)
    with tempfile.TemporaryDirectory(dir=".") as folder:
        for name, content in files.items():
            (Path(folder) / name).write_text(content)
        text = tokens.Text(Path(folder))
    text.tokenizer.no_truncation()
    text.tokenizer.no_padding()
    if of.architecture == "llama":
        text.template = None
    found = []
    for sample in mllm.samples(Path(a["calibration"]).read_text(), a["samples"]):
        said = text.said(sample["text"], enable_thinking=False)
        ids = np.array(text.tokenizer.encode(said).ids[: a["max_length"]], np.int64)
        if ids.max() >= of.vocabulary:
            raise Wrong(
                f"{source}: tokenizer.json gives token {ids.max()}, vocab_size of config.json is {of.vocabulary}: "
                "use files of one model"
            )
        found.append(ids)
    return found


@dataclass
class Seen:
    """What calibration has done: layers, samples of the next layer, and the range of each point."""

    layers: int = 0
    samples: int = 0
    ranges: dict[str, Span] = field(default_factory=dict)

    def note(self, name: str, s: Span) -> None:
        self.ranges[name] = lpbq.union(self.ranges.get(name, (0.0, 0.0)), s)


class Checkpoint:
    """The folder with what was seen and with the hidden states before and after a layer, which take turns."""

    def __init__(self, folder: Path, rows: int, width: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.file, states = folder / "seen.json", folder / "states"
        self.new = not self.file.is_file()
        shape = (2, rows, width)
        self.states = np.memmap(states, np.float32, "w+" if self.new else "r+", shape=shape)
        self.seen = Seen() if self.new else Seen(**json.loads(self.file.read_text()))

    def keep(self) -> None:
        """Leaves what was seen whole, or not at all."""
        half = self.file.with_suffix(".half")
        half.write_text(json.dumps(vars(self.seen)))
        half.replace(self.file)


class Quantizer:
    """Quantizes one model."""

    def __init__(
        self, of: Arch, model: Shards, tied: bool, block: int, length: int, ids: list[np.ndarray], checkpoint: Path
    ) -> None:
        self.of, self.model, self.block, self.length, self.ids = of, model, block, length, ids
        self.head = EMBEDDING if tied else HEAD
        self.biases = {m for m in mllm_layer.MATRICES if model.has(f"model.layers.0.{m}.bias")}
        if not tied and not model.has(HEAD):
            raise Wrong(
                f"{model.folder}: tensor {HEAD} is missing: "
                "write tie_word_embeddings = true into config.json if the embedding is the head"
            )
        self.checkpoint = Checkpoint(checkpoint, sum(map(len, ids)), of.hidden)
        self.seen = self.checkpoint.seen
        self.layer, self.last = mllm_layer.layer(of, self.biases), mllm_layer.head(of)

    def write(self, at: Path) -> None:
        mark = {MARK: self.model.metadata[MARK]} if MARK in self.model.metadata else {}
        with Output(at, self.tensors(), {"format": "pt"} | mark) as self.out:
            turns = self.tables()
            self.embedding()
            for i in range(self.of.layers):
                self.calibrate(i, self.load(i), turns)
            self.logits()
            self.points()
        print(f"wrote {at}, {len(self.out.shape)} tensors")

    def tensors(self) -> dict[str, tuple[str, tuple[int, ...]]]:
        """Type and shape of each tensor, by its name."""
        of = self.of
        found: dict[str, tuple[str, tuple[int, ...]]] = {}

        def linear(name: str, outputs: int, inputs: int) -> None:
            found[name + ".weight"] = ("I8", (1, 1, inputs, outputs))
            found[name + ".scale1"] = ("U8", (outputs * inputs // self.block,))
            found[name + ".scale2"] = ("F32", (outputs,))

        def stored(name: str, *shape: int) -> None:
            found[name + ".weight"] = ("U16", shape)
            point(name + ".")

        def point(name: str) -> None:
            found[name + "scale"], found[name + "zero_point"] = ("F32", (1,)), ("I32", (1,))

        stored(EMBEDDING.removesuffix(".weight"), of.vocabulary, of.hidden)
        linear("lm_head", of.vocabulary, of.hidden)
        stored(NORM, of.hidden)
        for name, _ in TABLES.values():
            found[name] = ("U16", (1, self.length, of.head_dim))
        for i in range(of.layers):
            for name, (outputs, inputs) in mllm_layer.matrices(of).items():
                linear(f"model.layers.{i}.{name}", outputs, inputs)
                if name in self.biases:
                    found[f"model.layers.{i}.{name}.bias"] = ("F32", (outputs,))
            for name, width in mllm_layer.norms(of).items():
                stored(f"model.layers.{i}.{name}", width)
        for name in self.names():
            point(name + ".fake_quant.")
        return found

    def names(self) -> list[str]:
        """The points of activations."""
        own = [*OWN, *(name for t in mllm_layer.ROTATED for name in mllm_layer.shared(self.of, t))]
        layer = [*own, *(name for name in self.layer.points if "/" not in name)]
        found = [f"model.layers.{i}.{name}" for i in range(self.of.layers) for name in layer]
        found.remove("model.layers.0.input_layernorm_input_qdq")
        return [*found, *(point for _, point in TABLES.values()), "model.norm_input_qdq", *self.last.points]

    def tables(self) -> dict[str, np.ndarray]:
        """Writes sine and cosine, and returns those of all positions, float32 [max_length, 1, head_dim].

        Both halves of a head turn by the same angles.
        """
        angles = np.arange(self.length, dtype=np.float32)[:, None] * self.of.frequencies().astype(np.float32)
        turns = {}
        for t, (name, point) in TABLES.items():
            half = (np.sin if t == "sin" else np.cos)(angles.astype(np.float64)).astype(np.float32)
            turns[t] = np.concatenate([half, half], 1)[:, None]
            self.seen.note(point, lpbq.span(half))
            self.out.put(name, lpbq.store(turns[t], lpbq.affine(self.seen.ranges[point])))
        return turns

    def stored(self, name: str, w: np.ndarray) -> None:
        p = lpbq.affine(lpbq.span(w))
        self.out.put(name + ".weight", lpbq.store(w, p))
        self.out.point(name + ".", p)

    def embedding(self) -> None:
        """Writes the embedding, and if no layer was read before, the hidden states before the first."""
        shape = (self.of.vocabulary, self.of.hidden)
        parts = list(lpbq.slices(self.of.vocabulary, max(1, PART // self.of.hidden)))
        s: Span = (0.0, 0.0)
        for at in parts:
            s = lpbq.union(s, lpbq.span(self.model.read(EMBEDDING, shape, at.start, at.stop)))
        p = lpbq.affine(s)
        for at in parts:
            w = self.model.read(EMBEDDING, shape, at.start, at.stop)
            self.out.put(EMBEDDING, lpbq.store(w, p), at.start * self.of.hidden)
        self.out.point(EMBEDDING.removesuffix("weight"), p)
        if self.checkpoint.new:
            self.checkpoint.states[0] = self.model.rows(EMBEDDING, shape, np.concatenate(self.ids))
            self.checkpoint.keep()

    def load(self, i: int) -> dict[str, np.ndarray]:
        """Writes a layer's weights, and returns what the graph computes with: matrices are rounded, norms are not."""
        given, prefix = {}, f"model.layers.{i}."
        for name, width in mllm_layer.norms(self.of).items():
            given[name + ".weight"] = self.model.read(f"{prefix}{name}.weight", (width,))
            self.stored(prefix + name, given[name + ".weight"])
        for name, shape in mllm_layer.matrices(self.of).items():
            given[name + ".weight"] = w = self.model.read(f"{prefix}{name}.weight", shape)
            nibbles, scale1, scale2 = lpbq.blocks(w, self.block)
            for part, a in (("weight", nibbles), ("scale1", scale1), ("scale2", scale2)):
                self.out.put(f"{prefix}{name}.{part}", a)
            if name in self.biases:
                given[name + ".bias"] = self.model.read(f"{prefix}{name}.bias", shape[:1])
                self.out.put(f"{prefix}{name}.bias", given[name + ".bias"])
        return given

    def calibrate(self, i: int, given: dict[str, np.ndarray], turns: dict[str, np.ndarray]) -> None:
        """Has a layer read the samples that it has not read."""
        if i < self.seen.layers:
            return
        seen, prefix, states = self.seen, f"model.layers.{i}.", self.checkpoint.states
        seen.note(prefix + "self_attn.scaling_qdq", (0.0, mllm_layer.scaling(self.of)))
        seen.note(prefix + "self_attn.neg_20_qdq", (mllm_layer.PENALTY, 0.0))
        ends = np.cumsum([len(ids) for ids in self.ids])
        for sample in range(seen.samples, len(self.ids)):
            count, end = len(self.ids[sample]), int(ends[sample])
            keep = np.tile(np.tri(count, dtype=np.bool_), (self.of.group, 1))
            here = {t: a[:count] for t, a in turns.items()}
            after, ranges = self.layer(given | here | {"h": states[i % 2, end - count : end], "keep": keep})
            for name, s in ranges.items():
                if "/" not in name and (i > 0 or name != "input_layernorm_input_qdq"):
                    seen.note(prefix + name, s)
            for t in mllm_layer.ROTATED:
                for name in mllm_layer.shared(self.of, t):
                    # In mllm the range of the rotation's halves replaces the other with the first sample.
                    # From the second on, both count.
                    seen.note(prefix + name, ranges[t + "/after"])
                    if sample > 0:
                        seen.note(prefix + name, ranges[t + "/before"])
            states[(i + 1) % 2, end - count : end] = after
            seen.samples = sample + 1
            self.checkpoint.keep()
            said = f"layer {i + 1} of {self.of.layers} read {sample + 1} of {len(self.ids)} texts"
            print(f"progress 0 0 {said}", file=sys.stderr, flush=True)  # the numbers of such a line are bytes
        seen.layers, seen.samples = i + 1, 0
        self.checkpoint.keep()

    def logits(self) -> None:
        """Writes the final norm and the head, which says of the last token of each sample what comes next."""
        of, states = self.of, self.checkpoint.states[self.of.layers % 2]
        self.seen.note("model.norm_input_qdq", lpbq.span(states))
        norm = self.model.read(NORM + ".weight", (of.hidden,))
        self.stored(NORM, norm)
        last = states[np.cumsum([len(ids) for ids in self.ids]) - 1]
        count = of.hidden // self.block
        for at in lpbq.slices(of.vocabulary, max(1, PART // of.hidden)):
            w = self.model.read(self.head, (of.vocabulary, of.hidden), at.start, at.stop)
            nibbles, scale1, scale2 = lpbq.blocks(w, self.block)
            self.out.columns("lm_head.weight", nibbles, at.start)
            self.out.put("lm_head.scale1", scale1, at.start * count)
            self.out.put("lm_head.scale2", scale2, at.start)
            for name, s in self.last({"h": last, "norm.weight": norm, "lm_head.weight": w})[1].items():
                self.seen.note(name, s)

    def points(self) -> None:
        for name in self.names():
            p: Point = (np.float32(1 / 65536), 0)
            if not name.endswith(SIGMOID):
                s = self.seen.ranges[name]
                p = lpbq.centered(s) if name.endswith("_to_int8_qdq") else lpbq.affine(s)
            self.out.point(name + ".fake_quant.", p)


if __name__ == "__main__":
    command.run(main)
