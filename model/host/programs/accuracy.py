"""Compares what decoders said: reference, outputs, contexts, compile_times, times (by name), title → table: a JSON file; rows: a JSON file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import command
from arch import Wrong
from compare import perplexity, rows

EMULATOR = "Measured on the vendor's x86 HTP emulator: not a phone's speed."


def compared(reference: Path, outputs: Path) -> dict[str, Any]:
    """One against the reference."""
    if not (reference / "said.json").is_file():
        return applied(reference, outputs)
    r, g = (json.loads((p / "said.json").read_text()) for p in (reference, outputs))
    if r["prompt_tokens"] != g["prompt_tokens"]:
        raise Wrong("They were given different prompts.")
    same = 0
    while same < min(len(r["tokens"]), len(g["tokens"])) and r["tokens"][same] == g["tokens"][same]:
        same += 1
    most = min(same + 1, len(r["tokens"]), len(g["tokens"]))  # rows before which both had said the same
    said = (np.load(reference / "said.npy")[:most], np.load(outputs / "said.npy")[:most])
    found: dict[str, Any] = {"words": g["text"], "tokens": len(r["tokens"]), "equal": same}
    if "text_tokens" in r and "text_tokens" in g:
        text = (np.load(reference / "text.npy"), np.load(outputs / "text.npy"))
        found |= rows(*(np.concatenate(pair) for pair in zip(said, text, strict=True)))
        found["perplexity"] = perplexity(text[1], g["text_tokens"])
    else:
        found |= rows(*said)
    return found


def applied(reference: Path, outputs: Path) -> dict[str, Any]:
    """What onnx_apply made of the same samples: the worst of each measure, of all outputs."""
    files = sorted(p.name for p in reference.glob("*.npz"))
    if not files or files != sorted(p.name for p in outputs.glob("*.npz")):
        raise Wrong("They were given different samples.")
    found: list[dict[str, float]] = []
    for name in files:
        with np.load(reference / name) as r, np.load(outputs / name) as g:
            if sorted(r.files) != sorted(g.files):
                raise Wrong(f"{name}: they have different outputs, {', '.join(sorted(r.files))} and {', '.join(sorted(g.files))}.")
            found += [rows(r[k].reshape(1, -1), g[k].reshape(1, -1)) for k in r.files if r[k].dtype.kind == "f"]
    if not found:
        raise Wrong("There are no float outputs to compare.")
    worst = {k: max(f[k] for f in found) if k == "difference_max" else min(f[k] for f in found) for k in found[0]}
    return {"samples": len(files), **worst}


def context(folder: Path) -> dict[str, Any]:
    """What a context is, in numbers."""
    manifest, nodes = (json.loads((folder / name).read_text()) for name in ("manifest.json", "nodes.json"))
    on = [n["on"] for graph in nodes.values() for n in graph]
    size = sum(f["bytes"] for name, f in manifest["files"].items() if name.startswith("device/"))
    return {"npu_nodes": on.count("NPU"), "cpu_nodes": on.count("CPU"), "context_mb": round(size / 1e6, 1)}


COLUMNS = (
    ("name", "", ""),
    ("words", "words", ""),
    ("equal", "tokens equal", ""),
    ("samples", "samples", ""),
    ("cosine", "cosine", ""),
    ("difference_max", "largest difference", ""),
    ("sqnr_db", "SQNR", "dB"),
    ("perplexity", "perplexity", ""),
    ("nodes", "nodes on NPU", ""),
    ("context_mb", "context", "MB"),
    ("compile_s", "compile", "s"),
    ("prefill_s", "prompt", "s"),
    ("token_s", "a token", "s"),
    ("sample_s", "a sample", "s"),
)


def cell(row: dict[str, Any], name: str) -> str:
    value = row.get(name)
    if name == "equal" and value is not None:
        return f"{value} of {row['tokens']}"
    if name == "nodes" and "npu_nodes" in row:
        return f"{row['npu_nodes']} of {row['npu_nodes'] + row['cpu_nodes']}"
    if name == "words" and isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, float):
        return f"{value:.4f}" if name in ("cosine", "difference_max") else f"{value:.2f}" if value < 1e6 else f"{value:.1e}"
    return "" if value is None else str(value)


def main(a: dict[str, Any]) -> None:
    reference = Path(a["reference"])
    found: dict[str, dict[str, Any]] = {}
    for name, outputs in sorted(a["outputs"].items()):
        row = compared(reference, Path(outputs))
        if name in a["contexts"]:
            row |= context(Path(a["contexts"][name]))
        if name in a["compile_times"]:
            row["compile_s"] = round(sum(json.loads(Path(a["compile_times"][name]).read_text()).values()), 1)
        if name in a["times"]:
            t = json.loads(Path(a["times"][name]).read_text())
            if "sample" in t:
                row["sample_s"] = round(sum(t["sample"]) / max(1, len(t["sample"])), 3)
            else:
                row["prefill_s"], row["token_s"] = round(sum(t["prefill"]), 2), round(sum(t["decode"]) / max(1, len(t["decode"])), 3)
        found[name] = row
    own: dict[str, Any] = {"name": "reference"}
    if (reference / "said.json").is_file():
        r = json.loads((reference / "said.json").read_text())
        own["words"] = r["text"]
        if "text_tokens" in r:
            own["perplexity"] = perplexity(np.load(reference / "text.npy"), r["text_tokens"])
    lines = [*([own] if len(own) > 1 else []), *({"name": name, **row} for name, row in found.items())]
    hidden = ("difference_max", "sqnr_db") if "words" in own else ()
    shown = [c for c in COLUMNS if c[0] not in hidden and any(cell(row, c[0]) for row in lines)]
    table = {
        "title": a["title"],
        "columns": [{"name": name, "label": label, "unit": unit} for name, label, unit in shown],
        "lines": [[cell(row, c[0]) for c in shown] for row in lines],
        "note": EMULATOR if a["contexts"] else "",
    }
    Path(a["table"]).write_text(json.dumps(table, indent=1, ensure_ascii=False) + "\n")
    Path(a["rows"]).write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")


command.run(main)
