"""Makes the table of a recipe of Olive's: title, made, others, compile, target → table, rows, options: JSON files.

made are the passes that Olive ran, each with the folder that it left; others those that it did not. compile is the one in whose place htp_context compiles.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import command

LEVEL = "htp_graph_finalization_optimization_mode"  # of provider_options: what htp_context is told
COLUMNS = [("name", "pass"), ("type", "type"), ("by", "run by"), ("nodes", "nodes"), ("quantised", "of these Q and DQ"), ("size", "MB")]


def main(a: dict[str, Any]) -> None:
    rows = [row(m) for m in a["made"]] + a["others"]
    lines = [[r["name"], r["type"], r["by"], *figures(r)] for r in rows]
    table = {"title": a["title"], "note": "\n".join(notes(a, rows)), "columns": [{"name": n, "label": label} for n, label in COLUMNS], "lines": lines, "rows": []}
    Path(a["table"]).write_text(json.dumps(table, indent=1) + "\n")
    Path(a["rows"]).write_text(json.dumps({"passes": rows}, indent=1) + "\n")
    Path(a["options"]).write_text(json.dumps(options(a.get("compile", {}).get("config", {})), indent=1) + "\n")


def options(config: dict[str, Any]) -> dict[str, Any]:
    """What htp_context is told of what the recipe says of the compiler; its fields stand beside its type, or below config."""
    said = config.get("config", config)
    level = (said.get("provider_options") or {}).get(LEVEL)
    return {"optimization": int(level) if level else None, "sharing": bool(said.get("weight_sharing", False))}


def row(made: dict[str, Any]) -> dict[str, Any]:
    """A pass that Olive ran, by what it left."""
    m = json.loads((Path(made["dir"]) / "manifest.json").read_text())
    return {
        "name": made["name"],
        "type": made["type"],
        "by": f"Olive {m['olive']}",
        "nodes": sum(g["nodes"] for g in m["graphs"]),
        "quantised": sum(g["quantised"] for g in m["graphs"]),
        "bytes": sum(f["bytes"] for f in m["files"].values()),
        "same": m["same"],
    }


def figures(r: dict[str, Any]) -> list[str]:
    if "bytes" not in r:
        return ["", "", ""]
    return [str(r["nodes"] or ""), str(r["quantised"] or ""), f"{r['bytes'] / 1e6:.2f}"]


def notes(a: dict[str, Any], rows: list[dict[str, Any]]) -> list[str]:
    """What is otherwise than the recipe says, a line each."""
    said = [f"{r['name']} left the graphs as they were, byte for byte." for r in rows if r.get("same")]
    if "compile" in a:
        name, config = a["compile"]["name"], a["compile"]["config"].get("config", a["compile"]["config"])
        given = dict(config.get("provider_options") or {})
        said.append(f"{name}: Olive finds the vendor's provider on Windows alone, so htp_context compiles in its place.")
        model = given.pop("soc_model", None)
        if "target" in a:
            of = f"{a['target']['soc']}, the target, with soc_model {a['target']['soc_model']}"
            said.append(f"{name}: for {of}" + (f"; the recipe says {model}." if model is not None and str(model) != str(a["target"]["soc_model"]) else "."))
        if left := sorted(set(given) - {LEVEL}):
            said.append(f"{name}: {', '.join(left)} of its provider_options is for whoever runs the context, and not in it.")
    said += [f"{r['name']} ({r['type']}) does not run: htp_context leaves one folder with all graphs." for r in rows if r["by"] == "nobody"]
    return said


command.run(main)
