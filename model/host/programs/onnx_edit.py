"""Edits graphs: model, graphs, edits, samples, random, seed, tolerance → out: the graphs, diff.txt, manifest.json; facts: what was changed, a JSON file.

Original and edited graphs run on the same samples, and must say the same, but for the tolerance: a part of each output's largest absolute value.
"""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import command
import edits
import equal
import onnxgraph
from arch import Wrong
from edits import Place
from equal import Gap
from onnxgraph import Graph
from tensors import DATA

LINES = 400  # of one edit in diff.txt


def main(a: dict[str, Any]) -> dict[str, Any]:
    source = Path(a["model"])
    files = [source] if source.is_file() else sorted(source.glob("*.onnx"))
    if not files:
        raise Wrong(f"{source} has no files *.onnx.")
    names = [f.stem for f in files]
    for name in a["graphs"]:
        if name not in names:
            raise Wrong(f"There is no graph {name!r} to edit{edits.near(name, names)}.")
    chosen = a["graphs"] or names
    if len(chosen) > 1 and any(e["kind"] == "split" for e in a["edits"]):
        raise Wrong(f"A split makes two graphs of one; here are {', '.join(chosen)}: name one with graphs.")
    out = command.fresh(a["out"])
    facts: dict[str, Any] = {}
    told: list[str] = []
    with closing(onnxgraph.File(out)) as into:
        for f in files:
            if f.stem not in chosen:
                into.save(onnxgraph.load(f))
                continue
            facts[f.stem], lines = edited(a, f, into, {g for g in names if g != f.stem})
            told += lines
    if source.is_dir():
        carry(source, out, {x.name for x in files})
    told.append("`hexmage inspect --diff` of two files says what is in the one and not in the other, node by node.")
    (out / "diff.txt").write_text("\n".join(told) + "\n")
    made = command.files(out)
    (out / "manifest.json").write_text(json.dumps({"graphs": facts, "files": made}, indent=1, ensure_ascii=False) + "\n")
    Path(a["facts"]).write_text(json.dumps(facts, ensure_ascii=False) + "\n")
    return {name: g["difference"] for name, g in facts.items()}


def edited(a: dict[str, Any], at: Path, into: onnxgraph.File, others: set[str]) -> tuple[dict[str, Any], list[str]]:
    """One graph, edited, written and checked: what there is to say of it, for programs and for people."""
    original, g = onnxgraph.load(at), onnxgraph.load(at)
    samples = equal.Samples(original, a["samples"], a["random"], a["seed"])
    tools = edits.Tools(lambda names: equal.ranges(g, samples, {now: was for was, now in g.now.items()}, names), equal.evaluate)
    graphs, done = [g], []
    for number, e in enumerate(a["edits"], 1):
        if e["kind"] == "split":
            graphs, places = edits.split(g, number, e)
            if clash := {h.name for h in graphs} & others:
                raise Wrong(f"{g.name}: edit {number}, split, would write {clash.pop()}.onnx, which is another graph of the folder.")
        else:
            places = edits.apply(g, number, e, tools)
        done.append((e, places))
    for h in graphs:
        h.infer()
        into.save(h)
    into.file.flush()
    worst, count = equal.Both(original, graphs, samples).compare(a["tolerance"])
    how = f"{count} samples of {Path(a['samples']).name}" if a["samples"] else f"{count} samples, made up with seed {a['seed']}"
    facts = {
        "into": [h.name for h in graphs],
        "nodes": {"before": len(original.nodes), "after": sum(len(h.nodes) for h in graphs)},
        "edits": [{"kind": e["kind"], "places": [p.at for p in places]} for e, places in done],
        "samples": count,
        "tolerance": a["tolerance"],
        "difference": max((x.part for x in worst.values()), default=0.0),
        "outputs": {name: {"difference": x.difference, "of": x.of, "part": x.part} for name, x in worst.items()},
    }
    return facts, story(original, graphs, done, worst, how, a["tolerance"])


def story(original: Graph, graphs: list[Graph], done: list[tuple[dict[str, Any], list[Place]]], worst: dict[str, Gap], how: str, tolerance: float) -> list[str]:
    """What was done to a graph, for people."""
    after = " and ".join(f"{h.name} of {len(h.nodes)}" for h in graphs)
    lines = [f"{original.name}, {len(original.nodes)} nodes → {after} nodes", ""]
    for number, (e, places) in enumerate(done, 1):
        lines.append(f"{number}. {e['kind']}: {edits.count(len(places))}")
        said = [f"   {line}" for p in places for line in p.lines]
        lines += said[:LINES]
        if len(said) > LINES:
            lines.append(f"   … and {len(said) - LINES} lines more; manifest.json has all places")
        lines.append("")
    lines.append(f"Both graphs ran on {how}; an output may differ by a part of {tolerance:g} of its largest value:")
    for name, x in worst.items():
        lines.append(f"   {name}: " + ("the same" if x.difference == 0 else f"{x}"))
    return [*lines, ""]


def carry(source: Path, out: Path, graphs: set[str]) -> None:
    """Copies what is beside the graphs and no data of theirs, such as arch.json and a tokenizer."""
    used = {e.value for name in graphs for t in onnxgraph.load(source / name).constants.values() for e in t.external_data if e.key == "location"}
    for p in sorted(source.iterdir()):
        if p.is_file() and p.name not in used | graphs | {DATA, "manifest.json", "diff.txt"}:
            shutil.copyfile(p, out / p.name)


command.run(main)
