"""How every program here is started: PROGRAM.py ARGS.json.

It reads its arguments from one JSON document, writes what it makes into the folder `out` of them, and ends with exit code 0, or says in a
sentence what is wrong and ends with 1. PROGRAM.py --child ARGS is how one starts another, for a part of its work in a process of its own.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from arch import Wrong

T = TypeVar("T")

Part = Callable[[dict[str, Any]], dict[str, Any] | None]

BESIDE = ("tokenizer.json", "chat_template.jinja", "special_tokens.json", "embedding.bin")  # what goes on beside the graphs
LICENSES = "licenses"  # and the texts of the model's license


def run(command: Part) -> None:
    """Runs the program, and ends the process without the libraries' own cleaning up, which is not always sound."""
    argv = sys.argv[1:]
    code = 0
    try:
        if len(argv) == 2 and argv[0] == "--child":
            report = command(json.loads(argv[1]))
        elif len(argv) == 1:
            report = command(json.loads(Path(argv[0]).read_text()))
        else:
            raise Wrong("usage: PROGRAM.py ARGS.json")
        if report is not None:
            print(json.dumps(report))
    except Wrong as e:
        print(e, file=sys.stderr)
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def fresh(out: str) -> Path:
    """The folder that a program fills."""
    at = Path(out)
    at.mkdir(parents=True, exist_ok=True)
    if any(at.iterdir()):
        raise Wrong(f"{out} is not empty.")
    return at


def carry(source: Path, to: Path, *more: str) -> None:
    """Copies what does not change on the way from a model to its context."""
    for name in (*BESIDE, *more):
        if (source / name).is_file():
            shutil.copyfile(source / name, to / name)
    if (source / LICENSES).is_dir():
        shutil.copytree(source / LICENSES, to / LICENSES, copy_function=shutil.copyfile)


def files(folder: Path) -> dict[str, dict[str, Any]]:
    """What is in a folder, by path: size in bytes and SHA-256 of each file, for a manifest."""
    return {p.relative_to(folder).as_posix(): {"bytes": p.stat().st_size, "sha256": digest(p)} for p in sorted(folder.rglob("*")) if p.is_file()}


def digest(at: Path) -> str:
    with at.open("rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


def child(what: str, spec: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Runs another program for a part of the work, in a process of its own, and gives what it reports."""
    env = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPYCACHEPREFIX": os.path.join(tempfile.gettempdir(), "bytecode")}
    env["MALLOC_ARENA_MAX"] = "512"  # a heap for each thread: what one does in its own moves nothing in another's
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # the next child need not compile what this one imports
    if paths := env.get("LD_LIBRARY_PATH"):
        env["LD_LIBRARY_PATH"] = ":".join(os.path.abspath(p) for p in paths.split(":") if p)
    r = subprocess.run(
        [sys.executable, "-s", str(Path(__file__).resolve().with_name(what + ".py")), "--child", json.dumps(spec)],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        errors="replace",
    )
    said = (r.stdout + r.stderr).strip()
    if r.returncode == -signal.SIGKILL:
        raise Wrong(
            f"{what} was killed (signal 9): by a user, or by the system because memory ran out. "
            f"Run it again, on a machine with more memory or with less beside it (--jobs 1).\n{tail(said)}"
        )
    if r.returncode < 0:
        why = signal.strsignal(-r.returncode) or "unknown"
        raise Wrong(f"Qualcomm's library crashed with signal {-r.returncode} ({why}) while it did {what}.\n{tail(said)}")
    if r.returncode > 0:
        raise Wrong(tail(said) or f"{what} ended with exit code {r.returncode} and without a word")
    lines = [line for line in r.stdout.splitlines() if line.startswith("{")]
    if not lines:
        raise Wrong(f"{what} reported nothing.\n{tail(said)}")
    return dict(json.loads(lines[-1]))


def apart(parts: list[Callable[[], T]]) -> list[T]:
    """Calls one part after the other, each but the last in a thread of its own, which all start before the first part does.

    A thread has a heap of its own, where MALLOC_ARENA_MAX allows it, and the first thread's is nobody else's: so no part finds its heap as another one left it.
    That matters where addresses order something and threads of a part give back what the one that called it allocated, whenever they come to it.
    """
    done: list[T] = []
    wrong: list[Exception] = []

    def turn(before: threading.Thread | None, part: Callable[[], T]) -> None:
        if before is not None:
            before.join()
        if wrong:
            return
        try:
            done.append(part())
        except Exception as e:
            wrong.append(e)

    last = None
    for part in parts[:-1]:
        now = threading.Thread(target=turn, args=(last, part))
        now.start()
        last = now
    turn(last, parts[-1])
    if wrong:
        raise wrong[0]
    return done


def tail(text: str, lines: int = 40) -> str:
    return "\n".join(text.splitlines()[-lines:])
