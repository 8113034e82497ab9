"""Lets a decoder answer: graphs, libraries, prompt, system, tokens, text, choices → out: said.json, said.npy, text.npy; said: said.json once more; times: a JSON file;
profile: where its time goes, a folder.

With libraries, graphs is what htp_context made, and runs on the vendor's emulator; else it runs on ONNX Runtime's own kernels. profile is filled if
profiling says how: basic, detailed, optrace.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import arch
import choices
import command
import feed
import session
import tokens
from arch import Wrong


def main(a: dict[str, Any]) -> dict[str, Any]:
    folder = Path(a["graphs"])
    libraries = Path(a["libraries"]) if a.get("libraries") else None
    if not (folder / "arch.json").is_file():
        raise Wrong(
            f"{folder} has no arch.json, so it is no language model as onnx_llm makes it: of what a step made take all of its folder, not one inside. "
            "Any other graph takes inputs in place of a prompt."
        )
    of, words = arch.load(folder / "arch.json"), tokens.Text(folder)
    prompt = words.chat(a["prompt"], a.get("system"))
    most = of.context + 1 - len(prompt)  # the last token is said, and not read
    if a["tokens"] > most:
        raise Wrong(
            f"The prompt has {len(prompt)} tokens, and {a['tokens']} of an answer do not fit beside it into a cache of {of.context}: "
            + (f"ask for {most} at most, or give" if most > 0 else "give")
            + f" onnx_llm a context of {of.context + a['tokens'] - most}."
        )
    ids = words.encode(Path(a["text"]).read_text())[: of.context] if a.get("text") else []
    if a.get("text") and len(ids) < 2:
        raise Wrong(f"The text has {len(ids)} tokens: what the model thinks of each given those before it takes two at least.")
    d = session.Decoder(of, *runs(a, folder, libraries), session.zeros(folder))
    said = d.say(prompt, a["tokens"])
    out = command.fresh(a["out"])
    report: dict[str, Any] = {"prompt": a["prompt"], "prompt_tokens": said.prompt, "tokens": said.tokens, "text": words.decode(said.tokens)}
    np.save(out / "said.npy", np.stack(said.logits))
    if ids:
        d.clear()
        np.save(out / "text.npy", d.read(ids))
        report["text_tokens"] = ids
    if a.get("choices"):
        questions = choices.read(Path(a["choices"]), words, of.chunk)
        report["choices"] = choices.picked(questions, d.after_each([q.text for q in questions])) if questions else []
    for at in (out / "said.json", Path(a["said"])):
        at.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")
    Path(a["times"]).write_text(json.dumps({"prefill": [round(t, 3) for t in said.prefill], "decode": [round(t, 3) for t in said.decode]}) + "\n")
    return {"tokens": len(said.tokens)}


def runs(a: dict[str, Any], folder: Path, libraries: Path | None) -> tuple[session.Run, session.Run]:
    """Prefill and decode."""
    if libraries is None:
        return session.cpu(folder / "prefill.onnx"), session.cpu(folder / "decode.onnx")
    contexts = [folder / "emulator" / g / f"{g}_ctx.onnx" for g in feed.GRAPHS]
    prefill, decode = (session.htp(at, libraries, session.profiled(a, at)) for at in contexts)
    return prefill, decode


command.run(main)
