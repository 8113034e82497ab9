"""Runs another program, which `program` names, in a process of its own: the emulator crashes on some contexts, and a crash is a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import command


def main(a: dict[str, Any]) -> None:
    command.child(a.pop("program"), a, Path.cwd())


command.run(main)
