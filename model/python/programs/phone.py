"""The host's half of an answer on a phone, from the folder of a bundle: phone.py ask PROMPT OUT [--tokens N] [--system TEXT], and then phone.py words PROMPT SAID OUT.

A phone has no Python and no tokenizer: ask makes tokens and tables of a prompt, for the program in phone.c, and words puts the words to what that program said.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np

import arch
import command
import session
import tokens

BUNDLE = Path(__file__).resolve().parent.parent


def main(a: dict[str, Any]) -> None:
    out = command.fresh(a["out"])
    if a["do"] == "ask":
        ask(a, out)
    else:
        words(a, out)


def ask(a: dict[str, Any], out: Path) -> None:
    """ask.txt, a name and what it is a line, and rotation.bin, cosines and then sines of each position."""
    of, made = arch.load(BUNDLE / "arch.json"), json.loads((BUNDLE / "manifest.json").read_text())["context"]
    lines: dict[str, Any] = {
        "prompt": " ".join(map(str, tokens.Text(BUNDLE).chat(a["prompt"], a["system"]))),
        "tokens": a["tokens"],
        "shared": int(made["shared"]),
        "made": f"for {made['soc']}, Hexagon v{made['arch']}, and was made by QAIRT {made['qairt']}",
    }
    if of.stop:
        lines["stop"] = " ".join(map(str, of.stop))
    zeros = [f"zero {name} {zero}\n" for name, zero in (session.zeros(BUNDLE) or {}).items() if name.startswith("past_")]
    (out / "ask.txt").write_text("".join(f"{name} {value}\n" for name, value in lines.items()) + "".join(zeros))
    np.stack(of.rotation(0, of.context + of.chunk)).tofile(out / "rotation.bin")


def words(a: dict[str, Any], out: Path) -> None:
    """What phone.c said, with its words, as accuracy reads it."""
    said = Path(a["said"])
    found = json.loads((said / "said.json").read_text())
    report = {"prompt": a["prompt"], **found, "text": tokens.Text(BUNDLE).decode(found["tokens"])}
    (out / "said.json").write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")
    for name in ("said.npy", "times.json"):
        shutil.copyfile(said / name, out / name)


def options() -> dict[str, Any]:
    p = argparse.ArgumentParser(prog="phone.py", description="Makes of a prompt what phone.c reads, and words of what it said.")
    do = p.add_subparsers(dest="do", required=True)
    question = do.add_parser("ask", help="tokens and tables of a prompt")
    question.add_argument("prompt", help="what the model is asked, put into its chat template")
    question.add_argument("out", help="folder to make")
    question.add_argument("--tokens", type=int, default=64, help="tokens of the answer, at most (default: %(default)s)")
    question.add_argument("--system", help="what the template's system message says")
    answer = do.add_parser("words", help="what was said, with its words")
    answer.add_argument("prompt", help="what was asked")
    answer.add_argument("said", help="folder that the phone's program made: its --report")
    answer.add_argument("out", help="folder to make")
    return vars(p.parse_args())


if __name__ == "__main__":
    command.run(main, options())
