"""Runs the programs of mllm's branch v1 that prepare a model for its QNN backend, unmodified. stage says which:

rotated: sources, model, calibration, seed → rotation.bin, model.safetensors (floats of the rotated model), same.json
distribution: sources, model, rotation, calibration, samples → distribution.json
export: sources, model, rotation, distribution, threshold, clip_all, quant_bias → model.safetensors (int8), layers.json, shadow.json

mllm leaves its matrix to chance. It gets a seed here, and is kept, as all three need the same; a model that is rotated already goes without. Its data set is a text whose paragraphs are
the samples; every other is cut, as it cannot flatten samples that all have one number of tokens. layers.json is a table: how many layers keep their precision at which threshold.
same.json tells whether the rotated model still says what the model says.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
import tempfile
from pathlib import Path
from typing import Any

import command
import compare
import mllm
from arch import Wrong

SCRIPTS = {"distribution": "get_distribution.py", "export": "export_qnn_model.py", "rotated": "export_rotate_model.py"}
PICTURES = {"rotate_vit": True, "no_quantize": True}  # what mllm's config of ShowUI-2B says beyond a language model's
FEWEST = 2  # samples, which mllm's schema asks for
LONGEST = 6000  # characters of a sample, beyond which it is cut
THRESHOLDS = (2, 4, 8, 16, 32, 64, 128)
ALIKE = 256  # tokens on which the rotated model is compared


def main(a: dict[str, Any]) -> None:
    sources, out = Path(a["sources"]).resolve(), command.fresh(a["out"]).resolve()
    tools = sources / "tools" / "qnn_convertor"
    if not (tools / SCRIPTS[a["stage"]]).is_file():
        raise Wrong(f"{a['sources']} has no tools/qnn_convertor/{SCRIPTS[a['stage']]}: it is to be mllm's branch v1.")
    work = Path(tempfile.mkdtemp())
    prepared, dataset, settings = work / "prepared", work / "dataset", work / "config.json"
    mllm.prepare(Path(a["model"]), prepared, None)
    kind = json.loads((prepared / "config.json").read_text()).get("model_type")
    sees = bool(a["pictures"])
    if kind != ("qwen2_vl" if sees else "qwen2"):
        raise Wrong(f"The model is a {kind}: mllm's v1 prepares qwen2 (also Qwen1.5 and Qwen2.5), and with pictures qwen2_vl.")
    surround(tools, a["seed"], sees)
    model: dict[str, Any] = {"model_type": "qwen2-vl" if sees else "qwen2", "tokenizer_name": str(prepared), "model_name": str(prepared), **(PICTURES if sees else {})}
    if a["stage"] == "rotated":
        model |= {"online_rotation": True, "random_rotate": True, "save_rotation": str(out / "rotation.bin")}
    elif a["rotation"]:
        model |= {"online_rotation": True, "R_path": str(Path(a["rotation"]).resolve())}
    count = FEWEST  # which the other stages do not read
    if a["stage"] == "distribution" and sees:
        dataset, count = Path(a["pictures"]).resolve(), a["samples"]
    elif a["stage"] == "distribution":
        count = samples(Path(a["calibration"]).read_text(), a["samples"], dataset)
    distribution = Path(a["distribution"]).resolve() if a["stage"] == "export" else out / "distribution.json"
    made = work / "model.pth"
    config = {
        "profile_config": {"dataset_path": str(dataset), "output_path": str(distribution), "num_samples": count, "no_bias": True, "model_config": model},
        "export_config": {
            "scale_file": str(distribution),
            "output_model": str(made),
            "t01m_clip_threshold": a["threshold"],
            "clip_all": a["clip_all"],
            "quant_bias": a["quant_bias"],
            "model_config": model,
            **({"quantize_vit": True} if sees else {}),
        },
    }
    settings.write_text(json.dumps(config))
    sys.argv = [SCRIPTS[a["stage"]], "--config_file", str(settings)]
    runpy.run_path(str(tools / SCRIPTS[a["stage"]]), run_name="__main__")
    if a["stage"] == "export":
        table, shadow = layers(json.loads(distribution.read_text()), a["threshold"], a["clip_all"])
        (out / "layers.json").write_text(json.dumps(table))
        (out / "shadow.json").write_text(json.dumps(shadow))
    if a["stage"] in ("export", "rotated"):
        save(made, out / "model.safetensors")
    if a["stage"] == "rotated":
        (out / "same.json").write_text(json.dumps(same(prepared, made, Path(a["calibration"]).read_text(), sees)))


def samples(text: str, count: int, to: Path) -> int:
    """Writes the data set as mllm has it, a compressed file of lines."""
    import zstandard  # slow, and only in this program's environment

    found = mllm.samples(text, count)
    if len(found) < FEWEST:
        raise Wrong(f"The calibration text has {len(found)} paragraphs of {mllm.LEAST} characters; mllm wants {FEWEST} at least.")
    lines = [json.dumps({"text": s["text"][: min(len(s["text"]), LONGEST) * (8 - i % 2) // 8]}) for i, s in enumerate(found)]
    to.mkdir()
    (to / "val.jsonl.zst").write_bytes(zstandard.ZstdCompressor().compress("\n".join(lines).encode()))
    return len(found)


def surround(tools: Path, seed: int, sees: bool) -> None:
    """Has mllm's programs find each other, and stay on the processor, but that for models that see, which goes to a GPU as it loads one."""
    sys.path.insert(0, str(tools))
    if not sees:
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
    import torch  # slow, and only in this program's environment

    torch.set_num_threads(mllm.THREADS)
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.manual_seed(seed)
    if sees:
        if not torch.cuda.is_available():
            raise Wrong("mllm's program for models that see puts them on a GPU, and this machine has none that PyTorch knows. Run the step on one that has.")
        return
    to = torch.Tensor.to
    torch.Tensor.to = lambda self, *to_what, **how: to(self, *("cpu" if w == "cuda" else w for w in to_what), **how)


def layers(distribution: dict[str, Any], threshold: int, clip_all: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Which layers keep their precision: those whose range is as many times as wide as without the top 0.1 %, or more, as mllm reckons."""
    most, without = distribution["ori"], distribution["top_0_1"]
    ratio = {(name, side): most[name][side] / max(without[name][side], 1e-30) for name in most for side in ("input", "output")}

    def keeps(name: str, side: str, times: int) -> bool:
        return not clip_all and most[name][side] >= without[name][side] * times

    rows = []
    for t in sorted({*THRESHOLDS, threshold}):
        kept = [k for k in ratio if keeps(*k, t)]
        sides = [sum(side == s for _, side in kept) for s in ("input", "output")]
        widest = max(kept, key=lambda k: ratio[k], default=None)
        rows.append([f"{t}" + (" (taken)" if t == threshold else ""), *map(str, sides), f"{widest[0]} {widest[1]}, {ratio[widest]:.1f}" if widest else ""])
    table = {
        "title": "Layers that keep their precision (shadow outliers)",
        "columns": [{"name": n, "label": n, "unit": ""} for n in ("threshold", "inputs", "outputs", "widest")],
        "lines": rows,
        "note": f"Of {len(most)} layers. A range counts that is as many times as wide as without its top 0.1 %.",
    }
    shadow = {f"{name}.{side}": r for (name, side), r in ratio.items() if keeps(name, side, threshold)}
    return table, shadow


def save(made: Path, to: Path) -> None:
    """Writes the checkpoint that mllm's program made as safetensors."""
    import torch
    from safetensors.torch import save_file

    save_file({name: t.clone().contiguous() for name, t in torch.load(made).items()}, to)  # a file of safetensors shares no bytes


def same(model: Path, rotated: Path, text: str, sees: bool) -> dict[str, float]:
    """How near the rotated model's words are to the model's. One that sees is asked without a picture."""
    import torch
    from transformers import AutoModelForCausalLM, AutoModelForImageTextToText, AutoTokenizer

    ids = AutoTokenizer.from_pretrained(model)(text[:LONGEST], return_tensors="pt").input_ids[:, :ALIKE]
    said = []
    with torch.no_grad():
        for weights in (None, torch.load(rotated)):
            m = (AutoModelForImageTextToText if sees else AutoModelForCausalLM).from_pretrained(model, torch_dtype=torch.float32)
            if weights is not None:
                m.lm_head.weight = torch.nn.Parameter(weights["lm_head.weight"])  # of its own, where the model's is the embedding's
                missing = set(m.state_dict()) - set(weights)
                if missing:
                    raise Wrong(f"The rotated model has no {', '.join(sorted(missing))}.")
                m.load_state_dict(weights, strict=False)  # mllm's has biases that are zero, where the model has none
            said.append(m(ids).logits[0].numpy())
    return compare.rows(said[0], said[1])


command.run(main)
