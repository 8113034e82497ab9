"""Runs one pass of a recipe of Olive's: name, config, input_model or none, model, accelerators, data_configs, data → out: the model, model_config.json, manifest.json.

It runs in the environment olive. input_model is what the recipe says of its model, for the first pass; any other one takes what the pass before it left in the folder model.
Olive is asked for this pass alone: what resumes, and what is kept, is not its own cache's business.
"""

from __future__ import annotations

import importlib.metadata
import json
import random
import shutil
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from olive.workflows import run as olive

import command
from arch import Wrong

HERE = "${model}"  # in model_config.json: the folder that it is in
CONFIG = "model_config.json"
BEFORE = "before"  # where what comes from earlier passes stands
WORDS = (".json", ".jinja", ".txt", ".model")  # of tokenizers and configs
LITTLE = {".txt": "text", ".csv": "csv", ".json": "json", ".jsonl": "json", ".parquet": "parquet"}  # what reads a file of samples


def main(a: dict[str, Any]) -> None:
    out, model = command.fresh(a["out"]).resolve(), Path(a["model"]).resolve()
    name, of = a["name"], f"Pass {a['name']} ({a['config']['type']})"
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as work:
        config = {
            "input_model": first(a["input_model"], model) if "input_model" in a else placed(json.loads((model / CONFIG).read_text()), HERE, str(model)),
            "systems": {"here": {"type": "LocalSystem", "accelerators": a["accelerators"]}},
            "target": "here",
            "data_configs": [samples(c, Path(a["data"][c["name"]]).resolve()) if c["name"] in a["data"] else c for c in a["data_configs"]],
            "passes": {name: a["config"]},
            "evaluate_input_model": False,
            "no_artifacts": True,
            "log_severity_level": 1,
            "cache_dir": work + "/cache",
            "output_dir": str(out),
        }
        try:
            olive(config, tempdir=work)
        except Exception as e:
            traceback.print_exc()
            raise Wrong(f"{of}: Olive failed: {type(e).__name__}: {e}") from e
        if not (out / CONFIG).is_file():
            raise Wrong(f"{of}: Olive ended without a model, and without an error; what it says above is all there is.")
        made = placed(json.loads((out / CONFIG).read_text()), str(out), HERE)
        whole = made["config"]
        if "model_components" in whole and whole.get("model_path", "").startswith(work):  # of a model in parts Olive moves the parts alone
            whole["model_path"] = HERE
        made = carried(made, (model, Path(work)), out)
        if any(gone in json.dumps(made) for gone in (work, str(model))):
            raise Wrong(f"{of}: Olive's model has files in a folder that is gone: {json.dumps(made)}")
    (out / CONFIG).write_text(json.dumps(made, indent=1, sort_keys=True) + "\n")
    graphs = [graph(p, out, of) for p in sorted(out.rglob("*.onnx"))]
    if not graphs and not list(out.rglob("config.json")):
        raise Wrong(f"{of}: Olive left neither an ONNX graph nor a model of Hugging Face's: {', '.join(sorted(p.name for p in out.iterdir()))}.")
    files = command.files(out)
    before = {command.digest(p) for p in ([model] if model.is_file() else model.rglob("*.onnx"))}
    manifest = {
        "pass": name,
        "type": a["config"]["type"],
        "olive": importlib.metadata.version("olive-ai"),
        "graphs": graphs,
        "same": bool(graphs) and all(files[g["file"]]["sha256"] in before for g in graphs),
        "files": files,
    }
    (out / "manifest.json").write_text(json.dumps(manifest, indent=1, sort_keys=True) + "\n")


def first(said: dict[str, Any], model: Path) -> dict[str, Any]:
    """The recipe's model, where it is here. Its fields stand beside its type, or below config."""
    fields = dict(said.get("config", {k: v for k, v in said.items() if k != "type"}))
    fields["model_path"] = str(model)
    if said["type"].lower() == "onnxmodel" and model.is_dir() and "onnx_file_name" not in fields:
        found = sorted(p.name for p in model.glob("*.onnx"))
        if len(found) != 1:
            raise Wrong(f"{model.name} has {len(found)} files *.onnx, and the recipe's input_model does not say which is meant: give the file, or an onnx_file_name in the recipe.")
        fields["onnx_file_name"] = found[0]
    return {"type": said["type"], "config": fields}


def samples(config: dict[str, Any], at: Path) -> dict[str, Any]:
    """A data_config of the recipe whose samples are here."""
    load = dict(config.get("load_dataset_config") or {})
    params = dict(load.get("params") or {k: v for k, v in load.items() if k != "type"})
    if config["type"] == "RawDataContainer":
        params["data_dir"] = str(at)
    else:
        reads = LITTLE.get(at.suffix)
        if reads is None:
            raise Wrong(f"{at.name} is no file of samples: {', '.join(LITTLE)} are.")
        params = {k: v for k, v in params.items() if k not in ("subset", "data_dir")} | {"data_name": reads, "data_files": str(at), "split": "train"}
    return {**config, "load_dataset_config": {**{k: v for k, v in load.items() if k == "type"}, "params": params}}


def placed(value: Any, old: str, new: str) -> Any:
    """A document with another folder in its paths, and without what is null: Olive writes such fields, and fails where it reads them."""
    if isinstance(value, dict):
        return {k: placed(v, old, new) for k, v in value.items() if v is not None}
    if isinstance(value, list):
        return [placed(v, old, new) for v in value]
    if isinstance(value, str) and (value == old or value.startswith(old + "/")):
        return new + value[len(old) :]
    return value


def carried(value: Any, gone: tuple[Path, ...], out: Path) -> Any:
    """A document whose paths into folders that later passes do not have lead into the pass's own: tokenizer and configs go on with it, as a later pass reads its samples with them.

    Where a model itself is stays as it is: nobody copies weights here, and main refuses a model that was left in such a folder.
    """
    if isinstance(value, dict):
        return {k: v if k == "model_path" else carried(v, gone, out) for k, v in value.items()}
    if isinstance(value, list):
        return [carried(v, gone, out) for v in value]
    under = [f for f in gone if isinstance(value, str) and Path(value).is_relative_to(f)]
    if not under or not Path(value).exists():
        return value
    at, folder = Path(value), under[0]
    if at.is_file():
        to = out / at.name
        if not to.exists():
            shutil.copyfile(at, to)
    else:
        to = out / BEFORE / at.relative_to(folder / BEFORE if at.is_relative_to(folder / BEFORE) else folder)
        to.mkdir(parents=True, exist_ok=True)
        for p in sorted(at.glob("*")):
            if p.is_file() and p.suffix in WORDS and not (to / p.name).exists():
                shutil.copyfile(p, to / p.name)
    return HERE + "/" + str(to.relative_to(out))


def graph(at: Path, out: Path, of: str) -> dict[str, Any]:
    """What is in a graph that a pass left. All of its data must be there."""
    try:
        g = onnx.load(at, load_external_data=False)
    except Exception as e:
        raise Wrong(f"{of}: {at.name} is no ONNX graph: {e}") from e
    for t in tensors(g.graph):
        where = {e.key: e.value for e in t.external_data}
        if t.data_location == onnx.TensorProto.EXTERNAL:
            data = at.parent / where.get("location", "")
            if not data.is_file() or data.stat().st_size < int(where.get("offset", 0)) + int(where.get("length", 0)):
                raise Wrong(f"{of}: {at.name} has the data of {t.name} in {where.get('location')}, which is missing or too short.")
    if not g.graph.node:
        raise Wrong(f"{of}: {at.name} has no node.")
    ops = [n.op_type for n in g.graph.node]
    return {
        "file": str(at.relative_to(out)),
        "nodes": len(ops),
        "quantised": ops.count("QuantizeLinear") + ops.count("DequantizeLinear"),
        "inputs": {v.name: shape(v) for v in g.graph.input},
        "outputs": {v.name: shape(v) for v in g.graph.output},
    }


def tensors(g: onnx.GraphProto) -> Iterator[onnx.TensorProto]:
    """The constants of a graph and of those in its nodes."""
    yield from g.initializer
    for n in g.node:
        for attr in n.attribute:
            if attr.HasField("t"):
                yield attr.t
            if attr.HasField("g"):
                yield from tensors(attr.g)


def shape(v: onnx.ValueInfoProto) -> str:
    t = v.type.tensor_type
    dims = [str(d.dim_value) if d.HasField("dim_value") else d.dim_param or "?" for d in t.shape.dim]
    return f"{onnx.TensorProto.DataType.Name(t.elem_type).lower()}[{', '.join(dims)}]"


command.run(main)
