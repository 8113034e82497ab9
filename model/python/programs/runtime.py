"""ONNX Runtime, imported without a word: it looks for GPUs, which an action may not, and that would stand first in the output of whatever fails later.

Every session whose numbers count as a reference comes from cpu or has options from options.
"""

from __future__ import annotations

import os
from pathlib import Path

_said, _nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
os.dup2(_nothing, 2)
try:
    import onnxruntime as onnxruntime
finally:
    os.dup2(_said, 2)
    os.close(_said)
    os.close(_nothing)

onnxruntime.set_default_logger_severity(3)


def options(folder: Path | None = None) -> onnxruntime.SessionOptions:
    """Returns options of a session that computes what its graph says on any processor. folder has the data file of a graph given as bytes.

    ONNX Runtime by default fuses DequantizeLinear, an operator and QuantizeLinear into an integer kernel. On x86 with AVX2 and without VNNI the kernels of
    uint8 by int8 add pairs of products in 16 bits, which saturate: most values are wrong. The default also runs 4-bit weights by activations rounded to 8 bits.
    The optimizations above ORT_ENABLE_BASIC choose layouts by the processor. The number of threads changes no bit of a result, so it stays the machine's.

    No option mends operators that are integer in the graph itself (QLinearMatMul, MatMulInteger, QLinearConv): on such processors they saturate.
    """
    o = onnxruntime.SessionOptions()
    o.log_severity_level = 3
    o.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    o.add_session_config_entry("session.disable_quant_qdq", "1")
    if folder is not None:
        o.add_session_config_entry("session.model_external_initializers_file_folder_path", str(folder.resolve()))
    return o


def cpu(model: Path | bytes, o: onnxruntime.SessionOptions) -> onnxruntime.InferenceSession:
    """Returns a session on ONNX Runtime's CPU kernels."""
    return onnxruntime.InferenceSession(model, sess_options=o, providers=["CPUExecutionProvider"])
