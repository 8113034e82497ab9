"""Answers a prompt on a board, from the folder of a bundle: run.sh starts it, as run.sh PROMPT [--tokens N] [--system TEXT] [--json].

With --libraries DIR it takes the vendor's libraries from there, else those of the package onnxruntime-qnn. With --contexts DIR it takes contexts of one
graph each from there, as the emulator for x86 needs them. With --processor DIR it takes quantised graphs from there, as onnx_quantize makes them, and
has the processor do what the NPU would. With --report DIR it writes what it said, with its logits, and prints how long it took.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import os
import platform
import sys
import time
from pathlib import Path
from typing import Any

BUNDLE = Path(__file__).resolve().parent.parent

if missing := [name for name in ("numpy", "onnxruntime", "tokenizers", "jinja2") if importlib.util.find_spec(name) is None]:
    sys.exit(f"{sys.executable} has no {', '.join(missing)}. Install what is needed: {sys.executable} -m pip install -r {BUNDLE / 'requirements.txt'}")

import arch
import command
import feed
import session
import tokens
from arch import Wrong
from runtime import onnxruntime

PACKAGE = "onnxruntime-qnn"
DRIVERS = Path("/dev")


def main(a: dict[str, Any]) -> dict[str, Any] | None:
    manifest = json.loads((BUNDLE / "manifest.json").read_text())
    if short := [n for n, f in manifest["files"].items() if not (BUNDLE / n).is_file() or (BUNDLE / n).stat().st_size != f["bytes"]]:
        raise Wrong(f"The bundle is not whole: {', '.join(short)} should have the size that manifest.json says. Copy the folder again.")
    of, words = arch.load(BUNDLE / "arch.json"), tokens.Text(BUNDLE)
    prompt = words.chat(a["prompt"], a["system"])
    begun = time.monotonic()
    runs, on = graphs(a, manifest)
    loaded = time.monotonic() - begun
    decoder = session.Decoder(of, runs[0], runs[1], session.zeros(BUNDLE), session.table(BUNDLE, of))
    said = decoder.say(prompt, a["tokens"])
    found = {"prompt_tokens": said.prompt, "tokens": said.tokens, "text": words.decode(said.tokens)}
    if a["report"]:
        ids = words.encode(Path(a["read"]).read_text())[: of.context] if a["read"] else []
        decoder.clear()
        out = command.fresh(a["report"])
        texts = {"text_tokens": ids} if ids else {}
        session.keep(out, said, {"prompt": a["prompt"], **found, **texts, "on": on}, decoder.read(ids) if ids else None)
        (out / "times.json").write_text(session.times(said))
    if a["json"]:
        return found
    print(found["text"])
    if a["report"]:
        print(figures(said, loaded, on))
    return None


def graphs(a: dict[str, Any], manifest: dict[str, Any]) -> tuple[list[session.Run], str]:
    """Prefill and decode, and in words what they run on."""
    if a["processor"]:
        on = f"ONNX Runtime {onnxruntime.__version__}'s own kernels on {platform.machine()}, in the NPU's place"
        alone = Path(a["processor"])
        return [session.chain([session.cpu(alone / f"{n}.onnx") for n in names]) for names in parts(alone, ".onnx")], on
    libraries = Path(a["libraries"]) if a["libraries"] else installed(manifest["runtime"])
    each = parts(BUNDLE, "_ctx.onnx")
    own = os.environ.get("ADSP_LIBRARY_PATH")  # where the NPU looks for its part of the libraries
    os.environ["ADSP_LIBRARY_PATH"] = ";".join([str(libraries), *([own] if own else [])])
    try:
        if alone := a["contexts"]:
            twins = [session.chain([session.htp(Path(alone, n, f"{n}_ctx.onnx"), libraries) for n in names]) for names in each]
            return twins, "the vendor's emulator for x86, in the NPU's place"
        shared = manifest["context"]["shared"]
        return [session.chain([session.load(BUNDLE / f"{n}_ctx.onnx", libraries, shared=shared) for n in names]) for names in each], "the NPU"
    except Exception as e:
        made = manifest["context"]
        raise Wrong(
            f"The context was not loaded: {e}\nWhat the vendor's libraries say of it stands above. "
            f"The context is for {made['soc']}, Hexagon v{made['arch']}, and was made by QAIRT {made['qairt']}."
        ) from e


def parts(folder: Path, end: str) -> list[list[str]]:
    """The graphs of a folder by their names, which end so there: those of each graph, in their order."""
    have = [p.name.removesuffix(end) for p in folder.glob(f"*{end}")]
    found = [feed.stems(have, g) for g in feed.GRAPHS]
    if missing := [g for g, names in zip(feed.GRAPHS, found, strict=True) if not names]:
        raise Wrong(f"{folder} has no {' and no '.join(g + end for g in missing)}.")
    return found


def figures(said: session.Said, loaded: float, on: str) -> str:
    """How long it took, in the words of hexmage's metrics: from the prompt, with everything loaded."""
    lines = [f"ran on: {on}", f"load: {1e3 * loaded:.1f} ms", f"prompt: {len(said.prompt)} tokens in {1e3 * sum(said.prefill):.1f} ms"]
    lines.append(f"time to first token: {1e3 * sum(said.prefill):.1f} ms")
    if said.decode:
        lines.append(f"answer: {len(said.decode)} more tokens in {1e3 * sum(said.decode):.1f} ms")
    return "\n".join(lines)


def installed(runtime: dict[str, Any]) -> Path:
    """The folder of the vendor's libraries, as pip installed them; they must be as new as the context."""
    if platform.machine() != "aarch64":
        raise Wrong(f"This is {platform.machine()}; the bundle is for a board, aarch64. With --libraries and --contexts it runs on the emulator for x86.")
    install = f"{sys.executable} -m pip install '{PACKAGE}>={runtime[PACKAGE]}'"
    try:
        have = importlib.metadata.version(PACKAGE)
    except importlib.metadata.PackageNotFoundError as e:
        raise Wrong(f"{sys.executable} has no {PACKAGE}, the vendor's libraries: {install}") from e
    if number(have) < number(runtime[PACKAGE]):
        raise Wrong(f"{PACKAGE} {have} is older than {runtime[PACKAGE]}, which made the context, and cannot load it: {install}")
    spec = importlib.util.find_spec("onnxruntime_qnn")
    if spec is None or spec.origin is None:
        raise Wrong(f"{PACKAGE} {have} is installed, and its folder is not there: {install} --force-reinstall")
    if not any(DRIVERS.glob("fastrpc-cdsp*")):  # where the vendor's provider looks for an NPU
        raise Wrong(f"There is no {DRIVERS}/fastrpc-cdsp*, so no NPU to ask: the kernel has no driver for it, or this user may not see it.")
    return Path(spec.origin).parent


def number(version: str) -> tuple[int, ...]:
    """2.7.0 as (2, 7, 0); what follows digits and dots does not count."""
    return tuple(int("".join(c for c in part if c.isdigit()) or 0) for part in version.split("+")[0].split(".")[:3])


def options() -> dict[str, Any]:
    p = argparse.ArgumentParser(prog="run.sh", description="Lets the model of this bundle answer on the NPU.")
    p.add_argument("prompt", help="what the model is asked, put into its chat template")
    p.add_argument("--tokens", type=int, default=64, help="tokens of the answer, at most (default: %(default)s)")
    p.add_argument("--system", help="what the template's system message says")
    p.add_argument("--json", action="store_true", help="print tokens and text as JSON")
    p.add_argument("--libraries", help=f"folder of the vendor's libraries (default: those of the package {PACKAGE})")
    p.add_argument("--contexts", help="folder with GRAPH/GRAPH_ctx.onnx, contexts of one graph each, as the emulator needs them")
    p.add_argument("--processor", help="folder with quantised graphs, GRAPH.onnx: the processor runs them, in the NPU's place")
    p.add_argument("--report", help="folder to make, for what was said, its logits, and how long it took; that is printed, too")
    p.add_argument("--read", help="with --report: a text file, for what the model thinks of each of its tokens")
    return vars(p.parse_args())


if __name__ == "__main__":
    command.run(main, options())
