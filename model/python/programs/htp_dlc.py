"""Writes graphs as Qualcomm's own tools read them, before anything is compiled: graphs, libraries, target, fallback → out: GRAPH.dlc of each."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import command
import context
import dlc
import feed
import placement
from arch import Wrong


def main(a: dict[str, Any]) -> None:
    out = command.fresh(a["out"])
    o = context.Options(Path(a["libraries"]), placement.name, None, a["allow_cpu_fallback"])
    for g in feed.found(Path(a["graphs"])):
        folder = out / g.stem
        context.run([g], folder, [context.Target(**a["target"])], o, {"dlc": True})
        made = sorted(folder.glob("*.dlc"))
        for i, p in enumerate(made):
            if "model" not in dlc.members(p):
                raise Wrong(f"The compiler ended well, and left a DLC of {g.name} without a graph.")
            dlc.without_times(p)
            p.chmod(0o644)
            p.rename(out / (f"{g.stem}.{i}.dlc" if i else f"{g.stem}.dlc"))
        if not made:
            raise Wrong(f"The compiler ended well, and left no DLC of {g.name}.")
        shutil.rmtree(folder)


command.run(main)
