"""What Qualcomm's compiler made of an ONNX graph, as its own JSON tells: whether its nodes compute in integers, and whether its tensors have the points of
quantization that were asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from arch import Wrong

DEFINED, SCALE_OFFSET, BLOCKWISE_EXPANSION = 1, 0, 5  # of quant_params: definition, and encodings, as QNN numbers them
TYPES = {0x408: "uint8", 0x416: "uint16"}  # as QNN numbers fixed-point types
FLOAT = 2  # the class of a data type, its higher byte

# What multiplies weights, or activations, and adds up.
ONNX_PRODUCTS = ("Conv", "ConvTranspose", "Gemm", "MatMul", "MatMulNBits")
QNN_PRODUCTS = (
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "DepthWiseConv1d",
    "DepthWiseConv2d",
    "FullyConnected",
    "MatMul",
    "TransposeConv1d",
    "TransposeConv2d",
    "TransposeConv3d",
)
SHAPES = ("Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze")


TRACE = "qnn_op_trace.json"  # beside it, of which nodes of the ONNX graph the provider made which of the compiler's

Graph = dict[str, Any]
Point = tuple[str, int, str]  # the bits of the scale, a float32; the zero point; one of TYPES


def read(folder: Path) -> list[Graph]:
    """What the compiler wrote down of one ONNX graph: more than one where it took it apart."""
    names = [p for p in sorted(folder.glob("*.json")) if not p.name.endswith("_tensor_log.json") and p.name != TRACE]
    made = [without_garbage(json.loads(p.read_text())) for p in names]
    if not made:
        raise Wrong(f"The compiler does not say what it made of {folder.name}.")
    return made


def without_garbage(x: Any) -> Any:
    """The same without what is not set: the compiler prints a scale and an offset of every tensor, and of those that have none what happens to be in memory."""
    if isinstance(x, list):
        return [without_garbage(v) for v in x]
    if not isinstance(x, dict):
        return x
    out = {k: without_garbage(v) for k, v in x.items()}
    if "scale_offset" in out and (out.get("definition"), out.get("encoding")) != (DEFINED, SCALE_OFFSET):
        del out["scale_offset"]
    return out


def floats(graph: Graph) -> list[str]:
    """The products of the compiler's graph that are computed in floats, as "name (op)"."""
    nodes, tensors = graph["graph"]["nodes"], graph["graph"]["tensors"]
    return [
        f"{name} ({n['type']})"
        for name, n in sorted(nodes.items())
        if n["type"] in QNN_PRODUCTS and any(tensors[o]["data_type"] >> 8 == FLOAT for o in n["output_names"] if o in tensors)
    ]


def declared(model: onnx.ModelProto) -> tuple[int, int]:
    """How many products of an ONNX graph are declared in integers, of quantized weights and activations, and how many are not."""
    makers = {o: n for n in model.graph.node for o in n.output}

    def quantized(value: str) -> bool:
        n = makers.get(value)
        while n is not None and n.op_type in SHAPES:
            n = makers.get(n.input[0])
        return n is not None and n.op_type == "DequantizeLinear"

    products = [n for n in model.graph.node if n.op_type in ONNX_PRODUCTS]
    integers = [n for n in products if n.op_type == "MatMulNBits" or all(quantized(i) for i in n.input[:2])]
    return len(integers), len(products) - len(integers)


def check(name: str, model: onnx.ModelProto, made: list[Graph]) -> None:
    """Refuses a graph that declares integers and was compiled in floats: the compiler does that without a word."""
    integers, others = declared(model)
    found = [f for g in made for f in floats(g)]
    if integers and len(found) > others:
        named = ", ".join(found[:20]) + (", …" if len(found) > 20 else "")
        raise Wrong(
            f"{name} declares {integers} products of quantized tensors, and the compiler made 16-bit floats of {len(found) - others}: {named}. "
            "It does so with 4-bit weights in blocks whose scales are plain floats, and with MatMulNBits; "
            "in integers it computes what onnx_quantize writes (a16w8, a16w4, lpbq). To allow floats, set allow_fp16 = true."
        )


def point(scale: float, zero: int, kind: str) -> Point:
    return np.float32(scale).tobytes().hex(), zero, kind


def check_points(made: list[Graph], wanted: dict[str, Any]) -> dict[str, int]:
    """Refuses a graph in which a point is missing or another, or that has one which nobody asked for; counts what it found.

    wanted: points, of each the name of a tensor, with its scale, zero point and type; blocks, the matrices that are quantized in blocks.
    """
    if len(made) != 1:
        raise Wrong(f"The compiler wrote down {len(made)} graphs, one was expected.")
    points = {name: point(*p) for name, p in wanted["points"].items()}
    every = set(points.values())
    seen: set[Point] = set()
    by_name = blocks = 0
    wrong: list[str] = []
    for name, t in made[0]["graph"]["tensors"].items():
        q = t["quant_params"]
        if q["encoding"] == BLOCKWISE_EXPANSION:
            blocks += 1
        if "scale_offset" not in q or t["data_type"] not in TYPES:
            continue
        got = point(q["scale_offset"]["scale"], -q["scale_offset"]["offset"], TYPES[t["data_type"]])
        seen.add(got)
        by_name += name in points
        if points.get(name, got) != got or got not in every:
            wrong.append(f"{name} has scale {q['scale_offset']['scale']} and zero point {got[1]} ({got[2]})")
    lost = sorted(n for n, p in points.items() if p not in seen)
    if lost:
        wrong.append(f"{len(lost)} points are not there: {', '.join(lost[:8])}")
    if blocks != len(wanted["blocks"]):
        wrong.append(f"{blocks} matrices are in blocks, {len(wanted['blocks'])} were")
    if wrong:
        raise Wrong("The compiler's graph is not quantized as it was asked for: " + "; ".join(wrong[:8]) + ".")
    return {"points": len(every), "tensors": by_name, "blocks": blocks}
