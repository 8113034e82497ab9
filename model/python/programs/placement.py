"""Where the nodes of a graph run: what stays on the CPU and why, and what crosses between it and the parts that the NPU runs, as the tool `placement` reads it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import onnx
from google.protobuf.message import DecodeError
from onnx import helper


def named(model: onnx.ModelProto) -> bool:
    """Gives each node of a graph a name of its own where it has none or shares it, that of what it gives: compilers and their logs tell nodes apart by nothing
    else. It tells whether there was one.
    """
    often = Counter(n.name for n in model.graph.node)
    taken = {name for name, times in often.items() if times == 1}
    changed = False
    for n in model.graph.node:
        if n.name and often[n.name] == 1:
            continue
        n.name = next((o for o in n.output if o), n.op_type)
        while n.name in taken:
            n.name += "_"
        taken.add(n.name)
        changed = True
    return changed


def name(graph: Path) -> None:
    """Names the nodes of the graph in a file, as named does."""
    try:
        model = onnx.load(graph, load_external_data=False)
    except DecodeError:
        return  # it is no graph, which the compiler says
    if named(model):
        graph.unlink()  # it may be a link to the one that was given
        onnx.save(model, graph)


def reads(node: onnx.NodeProto) -> list[str]:
    """What a node takes: its inputs, and what the graphs within it (of If, Loop, Scan) use from outside."""
    found = [i for i in node.input if i]
    for a in node.attribute:
        for g in (a.g, *a.graphs):
            own = {v.name for v in g.input} | {t.name for t in g.initializer} | {o for n in g.node for o in n.output}
            used = [i for n in g.node for i in reads(n)] + [o.name for o in g.output]
            found += [u for u in dict.fromkeys(used) if u not in own and u not in found]
    return found


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
            at = {"name": node.name, "op": node.op_type, "inputs": reads(node), "outputs": [o for o in node.output if o]}
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
        original = onnx.load(g, load_external_data=False)
        named(original)
        left = onnx.load(compiled[f"{g.stem}_ctx.onnx"], load_external_data=False)
        out.append(placed(g.stem, left, nodes[g.stem], onnx.shape_inference.infer_shapes(original)))
    return out
