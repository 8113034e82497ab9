"""ONNX Runtime, imported without a word: it looks for GPUs, which an action may not, and that would stand first in the output of whatever fails later."""

from __future__ import annotations

import os

_said, _nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
os.dup2(_nothing, 2)
try:
    import onnxruntime as onnxruntime
finally:
    os.dup2(_said, 2)
    os.close(_said)
    os.close(_nothing)

onnxruntime.set_default_logger_severity(3)
