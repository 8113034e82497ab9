"""The part of htp_context that asks why nodes stay on the CPU, in a process of its own: graph, libraries, soc_model, vtcm_mb."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import assigned
import command
import session


def main(spec: dict[str, Any]) -> dict[str, Any]:
    libraries = Path(spec["libraries"])
    options = {"backend_path": session.backend(libraries), "soc_model": str(spec["soc_model"]), "vtcm_mb": str(spec["vtcm_mb"])}
    return {"nodes": assigned.asked(spec["graph"], libraries, options)[0]}


command.run(main)
