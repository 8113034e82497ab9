"""A decoder whose residual stream is turned: the same words, and no column of an activation that is much larger than the others.

Each matrix that reads the stream gets the norm before it and the inverse turn, each that writes it the turn; so the turns cancel out, and norms are ones.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx

import command
import feed
import session
import tensors
from arch import Arch

SEED = 79
READS = {"q": "attention_norm", "k": "attention_norm", "v": "attention_norm", "gate": "mlp_norm", "up": "mlp_norm"}  # and the norm before it
WRITES = ("o", "down")


def orthogonal(n: int) -> np.ndarray:
    """A turn that spreads each of n columns over all, float64 [n, n]: Hadamard's for the power of two in n, a cosine transform for the rest, seeded signs."""
    odd = n
    while odd % 2 == 0:
        odd //= 2
    h = np.ones((1, 1))
    while len(h) < n // odd:
        h = np.block([[h, h], [h, -h]])
    i = np.arange(odd)
    cosines = np.sqrt(2 / odd) * np.cos(np.pi * (2 * i[None] + 1) * i[:, None] / (2 * odd))
    cosines[0] /= np.sqrt(2)
    signs = np.random.default_rng(SEED).choice([-1.0, 1.0], n)
    return signs[:, None] * np.kron(h / np.sqrt(len(h)), cosines)


def turned(name: str, held: dict[str, np.ndarray], turn: np.ndarray) -> np.ndarray:
    """A tensor of the graph, turned if it touches the stream, float32; matrices are [in, out]."""
    layer, _, key = name.rpartition(".")
    a = held[name]
    if name == "norm" or (layer and key in READS.values()):
        return np.ones_like(a)
    if name == "embedding" or (layer and key in WRITES):
        return np.asarray(a.astype(np.float64) @ turn, np.float32)
    if name == "head" or (layer and key in READS):
        norm = held["norm" if name == "head" else f"{layer}.{READS[key]}"].astype(np.float64)
        return np.asarray(turn.T @ (norm[:, None] * a), np.float32)
    return a


def write(source: Path, arch: Arch, to: Path) -> Path:
    """Writes the graphs of a folder, turned, into another."""
    turn, data = orthogonal(arch.hidden), tensors.DataFile(to)
    made: dict[str, onnx.TensorProto] = {}
    for graph in feed.GRAPHS:
        model = onnx.load(source / f"{graph}.onnx", load_external_data=False)
        held = {t.name: tensors.read(source, t) for t in model.graph.initializer}
        for t in model.graph.initializer:
            if t.name not in made:
                made[t.name] = data.tensor(t.name, turned(t.name, held, turn))
        now = [made[t.name] for t in model.graph.initializer]
        del model.graph.initializer[:]
        model.graph.initializer.extend(now)
        onnx.save(model, to / f"{graph}.onnx")
    data.close()
    command.carry(source, to, "arch.json")
    if (table := session.table(source, arch)) is not None:
        (to / feed.TABLE).write_bytes(turned("embedding", {"embedding": np.asarray(table, np.float32)}, turn).astype(np.float16).tobytes())
    return to
