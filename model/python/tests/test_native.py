"""Tests of mllm_native: test_native.py PROGRAMS TEXT KIND=FOLDER ….

The folders are small models of step `model`, seed 79 and two layers, by architecture.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import os
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

PROGRAMS, TEXT = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
KINDS = {kind: Path(folder).resolve() for kind, folder in (arg.split("=") for arg in sys.argv[3:])}
del sys.argv[1:]
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(PROGRAMS), str(HERE)]

import made_up
import numpy as np

import lpbq
import mllm_native
import runtime
import weights
from arch import Wrong

BLOCKS = {"qwen3": 16, "qwen2": 32, "llama": 32}
SMALL = {
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "vocab_size": 300,
}


class Folder(unittest.TestCase):
    def setUp(self) -> None:
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.dir = Path(made.name)
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.dir)

    def quantize(self, model: Path, out: str = "out", **more: Any) -> Path:
        """The file that the program makes."""
        kind = more.pop("architecture", None) or json.loads((model / "config.json").read_text())["model_type"]
        given = {
            "architecture": kind,
            "block_size": BLOCKS[kind],
            "calibration": str(TEXT),
            "samples": 3,
            "max_length": 40,
        } | more
        given |= {
            "model": str(model),
            "out": str(self.dir / out),
            "checkpoint": given.get("checkpoint", str(self.dir / f"{out}.seen")),
        }
        with mock.patch("builtins.print"):
            mllm_native.main(given)
        return self.dir / out / "model.safetensors"

    def made(self, name: str, **more: Any) -> Path:
        dtype, files = more.pop("dtype", "BF16"), more.pop("files", 1)
        made_up.write(self.dir / name, SMALL | more, dtype, files)
        return self.dir / name

    def refused(self, model: Path, *words: str, **more: Any) -> None:
        with self.assertRaises(Wrong) as e:
            self.quantize(model, f"refused-{len(list(self.dir.iterdir()))}", **more)
        for word in words:
            self.assertIn(word, str(e.exception))


class Train(Folder):
    def test_numbers(self) -> None:
        """The program makes what mllm's train.py (b9c30702, PyTorch 2.6.0 on a CPU) wrote for the same model and text.

        What comes from weights and all zero points are equal to the bit, scales of activations to a part of a million,
        tables within one step.
        """
        self.assertEqual(set(KINDS), set(BLOCKS))
        for kind, folder in KINDS.items():
            with self.subTest(kind):
                want = json.loads((HERE / "testdata" / f"train-{kind}.json").read_text())
                got = dict(weights.safetensors(self.quantize(folder, kind, samples=2, max_length=64)))
                tables = {
                    name: np.frombuffer(base64.b64decode(text), np.uint16) for name, text in want["tables"].items()
                }
                self.assertEqual(set(got), {*want["sha256"], *want["scales"], *tables})
                self.assertEqual((len(want["scales"]), len(tables)), (74, 2))
                for name, digest in want["sha256"].items():
                    self.assertEqual(hashlib.sha256(got[name].tobytes()).hexdigest(), digest, name)
                for name, scale in want["scales"].items():
                    self.assertLessEqual(abs(float(got[name][0]) / scale - 1), 1e-6, name)
                for name, table in tables.items():
                    self.assertLessEqual(np.abs(got[name].reshape(-1).astype(int) - table).max(), 1, name)

    def test_blocks(self) -> None:
        """Weights in the middle between two integers go where mllm's product with the inverse of the scale puts them."""
        odd = np.array([14, *range(-13, 14, 2), 14], np.float32)  # the largest is 7 steps of 2
        w = (np.random.default_rng(79).random((48, 4, 1), np.float32) * odd).reshape(48, 64)
        parts = w.reshape(48, 4, 16)
        scale = np.abs(parts).max(-1, keepdims=True) / np.float32(7)
        want, divided = np.rint(parts * (np.float32(1) / scale)), np.rint(parts / scale)
        self.assertGreater(np.count_nonzero(want != divided), 10)
        nibbles, scale1, scale2 = lpbq.blocks(w, 16)
        np.testing.assert_array_equal((nibbles.T ^ 8) - 8, want.reshape(48, 64))
        np.testing.assert_array_equal(scale2, scale.max(1)[:, 0] / np.float32(16))
        np.testing.assert_array_equal(scale1.reshape(48, 4), np.rint(scale[..., 0] / scale2[:, None]).clip(1, 16))
        np.testing.assert_array_equal(w, (want * scale).reshape(48, 64))


class Forms(Folder):
    def test_types_and_files(self) -> None:
        """The same weights in other types and in several files give the same bytes, for tied and separate heads."""
        for kind, tied in (("qwen3", True), ("qwen2", False), ("llama", False)):
            config = {"model_type": kind, "tie_word_embeddings": tied}
            files = {
                self.quantize(
                    self.made(f"{kind}-{dtype}-{count}", dtype=dtype, files=count, **config), f"{kind}-{dtype}"
                ).read_bytes()
                for dtype, count in (("F32", 1), ("F16", 2), ("BF16", 3))
            }
            self.assertEqual(len(files), 1, kind)

    def test_separate_head(self) -> None:
        """The head's integers are those of its own tensor; a bias stays as it is."""
        model = self.made("model", model_type="qwen2", tie_word_embeddings=False, dtype="F32")
        given, got = (
            dict(weights.safetensors(model / "model-00001-of-00001.safetensors")),
            dict(weights.safetensors(self.quantize(model))),
        )
        nibbles, *_ = lpbq.blocks(given["lm_head.weight"].copy(), 32)
        np.testing.assert_array_equal(got["lm_head.weight"][0, 0], nibbles)
        name = "model.layers.1.self_attn.k_proj.bias"
        np.testing.assert_array_equal(got[name], given[name])

    def test_parts(self) -> None:
        """How much of the embedding and the head is in memory changes no byte; neither does the number of threads."""
        model = self.made("model")
        whole = self.quantize(model).read_bytes()
        with mock.patch.object(mllm_native, "PART", 64 * 7), mock.patch.object(lpbq, "SLICE", 100):
            self.assertEqual(self.quantize(model, "parts").read_bytes(), whole)
        options = runtime.options
        for threads in (1, 3):

            def some(threads: int = threads) -> runtime.onnxruntime.SessionOptions:
                o = options()
                o.intra_op_num_threads = threads
                return o

            with mock.patch.object(runtime, "options", some):
                self.assertEqual(self.quantize(model, f"threads-{threads}").read_bytes(), whole)

    def test_config(self) -> None:
        """The block size goes into config.json; what else it says stays."""
        model = self.made("model", more={"is": "kept"})
        self.quantize(model, block_size=32)
        made = json.loads((self.dir / "out" / "config.json").read_text())
        self.assertEqual(made, json.loads((model / "config.json").read_text()) | {"linear_block_size": 32})

    def test_defaults(self) -> None:
        """A config of transformers 5 without the keys that have defaults gives the same bytes."""
        for kind, head_dim in (("qwen3", 128), ("qwen2", 16), ("llama", 16)):
            said = {"head_dim": head_dim, "num_key_value_heads": 4, "rope_theta": 1e4, "tie_word_embeddings": False}
            model = self.made(kind, model_type=kind, num_attention_heads=4, **said)
            whole = self.quantize(model, f"{kind}-whole").read_bytes()
            config = json.loads((model / "config.json").read_text())
            for key in (*said, "rms_norm_eps"):
                del config[key]
            config |= {"rope_parameters": {"rope_theta": 1e4, "rope_type": "default"}, "dtype": "bfloat16"}
            (model / "config.json").write_text(json.dumps(config))
            self.assertEqual(self.quantize(model, f"{kind}-short").read_bytes(), whole, kind)

    def test_chat(self) -> None:
        """Qwen's samples are said by a user, who does not want it to think; Llama's are read as they are."""
        template = "<{{ messages[0].content }}{% if enable_thinking is defined and not enable_thinking %}|{% endif %}"
        for kind, begins in (("qwen3", b"<"), ("llama", b"")):
            model = self.made(kind, model_type=kind)
            (model / "chat_template.jinja").write_text(template)
            of = mllm_native.arch.from_config(json.loads((model / "config.json").read_text()))
            given = {"calibration": str(TEXT), "samples": 1, "max_length": 100000}
            alphabet = json.loads((model / "tokenizer.json").read_text())["model"]["vocab"]
            letters = {i: letter for letter, i in alphabet.items()}
            said = "".join(letters[i] for i in mllm_native.samples(model, of, given)[0]).encode()
            self.assertEqual((said[:1] == b"<", said[-1:] == b"|"), (kind == "qwen3", kind == "qwen3"), begins)


class GoesOn(Folder):
    def test_killed(self) -> None:
        """A run that ends anywhere goes on after the last sample that it read, and makes the same bytes."""
        model = self.made("model")
        read = 0

        def call(
            session: Any, feeds: dict[str, np.ndarray], before: Any = mllm_native.mllm_layer.Session.__call__
        ) -> Any:
            nonlocal read
            read += "keep" in feeds
            return before(session, feeds)

        with mock.patch.object(mllm_native.mllm_layer.Session, "__call__", call):
            whole = self.quantize(model).read_bytes()
            self.assertEqual(read, 9)
            for last in range(1, 13):
                keep, checkpoint = mllm_native.Checkpoint.keep, str(self.dir / f"seen-{last}")
                kept = 0

                def ends(self: Any, keep: Any = keep, last: int = last) -> None:
                    nonlocal kept
                    keep(self)
                    kept += 1
                    if kept == last:
                        raise KeyboardInterrupt

                read = 0
                with mock.patch.object(mllm_native.Checkpoint, "keep", ends), self.assertRaises(KeyboardInterrupt):
                    self.quantize(model, f"killed-{last}", checkpoint=checkpoint)
                self.assertEqual(self.quantize(model, f"on-{last}", checkpoint=checkpoint).read_bytes(), whole, last)
                self.assertEqual(read, 9, last)


class Refused(Folder):
    def test_messages(self) -> None:
        """What is wrong is said with the file, the tensor and what to do."""
        model = self.made("model", files=2)
        index, second = model / "model.safetensors.index.json", model / "model-00002-of-00002.safetensors"
        change = functools.partial(self.changed, model / "config.json")
        with change(model_type="gemma3"):
            self.refused(model, "config.json", "'gemma3'", "llama, qwen2, qwen3", architecture="qwen3")
        with change(hidden_size=None):
            self.refused(model, "config.json", "hidden_size is None")
        with change(hidden_size=96):
            self.refused(
                model, ".safetensors: tensor model.embed_tokens.weight is [300, 64], config.json means [300, 96]"
            )
        with change(tie_word_embeddings=False):
            self.refused(model, "tensor lm_head.weight is missing: write tie_word_embeddings = true")
        with change(use_sliding_window=True):
            self.refused(model, "use_sliding_window is true: use a model with full attention")
        with change(vocab_size=7):
            self.refused(model, "tokenizer.json gives token", "vocab_size of config.json is 7")
        self.refused(model, 'write architecture = "qwen3"', architecture="llama")
        self.refused(model, "intermediate_size 96 is not a multiple of block_size 64", block_size=64)
        whole = second.read_bytes()
        second.write_bytes(whole[:-1])
        self.refused(model, f"{second}: tensor model.layers.2.", "the file at", "download it again")
        second.write_bytes(whole.replace(b'"BF16"', b'"BOOL"', 1))
        self.refused(model, f"{second}: tensor", "is BOOL: use the model's weights in BF16, F16 or F32")
        second.write_bytes(whole[:-2] + b"\xff\x7f")
        self.refused(model, f"{second}: tensor", "holds NaN or infinity")
        second.write_bytes(b"\x04" + bytes(7) + b"no{}")
        self.refused(model, f"{second}: header is not JSON")
        second.unlink()
        self.refused(model, f"{second}: file is missing, and model.safetensors.index.json lists it: download the model")
        index.write_text("{")
        self.refused(model, f"{index}: file is not JSON")
        index.unlink()
        self.refused(model, f"{model / 'model.safetensors'}: file is missing")
        (model / "config.json").write_text("[]")
        self.refused(model, f"{model / 'config.json'}: file is not a JSON object", architecture="qwen3")

    def changed(self, at: Path, **more: Any) -> Any:
        before = at.read_text()
        at.write_text(json.dumps(json.loads(before) | more))
        restore = mock.MagicMock()
        restore.__exit__.side_effect = lambda *_: at.write_text(before) and None
        return restore


if __name__ == "__main__":
    unittest.main(verbosity=2)
