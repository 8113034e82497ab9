"""The part of htp_context that reads a context, in a process of its own: binary, libraries."""

from __future__ import annotations

from pathlib import Path

import command
import system

command.run(lambda a: system.read(Path(a["binary"]), Path(a["libraries"])))
