"""Lets a decoder answer: graphs, libraries, prompt, system, tokens, text, choices → out: said.json, said.npy, text.npy, prompt.txt; said: said.json once more; times: a JSON file;
profile: where its time goes, a folder.

With libraries, graphs is what htp_context made, and runs on Qualcomm's emulator; else it runs on ONNX Runtime's own kernels. profile is filled if
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
    d = session.Decoder(of, *runs(a, folder, libraries), session.zeros(folder), session.table(folder, of))
    said = d.say(prompt, a["tokens"])
    out = command.fresh(a["out"])
    report: dict[str, Any] = {"prompt": a["prompt"], "prompt_tokens": said.prompt, "tokens": said.tokens, "text": words.decode(said.tokens)}
    if ids:
        d.clear()
        report["text_tokens"] = ids
    text = d.read(ids) if ids else None
    if a.get("choices"):
        questions = choices.read(Path(a["choices"]), words, of.chunk)
        report["choices"] = choices.picked(questions, d.after_each([q.text for q in questions])) if questions else []
    np.save(out / "said.npy", np.stack(said.logits))
    if text is not None:
        np.save(out / "text.npy", text)
    (out / "prompt.txt").write_text(" ".join(map(str, said.prompt)) + "\n")  # what the program on a device reads
    for at in (out / "said.json", Path(a["said"])):
        at.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")
    Path(a["times"]).write_text(json.dumps({"prefill": [round(t, 3) for t in said.prefill], "decode": [round(t, 3) for t in said.decode]}) + "\n")
    return {"tokens": len(said.tokens)}


def runs(a: dict[str, Any], folder: Path, libraries: Path | None) -> tuple[session.Run, session.Run]:
    """Prefill and decode."""
    at = folder if libraries is None else folder / "emulator"
    have = [p.stem for p in at.glob("*.onnx")] if libraries is None else [p.name for p in at.glob("*")]
    made = []
    for graph in feed.GRAPHS:
        names = feed.stems(have, graph)
        if not names:
            raise Wrong(f"{at} has no {graph}: of what a step made take all of its folder.")
        if libraries is None:
            made.append(session.chain([session.cpu(at / f"{n}.onnx") for n in names]))
        else:
            contexts = [at / n / f"{n}_ctx.onnx" for n in names]
            made.append(session.chain([session.htp(c, libraries, session.profiled(a, c)) for c in contexts]))
    return made[0], made[1]


command.run(main)
