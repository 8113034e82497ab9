"""Qualcomm's container of graphs and contexts, a DLC: a zip file whose members are stored as they are, without checksums."""

from __future__ import annotations

import re
import struct
import zipfile
from pathlib import Path

from arch import Wrong

STAMP = re.compile(rb'("timestamp": ")\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC"')
EPOCH = b'1980-01-01 00:00:00 UTC"'  # as long as what it replaces


def members(at: Path) -> dict[str, tuple[int, int]]:
    """Where each member's content begins in the file, and how long it is, in bytes."""
    try:
        with zipfile.ZipFile(at) as z:
            found = z.infolist()
    except zipfile.BadZipFile as e:
        raise Wrong(f"{at.name} is no DLC: {e}.") from e
    places = {}
    with at.open("rb") as f:
        for m in found:
            f.seek(m.header_offset)
            header = f.read(30)
            if m.compress_type != zipfile.ZIP_STORED or len(header) < 30 or header[:4] != b"PK\x03\x04":
                raise Wrong(f"{at.name} is no DLC that is known: {m.filename} is not stored as it is.")
            name, extra = struct.unpack("<HH", header[26:])
            places[m.filename] = (m.header_offset + 30 + name + extra, m.file_size)
    return places


def read(at: Path, place: tuple[int, int]) -> bytes:
    with at.open("rb") as f:
        f.seek(place[0])
        return f.read(place[1])


def contexts(at: Path) -> dict[str, bytes]:
    """The contexts in it, by the members' names: htp.cache.sm8750.0."""
    return {name: read(at, place) for name, place in members(at).items() if name.startswith("htp.cache.")}


def without_times(at: Path) -> None:
    """Writes one fixed date over the times at which the file says that it was made: nothing else in it depends on when that was."""
    for name, place in members(at).items():
        if not name.startswith("dlc.metadata"):
            continue
        text = STAMP.sub(rb"\g<1>" + EPOCH, read(at, place))
        if len(text) != place[1]:
            raise Wrong(f"{at.name}: {name} has times in another form than is known.")
        with at.open("r+b") as f:
            f.seek(place[0])
            f.write(text)
