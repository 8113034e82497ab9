"""Tests of what the programs share, run in the locked environment: test_programs.py PROGRAMS."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import io
import itertools
import json
import math
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import zipfile
from pathlib import Path
from typing import Any
from unittest import mock

PROGRAMS = sys.argv.pop(1)
sys.path.insert(0, str(Path(PROGRAMS).resolve()))

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper

import arch
import assigned
import calibrate
import canonical
import choices
import command
import compare
import context
import decoder
import device
import dlc
import foreign
import mllm
import mllm_graphs
import parts
import placement
import plain
import qnngraph
import quantize
import quiet
import rotate
import session
import tensors
import tokens
import weights
from arch import Wrong
from runtime import onnxruntime

CONFIG = {
    "model_type": "llama",
    "hidden_size": 64,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "num_hidden_layers": 2,
    "intermediate_size": 128,
    "vocab_size": 96,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
}


def made(seed: int = 1, biases: bool = False, **more: object) -> weights.Weights:
    of = arch.from_config({**CONFIG, **more}).sized(24, 8, None)
    r = np.random.default_rng(seed)
    kept: dict[str, np.ndarray] = {}

    def read(name: str, _: str) -> np.ndarray | None:
        short = name.rsplit(".layers.", 1)[-1].split(".", 1)[-1] if ".layers." in name else name
        ours = [k for k, (hf, _) in {**weights.LAYER, **weights.TOP}.items() if hf == short][0]
        if (ours.endswith("_bias") and not biases) or (ours in ("q_norm", "k_norm") and of.architecture != "qwen3"):
            return None
        if name not in kept:
            shape = w.shape(ours)
            a = r.standard_normal(shape).astype(np.float32) / np.sqrt(shape[0]) if len(shape) > 1 else (1 + 0.1 * r.standard_normal(shape)).astype(np.float32)
            a = a.astype(np.float32)
            kept[name] = np.ascontiguousarray(a.T) if ours in weights.MATRICES or ours == "head" else a
        return kept[name]

    w = weights.Weights(of, read)
    return w


PROMPT = "Who keeps the lamp at the end of the bay?"


def textbook(w: weights.Weights, ids: list[int]) -> np.ndarray:
    """The model as a textbook has it, in numpy: logits [tokens, vocabulary]."""
    a = w.arch

    def norm(x: np.ndarray, g: np.ndarray) -> np.ndarray:
        return x / np.sqrt((x**2).mean(-1, keepdims=True) + a.epsilon) * g

    cos, sin = (t[0, 0] for t in a.rotation(0, len(ids)))
    x = w["embedding"][ids].astype(np.float64)
    for i in range(a.layers):
        n = norm(x, w[f"{i}.attention_norm"])
        q, k, v = ((n @ w[f"{i}.{t}"] + (w[f"{i}.{t}_bias"] if w.has(f"{i}.{t}_bias") else 0)).reshape(len(ids), -1, a.head_dim) for t in "qkv")
        if a.architecture == "qwen3":
            q, k = norm(q, w[f"{i}.q_norm"]), norm(k, w[f"{i}.k_norm"])
        h = a.head_dim // 2
        q, k = (
            np.concatenate([t[..., :h] * cos[:, None] - t[..., h:] * sin[:, None], t[..., h:] * cos[:, None] + t[..., :h] * sin[:, None]], -1) for t in (q, k)
        )
        k, v = (np.repeat(t, a.group, axis=1) for t in (k, v))
        s = np.einsum("qhd,khd->hqk", q, k) / np.sqrt(a.head_dim)
        s = np.where(np.tril(np.ones((len(ids), len(ids)))), s, -np.inf)
        s = np.exp(s - s.max(-1, keepdims=True))
        y = np.einsum("hqk,khd->qhd", s / s.sum(-1, keepdims=True), v).reshape(len(ids), -1)
        x = x + y @ w[f"{i}.o"]
        n = norm(x, w[f"{i}.mlp_norm"])
        g = n @ w[f"{i}.gate"]
        x = x + (g / (1 + np.exp(-g)) * (n @ w[f"{i}.up"])) @ w[f"{i}.down"]
    return norm(x, w["norm"]) @ w["head"]


class Decoder(unittest.TestCase):
    def test_chunks_and_tokens_are_the_textbook_model(self) -> None:
        for kind in ("llama", "qwen3"):
            w = made(model_type=kind, head_dim=16)
            ids = list(np.random.default_rng(2).integers(0, 96, 19))
            with tempfile.TemporaryDirectory() as d:
                decoder.write(Path(d), w.arch, w)
                s = session.Decoder(w.arch, session.cpu(Path(d) / "prefill.onnx"), session.cpu(Path(d) / "decode.onnx"), None)
                rows = np.concatenate([s.read(ids[:11]), *(s.step(s.decode, [t], 1) for t in ids[11:])])  # type: ignore[arg-type]
            np.testing.assert_allclose(rows, textbook(w, ids), rtol=2e-3, atol=2e-4, err_msg=kind)

    def test_a_full_cache_is_said(self) -> None:
        w = made()
        with tempfile.TemporaryDirectory() as d:
            decoder.write(Path(d), w.arch, w)
            s = session.Decoder(w.arch, session.cpu(Path(d) / "prefill.onnx"), None, None)
            with self.assertRaisesRegex(Wrong, "cache holds 24"):
                s.read(list(range(25)))

    def test_truncated(self) -> None:
        with self.assertRaisesRegex(Wrong, "has 2 layers"):
            made().arch.sized(24, 8, 3)


class Devices(unittest.TestCase):
    def test_tables(self) -> None:
        of = dataclasses.replace(made().arch, stop=(2, 7))
        with tempfile.TemporaryDirectory() as d:
            of.save(Path(d) / "arch.json")
            points = {"past_k_0": {"scale": 0.5, "zero_point": 128, "type": "uint8"}, "new_k_0": {"scale": 0.5, "zero_point": 3, "type": "uint8"}}
            (Path(d) / "cache.json").write_text(json.dumps(points))
            device.write(Path(d), Path(d), True, "for a test")
            self.assertEqual((Path(d) / "decoder.txt").read_text(), "shared 1\nmade for a test\nstop 2 7\nzero past_k_0 128\n")
            tables = np.fromfile(Path(d) / "rotation.f32", np.float32).reshape(2, 24 + 8, 8)
            np.testing.assert_array_equal(tables, np.stack([t[0, 0] for t in of.rotation(0, 32)]))

    def test_the_npu_of_several_devices(self) -> None:
        kinds = onnxruntime.OrtHardwareDeviceType
        offers = [mock.Mock(ep_name=session.PROVIDER, device=mock.Mock(type=k)) for k in (kinds.GPU, kinds.NPU)]
        with mock.patch.object(onnxruntime, "get_ep_devices", lambda: offers):
            self.assertEqual(session.devices(Path("."))[0].device.type, kinds.NPU)
        with mock.patch.object(onnxruntime, "get_ep_devices", lambda: offers[:1]):
            self.assertEqual(session.devices(Path(".")), offers[:1])


def write_safetensors(at: Path, tensors: dict[str, np.ndarray], metadata: dict[str, str] | None = None) -> None:
    names = {"float32": "F32", "uint16": "U16", "uint8": "U8", "int8": "I8", "int32": "I32"}
    header: dict[str, object] = {"__metadata__": metadata} if metadata else {}
    first, parts = 0, []
    for name, a in tensors.items():
        data = a.tobytes()
        header[name] = {"dtype": names[a.dtype.name], "shape": list(a.shape), "data_offsets": [first, first + len(data)]}
        first += len(data)
        parts.append(data)
    text = json.dumps(header).encode()
    at.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(parts))


BLOCK = 32
# Spans of mllm's points by the ends of their names; of the others it is -12 to 12.
SPANS = {
    "softmax_output_qdq": (0, 1),
    "sigmoid_output_qdq": (0, 1),
    "embedding_input_qdq": (-1, 1),
    "neg_20_qdq": (-20, 0),
    "scaling_qdq": (0, 0.25),
    "qk_matmul_output_qdq": (-120, 120),
    "self_attn.mul_0_output_qdq": (-30, 30),
    "reduce_min_output_qdq": (-30, 30),
    "minus_0_output_qdq": (-50, 30),
    "where_attn_qdq": (-50, 30),
    "to_int8_qdq": (-5, 5),
}


def as_upstream(folder: Path, w: weights.Weights, rows: int = 48) -> weights.Weights:
    """Writes a model as mllm's quantizer would, with points that are wide enough; gives what its stored numbers mean."""
    a = w.arch
    tensors: dict[str, np.ndarray] = {}
    means: dict[str, np.ndarray] = {}

    def point(name: str, low: float, high: float, most: int = 65535) -> tuple[np.float32, int]:
        scale = np.float32((high - low) / most)
        tensors[name + ".scale"], tensors[name + ".zero_point"] = np.array([scale]), np.array([round(-low / float(scale))], np.int32)
        return scale, round(-low / float(scale))

    def stored(name: str, v: np.ndarray) -> None:
        scale, zero = point(name, min(0.0, float(v.min())), max(1e-3, float(v.max())))
        q = np.clip(np.round(v / scale) + zero, 0, 65535).astype(np.uint16)
        tensors[name + ".weight"], means[name + ".weight"] = q, ((q.astype(np.float64) - zero) * scale).astype(np.float32)

    def linear(name: str, v: np.ndarray) -> None:  # [in, out]
        blocks = v.reshape(-1, BLOCK, v.shape[1])
        exact = np.abs(blocks).max(1) / 7
        step = (exact.max(0) / 16).astype(np.float32)
        level = np.clip(np.round(exact / step), 1, 16)
        q = np.clip(np.round(blocks / exact[:, None]), -7, 7)
        tensors[name + ".weight"] = (q.reshape(v.shape).astype(np.int8) & 15)[None, None]
        tensors[name + ".scale1"], tensors[name + ".scale2"] = level.T.astype(np.uint8).reshape(-1), step
        means[name + ".weight"] = np.ascontiguousarray((q * (level * step)[:, None]).reshape(v.shape).T.astype(np.float32))

    def points(prefix: str, *names: str) -> None:
        for n in names:
            low, high = next((span for end, span in SPANS.items() if (prefix + n).endswith(end)), (-12, 12))
            point(f"{prefix}{n}.fake_quant", low, high, 255 if "to_int8" in n else 65535)

    stored("model.embed_tokens", w["embedding"])
    stored("model.norm", w["norm"])
    linear("lm_head", w["head"])
    points("model.", "norm_input_qdq", "sin_embedding_input_qdq", "cos_embedding_input_qdq")
    points("", "lm_head_input_qdq", "lm_head_output_qdq")
    for t, table in zip(("cos", "sin"), a.rotation(0, rows), strict=True):
        both = np.concatenate([table[0], table[0]], -1)
        tensors[f"model.mllm_max_{t}_embedding"] = np.clip(np.round(both * 32767.5 + 32768), 0, 65535).astype(np.uint16)
    own = a.architecture == "qwen3"
    ends = ["q_norm_input", "q_norm_output", "k_norm_input", "k_norm_output"] if own else ["k_proj_input", "v_proj_input", "q_proj_output", "k_proj_output"]
    rope = [f"{t}_rope_{n}" for t in "qk" for n in ("mul_0_output", "mul_1_output", "add_0_output", "neg_half")]
    scores = ["qk_matmul_output", "scaling", "neg_20", "reduce_min_output", "mul_0_output", "minus_0_output", "softmax_output", "attn_value_matmul_output"]
    casts = ["k_cast_to_int8", "v_cast_to_int8", "v_cast_to_int16", "where_attn"]
    for i in range(a.layers):
        u = f"model.layers.{i}."
        for key, (name, _) in weights.LAYER.items():
            if key in weights.MATRICES:
                linear(u + name.removesuffix(".weight"), w[f"{i}.{key}"])
            elif key.endswith("_bias") and w.has(f"{i}.{key}"):
                tensors[u + name] = means[u + name] = w[f"{i}.{key}"]
            elif key.endswith("_norm") and (own or key not in ("q_norm", "k_norm")):
                stored(u + name.removesuffix(".weight"), w[f"{i}.{key}"])
        points(u + "self_attn.", *(n + "_qdq" for n in ["q_proj_input", *ends, *rope, *scores, *casts]))
        mlp = ("up_proj_input", "up_proj_output", "gate_proj_output", "sigmoid_output", "act_output", "down_proj_input")
        points(u + "mlp.", *(n + "_qdq" for n in mlp))
        points(u, *(n + "_qdq" for n in ("add_0_lhs_input", "add_0_output", "add_1_lhs_input", *(["input_layernorm_input"] if i else []))))
        tensors[u + "mlp.up_proj_input_qdq.fake_quant.activation_post_process.eps"] = np.ones(1, np.float32)
    write_safetensors(folder / "model.safetensors", tensors)
    (folder / "config.json").write_text(json.dumps({**CONFIG, "model_type": a.architecture, "head_dim": a.head_dim, "linear_block_size": BLOCK}))
    return weights.Weights(a, lambda name, _: means.get(name))


class MllmGraphs(unittest.TestCase):
    def said(self, folder: Path, ids: list[int], layers: int | None = None) -> np.ndarray:
        """Logits of both graphs, a chunk and then token by token."""
        out = folder / "out"
        out.mkdir()
        list(mllm_graphs.write(folder, out, 24, 8, layers))
        of = arch.load(out / "arch.json")
        s = session.Decoder(of, session.cpu(out / "prefill.onnx"), session.cpu(out / "decode.onnx"), session.zeros(out))
        return np.concatenate([s.read(ids[:11]), *(s.step(s.decode, [t], 1) for t in ids[11:])])  # type: ignore[arg-type]

    def near(self, got: np.ndarray, want: np.ndarray) -> float:
        return compare.rows(want, got)["cosine"]

    def test_the_graph_means_what_is_stored(self) -> None:
        ids = list(np.random.default_rng(2).integers(0, 96, 19))
        for kind in ("qwen3", "qwen2", "llama"):
            with tempfile.TemporaryDirectory() as d:
                means = as_upstream(Path(d), made(model_type=kind, head_dim=16, biases=kind == "qwen2"))
                want = textbook(means, ids)
                self.assertGreater(self.near(self.said(Path(d), ids), want), 0.999, kind)

    def test_controls(self) -> None:
        """A nibble read without its sign, and block scales that are not turned, are another model."""
        ids = list(np.random.default_rng(2).integers(0, 96, 11))
        for name, wrong in (("signed", lambda n: n.astype(ml_dtypes.uint4)), ("levels", lambda flat, outputs, blocks: flat.reshape(blocks, outputs))):
            right = getattr(mllm_graphs, name)
            with tempfile.TemporaryDirectory() as d:
                want = textbook(as_upstream(Path(d), made(model_type="qwen3", head_dim=16)), ids)
                try:
                    setattr(mllm_graphs, name, wrong)
                    self.assertLess(self.near(self.said(Path(d), ids), want), 0.9, name)
                finally:
                    setattr(mllm_graphs, name, right)

    def test_a_truncated_twin(self) -> None:
        ids = list(np.random.default_rng(2).integers(0, 96, 11))
        with tempfile.TemporaryDirectory() as d:
            means = as_upstream(Path(d), made(model_type="qwen3", head_dim=16))
            means.arch = means.arch.sized(24, 8, 1)
            self.assertGreater(self.near(self.said(Path(d), ids, 1), textbook(means, ids)), 0.999)

    def test_what_is_wrong(self) -> None:
        def change(d: Path, name: str, a: np.ndarray | None) -> None:
            held = {n: np.array(v) for n, v in weights.safetensors(d / "model.safetensors")}
            write_safetensors(d / "model.safetensors", {n: v for n, v in {**held, name: a}.items() if v is not None})

        for name, a, says in (
            ("model.layers.0.self_attn.what_qdq.fake_quant.scale", np.ones(1, np.float32), "1 tensors of the model are used by nothing: .*what_qdq"),
            ("model.layers.1.mlp.up_proj.scale1", None, "has no tensor model.layers.1.mlp.up_proj.scale1"),
            ("model.layers.1.mlp.up_proj.scale1", np.zeros(2 * 128, np.uint8), "block scales of 1 to 16"),
            ("model.layers.1.mlp.up_proj.scale1", np.ones(4 * 128, np.uint8), "its block size"),
            ("model.layers.1.mlp.up_proj.weight", np.full((1, 1, 64, 128), -1, np.int8), "weights of 0 to 15"),
            ("model.norm.scale", np.zeros(1, np.float32), "model.norm: scale 0.0"),
            ("lm_head_input_qdq.fake_quant.zero_point", np.array([1 << 20], np.int32), "are not usable"),
            ("model.mllm_max_sin_embedding", np.zeros((1, 8, 16), np.uint16), "quantized for 8 tokens, and a cache of 24"),
        ):
            with tempfile.TemporaryDirectory() as d:
                as_upstream(Path(d), made(model_type="qwen3", head_dim=16))
                change(Path(d), name, a)
                (Path(d) / "out").mkdir()
                with self.assertRaisesRegex(Wrong, says):
                    list(mllm_graphs.write(Path(d), Path(d) / "out", 24, 8, None))

    def test_aliases(self) -> None:
        """Of tensors that are one and the same the file has one, and the other's name in its metadata."""
        ids = list(np.random.default_rng(2).integers(0, 96, 11))
        with tempfile.TemporaryDirectory() as d:
            want = textbook(as_upstream(Path(d), made(model_type="qwen3", head_dim=16)), ids)
            held = {n: np.array(v) for n, v in weights.safetensors(Path(d) / "model.safetensors")}
            first, other = (f"model.layers.{i}.self_attn.k_norm_output_qdq.fake_quant.scale" for i in (0, 1))
            held.pop(other)
            write_safetensors(Path(d) / "model.safetensors", held, {other: first})
            self.assertGreater(self.near(self.said(Path(d), ids), want), 0.999)


class Points(unittest.TestCase):
    def check(self, tensors: dict[str, tuple[float, int, int]], blocks: int = 1) -> dict[str, int]:
        wanted = {"points": {"a_q": [0.1, 3, "uint16"], "new_k": [0.5, 128, "uint8"]}, "blocks": ["m"]}
        graph = {
            n: {"data_type": kind, "quant_params": {"definition": 1, "encoding": 0, "scale_offset": {"scale": s, "offset": -z}}}
            for n, (s, z, kind) in tensors.items()
        }
        graph |= {f"m{i}": {"data_type": 0x308, "quant_params": {"encoding": 5}} for i in range(blocks)}
        with tempfile.TemporaryDirectory() as d:
            (Path(d) / "g.json").write_text(json.dumps({"graph": {"tensors": graph}}))
            (Path(d) / "g_tensor_log.json").write_text("{}")
            return qnngraph.check_points(qnngraph.read(Path(d)), wanted)

    def test_points(self) -> None:
        good = {"a_q": (0.1, 3, 0x416), "new_k": (0.5, 128, 0x408), "inner": (0.1, 3, 0x416)}
        self.assertEqual(self.check(good), {"points": 2, "tensors": 2, "blocks": 1})
        near = float(np.nextafter(np.float32(0.1), np.float32(1)))
        for more, says in (
            ({"a_q": (near, 3, 0x416)}, "a_q has scale"),
            ({"a_q": (0.1, 4, 0x416)}, "zero point 4"),
            ({"new_k": (0.5, 128, 0x416)}, "new_k has scale 0.5"),
            ({"own": (0.25, 0, 0x416)}, "own has scale 0.25"),
        ):
            with self.assertRaisesRegex(Wrong, says):
                self.check({**good, **more})
        with self.assertRaisesRegex(Wrong, "1 points are not there: new_k"):
            self.check({"a_q": good["a_q"]})
        with self.assertRaisesRegex(Wrong, "0 matrices are in blocks, 1 were"):
            self.check(good, blocks=0)
        with self.assertRaisesRegex(Wrong, "wrote down 2 graphs"):
            qnngraph.check_points([{}, {}], {})


class Quantizer(unittest.TestCase):
    def prepared(self, d: Path, config: dict[str, object], **files: str) -> dict[str, object]:
        (d / "in").mkdir()
        (d / "in" / "config.json").write_text(json.dumps(config))
        for name, text in files.items():
            (d / "in" / name.replace("__", ".")).write_text(text)
        mllm.prepare(d / "in", d / "to", 32)
        self.assertEqual(json.loads((d / "in" / "config.json").read_text()), config)  # the model itself stays
        return dict(json.loads((d / "to" / "config.json").read_text()))

    def test_config(self) -> None:
        """train.py finds in the config what a model of the hub lacks, and what it has stays."""
        for config in ({"head_dim": 128}, {"head_dim": 128, "linear_block_size": 16}):
            with tempfile.TemporaryDirectory() as d:
                self.assertEqual(self.prepared(Path(d), config), {**config, "linear_block_size": 32})
        new = {"rope_parameters": {"rope_theta": 1e6, "rope_type": "default"}}
        with tempfile.TemporaryDirectory() as d:
            self.assertEqual(self.prepared(Path(d), new)["rope_theta"], 1e6)

    def test_chat_template(self) -> None:
        for files, added in (({}, True), ({"tokenizer_config__json": '{"chat_template": "own"}'}, False), ({"chat_template__jinja": "own"}, False)):
            with tempfile.TemporaryDirectory() as d:
                self.prepared(Path(d), {}, **files)
                settings = Path(d) / "to" / "tokenizer_config.json"
                self.assertEqual(settings.is_file() and json.loads(settings.read_text()).get("chat_template") == mllm.PLAIN, added, files)

    def test_samples(self) -> None:
        long = "größer " * 150
        got = mllm.samples(f"{long}\n{long}\n\nshort\n\n{long}\n\n{long}", 2)
        self.assertEqual([len(s["text"]) for s in got], [2 * len(long) - 1, len(long) - 1])
        with self.assertRaisesRegex(Wrong, "no paragraph of 1024"):
            mllm.samples("ß" * 1023, 2)

    def test_canonical(self) -> None:
        """The same tensors and metadata are the same bytes, in whatever order they were."""
        a, b = np.arange(6, dtype=np.float32), np.ones(3, np.int8)
        files = []
        for metadata in ({"x": "1", "y": "2"}, {"y": "2", "x": "1"}):
            with tempfile.TemporaryDirectory() as d:
                at = Path(d) / "m.safetensors"
                write_safetensors(at, {"b": a, "a": b}, metadata)
                canonical.rewrite(at)
                files.append(at.read_bytes())
                back = dict(weights.safetensors(at))
                np.testing.assert_array_equal(back["b"], a)
                np.testing.assert_array_equal(back["a"], b)
                self.assertEqual(weights.metadata(at), {"x": "1", "y": "2"})
        self.assertEqual(*files)


class Plain(unittest.TestCase):
    def graph(self, shape: list[object]) -> onnx.ModelProto:
        value = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
        made = helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)
        return helper.make_model(helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [value], [made]))

    def test_open_shapes(self) -> None:
        self.assertEqual(plain.inputs(self.graph([1, 4])), {"x": (np.dtype(np.float32), (1, 4))})
        for shape in (["batch", 4], [None, 4], [0, 4]):
            with self.assertRaisesRegex(Wrong, "x has no fixed shape"):
                plain.inputs(self.graph(shape))

    def test_samples(self) -> None:
        wanted = plain.inputs(self.graph([1, 4]))
        for given, says in (
            ({}, "0 files"),
            ({"a": {"z": np.zeros((1, 4), np.float32)}}, "has no x; it has z"),
            ({"a": {"x": np.zeros((1, 5), np.float32)}}, r"x is float32 \[1, 5\]"),
            ({"a": {"x": np.zeros((1, 4))}}, "x is float64"),
        ):
            with tempfile.TemporaryDirectory() as d, self.assertRaisesRegex(Wrong, says):
                for name, arrays in given.items():
                    np.savez(Path(d) / name, **arrays)
                list(plain.samples(Path(d), wanted))

    def test_quantized_already(self) -> None:
        model = self.graph([1, 4])
        model.graph.node.append(helper.make_node("QuantizeLinear", ["y", "s"], ["q"]))
        with tempfile.TemporaryDirectory() as d:
            onnx.save(model, Path(d) / "g.onnx")
            with self.assertRaisesRegex(Wrong, "quantized already"):
                plain.quantize(Path(d) / "g.onnx", Path(d), Path(d), "a16w8")


class Quantize(unittest.TestCase):
    def test_lpbq(self) -> None:
        w = np.random.default_rng(3).standard_normal((128, 48)).astype(np.float32)
        squares = np.ones(128)
        squares[:4] = 1000.0
        q, blocks, scale = quantize.lpbq(w, 32, squares)
        self.assertTrue(q.min() >= -8 and q.max() <= 7 and blocks.min() >= 1 and blocks.max() <= 15)
        back = q.reshape(4, 32, 48) * (blocks * scale)[:, None]
        error = ((back.reshape(128, 48) - w) ** 2 * squares[:, None]).sum()
        even, eb, es = quantize.lpbq(w, 32, None)
        other = ((even.reshape(4, 32, 48) * (eb * es)[:, None]).reshape(128, 48) - w) ** 2
        self.assertLess(error, (other * squares[:, None]).sum())  # what matters more is nearer
        self.assertLess(other.mean(), 0.02)
        with self.assertRaisesRegex(Wrong, "blocks of 48"):
            quantize.lpbq(w, 48, None)

    def test_per_output(self) -> None:
        w = np.random.default_rng(4).standard_normal((64, 8)).astype(np.float32) * np.arange(1, 9)
        q, scale = quantize.per_output(w, 127)
        np.testing.assert_allclose(q * scale, w, atol=float(scale.max()) * 0.51)


class Rotation(unittest.TestCase):
    def test_llama3(self) -> None:
        scaling = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
        a = arch.from_config({**CONFIG, "head_dim": 128, "rope_theta": 500000.0, "rope_scaling": scaling})
        got, base = a.frequencies(), 500000.0 ** -(np.arange(0, 128, 2) / 128)
        self.assertEqual(got[0], base[0])  # short waves stay
        self.assertAlmostEqual(got[-1], base[-1] / 8)  # long ones are stretched
        self.assertTrue((np.diff(got) < 0).all())
        with self.assertRaisesRegex(Wrong, "yarn"):
            arch.from_config({**CONFIG, "rope_scaling": {"rope_type": "yarn"}}).frequencies()


DEFAULTED = ("num_key_value_heads", "rms_norm_eps", "rope_theta")
SIZES = {key: value for key, value in CONFIG.items() if key not in DEFAULTED}


class Defaults(unittest.TestCase):
    def test_defaults(self) -> None:
        """A config has what transformers takes for a key that is missing or null."""
        rope = ("rope_theta", "rope_scaling", "rope_parameters")
        nulls = dict.fromkeys(("head_dim", "num_key_value_heads", "rms_norm_eps", "hidden_act", *rope))
        for kind, head_dim in (("llama", 16), ("qwen2", 16), ("qwen3", 128)):
            a = arch.from_config({**SIZES, "model_type": kind})
            self.assertEqual((a.kv_heads, a.head_dim, a.epsilon), (4, head_dim, 1e-6), kind)
            self.assertEqual((a.theta, a.scaling), (10000.0, {}), kind)
            self.assertEqual(arch.from_config({**SIZES, **nulls, "model_type": kind}), a)

    def test_transformers_5(self) -> None:
        scaling = {"rope_type": "linear", "factor": 2.0}
        old = {**SIZES, "model_type": "llama", "torch_dtype": "bfloat16", "rope_theta": 5e5, "rope_scaling": scaling}
        new = {**SIZES, "model_type": "llama", "dtype": "bfloat16", "rope_parameters": {"rope_theta": 5e5, **scaling}}
        self.assertEqual(arch.from_config(new), arch.from_config(old))


class Hostile(unittest.TestCase):
    def test_configs(self) -> None:
        for more, says in (
            ({"model_type": "mamba"}, "mamba"),
            ({"hidden_size": -1}, "hidden_size"),
            ({"vocab_size": 1 << 40}, "vocabulary"),
            ({"num_key_value_heads": 3}, "do not go together"),
            ({"hidden_act": "gelu"}, "gelu"),
        ):
            with self.assertRaisesRegex(Wrong, says):
                arch.from_config({**CONFIG, **more})

    def test_safetensors(self) -> None:
        good = json.dumps({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
        for header, length in ((good, 1 << 60), (good.replace(b"0, 8", b"0, 9"), None), (good.replace(b"[2]", b"[9999]"), None)):
            with tempfile.NamedTemporaryFile(suffix=".safetensors") as f:
                f.write((length or len(header)).to_bytes(8, "little") + header + b"\0" * 8)
                f.flush()
                with self.assertRaises(Wrong):
                    list(weights.safetensors(Path(f.name)))

    def test_external_data(self) -> None:
        with tempfile.TemporaryDirectory() as d:
            (Path(d) / tensors.DATA).write_bytes(b"\0" * 64)
            for offset, length in ((0, 4096), (32, 64), (0, 16)):
                with self.assertRaises(Wrong):
                    tensors.read(Path(d), tensors.external("t", 1, [16], offset, length))


class Context(unittest.TestCase):
    target = context.Target("SM8750", 69, 79, 8)
    graph = {"name": "g", "inputs": 1, "outputs": 1}

    def test_not_what_was_asked_for(self) -> None:
        right = context.Facts("b", 69, "SM8750", 79, 8, 2, [self.graph])
        context.check([right], [self.target], 1)
        context.check([right], [self.target], 1, 2)
        for of, says in (
            (context.Facts("b", 30, "SM8350", 68, 4, 2, [self.graph]), "arch is v68, v79 was asked for"),
            (context.Facts("b", 69, "SM8750", 79, 4, 2, [self.graph]), "VTCM is 4 MB"),
            (context.Facts("b", 69, "SM8750", 79, 8, 2, []), "number of graphs is 0"),
            (context.Facts("b", 69, "SM8750", 79, 8, 3, [self.graph]), "optimization is 3, 2 was asked for"),
        ):
            with self.assertRaisesRegex(Wrong, says):
                context.check([of], [self.target], 1, 2)

    def test_several(self) -> None:
        other = context.Target("SM8550", 43, 73, 8)
        found = [context.Facts("b", m, s, a, 8, 2, [self.graph]) for m, s, a in ((43, "SM8550", 73), (69, "SM8750", 79))]
        context.check(found, [self.target, other], 1)
        with self.assertRaisesRegex(Wrong, "has 1 contexts, for SM8550; SM8750, SM8550 were asked for"):
            context.check(found[:1], [self.target, other], 1)
        with self.assertRaisesRegex(Wrong, "not what was asked for, SM8650: its SoC model is 43"):
            context.check(found, [self.target, context.Target("SM8650", 57, 75, 8)], 1)

    def test_no_binary(self) -> None:
        child, command.child = command.child, lambda *_: {"nodes": {}}
        try:
            with tempfile.TemporaryDirectory() as d:
                (Path(d) / "g.onnx").write_bytes(b"")
                with self.assertRaisesRegex(Wrong, "left 0 context binaries"):
                    context.compile_graphs([Path(d) / "g.onnx"], Path(d) / "out", [self.target], context.Options(Path(d), placement.name))
        finally:
            command.child = child


def program(name: str) -> Any:
    """A program as a module: it does not run."""
    with mock.patch.object(command, "run"):
        return importlib.import_module(name)


class Assigned(unittest.TestCase):
    """Why nodes stay on the CPU, as the provider's log has it."""

    LOG = """2026-11-27 09:10:00.000000001 [V:onnxruntime:, x.cc:1 f] Validation PASSED for 1 nodes in NodeUnit (Relu) :
\tOperator type: Relu Node name: kept Node index: 1
2026-11-27 09:10:00.000000002 [V:onnxruntime:, x.cc:1 f] Validation FAILED for 3 nodes in NodeUnit (Cosh) :
\tOperator type: DequantizeLinear Node name: x dq Node index: 2
\tOperator type: Cosh Node name: bent Node index: 3
\tOperator type: QuantizeLinear Node name:  Node index: 4
\tREASON : no such
  op
2026-11-27 09:10:00.000000003 [V:onnxruntime:, x.cc:1 f] something else
\tREASON : of nobody
"""

    def test_reasons(self) -> None:
        self.assertEqual(assigned.reasons(self.LOG), {"x dq": "no such op", "bent": "no such op"})
        self.assertEqual(assigned.reasons(""), {})

    def test_dropped(self) -> None:
        said = "2026-11-27 09:10:00.000000001 [E:onnxruntime:, ep.cc:1 f] QNN set nodes that cannot be fused together. \nPlease ensure that.\n"
        self.assertEqual(assigned.dropped(self.LOG + said + self.LOG), "QNN set nodes that cannot be fused together. Please ensure that.")
        self.assertEqual(assigned.dropped(self.LOG), "")

    def test_whole(self) -> None:
        of = program("htp_compile")
        for stay, dropped, wants in (
            (["a (Cosh): none such"], "", ["The NPU takes no node of g.onnx: a (Cosh): none such. Replace"]),
            ([], "", ["The NPU takes no node of g.onnx. Replace"]),
            (["a (Cosh)"], "QNN set nodes", ["ONNX Runtime leaves nodes of g.onnx to the CPU that the NPU takes", "QNN set nodes\n", "in their place: a (Cosh)."]),
        ):
            said = of.whole("g.onnx", stay, dropped)
            for want in wants:
                self.assertIn(want, said)
            self.assertNotIn(": .", said)

    def test_no_reason(self) -> None:
        """A second compile that fails takes the reasons away, and not what was compiled."""
        of = program("htp_context")
        wrong = mock.Mock(side_effect=Wrong("it was killed"))
        with tempfile.TemporaryDirectory() as d, mock.patch.object(command, "child", wrong), mock.patch("sys.stderr", io.StringIO()) as said:
            graph = Path(d) / "g.onnx"
            graph.write_bytes(b"")
            (Path(d) / "out").mkdir()
            nodes = {"g": [{"on": "CPU", "name": "a", "op": "Cosh"}]}
            of.explain([graph], nodes, context.Target("SM8750", 69, 79, 8), context.Options(Path(d), placement.name), Path(d) / "out")
            self.assertEqual(nodes, {"g": [{"on": "CPU", "name": "a", "op": "Cosh"}]})
            self.assertIn("Why nodes of g.onnx stay on the CPU is not known, the compile that was to tell failed: it was killed", said.getvalue())
            self.assertEqual(list((Path(d) / "out").iterdir()), [])


class Placement(unittest.TestCase):
    def test_named(self) -> None:
        node = helper.make_node
        made = [node("Relu", ["x"], ["a"]), node("Split", ["a"], ["", "b"], "two"), node("Cosh", ["b"], ["c"], "two"), node("Relu", ["c"], ["y"], "a"), node("Print", ["y"], [])]
        with tempfile.TemporaryDirectory() as d:
            given = Path(d) / "given.onnx"
            onnx.save(self.model(made), given)
            before, linked = given.read_bytes(), Path(d) / "g.onnx"
            linked.hardlink_to(given)
            placement.name(linked)
            self.assertEqual([n.name for n in onnx.load(linked).graph.node], ["a_", "b", "c", "a", "Print"])
            self.assertEqual(given.read_bytes(), before)
            again = linked.read_bytes()
            placement.name(linked)
            self.assertEqual(linked.read_bytes(), again)
            linked.write_bytes(b"no graph")
            placement.name(linked)

    def test_reads(self) -> None:
        """What a node's graphs use from outside it takes, too."""
        node, value = helper.make_node, helper.make_tensor_value_info
        inner = helper.make_graph([node("Add", ["own", "deep"], ["z"])], "i", [value("own", TensorProto.FLOAT, [])], [value("z", TensorProto.FLOAT, [])])
        body = helper.make_graph([node("Mul", ["outside", "w"], ["m"]), node("If", ["m"], ["n"], then_branch=inner)], "b", [], [value("n", TensorProto.FLOAT, []), value("given", TensorProto.FLOAT, [])])
        body.initializer.append(helper.make_tensor("w", TensorProto.FLOAT, [1], [1.0]))
        self.assertEqual(placement.reads(node("If", ["c", ""], ["y"], then_branch=body)), ["c", "outside", "deep", "given"])
        self.assertEqual(placement.reads(node("Mul", ["x", "x"], ["y"])), ["x", "x"])

    def model(self, nodes: list[onnx.NodeProto]) -> onnx.ModelProto:
        value = helper.make_tensor_value_info
        ends = [value("x", TensorProto.FLOAT, [1, "n"]), value("w", TensorProto.INT8, [4])], [value("y", TensorProto.FLOAT16, [1, 4])]
        w = helper.make_tensor("w", TensorProto.INT8, [4], [1, 2, 3, 4])
        return helper.make_model(helper.make_graph(nodes, "g", *ends, [w], value_info=[value("kept", TensorProto.UINT4, [2, 2])]))

    def test_placed(self) -> None:
        node = helper.make_node
        original = self.model([node("Relu", ["x"], ["seen"], "a"), node("Relu", ["seen"], ["kept"], "b"), node("Cosh", ["kept", "w", ""], ["bent"], "c"), node("Relu", ["bent"], ["y"], "d")])
        compiled = self.model([node("EPContext", ["x"], ["kept"]), node("Cosh", ["kept", "w", ""], ["bent"], "c"), node("EPContext", ["bent"], ["y"])])
        nodes = [{"on": "NPU", "name": "d", "op": "Relu", "part": 0}, *({"on": "NPU", "name": n, "op": "Relu", "part": 1} for n in "ab"), {"on": "CPU", "name": "c", "op": "Cosh", "why": "none"}]
        got = placement.placed("g", compiled, nodes, original)
        self.assertEqual(got["parts"], [{"nodes": 2, "inputs": ["x"], "outputs": ["kept"]}, {"nodes": 1, "inputs": ["bent"], "outputs": ["y"]}])
        self.assertEqual(got["cpu"], [{"name": "c", "op": "Cosh", "inputs": ["kept", "w"], "outputs": ["bent"], "why": "none"}])
        self.assertEqual(
            got["tensors"],
            {
                "bent": {"type": "", "shape": None},
                "kept": {"type": "uint4", "shape": [2, 2]},
                "w": {"type": "int8", "shape": [4], "constant": True},
                "x": {"type": "float32", "shape": [1, -1]},
                "y": {"type": "float16", "shape": [1, 4]},
            },
        )


class Container(unittest.TestCase):
    def made(self, d: str, **members: bytes) -> Path:
        at = Path(d) / "x.dlc"
        with zipfile.ZipFile(at, "w") as z:
            for name, data in members.items():
                z.writestr(name.replace("_", "."), data)
        return at

    def test_times(self) -> None:
        stamp = '{"timestamp": "%s UTC"}'
        with tempfile.TemporaryDirectory() as d:
            at = self.made(d, dlc_metadata=(stamp % "2026-11-23 11:49:14").encode(), model=(stamp % "2026-11-23 11:49:14").encode())
            before = at.read_bytes()
            dlc.without_times(at)
            self.assertEqual(at.read_bytes(), before.replace(b"2026-11-23 11:49:14", b"1980-01-01 00:00:00", 1))  # the first member's alone
            (Path(d) / "other").write_bytes(b"PK\x03\x04 and no more")
            with self.assertRaisesRegex(Wrong, "no DLC"):
                dlc.members(Path(d) / "other")

    def test_contexts(self) -> None:
        with tempfile.TemporaryDirectory() as d:
            self.assertEqual(dlc.contexts(self.made(d, htp_cache_sm8750_0=b"one", model=b"two")), {"htp.cache.sm8750.0": b"one"})


class Made(unittest.TestCase):
    """What the compiler made of a graph."""

    def tensor(self, kind: int, encoding: int = 0) -> dict[str, object]:
        return {"data_type": kind, "quant_params": {"definition": 1, "encoding": encoding, "scale_offset": {"offset": 3, "scale": 0.5}}}

    def made(self, out: int) -> dict[str, object]:
        nodes = {"m": {"type": "MatMul", "input_names": ["x", "w"], "output_names": ["y"]}}
        return {"graph": {"nodes": nodes, "tensors": {"x": self.tensor(out), "w": self.tensor(0x308, 5), "y": self.tensor(out)}}}

    def model(self, op: str, quantized: bool) -> onnx.ModelProto:
        value = helper.make_tensor_value_info
        x, w = value("x", TensorProto.FLOAT, [4, 4]), value("w", TensorProto.FLOAT, [4, 4])
        nodes = []
        if quantized:
            x, w = value("x", TensorProto.UINT16, [4, 4]), value("w", TensorProto.INT8, [4, 4])
            nodes = [helper.make_node("DequantizeLinear", [n, n + "s"], [n + "d"]) for n in "xw"] + [helper.make_node("Transpose", ["wd"], ["wt"])]
        ends = ["xd", "wt"] if quantized else ["x", "w"]
        nodes.append(helper.make_node(op, ends, ["y"], domain="com.microsoft" if op == "MatMulNBits" else ""))
        return helper.make_model(helper.make_graph(nodes, "g", [x, w], [value("y", TensorProto.FLOAT, [4, 4])]))

    def test_garbage(self) -> None:
        got = qnngraph.without_garbage(self.made(0x416))["graph"]["tensors"]
        self.assertEqual(got["x"]["quant_params"]["scale_offset"], {"offset": 3, "scale": 0.5})
        self.assertNotIn("scale_offset", got["w"]["quant_params"])

    def test_floats(self) -> None:
        integer, float16 = self.made(0x416), self.made(0x216)
        qnngraph.check("g.onnx", self.model("MatMul", True), [integer])
        qnngraph.check("g.onnx", self.model("MatMul", False), [float16])  # as it says itself
        for model in (self.model("MatMul", True), self.model("MatMulNBits", False)):
            with self.assertRaisesRegex(Wrong, r"16-bit floats of 1: m \(MatMul\)"):
                qnngraph.check("g.onnx", model, [float16])


class Child(unittest.TestCase):
    def run_child(self, body: str) -> dict[str, object]:
        with tempfile.TemporaryDirectory() as d:
            for p in Path(PROGRAMS).glob("*.py"):
                (Path(d) / p.name).write_text(p.read_text())
            (Path(d) / "part.py").write_text(f"import os\nimport command\nfrom arch import Wrong\n\n\ndef part(a):\n    {body}\n\n\ncommand.run(part)\n")
            own, command.__file__ = command.__file__, str(Path(d) / "command.py")
            try:
                return command.child("part", {"n": 3}, Path.cwd())
            finally:
                command.__file__ = own

    def test_report(self) -> None:
        self.assertEqual(self.run_child("return {'twice': 2 * a['n']}"), {"twice": 6})

    def test_a_crash_is_a_sentence(self) -> None:
        with self.assertRaisesRegex(Wrong, r"crashed with signal 11 \(Segmentation fault\) while it did part"):
            self.run_child("os.kill(os.getpid(), 11)")

    def test_what_is_wrong_comes_through(self) -> None:
        with self.assertRaisesRegex(Wrong, "this is wrong"):
            self.run_child("raise Wrong('this is wrong')")
        with self.assertRaisesRegex(Wrong, "reported nothing"):
            self.run_child("pass")


class Apart(unittest.TestCase):
    def test_one_after_the_other(self) -> None:
        where: list[int] = []

        def part(n: int) -> int:
            time.sleep(0.02 * (3 - n))  # the later ones would be done first
            where.append(threading.get_ident())
            return n

        self.assertEqual(command.apart([functools.partial(part, n) for n in range(3)]), [0, 1, 2])
        self.assertEqual(len(set(where)), 3)
        self.assertEqual(where[2], threading.get_ident())

    def test_nothing_after_an_error(self) -> None:
        begun: list[int] = []

        def part(n: int) -> None:
            begun.append(n)
            if n == 1:
                raise Wrong("this is wrong")

        with self.assertRaisesRegex(Wrong, "this is wrong"):
            command.apart([functools.partial(part, n) for n in range(3)])
        self.assertEqual(begun, [0, 1])


class Compare(unittest.TestCase):
    def test_rows(self) -> None:
        a = np.random.default_rng(5).standard_normal((4, 32)).astype(np.float32)
        same = compare.rows(a, a)
        self.assertAlmostEqual(same["cosine_min"], 1)
        self.assertEqual((same["difference_max"], same["argmax_equal"]), (0, 1))
        b = a.copy()
        b[2] = -b[2]
        other = compare.rows(a, b)
        self.assertAlmostEqual(other["cosine_min"], -1)
        self.assertEqual(other["argmax_equal"], 0.75)
        with self.assertRaisesRegex(Wrong, "no numbers"):
            compare.rows(a, np.full_like(a, np.nan))

    def test_perplexity(self) -> None:
        self.assertAlmostEqual(compare.perplexity(np.zeros((5, 7)), [1, 2, 3, 4, 5]), 7)


class Turned(unittest.TestCase):
    """A decoder whose residual stream is turned."""

    def test_orthogonal(self) -> None:
        for n in (1, 2, 12, 64, 576):
            turn = rotate.orthogonal(n)
            np.testing.assert_allclose(turn @ turn.T, np.eye(n), atol=1e-12)
        one = np.zeros(576)
        one[5] = 1.0
        self.assertLess(np.abs(one @ rotate.orthogonal(576)).max(), 0.07)  # what stood in one column stands in all

    def test_the_same_words(self) -> None:
        ids = [int(i) for i in np.random.default_rng(2).integers(0, 96, 11)]
        for kind in ("llama", "qwen3", "qwen2"):
            w = made(model_type=kind, head_dim=16, hidden_size=48, biases=kind == "qwen2")
            with tempfile.TemporaryDirectory() as d:
                source = Path(d) / "source"
                source.mkdir()
                decoder.write(source, w.arch, w)
                to = rotate.write(source, w.arch, command.fresh(d + "/turned"))
                for graph, tokens_now in (("prefill", ids), ("decode", ids[:1])):
                    run = session.cpu(to / f"{graph}.onnx")
                    got = session.Decoder(w.arch, run, run, None)
                    rows = got.read(tokens_now) if graph == "prefill" else got.step(run, tokens_now, 1)
                    np.testing.assert_allclose(rows, textbook(w, tokens_now), rtol=2e-3, atol=3e-4, err_msg=f"{kind} {graph}")
                norms = {t.name: t for t in onnx.load(to / "prefill.onnx").graph.initializer if t.name.endswith("mlp_norm")}
                self.assertTrue(norms and all((onnx.numpy_helper.to_array(t) == 1).all() for t in norms.values()))

    def test_it_spreads_what_reaches_far(self) -> None:
        w = made(hidden_size=64)
        embedding = w["embedding"].copy()
        embedding[:, 7] *= 100
        with tempfile.TemporaryDirectory() as d:
            (Path(d) / "source").mkdir()
            decoder.write(Path(d) / "source", w.arch, changed(w, {"embedding": embedding}))
            to = rotate.write(Path(d) / "source", w.arch, command.fresh(d + "/turned"))
            seen = [calibrate.observe(at, w.arch, [[1, 2, 3, 4, 5]]).squares["0.q"] for at in (Path(d) / "source", to)]
        before, after = (math.sqrt(p.max() / np.median(p)) for p in seen)
        self.assertGreater(before, 4 * after)


def changed(w: weights.Weights, tensors_now: dict[str, np.ndarray]) -> weights.Weights:
    """The same weights with others in the places of some."""

    class Changed(weights.Weights):
        def __getitem__(self, name: str) -> np.ndarray:
            return tensors_now.get(name, w[name])

        def has(self, name: str) -> bool:
            return w.has(name)

    return Changed(w.arch, w._read)


def planted(w: weights.Weights, layer: int, far: float) -> weights.Weights:
    """The same function, but that a layer's down has rows which are much larger than the others, and what goes into them is as much smaller."""
    up, down = w[f"{layer}.up"].copy(), w[f"{layer}.down"].copy()
    up[:, :3] /= far
    down[:3] *= far
    return changed(w, {f"{layer}.up": up, f"{layer}.down": down})


class Methods(unittest.TestCase):
    """Methods of quantization, each as a graph that runs on the processor."""

    ids = [int(i) for i in np.random.default_rng(2).integers(0, 96, 16)]
    texts = [[int(i) for i in np.random.default_rng(s).integers(0, 96, 16)] for s in range(4)]

    def quantized(self, w: weights.Weights, method: str, high: tuple[str, ...] = ()) -> tuple[float, onnx.ModelProto]:
        """The cosine of both graphs' logits to the float model's, and prefill."""
        with tempfile.TemporaryDirectory() as d:
            source, out = Path(d) / "source", Path(d) / "out"
            source.mkdir()
            out.mkdir()
            decoder.write(source, w.arch, w)
            quantize.write(source, out, method, 32, calibrate.observe(source, w.arch, self.texts), "uint16", w.arch, 1, high)
            s = session.Decoder(w.arch, session.cpu(out / "prefill.onnx"), session.cpu(out / "decode.onnx"), session.zeros(out))
            rows = np.concatenate([s.read(self.ids[:9]), *(s.step(s.decode, [t], 1) for t in self.ids[9:])])  # type: ignore[arg-type]
            return compare.rows(textbook(w, self.ids), rows)["cosine"], onnx.load(out / "prefill.onnx")

    def kinds(self, g: onnx.GraphProto, tensor: str) -> set[str]:
        """The types that a tensor is rounded to."""
        zeros = {t.name: str(np.dtype(helper.tensor_dtype_to_np_dtype(t.data_type))) for t in g.initializer}
        return {zeros[n.input[2]] for n in g.node if n.op_type == "QuantizeLinear" and n.input[0] == tensor}

    def test_mobilequant(self) -> None:
        w = made()
        cosine, model = self.quantized(w, "mobilequant")
        self.assertGreater(cosine, 0.99)
        g = model.graph
        self.assertEqual(self.kinds(g, "layer0_q_exact"), {"uint8"})
        self.assertEqual(self.kinds(g, "layer0_mlp_norm_now"), {"uint8"})
        for wide in ("layer0_scores_masked_exact", "layer0_attention_exact", "layer0_mlp_norm_exact", "layer0_gate_sigmoid_exact", "logits_exact"):
            self.assertEqual(self.kinds(g, wide), {"uint16"}, wide)

    def test_high_precision_layers(self) -> None:
        w = planted(made(), 1, 60)
        bad, _ = self.quantized(w, "a16w4")
        mended, model = self.quantized(w, "a16w4", ("1.down",))
        layer, _ = self.quantized(w, "a16w4", ("1",))
        self.assertGreater(1 - bad, 2 * (1 - mended))
        self.assertGreater(layer, mended)
        kinds = {t.name: t.data_type for t in model.graph.initializer}
        self.assertEqual((kinds["1.down_q"], kinds["1.up_q"]), (TensorProto.INT8, TensorProto.INT4))
        with self.assertRaisesRegex(Wrong, "high_precision_layers: the model has no 9, 9.down"):
            self.quantized(w, "a16w4", ("9", "1", "9.down"))


class SideBySide(unittest.TestCase):
    def test_several_in_a_chunk_are_as_each_alone(self) -> None:
        for kind in ("llama", "qwen3"):
            w = made(model_type=kind, head_dim=16)
            texts = [[3, 5, 7], [1, 2], [9, 9, 8, 4], [6], [2, 4, 6, 8, 10, 12, 14, 16]]
            with tempfile.TemporaryDirectory() as d:
                decoder.write(Path(d), w.arch, w)
                s = session.Decoder(w.arch, session.cpu(Path(d) / "prefill.onnx"), None, None)
                rows = s.after_each(texts)
                for row, text in zip(rows, texts, strict=True):
                    np.testing.assert_allclose(row, textbook(w, text)[-1], rtol=2e-3, atol=2e-4, err_msg=kind)
                with self.assertRaisesRegex(Wrong, "9 tokens does not fit into a chunk of 8"):
                    s.after_each([[1] * 9])

    def test_of_upstreams_graphs(self) -> None:
        texts = [[3, 5, 7], [1, 2], [9, 9, 8]]
        with tempfile.TemporaryDirectory() as d:
            means = as_upstream(Path(d), made(model_type="qwen3", head_dim=16))
            out = Path(d) / "out"
            out.mkdir()
            list(mllm_graphs.write(Path(d), out, 24, 8, None))
            of = arch.load(out / "arch.json")
            rows = session.Decoder(of, session.cpu(out / "prefill.onnx"), None, session.zeros(out)).after_each(texts)
            self.assertGreater(compare.rows(np.stack([textbook(means, t)[-1] for t in texts]), rows)["cosine"], 0.999)


class Questions(unittest.TestCase):
    def words(self, folder: Path) -> tokens.Text:
        from tokenizers import Tokenizer, models, pre_tokenizers

        vocabulary = {w: i for i, w in enumerate(("?", "The", "sky", "is", "blue", "red", "wet"))}
        t = Tokenizer(models.WordLevel(vocabulary, unk_token="?"))
        t.pre_tokenizer = pre_tokenizers.Whitespace()
        t.save(str(folder / "tokenizer.json"))
        return tokens.Text(folder)

    def test_no_tokenizer(self) -> None:
        with tempfile.TemporaryDirectory() as d, self.assertRaisesRegex(Wrong, "no tokenizer.json. Copy the file"):
            tokens.Text(Path(d))

    def test_read(self) -> None:
        with tempfile.TemporaryDirectory() as d:
            at, words = Path(d) / "q.txt", self.words(Path(d))
            at.write_text("# what is so\n\nThe sky is | blue | red\nThe sky is | black | white\nThe sky is the sky is the sky | blue | red\n")
            got = choices.read(at, words, 5)
            self.assertEqual(got, [choices.Question([1, 2, 3], [4, 5])])  # of the others the answers begin alike, or there is no place
            logits = np.zeros((1, 7))
            logits[0, 5] = 1
            self.assertEqual(choices.picked(got, logits), [1])
            for line in ("The sky is", "The sky is | blue", " | blue | red", "The sky is | blue | "):
                at.write_text("\n" + line + "\n")
                with self.assertRaisesRegex(Wrong, "q.txt:2: a question is"):
                    choices.read(at, words, 5)

    def test_ours(self) -> None:
        """Each has a right and two wrong answers, all different, and no sentence is there twice."""
        lines = [x for x in (Path(PROGRAMS).parent / "texts" / "choices.txt").read_text().splitlines() if x and not x.startswith("#")]
        parts = [[p.strip() for p in line.split("|")] for line in lines]
        self.assertTrue(30 <= len(parts) == len({p[0] for p in parts}))
        self.assertTrue(all(len(p) == len(set(p)) == 4 for p in parts))


class Foreign(unittest.TestCase):
    def graph(self, folder: Path, name: str, w: np.ndarray, location: str = "") -> Path:
        value = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 64])
        out = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 64])
        t = onnx.numpy_helper.from_array(w, "w")
        if location:
            t = tensors.external("w", TensorProto.FLOAT, list(w.shape), 0, w.nbytes)
            t.external_data[0].value = location
        model = helper.make_model(helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], name, [value], [out], [t]))
        onnx.save(model, folder / f"{name}.onnx")
        return folder / f"{name}.onnx"

    def test_equal_tensors_are_written_once(self) -> None:
        r = np.random.default_rng(3)
        a, b = (r.standard_normal((64, 64)).astype(np.float32) for _ in range(2))
        with tempfile.TemporaryDirectory() as d:
            graphs = {n: onnx.load(self.graph(Path(d), n, w)) for n, w in (("one", a), ("two", a), ("three", b))}
            out = command.fresh(d + "/out")
            foreign.write(graphs, out)
            self.assertEqual((out / tensors.DATA).stat().st_size, a.nbytes + b.nbytes)
            for n, w in (("one", a), ("two", a), ("three", b)):  # two tensors of one name and of other bytes stay apart
                np.testing.assert_array_equal(onnx.numpy_helper.to_array(onnx.load(out / f"{n}.onnx").graph.initializer[0]), w)

    def test_what_is_refused(self) -> None:
        w = np.zeros((64, 64), np.float32)
        with tempfile.TemporaryDirectory() as d:
            at = self.graph(Path(d), "g", w, "../secret")
            for location in ("../secret", "nothing.bin"):
                self.graph(Path(d), "g", w, location)
                with self.assertRaisesRegex(Wrong, "The tensor w of g.onnx is not where its graph says"):
                    foreign.whole(at)
            self.graph(Path(d), "g", w)
            with mock.patch.object(foreign, "MOST", 1000), self.assertRaisesRegex(Wrong, "takes graphs of 0.0 GB at most"):
                foreign.whole(at)
            self.assertEqual(foreign.graphs(Path(d)), [at])
            model = onnx.load(at)
            model.graph.node.append(helper.make_node("QuantizeLinear", ["y", "s"], ["q"]))
            onnx.save(model, at)
            with self.assertRaisesRegex(Wrong, "g.onnx is quantized already"):
                foreign.graphs(Path(d))
            with self.assertRaisesRegex(Wrong, "no samples for g"):
                list(foreign.samples(Path(d), "g"))

    def test_quiet(self) -> None:
        with tempfile.TemporaryDirectory() as d:
            log = f"{d}/log"
            with quiet.output(log):
                subprocess.run(["sh", "-c", "echo said; echo complained >&2"], check=True)
            self.assertEqual(Path(log).read_text(), "said\ncomplained\n")
            with self.assertRaisesRegex(Wrong, "complained\nKeyError: 'x'"):
                with quiet.output(log):
                    raise KeyError("x")
            with self.assertRaisesRegex(Wrong, "^as it is$"):
                with quiet.output(log):
                    raise Wrong("as it is")


# What accuracy is given where there is nothing else, and where it writes.
NOTHING: dict[str, Any] = {"contexts": {}, "compile_times": {}, "times": {}, "cpu_outputs": {}, "truncated_outputs": {}} | {
    "truncated_reference": "",
    "tokenizer": "",
    "match_threshold": 0.9,
    "title": "",
}
FILES = {"table": "table.json", "rows": "rows.json", "first_below_min": "bad.json", "mismatches": "wrong.json"}

TEMPLATE = """{{ bos_token }}{% for m in messages %}<|im_start|>{{ m['role'] }}
{{ m['content'] }}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""


def model_folder(at: Path) -> weights.Weights:
    """A Hugging Face folder of two layers with a tokenizer of bytes and a chat template."""
    from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers
    from tokenizers import decoders as text_decoders

    t = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}, merges=[]))
    t.pre_tokenizer, t.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), text_decoders.ByteLevel()
    t.add_special_tokens([AddedToken(w, special=True, normalized=False) for w in ("<s>", "<|im_start|>", "<|im_end|>", "</s>")])
    config = {**CONFIG, "vocab_size": 260}
    w = made(**config)
    named = {f"model.layers.{i}.{hf}": f"{i}.{k}" for i in range(2) for k, (hf, _) in weights.LAYER.items() if not k.endswith(("_bias", "q_norm", "k_norm"))}
    named |= {hf: k for k, (hf, _) in weights.TOP.items()}
    header, data = {}, b""
    for hf, ours in named.items():
        a = w[ours].T if ours == "head" or ours.rpartition(".")[2] in weights.MATRICES else w[ours]
        raw = np.ascontiguousarray(a, np.float32).tobytes()
        header[hf] = {"dtype": "F32", "shape": list(a.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    head = json.dumps(header).encode()
    at.mkdir()
    (at / "model.safetensors").write_bytes(len(head).to_bytes(8, "little") + head + data)
    (at / "config.json").write_text(json.dumps(config))
    (at / "tokenizer.json").write_text(t.to_str())
    (at / "tokenizer_config.json").write_text(json.dumps({"chat_template": TEMPLATE, "bos_token": {"content": "<s>"}, "eos_token": "</s>"}))
    return w


class Parts(unittest.TestCase):
    def test_layers(self) -> None:
        a = dataclasses.replace(made().arch, layers=30)
        for count in range(1, 31):
            counts = parts.layers(a, "a16w8", count)
            self.assertEqual((len(counts), sum(counts)), (count, 30))
            self.assertGreaterEqual(min(counts), 1)
        heavy = dataclasses.replace(a, vocabulary=a.vocabulary * 100)
        self.assertLess(parts.layers(heavy, "a16w8", 2)[0], 15)  # the embedding is larger than the head
        self.assertGreater(parts.layers(dataclasses.replace(heavy, outside=True), "a16w8", 2)[0], 15)
        with self.assertRaisesRegex(Wrong, "cannot be cut into 31"):
            parts.layers(a, "lpbq", 31)


class Programs(unittest.TestCase):
    """The programs as steps run them, from a model's folder to what accuracy says."""

    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.at = Path(self.folder.name)
        self.weights = model_folder(self.at / "model")
        self.program("onnx_llm", model="model", context_len=160, ar_len=16, embedding="inside", out="float")

    def program(self, name: str, **args: object) -> str:
        """Runs one; gives what it says is wrong."""
        (self.at / "args.json").write_text(json.dumps(args))
        r = subprocess.run(
            [sys.executable, "-s", str(Path(PROGRAMS).resolve() / f"{name}.py"), "args.json"], cwd=self.at, capture_output=True, text=True, check=False
        )
        self.assertNotIn("Traceback", r.stderr)
        return r.stderr if r.returncode else ""

    def say(self, graphs: str, out: str, **more: object) -> dict[str, Any]:
        (self.at / "text.txt").write_text("The sea is calm, and the lamp is lit.")
        said = {"graphs": graphs, "prompt": PROMPT, "tokens": 6, "text": "text.txt", "out": out, "said": "said.json", "times": "times.json"}
        self.assertEqual(self.program("onnx_say", **(said | more)), "")
        return dict(json.loads((self.at / "said.json").read_text()))

    def test_a_long_prompt_in_the_chat_template(self) -> None:
        said = self.say("float", "said", system="Be brief.")
        words = f"<s><|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n{PROMPT}<|im_end|>\n<|im_start|>assistant\n"
        ids = tokens.Text(self.at / "float").encode(words)
        self.assertEqual(said["prompt_tokens"], ids)
        self.assertGreater(len(ids), 3 * 16)  # more than three chunks
        want = list(ids)
        while len(want) < len(ids) + 6:  # a token after the other, by another implementation
            want.append(int(textbook(self.weights, want)[-1].argmax()))
        self.assertEqual(said["tokens"], want[len(ids) :])

    def test_what_does_not_fit_is_said_before_anything_is_loaded(self) -> None:
        (self.at / "float" / "prefill.onnx").unlink()
        args = {"graphs": "float", "prompt": PROMPT, "out": "out", "said": "said.json", "times": "times.json"}
        length = len(tokens.Text(self.at / "float").chat(PROMPT))
        most = 160 + 1 - length
        self.assertRegex(self.program("onnx_say", **args, tokens=most + 1), rf"{length} tokens.*cache of 160: ask for {most} at most, .*context of 161\.")
        self.assertRegex(self.program("onnx_say", **(args | {"prompt": PROMPT * 4}), tokens=1), r"cache of 160: give onnx_llm a context of \d+\.")
        (self.at / "empty.txt").write_text("\n")
        self.assertIn("The text has 1 tokens", self.program("onnx_say", **args, tokens=1, text="empty.txt"))

    def test_accuracy_is_what_a_textbook_says(self) -> None:
        self.assertEqual(self.quantize("a16w4", "q"), "")
        f, q = self.say("float", "f"), self.say("q", "g")
        args = {"reference": "f", "outputs": {"q": "g"}, "min_cosine": 1}
        files = NOTHING | FILES
        self.assertEqual(self.program("accuracy", **(files | args)), "")
        row, table = json.loads((self.at / "rows.json").read_text())["q"], json.loads((self.at / "table.json").read_text())

        ids = f["text_tokens"]
        loss = 0.0
        for i, logits in enumerate(textbook(self.weights, ids)[:-1]):  # from the weights, without graphs
            loss -= math.log(math.exp(logits[ids[i + 1]]) / sum(math.exp(x) for x in logits))
        line = table["lines"][0][[c["name"] for c in table["columns"]].index("perplexity")]
        self.assertEqual(line, f"{math.exp(loss / (len(ids) - 1)):.2f}")
        logits, loss = np.load(self.at / "g" / "text.npy").astype(np.float64), 0.0
        for i in range(len(ids) - 1):
            loss -= math.log(math.exp(logits[i, ids[i + 1]]) / np.exp(logits[i]).sum())
        self.assertAlmostEqual(row["perplexity"], math.exp(loss / (len(ids) - 1)), places=6)

        equal = next((i for i, (a, b) in enumerate(zip(f["tokens"], q["tokens"], strict=True)) if a != b), 6)
        self.assertEqual((row["tokens"], row["equal"]), (6, equal))
        pairs = [
            (np.load(self.at / "f" / n)[:most], np.load(self.at / "g" / n)[:most]) for n, most in (("said.npy", min(equal + 1, 6)), ("text.npy", len(ids)))
        ]
        a, b = (np.concatenate(x).astype(np.float64) for x in zip(*pairs, strict=True))
        self.assertAlmostEqual(row["sqnr_db"], 20 * math.log10(math.sqrt((a * a).sum()) / math.sqrt(((b - a) ** 2).sum())), places=6)
        self.assertAlmostEqual(row["difference_max"], max(float(abs(x - y)) for x, y in zip(a.flat, b.flat, strict=True)))
        self.assertAlmostEqual(row["argmax_equal"], sum(list(x).index(max(x)) == list(y).index(max(y)) for x, y in zip(a, b, strict=True)) / len(a))
        cosines = [sum(x * y) / math.hypot(*x) / math.hypot(*y) for x, y in zip(a, b, strict=True)]
        self.assertAlmostEqual(row["cosine"], sum(cosines) / len(cosines))
        self.assertAlmostEqual(row["cosine_min"], min(cosines))
        self.assertLess(row["cosine"], 0.9999)  # four bits are not lossless, so the numbers above say something
        self.assertEqual(json.loads((self.at / "bad.json").read_text()), "q")

    def test_parts(self) -> None:
        for count, kv in ((1, "uint16"), (2, "uint16"), (1, "uint8"), (2, "uint8")):
            self.assertEqual(self.quantize("a16w8", f"{kv}_{count}", kv=kv, num_shards=count), "")
            self.say(f"{kv}_{count}", f"{kv}_{count}_said")
            if count == 2:  # what is handed on is what was there, so all says the same
                texts = [np.load(self.at / f"{kv}_{n}_said" / "text.npy") for n in (1, 2)]
                np.testing.assert_allclose(texts[0], texts[1], rtol=1e-4, atol=1e-4)
        self.assertRegex(self.quantize("a16w8", "many", num_shards=3), "has 2 layers: they cannot be cut into 3 parts")

    def test_what_goes_to_a_device(self) -> None:
        for at, text in {"model/LICENSE": "own", "given/NOTICE": "given", "given/LICENSE": "own", "other/LICENSE": "other"}.items():
            (self.at / at).parent.mkdir(exist_ok=True)
            (self.at / at).write_text(text)
        self.assertEqual(self.program("onnx_llm", model="model", licenses=["given"], context_len=160, ar_len=16, embedding="inside", out="licensed"), "")
        self.assertEqual(self.quantize("a16w8", "q", graphs="licensed"), "")
        self.assertEqual({p.name: p.read_text() for p in (self.at / "q" / "licenses").iterdir()}, {"LICENSE": "own", "NOTICE": "given"})
        bad = self.program("onnx_llm", model="model", licenses=["other/LICENSE"], context_len=160, ar_len=16, embedding="inside", out="both")
        self.assertIn("LICENSE: two different license texts", bad)
        said = self.say("float", "f")
        self.assertEqual((self.at / "f" / "prompt.txt").read_text().split(), [str(i) for i in said["prompt_tokens"]])
        shutil.copytree(self.at / "f", self.at / "device")
        (self.at / "device" / "said.json").write_text(json.dumps({k: said[k] for k in ("prompt_tokens", "tokens")} | {"on": "the NPU"}))
        rows, _ = self.compare(reference="f", outputs={"device": "device"}, tokenizer="float", min_cosine=0)
        self.assertEqual((rows["device"]["words"], rows["device"]["equal"]), (said["text"], len(said["tokens"])))

    def test_an_embedding_outside(self) -> None:
        self.assertEqual(self.program("onnx_llm", model="model", context_len=160, ar_len=16, embedding="outside", out="outside"), "")
        size = np.prod(self.weights.shape("embedding")) * 2
        for graphs in ("float", "outside"):
            self.assertEqual(self.quantize("a16w8", graphs + "_q", graphs=graphs), "")
            takes = {v.name for v in onnx.load(self.at / (graphs + "_q") / "decode.onnx", load_external_data=False).graph.input}
            self.assertEqual({"embedded", "input_ids"} & takes, {"embedded"} if graphs == "outside" else {"input_ids"})
            self.say(graphs + "_q", graphs + "_said")
        self.assertEqual((self.at / "outside_q" / "embedding.bin").stat().st_size, size)
        inside, outside = (np.load(self.at / f"{g}_said" / "text.npy").astype(np.float64) for g in ("float", "outside"))
        self.assertLess(((inside - outside) ** 2).sum(), 1e-4 * (inside**2).sum())  # the same but for 16-bit floats
        self.assertEqual(self.quantize("a16w8", "turned", graphs="outside", rotate=True), "")  # and its rows are turned with the rest
        self.say("turned", "turned_said")
        turned = np.load(self.at / "turned_said" / "text.npy").astype(np.float64)
        self.assertLess(((inside - turned) ** 2).sum(), 1e-2 * (inside**2).sum())
        (self.at / "outside_q" / "embedding.bin").unlink()
        self.assertIn("has no embedding.bin", self.program("onnx_say", graphs="outside_q", prompt=PROMPT, tokens=1, out="none", said="s.json", times="t.json"))

    def test_a_cache_of_8_bits(self) -> None:
        self.say("float", "f")
        for kv, kind in (("uint16", onnx.TensorProto.UINT16), ("uint8", onnx.TensorProto.UINT8)):
            self.assertEqual(self.quantize("a16w8", kv, kv=kv), "")
            graph = onnx.load(self.at / kv / "decode.onnx", load_external_data=False).graph
            cached = {v.name: v.type.tensor_type.elem_type for v in (*graph.input, *graph.output) if v.name.startswith(("past_", "new_"))}
            self.assertEqual(set(cached.values()), {kind})
            points = json.loads((self.at / kv / "cache.json").read_text())
            self.assertEqual({p["type"] for p in points.values()}, {kv})
            self.assertEqual(sorted(points), sorted(cached))
            for name in points:
                self.assertEqual(points[name], points[name.replace("new_", "past_")])  # what comes out goes in as it is
                self.assertTrue(kv == "uint16" or points[name]["zero_point"] == 128)
            self.say(kv, kv + "_said")
        texts = [np.load(self.at / n / "text.npy").astype(np.float64) for n in ("f", "uint16_said", "uint8_said")]
        noise = [float(((t - texts[0]) ** 2).sum()) for t in texts[1:]]
        self.assertNotEqual(noise[1], noise[0])
        self.assertLess(noise[1], 1.2 * noise[0])  # what 8 bits of a weight do is more than what 8 bits of the cache do

    def quantize(self, method: str, out: str, **more: object) -> str:
        (self.at / "calibration.txt").write_text("What is this?\nTell me more of the sea.\n")
        args: dict[str, object] = {"graphs": "float", "method": method, "block_size": 32, "rotate": False, "high_precision_layers": [], "kv": "uint16", "num_shards": 1}
        (self.at / f"seen-{out}").mkdir(exist_ok=True)
        return self.program("onnx_quantize", **(args | {"calibration": "calibration.txt", "samples": 2, "checkpoint": f"seen-{out}", "out": out} | more))

    def compare(self, **args: object) -> tuple[dict[str, Any], dict[str, Any]]:
        """What accuracy finds: rows and table."""
        self.assertEqual(self.program("accuracy", **(NOTHING | FILES | args)), "")
        return json.loads((self.at / "rows.json").read_text()), json.loads((self.at / "table.json").read_text())

    def test_ways(self) -> None:
        self.say("float", "f")
        ways = {"ort": 0.99, "mobilequant": 0.95, "lpbq": 0.9}
        for way in ways:
            self.assertEqual(self.quantize(way, way), "", way)
            self.say(way, "said_" + way)
        self.assertEqual(self.quantize("lpbq", "turned", rotate=True), "")
        self.say("turned", "said_turned")
        rows, _ = self.compare(reference="f", outputs={w: "said_" + w for w in [*ways, "turned"]}, min_cosine=0)
        for way, least in {**ways, "turned": 0.9}.items():
            self.assertGreater(rows[way]["cosine"], least, way)
        self.assertFalse((self.at / "ort" / "cache.json").is_file())

    def test_it_goes_on_where_it_was_killed(self) -> None:
        lines = 80
        (self.at / "many.txt").write_text("".join(f"What is {i} times {i}?\n" for i in range(lines)))
        many = {"calibration": "many.txt", "samples": lines}
        self.assertEqual(self.quantize("lpbq", "whole", **many), "")
        (self.at / "seen").mkdir()
        args = json.loads((self.at / "args.json").read_text()) | {"checkpoint": "seen", "out": "parts"}
        (self.at / "args.json").write_text(json.dumps(args))
        begin, ends = [sys.executable, "-s", str(Path(PROGRAMS).resolve() / "onnx_quantize.py"), "args.json"], []
        for last in (5, 20, lines):
            with subprocess.Popen(begin, cwd=self.at, stderr=subprocess.PIPE, text=True) as p:
                assert p.stderr is not None
                said = []
                for line in p.stderr:
                    if line.startswith("progress "):
                        said.append(int(line.split()[4]))
                        if said[-1] == last < lines:
                            p.kill()
            ends.append((p.returncode, said[0], said[-1]))
            if last < lines:
                (self.at / "seen" / f"{calibrate.SO_FAR}.half").write_bytes(b"PK")  # what a kill leaves of a file
                shutil.rmtree(self.at / "parts")
        self.assertEqual([code for code, _, _ in ends], [-9, -9, 0])
        for (_, _, before), (_, first, _) in itertools.pairwise(ends):
            self.assertIn(first, (before + 1, before + 2), ends)  # it may have kept another, unsaid
        self.assertEqual(ends[-1][2], lines)
        self.assertEqual(command.files(self.at / "whole"), command.files(self.at / "parts"))
        whole, parts = (calibrate.so_far(self.at / at) for at in ("seen-whole", "seen"))  # of which a scheme takes a part
        self.assertEqual((whole.texts, whole.ranges, whole.rows), (parts.texts, parts.ranges, parts.rows))
        self.assertEqual({k: v.tobytes() for k, v in whole.squares.items()}, {k: v.tobytes() for k, v in parts.squares.items()})
        self.assertGreater(len(whole.squares), 10)

    def test_what_another_quantizer_is_given(self) -> None:
        (self.at / "calibration.txt").write_text("What is this?\n\nTell me more of the sea.\nA third line.\n")
        self.assertEqual(self.program("onnx_samples", graphs="float", calibration="calibration.txt", samples=2, out="given"), "")
        for graph, least in (("prefill", 2), ("decode", 2)):
            given = list(foreign.samples(self.at / "given", graph))
            self.assertGreaterEqual(len(given), least)
            run = session.cpu(self.at / "float" / f"{graph}.onnx")
            want = {i.name for i in onnx.load(self.at / "float" / f"{graph}.onnx", load_external_data=False).graph.input}
            for feeds in given:
                self.assertEqual(set(feeds), want)
                self.assertTrue(np.isfinite(run(feeds)["logits"]).all())
        self.assertTrue(any(np.abs(f["past_k_0"]).max() > 0 for f in foreign.samples(self.at / "given", "decode")))  # what was read before is in the cache
        (self.at / "calibration.txt").write_text("\n")
        self.assertIn("has no lines", self.program("onnx_samples", graphs="float", calibration="calibration.txt", samples=2, out="none"))

    def test_what_is_wrong_is_marked(self) -> None:
        """Of two contexts that are as near to the float model by their own graphs, one says something else than its graph on the CPU."""
        self.say("float", "f")
        self.assertEqual(self.quantize("a16w8", "q"), "")
        self.say("q", "q_cpu")
        for name, noise in (("good", 0.0), ("bad", 2.0)):
            shutil.copytree(self.at / "q_cpu", self.at / name)
            for file in ("said.npy", "text.npy"):
                a = np.load(self.at / name / file)
                np.save(self.at / name / file, a + noise * a.std() * np.random.default_rng(5).standard_normal(a.shape).astype(np.float32))
        args = {"outputs": {"good": "good", "bad": "bad"}, "cpu_outputs": {"good": "q_cpu", "bad": "q_cpu"}, "min_cosine": 0, "title": "two"}
        rows, table = self.compare(reference="f", truncated_reference="f", truncated_outputs={"good": "good"}, **args)
        self.assertEqual((rows["good"]["mismatch"], rows["bad"]["mismatch"]), (False, True))
        self.assertEqual(rows["good"]["cpu_cosine"], 1)
        self.assertEqual(rows["good"]["truncated_cosine"], rows["good"]["cosine"])
        self.assertEqual(json.loads((self.at / "wrong.json").read_text()), ["bad"])
        at = [c["name"] for c in table["columns"]].index("verdict")
        self.assertEqual([line[at] for line in table["lines"]], ["", "WRONG", ""])
        self.assertRegex(table["note"], "^WRONG: bad: the emulator's outputs differ from those of the same graph on the CPU")
        rows, _ = self.compare(reference="f", **(args | {"match_threshold": 0.0}))
        self.assertFalse(rows["bad"]["mismatch"])

    def test_answers(self) -> None:
        (self.at / "choices.txt").write_text("The sky is |blue| red | green\nGrass is | green | blue\nSnow is | white | black\n")
        said = self.say("float", "f", choices="choices.txt")
        self.assertEqual(said["choices"], [])  # every answer begins with a blank, which is a token of its own here
        for name, picked in (("a", [0, 1, 0]), ("b", [0, 0, 2])):
            shutil.copytree(self.at / "f", self.at / name)
            (self.at / name / "said.json").write_text(json.dumps(said | {"choices": picked}))
        rows, table = self.compare(reference="a", outputs={"b": "b"}, min_cosine=0)
        self.assertEqual((rows["b"]["right"], rows["b"]["questions"], rows["b"]["chosen_equal"]), (2, 3, 1))
        names = [c["name"] for c in table["columns"]]
        self.assertEqual([(line[names.index("right")], line[names.index("chosen_equal")]) for line in table["lines"]], [("2 of 3", ""), ("2 of 3", "1 of 3")])

    def test_a_folder_of_a_folder(self) -> None:
        """What hf_folder writes is the same model: of one with a head of its own, and of one without."""
        config = self.at / "model" / "config.json"
        config.write_text(json.dumps(json.loads(config.read_text()) | {"bos_token_id": 1, "eos_token_id": 5}))
        self.assertEqual(self.program("hf_folder", model="model", out="again"), "")
        one, two = (weights.open_model(self.at / n)[0] for n in ("model", "again"))
        self.assertEqual(dataclasses.replace(two.arch, stop=()), dataclasses.replace(one.arch, stop=()))
        self.assertEqual(json.loads((self.at / "again" / "config.json").read_text())["bos_token_id"], 1)
        from tokenizers import Tokenizer

        words = Tokenizer.from_file(str(self.at / "again" / "tokenizer.json"))

        def padding(of: str) -> str:
            return str(json.loads((self.at / of / "tokenizer_config.json").read_text())["pad_token"])

        self.assertEqual(padding("again"), words.id_to_token(5))
        (self.at / "model" / "tokenizer_config.json").write_text(json.dumps({"pad_token": {"content": words.id_to_token(7)}}))
        self.assertEqual(self.program("hf_folder", model="model", out="padded"), "")
        self.assertEqual(padding("padded"), words.id_to_token(7))
        for key in ("embedding", "norm", "head", "1.q", "1.down", "0.mlp_norm"):
            np.testing.assert_array_equal(one[key], two[key])
        tied = dict(weights.safetensors(self.at / "model" / "model.safetensors"))
        tied.pop("lm_head.weight")
        write_safetensors(self.at / "model" / "model.safetensors", {k: np.array(v) for k, v in tied.items()})
        self.assertEqual(self.program("hf_folder", model="model", out="tied"), "")
        self.assertTrue(json.loads((self.at / "tied" / "config.json").read_text())["tie_word_embeddings"])
        self.assertNotIn("lm_head.weight", dict(weights.safetensors(self.at / "tied" / "model.safetensors")))


if __name__ == "__main__":
    unittest.main(verbosity=1)
