"""Compares outputs of graphs with a reference: reference, title, min_cosine, match_threshold, truncated_reference, tokenizer, and by name outputs,
contexts, compile_times, times, cpu_outputs, truncated_outputs → table, rows, first_below_min, mismatches: JSON files.

cpu_outputs are those of the same quantized graphs on the CPU: a context whose outputs differ is a mismatch, and its row says WRONG.
truncated_outputs are those of the model's first layers.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np

import command
import tokens
from arch import Wrong
from compare import perplexity, rows

EMULATOR = "Measured on Qualcomm's HTP emulator for x86-64: not a phone's speed."


def compared(reference: Path, outputs: Path, tokenizer: str = "") -> dict[str, Any]:
    """One against the reference. tokenizer is the folder of the tokenizer that decodes outputs without words."""
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
    text = g["text"] if "text" in g else tokens.Text(Path(tokenizer)).decode(g["tokens"])
    found: dict[str, Any] = {"words": text, "tokens": len(r["tokens"]), "equal": same}
    if "on" in g:
        found["on"] = g["on"]
    if "text_tokens" in r and "text_tokens" in g:
        read = (np.load(reference / "text.npy"), np.load(outputs / "text.npy"))
        found |= rows(*(np.concatenate(pair) for pair in zip(said, read, strict=True)))
        found["perplexity"] = perplexity(read[1], g["text_tokens"])
    else:
        found |= rows(*said)
    if g.get("choices"):
        found |= {"questions": len(g["choices"]), "right": g["choices"].count(0)}
        found["chosen_equal"] = sum(a == b for a, b in zip(r.get("choices", []), g["choices"], strict=False))
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
    size = sum(f["bytes"] for name, f in manifest["files"].items() if name.startswith("device/") and "_ctx" in name)
    return {"npu_nodes": on.count("NPU"), "cpu_nodes": on.count("CPU"), "context_mb": round(size / 1e6, 1)}


COLUMNS = (
    ("name", "", ""),
    ("verdict", "", ""),
    ("words", "words", ""),
    ("equal", "tokens equal", ""),
    ("samples", "samples", ""),
    ("right", "answers right", ""),
    ("chosen_equal", "answers as float", ""),
    ("cosine", "cosine", ""),
    ("truncated_cosine", "of the first layers", ""),
    ("cpu_cosine", "to the CPU", ""),
    ("difference_max", "largest difference", ""),
    ("sqnr_db", "SQNR", "dB"),
    ("argmax_equal", "same argmax", "%"),
    ("perplexity", "perplexity", ""),
    ("nodes", "nodes on NPU", ""),
    ("context_mb", "context", "MB"),
    ("compile_s", "compile", "s"),
    ("prefill_s", "prompt", "s"),
    ("token_s", "a token", "s"),
    ("sample_s", "a sample", "s"),
)


# Columns that say nothing beside a language model's words, and beside samples.
HIDDEN = {True: ("difference_max", "sqnr_db", "argmax_equal"), False: ("argmax_equal",)}


def natural(name: str) -> list[str | int]:
    """What names are sorted by, so that 2 comes before 10."""
    return [int(part) if i % 2 else part for i, part in enumerate(re.split(r"([0-9]+)", name))]


def cell(row: dict[str, Any], name: str) -> str:
    value = row.get(name)
    if name == "argmax_equal" and value is not None:
        return f"{100 * value:.1f}"
    if name == "verdict":
        return "WRONG" if row.get("mismatch") else ""
    if name in ("right", "chosen_equal") and value is not None:
        return f"{value} of {row['questions']}"
    if name == "equal" and value is not None:
        return f"{value} of {row['tokens']}"
    if name == "nodes" and "npu_nodes" in row:
        return f"{row['npu_nodes']} of {row['npu_nodes'] + row['cpu_nodes']}"
    if name == "words" and isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, float):
        return f"{value:.4f}" if name.endswith("cosine") or name == "difference_max" else f"{value:.2f}" if value < 1e6 else f"{value:.1e}"
    return "" if value is None else str(value)


def row(a: dict[str, Any], name: str) -> dict[str, Any]:
    """One line's numbers."""
    try:
        found = compared(Path(a["reference"]), Path(a["outputs"][name]), a["tokenizer"])
    except Wrong as e:
        raise Wrong(f"{name}: {e}") from e
    if name in a["cpu_outputs"]:
        try:
            found["cpu_cosine"] = compared(Path(a["cpu_outputs"][name]), Path(a["outputs"][name]))["cosine"]
        except Wrong as e:
            raise Wrong(f"{name}, beside the same on the CPU: {e}") from e
        found["mismatch"] = found["cpu_cosine"] < a["match_threshold"]
    if name in a["truncated_outputs"]:
        found["truncated_cosine"] = compared(Path(a["truncated_reference"]), Path(a["truncated_outputs"][name]))["cosine"]
    if name in a["contexts"]:
        found |= context(Path(a["contexts"][name]))
    if name in a["compile_times"]:
        compiles = json.loads(Path(a["compile_times"][name]).read_text()).values()
        found["compile_s"], found["compile_mb"] = round(sum(c["seconds"] for c in compiles), 1), max(c["peak_mb"] for c in compiles)
    if name in a["times"]:
        t = json.loads(Path(a["times"][name]).read_text())
        if "sample" in t:
            found["sample_s"] = round(sum(t["sample"]) / max(1, len(t["sample"])), 3)
        else:
            found["prefill_s"], found["token_s"] = round(sum(t["prefill"]), 2), round(sum(t["decode"]) / max(1, len(t["decode"])), 3)
    return found


def own(reference: Path) -> dict[str, Any]:
    """The reference's own line, if it said something."""
    if not (reference / "said.json").is_file():
        return {}
    r = json.loads((reference / "said.json").read_text())
    line = {"name": "reference", "words": r["text"]}
    if "text_tokens" in r:
        line["perplexity"] = perplexity(np.load(reference / "text.npy"), r["text_tokens"])
    if r.get("choices"):
        line |= {"questions": len(r["choices"]), "right": r["choices"].count(0)}
    return line


def verdict(found: dict[str, dict[str, Any]], least: float) -> tuple[str, str]:
    """Returns the first name whose cosine is below the minimum, and a sentence; both are empty if all pass."""
    for name, numbers in found.items():
        if numbers["cosine"] < least:
            return name, f"{name}: cosine {numbers['cosine']:.4f} is below min_cosine {least:g}."
    return "", ""


def main(a: dict[str, Any]) -> None:
    found = {name: row(a, name) for name in sorted(a["outputs"], key=natural)}
    first = own(Path(a["reference"]))
    lines = [*([first] if first else []), *({"name": name, **numbers} for name, numbers in found.items())]
    hidden = HIDDEN[bool(first)]
    shown = [c for c in COLUMNS if c[0] not in hidden and any(cell(line, c[0]) for line in lines)]
    bad, says = verdict(found, a["min_cosine"])
    mismatches = [name for name, numbers in found.items() if numbers.get("mismatch")]
    if mismatches:
        says = f"{says} WRONG: {', '.join(mismatches)}: the emulator's outputs differ from those of the same graph on the CPU.".lstrip()
    ran = (f"{name} ran on {numbers['on']}." for name, numbers in found.items() if "on" in numbers)
    note = " ".join(s for s in (says, EMULATOR if a["contexts"] else "", *ran) if s)
    table = {
        "title": a["title"],
        "columns": [{"name": name, "label": label, "unit": unit} for name, label, unit in shown],
        "lines": [[cell(line, c[0]) for c in shown] for line in lines],
        "note": note,
    }
    for at, made in ((a["table"], table), (a["rows"], found), (a["first_below_min"], bad), (a["mismatches"], mismatches)):
        Path(at).write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n")


command.run(main)
