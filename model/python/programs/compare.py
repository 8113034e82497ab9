"""How near outputs are to a reference's."""

from __future__ import annotations

import math

import numpy as np

from arch import Wrong


def rows(reference: np.ndarray, got: np.ndarray) -> dict[str, float]:
    """Least and mean cosine of rows, largest difference, signal to noise in dB, part of rows whose greatest element is the same."""
    if reference.shape != got.shape:
        raise Wrong(f"The outputs are {list(got.shape)}, the reference is {list(reference.shape)}.")
    if not np.isfinite(got).all():
        raise Wrong("There are outputs that are no numbers.")
    r, g = reference.reshape(-1, reference.shape[-1]).astype(np.float64), got.reshape(-1, got.shape[-1]).astype(np.float64)
    lengths = np.linalg.norm(r, axis=1) * np.linalg.norm(g, axis=1)
    cosine = (r * g).sum(1) / np.maximum(lengths, 1e-30)
    noise = float(((r - g) ** 2).sum())
    return {
        "cosine": float(cosine.mean()),
        "cosine_min": float(cosine.min()),
        "difference_max": float(np.abs(r - g).max()),
        "sqnr_db": 200.0 if noise == 0 else min(200.0, 10 * math.log10(float((r**2).sum()) / noise)),
        "argmax_equal": float((r.argmax(1) == g.argmax(1)).mean()),
    }


def perplexity(logits: np.ndarray, ids: list[int]) -> float:
    """Of a text's tokens from the second on, each given those before it. logits are float [len(ids), vocabulary]."""
    if len(ids) < 2 or len(logits) != len(ids):
        raise Wrong(f"Perplexity is of two tokens at least, with logits for each: here are {len(ids)} tokens and logits for {len(logits)}.")
    x = logits[:-1].astype(np.float64)
    x = x - x.max(1, keepdims=True)
    nll = np.log(np.exp(x).sum(1)) - x[np.arange(len(ids) - 1), ids[1:]]
    return float(np.exp(min(nll.mean(), 700.0)))  # JSON has no infinity
