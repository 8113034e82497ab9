"""Words to tokens and back, with the model's own tokenizer and chat template."""

from __future__ import annotations

import json
from pathlib import Path

from arch import Wrong

BOUND = 1 << 20  # characters of a prompt


class Text:
    """The tokenizer of a folder that onnx_llm wrote."""

    def __init__(self, folder: Path) -> None:
        from tokenizers import Tokenizer

        at = folder / "tokenizer.json"
        if not at.is_file():
            raise Wrong(
                "The model's folder has no tokenizer.json. Copy the file from the model's page into the folder. "
                "If the model has only tokenizer.model, let transformers write it: "
                "AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER)."
            )
        self.tokenizer = Tokenizer.from_file(str(at))
        template = folder / "chat_template.jinja"
        self.template = template.read_text() if template.is_file() else None
        special = folder / "special_tokens.json"
        self.special = {"bos_token": "", "eos_token": ""} | (json.loads(special.read_text()) if special.is_file() else {})

    def encode(self, text: str) -> list[int]:
        if len(text) > BOUND:
            raise Wrong(f"A text of {len(text)} characters; {BOUND} is the most.")
        return list(self.tokenizer.encode(text, add_special_tokens=False).ids)

    def chat(self, prompt: str, system: str | None = None) -> list[int]:
        """The prompt as the chat template has a user say it; as it is where there is none."""
        return self.encode(self.said(prompt, system))

    def said(self, prompt: str, system: str | None = None, **more: bool) -> str:
        """The words of chat. more are variables of the template."""
        if self.template is None:
            return prompt
        from jinja2.exceptions import TemplateError
        from jinja2.sandbox import ImmutableSandboxedEnvironment  # the template came with the model

        messages = [{"role": "system", "content": system}] if system else []
        messages.append({"role": "user", "content": prompt})

        def refuse(message: str) -> None:
            raise Wrong(f"The chat template says: {message}")

        env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"])
        env.globals["raise_exception"] = refuse
        try:
            return env.from_string(self.template).render(
                messages=messages, add_generation_prompt=True, **self.special, **more
            )
        except TemplateError as e:
            raise Wrong(f"The model's chat template cannot be filled in: {e}.") from e

    def lines(self, at: Path, most: int) -> list[list[int]]:
        """The lines of a text, each as a user says it, the first `most` of them."""
        lines = [line.strip() for line in at.read_text().splitlines() if line.strip()]
        if not lines:
            raise Wrong(f"{at} has no lines to calibrate with.")
        return [self.chat(line) for line in lines[:most]]

    def decode(self, ids: list[int]) -> str:
        return str(self.tokenizer.decode(ids, skip_special_tokens=True))
