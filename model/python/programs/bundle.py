"""What a board needs, in one folder: context, model, licences, run, packages → out.

context is what htp_context made, model what onnx_llm took, licences files and folders with texts, run the programs that go along for run.sh,
packages the version of each package that the context was made with. Nothing of the vendor's libraries goes in.
"""

from __future__ import annotations

import importlib.metadata
import json
import shutil
from pathlib import Path
from typing import Any

import onnx

import arch
import command
import feed
import genai
import origin
import tokens
from arch import Arch, Wrong
from origin import Origin

SAMPLES = (genai.QUESTION, "It's 1234.5 — naïve, déjà vu;  don't\n\n\tdef f(x):\n    return x  \n", "日本語 ü 🙂")
CLASSES = ("PreTrainedTokenizerFast", "Qwen2Tokenizer", "GPT2Tokenizer", "LlamaTokenizer")  # readers that genai has for a tokenizer.json

RUN = """#!/bin/sh
# Lets the model of this folder answer on the NPU: ./run.sh "What is the capital of France?" [--tokens 32] [--json]
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
python=${PYTHON:-python3}
if ! command -v "$python" >/dev/null 2>&1; then
  echo "run.sh: there is no $python: install Python 3.11 or newer, or name one with PYTHON=..." >&2
  exit 1
fi
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  echo "run.sh: $python is older than 3.11: name a newer one with PYTHON=..." >&2
  exit 1
fi
PYTHONDONTWRITEBYTECODE=1 exec "$python" "$here/run/board.py" "$@"
"""

VENDOR = (
    "To run, this folder needs Qualcomm's libraries, of the package onnxruntime-qnn; none of them is in it. They come under Qualcomm_LICENSE.pdf "
    "in that package: use to develop applications; no reverse engineering, no distribution but as a part of one's own application."
)


def main(a: dict[str, Any]) -> None:
    source, out = Path(a["context"]), command.fresh(a["out"])
    found = json.loads((source / "manifest.json").read_text())["contexts"]
    of, model = arch.load(source / "arch.json"), origin.of(Path(a["model"]))
    command.carry(source, out, "arch.json", "cache.json")
    contexts, shared = device(source / "device", out)
    parts = [v for k, v in sorted(found.items()) if k.startswith("device")] or [found[f"emulator/{n}"] for n in contexts]
    made = parts[0]
    words = tokens.Text(out)
    ids = genai.special(of, model.ids, words)
    generation = {**{f"{kind}_token_id": i for kind, i in ids.items()}, **model.generation, "eos_token_id": list(of.stop)}
    document(out / "generation_config.json", generation)
    document(out / "genai_config.json", genai.write(out, of, contexts, ids, generation))
    version = genai.check(out)
    tokenizer(out, of, model, ids, words)
    run(out, a)
    packages = {**a["packages"], "onnxruntime": importlib.metadata.version("onnxruntime"), "onnxruntime-genai": version}
    (out / "requirements.txt").write_text("".join(f"{n}>={v}\n" for n, v in packages.items()) + "".join(f"{n}\n" for n in ("jinja2", "numpy", "tokenizers")))
    texts = licences(out, model, [Path(p) for p in a["licences"]])
    files = command.files(out)
    qairt = made["build"].removeprefix("v")
    document(
        out / "manifest.json",
        {
            "context": {
                "file": Path(made["file"]).name,
                "shared": shared,
                "qairt": qairt,
                **{k: made[k] for k in ("soc", "soc_model", "arch", "vtcm_mb")},
                "graphs": [g for p in parts for g in p["graphs"]],
            },
            "runtime": {
                **packages,
                "qairt": ".".join(qairt.split(".")[:3]),
                "note": "the oldest: a context is loaded by the release that made it and by newer ones",
            },
            "model": {"name": model.name, "licence": model.licence, "licence_texts": texts},
            "bytes": sum(f["bytes"] for f in files.values()),
            "files": files,
        },
    )
    if bad := [str(p.relative_to(out)) for p in sorted(out.rglob("*")) if p.is_file() and p.open("rb").read(4) == b"\x7fELF"]:
        raise Wrong(f"{', '.join(bad)}: a bundle has no libraries and no programs but scripts.")


def document(at: Path, d: dict[str, Any]) -> None:
    at.write_text(json.dumps(d, indent=1, ensure_ascii=False) + "\n")


def device(source: Path, out: Path) -> tuple[dict[str, Path], bool]:
    """Copies the contexts and their EP-context models, which must name them by their names alone; the models by graph, and whether they share one."""
    have = {p.stem.removesuffix("_ctx"): p for p in source.rglob("*_ctx.onnx")}
    models: dict[str, Path] = {}
    used: set[Path] = set()
    for graph in feed.GRAPHS:
        if not feed.stems(have, graph):
            raise Wrong(
                f"{source} has no {graph}_ctx.onnx: a bundle is made of both graphs of a language model, as htp_context makes them of what onnx_quantize made."
            )
    for stem in (n for graph in feed.GRAPHS for n in feed.stems(have, graph)):
        at = have[stem]
        for node in onnx.load(at, load_external_data=False).graph.node:
            attributes = {x.name: onnx.helper.get_attribute_value(x) for x in node.attribute}
            name = attributes.get("ep_cache_context", b"").decode(errors="replace")
            if node.op_type != "EPContext" or attributes.get("embed_mode") != 0:
                raise Wrong(f"{at.name} has a node {node.op_type} beside a context in a file of its own: compile it without fallback.")
            if Path(name).name != name or not (at.parent / name).is_file():
                raise Wrong(f"{at.name} names the context {name!r}, which is no file beside it.")
            used.add(at.parent / name)
        models[stem] = out / at.name
        models[stem].write_bytes(at.read_bytes())
    for binary in used:
        shutil.copyfile(binary, out / binary.name)
    return models, len(used) < len(models)


def tokenizer(out: Path, of: Arch, model: Origin, ids: dict[str, int], words: tokens.Text) -> None:
    """Writes tokenizer_config.json, with a class that has genai read the same tokens as tokenizer.json says."""
    settings = {**model.tokenizer, "add_bos_token": False, "add_eos_token": False, "clean_up_tokenization_spaces": False, "model_max_length": of.context}
    for kind, i in {**model.ids, "pad": ids["pad"], **({"eos": of.stop[0]} if of.stop else {})}.items():
        settings[f"{kind}_token"] = words.tokenizer.id_to_token(i)
    if words.template is not None:
        settings["chat_template"] = words.template
    texts = [*SAMPLES, *(words.decode(words.chat(s), special=True) for s in SAMPLES[:1])]
    read = [(t, words.encode(t)) for t in texts]
    wrong = {}
    for name in dict.fromkeys([c for c in (str(model.tokenizer.get("tokenizer_class", "")).removesuffix("Fast"), *CLASSES) if c]):
        document(out / "tokenizer_config.json", {**settings, "tokenizer_class": name})
        wrong[name] = genai.same_tokens(out, read)
        if not wrong[name]:
            return
    raise Wrong("onnxruntime-genai reads tokenizer.json otherwise than it says, as " + "; as ".join(f"{k}: {v}" for k, v in wrong.items()) + ".")


def run(out: Path, a: dict[str, Any]) -> None:
    """run.sh and its programs."""
    (out / "run").mkdir()
    for name in a["run"]:
        (out / "run" / name).write_bytes(Path(__file__).resolve().with_name(name).read_bytes())
    (out / "run.sh").write_text(RUN)
    (out / "run.sh").chmod(0o755)


def licences(out: Path, model: Origin, given: list[Path]) -> list[dict[str, Any]]:
    """licences/ with the model's texts, and LICENCES.md, which says what is under which."""
    texts: list[dict[str, Any]] = []
    for p in [*model.texts, *(f for g in given for f in (sorted(x for x in g.rglob("*") if x.is_file()) if g.is_dir() else [g]))]:
        at = out / "licences" / p.name
        at.parent.mkdir(exist_ok=True)
        if at.exists() and at.read_bytes() != p.read_bytes():
            raise Wrong(f"Two licence texts have the name {p.name}: give folders without the same names.")
        at.write_bytes(p.read_bytes())
        texts.append({"file": f"licences/{p.name}", "bytes": at.stat().st_size, "sha256": command.digest(at)})
    lines = ["# Licences", "", f"The model{' ' + model.name if model.name else ''}: {model.licence or 'it names no licence'}."]
    lines += [f"- [{Path(t['file']).name}]({t['file']}), sha256 {t['sha256']}" for t in texts] or [
        "It came without a licence text. Find out what its licence asks before you pass this folder on.",
    ]
    lines += [
        "",
        "The context holds the model's weights, and code that Qualcomm's compiler made of its graphs.",
        "",
        VENDOR,
        "",
        "run/ is hexmage's: Apache-2.0.",
    ]
    (out / "LICENCES.md").write_text("\n".join(lines) + "\n")
    return texts


command.run(main)
