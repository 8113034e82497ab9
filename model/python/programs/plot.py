"""A table as a picture: a panel for each measure, a row for each name, a mark and its number where it lies. It says all of it without colour."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

ROW, TOP, NAMES, PANEL, GAP, MARGIN = 24, 64, 150, 170, 26, 12  # pixels


@dataclass(frozen=True)
class Measure:
    """A number of each row that has a panel of its own."""

    key: str
    label: str
    places: int
    better: str  # "less" or "more"
    log: bool = False


MEASURES = (
    Measure("perplexity", "perplexity", 2, "less", log=True),
    Measure("cosine", "cosine to float", 4, "more"),
    Measure("twin_cosine", "cosine, first layers", 4, "more"),
    Measure("right", "answers right", 0, "more"),
    Measure("context_mb", "context, MB", 1, "less"),
    Measure("compile_s", "compile, s", 1, "less"),
)


def svg(title: str, rows: dict[str, dict[str, Any]], reference: dict[str, Any], note: str) -> str:
    """The picture. A row that is wrong has a cross in place of each dot, and says so; the reference's number is a dashed line."""
    shown = [m for m in MEASURES if sum(number(r, m.key) is not None for r in rows.values()) > 0]
    width, height = NAMES + len(shown) * (PANEL + GAP) + MARGIN, TOP + ROW * len(rows) + 56
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        text(MARGIN, 22, title, size=14),
    ]
    for i, (name, row) in enumerate(rows.items()):
        y = TOP + ROW * i + ROW // 2
        if i % 2 == 0:
            out.append(f'<rect x="0" y="{y - ROW // 2}" width="{width}" height="{ROW}" fill="#f2f2f2"/>')
        out.append(text(MARGIN, y + 4, name + (" (wrong)" if row.get("wrong") else "")))
    for j, m in enumerate(shown):
        out += panel(NAMES + j * (PANEL + GAP), m, rows, reference)
    out.append(text(MARGIN, height - 26, "● a way of quantising   ✕ wrong: the emulator says something else than the same numbers on the CPU   ┆ the float model", size=11))
    out += [text(MARGIN, height - 9, note, size=11), "</svg>"]
    return "\n".join(out) + "\n"


def panel(x: int, m: Measure, rows: dict[str, dict[str, Any]], reference: dict[str, Any]) -> list[str]:
    """One measure of all rows."""
    values = [v for r in (*rows.values(), reference) if (v := number(r, m.key)) is not None]
    low, high = min(values), max(values)
    if not m.log and high - low < 10**-m.places:
        low, high = low - 10**-m.places, high
    space = PANEL - 62  # the rest is for the number behind the mark

    def at(v: float) -> float:
        a, b, c = (math.log(max(t, 1e-9)) for t in (low, v, high)) if m.log else (low, v, high)
        return x + 6 + (space * (b - a) / (c - a) if c > a else space / 2)

    bottom = TOP + ROW * len(rows)
    out = [text(x, TOP - 24, m.label), text(x, TOP - 9, f"{m.better} is better" + (", logarithmic" if m.log else ""), size=10)]
    out.append(f'<line x1="{x}" y1="{TOP}" x2="{x}" y2="{bottom}" stroke="#999"/>')
    if (v := number(reference, m.key)) is not None:
        out.append(f'<line x1="{at(v):.1f}" y1="{TOP}" x2="{at(v):.1f}" y2="{bottom}" stroke="black" stroke-dasharray="3 3"/>')
    for i, row in enumerate(rows.values()):
        y = TOP + ROW * i + ROW // 2
        if (v := number(row, m.key)) is None:
            continue
        out.append(cross(at(v), y) if row.get("wrong") else f'<circle cx="{at(v):.1f}" cy="{y}" r="4" fill="black"/>')
        out.append(text(at(v) + 9, y + 4, f"{v:.{m.places}f}" if v < 1e6 else f"{v:.1e}", size=11))
    return out


def number(row: dict[str, Any], key: str) -> float | None:
    v = row.get(key)
    return float(v) if isinstance(v, int | float) and math.isfinite(v) else None


def cross(x: float, y: float) -> str:
    return f'<path d="M{x - 4:.1f} {y - 4:.1f}l8 8m0 -8l-8 8" stroke="black" stroke-width="2" fill="none"/>'


def text(x: float, y: float, words: str, size: int = 12) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}">{escape(words)}</text>'
