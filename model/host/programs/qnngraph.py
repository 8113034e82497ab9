"""What the vendor's compiler made of an ONNX graph, as its own JSON tells: its nodes and tensors, and whether they compute in integers."""

from __future__ import annotations

from typing import Any

import onnx

from arch import Wrong

DEFINED, SCALE_OFFSET = 1, 0  # of quant_params: definition and encoding
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


def floats(graph: dict[str, Any]) -> list[str]:
    """The products of the compiler's graph that are computed in floats, as "name (op)"."""
    nodes, tensors = graph["graph"]["nodes"], graph["graph"]["tensors"]
    return [
        f"{name} ({n['type']})"
        for name, n in sorted(nodes.items())
        if n["type"] in QNN_PRODUCTS and any(tensors[o]["data_type"] >> 8 == FLOAT for o in n["output_names"] if o in tensors)
    ]


def declared(model: onnx.ModelProto) -> tuple[int, int]:
    """How many products of an ONNX graph are declared in integers, of quantised weights and activations, and how many are not."""
    makers = {o: n for n in model.graph.node for o in n.output}

    def quantised(value: str) -> bool:
        n = makers.get(value)
        while n is not None and n.op_type in SHAPES:
            n = makers.get(n.input[0])
        return n is not None and n.op_type == "DequantizeLinear"

    products = [n for n in model.graph.node if n.op_type in ONNX_PRODUCTS]
    integers = [n for n in products if n.op_type == "MatMulNBits" or all(quantised(i) for i in n.input[:2])]
    return len(integers), len(products) - len(integers)


def check(name: str, model: onnx.ModelProto, made: list[dict[str, Any]]) -> None:
    """Refuses a graph that declares integers and was compiled in floats: the compiler does that without a word."""
    integers, others = declared(model)
    found = [f for g in made for f in floats(g)]
    if integers and len(found) > others:
        named = ", ".join(found[:20]) + (", …" if len(found) > 20 else "")
        raise Wrong(
            f"{name} declares {integers} products of quantised tensors, and the compiler made 16-bit floats of {len(found) - others}: {named}. "
            "It does so with 4-bit weights in blocks whose scales are plain floats, and with MatMulNBits; "
            "in integers it computes what onnx_quantize writes (a16w8, a16w4, lpbq). To take floats: floats = true."
        )
