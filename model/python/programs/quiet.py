"""Libraries that talk while they work: what they say goes into a file, and only matters where they fail."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import command
from arch import Wrong


@contextmanager
def output(at: str) -> Iterator[None]:
    """Standard output and error of all that runs in it, of C++ too, go to a file; an exception that nobody expected becomes a sentence with the file's end."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [os.dup(fd) for fd in (1, 2)]
    log = os.open(at, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for fd in (1, 2):
        os.dup2(log, fd)
    wrong: Exception | None = None
    try:
        yield
    except Wrong:
        raise
    except Exception as e:
        wrong = e
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for fd, old in zip((1, 2), kept, strict=True):
            os.dup2(old, fd)
            os.close(old)
        os.close(log)
    if wrong is not None:
        said = command.tail(Path(at).read_text(errors="replace"), 20)
        raise Wrong(f"{said}\n{type(wrong).__name__}: {wrong}".lstrip()) from wrong
