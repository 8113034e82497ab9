"""Runs graphs: on ONNX Runtime's own kernels, or on Qualcomm's emulator of the NPU; and lets a decoder say something."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import feed
import runtime
import system
from arch import Arch, Wrong
from runtime import onnxruntime

Run = Callable[[dict[str, np.ndarray]], dict[str, np.ndarray]]

PROVIDER = "QNNExecutionProvider"


def cpu(model: Path | bytes, folder: Path | None = None) -> Run:
    """A graph on the processor. Of one given as bytes, folder has the data file."""
    return _run(runtime.cpu(model, runtime.options(folder)))


def htp(context: Path, libraries: Path, profile: dict[str, str] | None = None, parts: int = 1, rest: bool = False) -> Run:
    """A compiled context, as its EP-context model names it, on Qualcomm's emulator, which is in the folder of libraries. Without rest nothing of it runs
    elsewhere.

    profile: what profiled gives. Of a graph that was taken apart parts are those of the NPU, and rest says that it has nodes of the CPU, which run there.
    """
    made = system.read(binary(context), libraries)
    if len(made["graphs"]) > parts:
        raise Wrong(
            f"{context} is one of {len(made['graphs'])} graphs that share one context, for a device: Qualcomm's emulator loads no such context, and crashes. "
            f"Emulate one graph: emulator/GRAPH/ of the same htp_context."
        )
    try:
        return load(context, libraries, profile=profile, rest=rest)
    except Exception as e:
        raise Wrong(refused(context, made["build"], system.release(libraries), str(e))) from e


def profiled(a: dict[str, Any], context: Path) -> dict[str, str]:
    """Options for a session that is to write where its time goes, if a program's arguments ask for it: profiling, the level, and profile, the folder.

    The provider writes folder/GRAPH.csv, and GRAPH_qnn.log for Qualcomm's viewer, after each run.
    """
    if not a.get("profiling"):
        return {}
    folder = Path(a["profile"]).resolve()
    folder.mkdir(exist_ok=True)
    return {"profiling_level": a["profiling"], "profiling_file_path": str(folder / f"{context.stem.removesuffix('_ctx')}.csv")}


def load(context: Path, libraries: Path, profile: dict[str, str] | None = None, rest: bool = False) -> Run:
    """A compiled context on whatever the libraries are for; rest says that nodes of the graph run on the CPU."""
    o = runtime.options()  # for nodes that run on the CPU
    if not rest:
        o.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    o.add_provider_for_devices(devices(libraries), {"backend_path": backend(libraries)} | (profile or {}))
    return _run(onnxruntime.InferenceSession(str(context), sess_options=o, enable_fallback=0))


def refused(context: Path, made: str, runtime: str, why: str) -> str:
    """Why a context is not loaded that was made by one release of Qualcomm's libraries, by those of another."""
    if system.later(made, runtime):
        return (
            f"{context} was compiled by {made}, and the emulator is of {runtime}: a context is loaded by the release that made it and by later ones. "
            "Give htp_emulate a toolchain htp_host that is no older than that of htp_context, or compile with the older one."
        )
    return f"The emulator, of {runtime}, does not load {context}, which {made} compiled: {why}"


def binary(context: Path) -> Path:
    """The context binary that an EP-context model names."""
    try:
        model = context.read_bytes()
    except OSError as e:
        raise Wrong(f"{context} is not there: give htp_emulate what htp_context made, all of its folder.") from e
    named = [p for p in sorted(context.parent.glob("*.bin")) if p.name.encode() in model]
    if len(named) != 1:
        raise Wrong(f"{context} names no context binary that is beside it: give htp_emulate what htp_context made, all of its folder.")
    return named[0]


def _run(s: onnxruntime.InferenceSession) -> Run:
    names = [o.name for o in s.get_outputs()]
    wanted = {i.name for i in s.get_inputs()}
    return lambda feeds: dict(zip(names, s.run(None, {k: v for k, v in feeds.items() if k in wanted}), strict=True))


def backend(libraries: Path) -> str:
    """Qualcomm's compiler and emulator for x86."""
    return str(libraries.resolve() / "libQnnHtp.so")


def devices(libraries: Path) -> list[onnxruntime.OrtEpDevice]:
    """The provider's NPU, or what it offers in its place: the emulator calls itself a CPU. The provider is registered with the first call of a process."""
    if not any(d.ep_name == PROVIDER for d in onnxruntime.get_ep_devices()):
        for name in ("libQnnSystem.so", "libQnnHtp.so", "libonnxruntime_providers_qnn.so"):
            system.load(libraries / name)  # of one that does not load ONNX Runtime tells what came of it, and not why
        onnxruntime.register_execution_provider_library(PROVIDER, str(libraries.resolve() / "libonnxruntime_providers_qnn.so"))
    found = sorted((d for d in onnxruntime.get_ep_devices() if d.ep_name == PROVIDER), key=lambda d: d.device.type != onnxruntime.OrtHardwareDeviceType.NPU)[:1]
    if not found:
        raise Wrong("Qualcomm's execution provider offers no device: is it of a release that goes with this onnxruntime?")
    return found


@dataclass
class Said:
    """What came out of a decoder."""

    prompt: list[int]
    tokens: list[int] = field(default_factory=list)
    logits: list[np.ndarray] = field(default_factory=list)  # before each token, float32 [vocabulary]
    prefill: list[float] = field(default_factory=list)  # seconds a chunk
    decode: list[float] = field(default_factory=list)  # seconds a token


class Decoder:
    """Both graphs and the cache between them."""

    def __init__(self, arch: Arch, prefill: Run, decode: Run | None, zeros: dict[str, np.ndarray] | None, table: np.ndarray | None = None) -> None:
        """zeros has the quantized zero of each cache input, in the cache's type; None for float. table is the embedding, where it is outside."""
        self.arch, self.prefill, self.decode, self.zeros, self.table = arch, prefill, decode, zeros, table
        self.clear()

    def clear(self) -> None:
        shape = (1, self.arch.kv_heads, self.arch.context, self.arch.head_dim)
        names = [f"past_{t}_{i}" for i in range(self.arch.layers) for t in "kv"]
        self.cache = {n: np.zeros(shape, np.float32) if self.zeros is None else np.full(shape, self.zeros[n]) for n in names}
        self.past = 0

    def step(self, run: Run, tokens: list[int], width: int) -> np.ndarray:
        """Takes tokens, remembers their keys and values, and gives the logits of each, float32 [len(tokens), vocabulary]."""
        n = len(tokens)
        if self.past + n > self.arch.context:
            raise Wrong(f"The cache holds {self.arch.context} tokens, and this needs more: give onnx_llm a larger context, or ask for less.")
        rows = {} if self.table is None else feed.embedded(self.table, tokens, width)
        out = run(feed.inputs(self.arch, tokens, width, self.past, self.cache) | feed.integers(self.arch, width, self.past) | rows)
        for name, a in self.cache.items():
            a[:, :, self.past : self.past + n] = out[name.replace("past", "new", 1)][:, :, :n]
        self.past += n
        return np.asarray(out["logits"][0, :n], np.float32)

    def read(self, tokens: list[int], times: list[float] | None = None) -> np.ndarray:
        """Takes any number of tokens by prefill; the logits of all, float32 [len(tokens), vocabulary]."""
        rows = []
        for i in range(0, len(tokens), self.arch.chunk):
            begun = time.monotonic()
            rows.append(self.step(self.prefill, tokens[i : i + self.arch.chunk], self.arch.chunk))
            if times is not None:
                times.append(time.monotonic() - begun)
        return np.concatenate(rows)

    def after_each(self, texts: list[list[int]]) -> np.ndarray:
        """The logits after each of some texts that know nothing of each other, float32 [len(texts), vocabulary]; as many as a chunk holds are read at once."""
        self.clear()
        rows: list[np.ndarray] = []
        while len(rows) < len(texts):
            together: list[list[int]] = []
            for text in texts[len(rows) :]:
                if sum(map(len, together)) + len(text) > self.arch.chunk:
                    break
                together.append(text)
            if not together:
                raise Wrong(f"A text of {len(texts[len(rows)])} tokens does not fit into a chunk of {self.arch.chunk}.")
            rest = {} if self.table is None else feed.embedded(self.table, [t for text in together for t in text], self.arch.chunk)
            logits = self.prefill(feed.apart(self.arch, together, self.arch.chunk, self.cache) | rest)["logits"][0]
            rows += [np.asarray(logits[end - 1], np.float32) for end in np.cumsum([len(t) for t in together])]
        return np.stack(rows)

    def say(self, prompt: list[int], most: int) -> Said:
        """Answers greedily with `most` tokens at most."""
        if not prompt:
            raise Wrong("The prompt has no tokens.")
        said = Said(prompt)
        self.clear()
        row = self.read(prompt, said.prefill)[-1]
        while True:
            token = int(row.argmax())
            said.tokens.append(token)
            said.logits.append(row)
            if len(said.tokens) >= most or token in self.arch.stop or self.past >= self.arch.context:
                return said
            assert self.decode is not None
            begun = time.monotonic()
            row = self.step(self.decode, [token], 1)[-1]
            said.decode.append(time.monotonic() - begun)


def table(folder: Path, arch: Arch) -> np.ndarray | None:
    """The embedding, of graphs that have it outside."""
    if not arch.outside:
        return None
    at, shape = folder / feed.TABLE, (arch.vocabulary, arch.hidden)
    if not at.is_file() or at.stat().st_size != 2 * shape[0] * shape[1]:
        raise Wrong(
            f"{folder} has no {feed.TABLE} of {shape[0]} rows of {shape[1]}: its graphs have no embedding, and take rows of that file. "
            "Take all of the folder."
        )
    return np.memmap(at, np.float16, "r", shape=shape)


def chain(runs: list[Run]) -> Run:
    """The parts of a graph as one, each of which takes what those before it gave."""

    def run(feeds: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        out: dict[str, np.ndarray] = {}
        for one in runs:
            out |= one(feeds | out)
        return out

    return runs[0] if len(runs) == 1 else run


def zeros(folder: Path) -> dict[str, np.ndarray] | None:
    """The cache's quantized zeros, of quantized graphs; None for float ones."""
    at = folder / "cache.json"
    return {k: np.asarray(v["zero_point"], v.get("type", "uint16")) for k, v in json.loads(at.read_text()).items()} if at.is_file() else None
