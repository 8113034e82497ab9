"""Looks for the layers that a scheme breaks: graphs, scheme, block_size, calibration, samples, text, least, most → found: a JSON file; table: a JSON file.

What comes out of a whole model says little of where it broke, since thirty layers carry each rounding on. So each layer is quantised by itself, is given
what the float model's layer is given, and what it makes of that is compared: its own error. Of layers that stand out the worst becomes an exception,
quantised as a16w8, until all of the model is good.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Callable, Collection
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import onnx
import onnx.utils

import arch
import calibrate
import command
import compare
import quantize
import session
import tokens
from arch import Wrong

OUT = 4.0  # times the error of the layer in the middle: one with more stands out
Point = tuple[float, np.ndarray]  # scale and zero point
Score = Callable[[Collection[str]], float]  # of exceptions, layers and matrices: the whole model's mean cosine to the float one
Own = Callable[[list[tuple[int, list[str]]]], list[float]]  # of layers with exceptions: the error that each makes by itself


def main(a: dict[str, Any]) -> dict[str, Any]:
    source = Path(a["graphs"])
    if not (source / "arch.json").is_file():
        raise Wrong(f"{source} has no arch.json: layers are looked for in graphs of onnx_llm.")
    of, words = arch.load(source / "arch.json"), tokens.Text(source)
    ids = words.encode(Path(a["text"]).read_text())[: of.context]
    if not ids:
        raise Wrong("The text has no tokens: there is nothing to compare.")
    look = Look(source, of, ids, a["scheme"], a["block_size"], calibrate.observe(source, of, words.lines(Path(a["calibration"]), a["samples"])))
    own, found = search(of.layers, look.matrices(), look.score, look.own, a["least"], a["most"])
    Path(a["found"]).write_text(json.dumps(found, indent=1) + "\n")
    columns = (("layer", "layer", ""), ("own", "its own SQNR", "dB"), ("keep", "exception", ""))
    table = {
        "title": a["title"],
        "columns": [{"name": name, "label": label, "unit": unit} for name, label, unit in columns],
        "lines": [[str(i), f"{-10 * math.log10(max(e, 1e-20)):.1f}", ", ".join(k for k in found["keep"] if within(k, i))] for i, e in enumerate(own)],
        "note": found["says"],
    }
    Path(a["table"]).write_text(json.dumps(table, indent=1, ensure_ascii=False) + "\n")
    return {"first": found["first"]}


class Look:
    """The float model that reads a text, and what a scheme makes of it."""

    def __init__(self, source: Path, of: arch.Arch, ids: list[int], scheme: str, block: int, seen: calibrate.Seen) -> None:
        self.source, self.of, self.ids, self.scheme, self.block, self.seen = source, of, ids, scheme, block, seen
        self.table = session.table(source, of)
        self.model = onnx.shape_inference.infer_shapes(onnx.load(source / "prefill.onnx", load_external_data=False))
        self.layers = onnx.utils.Extractor(self.model)
        watched, ends = onnx.ModelProto(), {out(i) for i in range(-1, of.layers)}
        watched.CopyFrom(self.model)
        watched.graph.output.extend(v for v in self.model.graph.value_info if v.name in ends)
        self.float = session.cpu(watched.SerializeToString(), source)
        self.want = self.read(self.float)

    def read(self, run: session.Run, zeros: dict[str, np.ndarray] | None = None) -> np.ndarray:
        """The logits after each token of the text."""
        return session.Decoder(self.of, run, None, zeros, self.table).read(self.ids)

    def matrices(self) -> list[str]:
        """The layers' matrices by name, in the graph's order."""
        g = self.model.graph
        have = {t.name for t in g.initializer}
        return [n.input[1] for n in g.node if n.op_type == "MatMul" and n.input[1] in have and "." in n.input[1]]

    def quantised(self, model: onnx.ModelProto, keep: Collection[str]) -> tuple[session.Run, dict[str, Point]]:
        """A graph or a part of one, quantised, and scale and zero point of its cache."""
        with tempfile.TemporaryDirectory(dir=".") as made:
            q = quantize.Quantiser(self.source, Path(made), self.scheme, self.block, self.seen, keep=keep)
            graph = q.graph(model)
            q.data.close()
            run = session.cpu(graph.SerializeToString(), Path(made))
        return run, {name: (float(c["scale"]), np.asarray(c["zero_point"], str(c["type"]))) for name, c in q.cache.items()}

    def score(self, keep: Collection[str]) -> float:
        """How near the whole model is with these exceptions: the mean cosine of its logits."""
        run, cache = self.quantised(self.model, keep)
        return compare.rows(self.want, self.read(run, {name: zero for name, (_, zero) in cache.items()}))["cosine"]

    def own(self, asked: list[tuple[int, list[str]]]) -> list[float]:
        """The error of some layers, each by itself and with exceptions: mean squares of what comes out, as a part of the float layer's, token by token."""
        made = []
        for layer, keep in asked:
            ends = [out(layer - 1), "mask", "cos", "sin", f"past_k_{layer}", f"past_v_{layer}"]
            made.append(self.quantised(self.layers.extract_model(ends, [out(layer)]), keep))
        errors, rows = np.zeros(len(asked)), 0

        def run(feeds: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
            nonlocal rows
            given = feeds | self.float(feeds)
            n = min(self.of.chunk, len(self.ids) - rows)  # the others fill the chunk up
            rows += n
            for i, ((layer, _), (quantised, cache)) in enumerate(zip(asked, made, strict=True)):
                want = given[out(layer)][0, :n].astype(np.float64)
                got = quantised(given | {name: integers(given[name], *point) for name, point in cache.items()})[out(layer)][0, :n]
                errors[i] += (((got - want) ** 2).sum(1) / np.maximum((want**2).sum(1), 1e-30)).sum()
            return given

        self.read(run)
        return [float(e) / rows for e in errors]


def out(layer: int) -> str:
    """What leaves a layer; before the first, what enters it."""
    return f"layer{layer}_out" if layer >= 0 else "embedded"


def integers(a: np.ndarray, scale: float, zero: np.ndarray) -> np.ndarray:
    """What a quantised graph takes in the place of a float cache."""
    return np.clip(np.round(a / scale) + float(zero), 0, np.iinfo(zero.dtype).max).astype(zero.dtype)


def search(layers: int, every: list[str], score: Score, own: Own, least: float, most: int) -> tuple[list[float], dict[str, Any]]:
    """Each layer's own error, and the layers that break with the exceptions with which all of the model is good."""
    errors = own([(i, []) for i in range(layers)])
    middle = median(errors)
    before, wanted = score([]), f"{least:g} is wanted"
    found: dict[str, Any] = {"first": "", "keep": [], "before": before, "after": before, "hcl": ""}
    if before >= least:
        return errors, found | {"says": f"No layer breaks: all of the model has a cosine of {before:.4f}, and {wanted}."}
    if (none := score([str(i) for i in range(layers)])) < least:
        return errors, found | {"says": f"It is no layer's matrices: with all of them as a16w8 the cosine is {none:.4f}, and {wanted}."}
    now, after = list(errors), before
    keep: list[str] = []
    while after < least and (worst := max(now)) > OUT * middle:
        layer = now.index(worst)
        if any(within(k, layer) for k in keep):  # one matrix was not all of it
            keep = [k for k in keep if not within(k, layer)] + [str(layer)]
            now[layer] = 0.0
        elif len(keep) < most:
            exception, now[layer] = narrowed(layer, [m for m in every if within(m, layer)], own, worst)
            keep.append(exception)
        else:
            break
        after = score(keep)
    if not keep:
        return errors, found | {"says": f"No layer breaks more than the others: the cosine is {before:.4f}, {wanted}, and the scheme is not for this model."}
    for k in keep[:-1] if after >= least else []:  # an innocent layer may stand out, too
        rest = [other for other in keep if other != k]
        if (without := score(rest)) >= least:
            keep, after = rest, without
    keep.sort(key=lambda k: (int(k.split(".")[0]), k))
    first = keep[0].split(".")[0]
    found |= {"first": first, "keep": keep, "after": after}
    says = f"Layer {first} is the first that breaks: by itself it has {errors[int(first)] / max(middle, 1e-20):.0f} times the error of the layer in the middle."
    if after < least:
        more = f"more than {most} layers stand out" if max(now) > OUT * middle else "no other layer stands out"
        said = f"With {', '.join(keep)} as a16w8 the cosine is {after:.4f}, {wanted}, and {more}: the scheme is not for this model."
        return errors, found | {"says": f"{says} {said}"}
    found["hcl"] = f"keep = {json.dumps(keep)}"
    return errors, found | {"says": f"{says} With this in the step onnx_quantize the cosine is {after:.4f} in place of {before:.4f}: {found['hcl']}"}


def within(exception: str, layer: int) -> bool:
    """Whether it is this layer or one of its matrices."""
    return exception.split(".")[0] == str(layer)


def narrowed(layer: int, matrices: list[str], own: Own, error: float) -> tuple[str, float]:
    """The matrix of a layer that does it, and what the layer's error is without; the layer itself where no matrix does most of it."""
    errors = own([(layer, [m]) for m in matrices])
    least = min(errors)
    return (matrices[errors.index(least)], least) if OUT * least <= error else (str(layer), 0.0)


command.run(main)
