"""Where the nodes of a graph run: what stays on the CPU and why, and what crosses between it and the parts that the NPU runs, as `fallback` reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
from onnx import helper


def placed(name: str, compiled: onnx.ModelProto, nodes: list[dict[str, Any]], original: onnx.ModelProto) -> dict[str, Any]:
    """One graph. compiled is the model that the provider leaves: a node EPContext for each part that it took, and the nodes that it did not; nodes, where
    each node of the graph went, with its part.
    """
    graph = compiled.graph
    constants = {t.name for g in (graph, original.graph) for t in g.initializer} | {o for n in original.graph.node if n.op_type == "Constant" for o in n.output}
    types = {v.name: v for m in (original, compiled) for v in (*m.graph.input, *m.graph.output, *m.graph.value_info)}
    parts = [n for n in graph.node if n.op_type == "EPContext"]
    made_by = {o: n.name for n in original.graph.node for o in n.output}
    of_part = {n["name"]: n["part"] for n in nodes if n["on"] == "NPU"}
    counts: dict[int, int] = {}
    for n in nodes:
        if n["on"] == "NPU":
            counts[n["part"]] = counts.get(n["part"], 0) + 1
    why = {n["name"]: n.get("why", "") for n in nodes}
    found: dict[str, Any] = {
        "name": name,
        "format": "onnx",
        "inputs": [v.name for v in graph.input],
        "outputs": [v.name for v in graph.output],
        "parts": [],
        "cpu": [],
    }
    used: set[str] = {*found["inputs"], *found["outputs"]}
    for i, part in enumerate(parts):
        number = next((of_part[made_by[o]] for o in part.output if made_by.get(o) in of_part), i)
        found["parts"].append({"nodes": counts.get(number, 0), "inputs": list(part.input), "outputs": list(part.output)})
        used |= {*part.input, *part.output}
    for node in graph.node:
        if node.op_type != "EPContext":
            at = {"name": node.name, "op": node.op_type, "inputs": [i for i in node.input if i], "outputs": [o for o in node.output if o]}
            found["cpu"].append(at | ({"why": why[node.name]} if why.get(node.name) else {}))
            used |= {*at["inputs"], *at["outputs"]}
    found["tensors"] = {n: described(types.get(n), n in constants) for n in sorted(used)}
    return found


def described(v: onnx.ValueInfoProto | None, constant: bool) -> dict[str, Any]:
    """Type and shape of a tensor, as far as they are known; -1 is a dimension that is not fixed."""
    out: dict[str, Any] = {"type": "", "shape": None} | ({"constant": True} if constant else {})
    if v is not None and v.type.HasField("tensor_type"):
        t = v.type.tensor_type
        out["type"] = helper.tensor_dtype_to_string(t.elem_type).removeprefix("TensorProto.").lower() if t.elem_type else ""
        out["type"] = {"float": "float32", "double": "float64"}.get(out["type"], out["type"])
        if t.HasField("shape"):
            out["shape"] = [d.dim_value if d.HasField("dim_value") else -1 for d in t.shape.dim]
    return out


def document(source: list[Path], folder: Path, nodes: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """placed.json: of each graph, whose compiled model is GRAPH_ctx.onnx somewhere in folder."""
    compiled = {p.name: p for p in folder.rglob("*_ctx.onnx")}
    out = []
    for g in source:
        original = onnx.shape_inference.infer_shapes(onnx.load(g, load_external_data=False))
        out.append(placed(g.stem, onnx.load(compiled[f"{g.stem}_ctx.onnx"], load_external_data=False), nodes[g.stem], original))
    return out
