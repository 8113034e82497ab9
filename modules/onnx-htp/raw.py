"""Samples as qnn-net-run reads them: raw.py SAMPLES FOLDER. FOLDER/list.txt has a line for each sample; its paths start beside FOLDER."""

import sys
from pathlib import Path

import numpy as np

samples, out = Path(sys.argv[1]), Path(sys.argv[2])
if samples.is_absolute():  # inputs that are no part of the workspace are below host
    samples = Path("host", *samples.parts[1:])
out.mkdir()
lines = []
for number, path in enumerate(sorted(samples.glob("*.npz"))):
    words = []
    with np.load(path, allow_pickle=False) as z:
        for i, name in enumerate(z.files):
            a = z[name]
            at = out / f"{number}.{i}.raw"
            (a.astype(np.int32) if a.dtype == np.int64 else a).tofile(at)  # the compiler takes integers of 64 bits for ones of 32
            words.append(f"{name}:={out.name}/{at.name}")
    lines.append(" ".join(words) + "\n")
if not lines:
    sys.exit(f"{samples} has no files *.npz: there is nothing to run.")
(out / "list.txt").write_text("".join(lines))
