"""Questions of which one answer is right: the beginning of a sentence, and words that it may go on with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from arch import Wrong
from tokens import Text


@dataclass(frozen=True)
class Question:
    """A question in tokens."""

    text: list[int]
    answers: list[int]  # the first token of each, the right one first


def read(at: Path, words: Text, longest: int) -> list[Question]:
    """The questions of a file, a line each: sentence | right | wrong | …. Those are left out whose answers begin alike, or that are longer than a chunk."""
    found = []
    for number, line in enumerate(at.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        sentence, *answers = (part.strip() for part in line.split("|"))
        if not sentence or len(answers) < 2 or not all(answers):
            raise Wrong(f"{at.name}:{number}: a question is: beginning of a sentence | right | wrong, with one wrong answer at least.")
        text = words.encode(sentence)
        begun = [words.encode(" " + a)[:1] for a in answers]
        firsts = [ids[0] for ids in begun if ids]
        if len(set(firsts)) == len(answers) and 0 < len(text) <= longest:
            found.append(Question(text, firsts))
    return found


def picked(questions: list[Question], logits: np.ndarray) -> list[int]:
    """Which answer is taken for the likeliest, of each question; 0 is right."""
    return [int(row[q.answers].argmax()) for q, row in zip(questions, logits, strict=True)]
