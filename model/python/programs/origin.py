"""What a model says of itself beside its weights: special tokens, how to generate, how it tokenises, and its licence."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from arch import Wrong

SPECIAL = ("bos", "eos", "pad", "unk")
TEXTS = re.compile(r"(licen[cs]e|notice|copying|use_policy)", re.IGNORECASE)  # files that go on with a model


@dataclass
class Origin:
    name: str = ""
    licence: str = ""  # as the model names it: "apache-2.0"
    ids: dict[str, int] = field(default_factory=dict)  # of SPECIAL, what it names
    generation: dict[str, Any] = field(default_factory=dict)  # generation_config.json
    tokenizer: dict[str, Any] = field(default_factory=dict)  # tokenizer_config.json
    texts: list[Path] = field(default_factory=list)


def of(path: Path) -> Origin:
    """Of a Hugging Face folder or a GGUF, as weights.open_model takes them."""
    if path.is_dir() and not (path / "config.json").is_file():
        ggufs = sorted(path.glob("*.gguf"))
        if len(ggufs) != 1:
            raise Wrong(f"{path} has neither a config.json nor one GGUF.")
        found = gguf(ggufs[0])
    elif path.is_dir():
        found = folder(path)
    else:
        return gguf(path)
    found.texts = sorted(p for p in path.iterdir() if p.is_file() and TEXTS.match(p.name))
    return found


def folder(path: Path) -> Origin:
    def document(name: str) -> dict[str, Any]:
        return dict(json.loads((path / name).read_text())) if (path / name).is_file() else {}

    config, generation = document("config.json"), document("generation_config.json")
    o = Origin(name=str(config.get("_name_or_path") or ""), generation=generation, tokenizer=document("tokenizer_config.json"))
    for kind in SPECIAL:
        value = next((d[f"{kind}_token_id"] for d in (generation, config) if d.get(f"{kind}_token_id") is not None), None)
        value = value[0] if isinstance(value, list) and value else value
        if isinstance(value, int):
            o.ids[kind] = value
    card = path / "README.md"
    if card.is_file() and (head := re.match(r"---\n(.*?)\n---\n", card.read_text(errors="replace"), re.DOTALL)):
        if said := re.search(r"^license:[ \t]*(\S+)[ \t]*$", head[1], re.MULTILINE):
            o.licence = said[1]
    return o


def gguf(path: Path) -> Origin:
    import gguf  # slow to import, and only needed here

    reader = gguf.GGUFReader(path)

    def value(key: str) -> Any:
        f = reader.get_field(key)
        return None if f is None else f.contents()

    names = {"bos": "bos", "eos": "eos", "pad": "padding", "unk": "unknown"}
    ids = {kind: value(f"tokenizer.ggml.{n}_token_id") for kind, n in names.items()}
    return Origin(
        name=str(value("general.name") or path.stem),
        licence=str(value("general.license") or ""),
        ids={kind: int(i) for kind, i in ids.items() if i is not None},
    )
