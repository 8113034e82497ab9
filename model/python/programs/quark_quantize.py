"""Quantises graphs with AMD's Quark: graphs, samples, activations, weights, symmetric, power_of_two, ranges, per_channel, per_channel_axes, pairs_on_weights,
dedicated_pairs, bias, adjust, exclude_op_types → out: the same with QuantizeLinear and DequantizeLinear, as Quark puts them.
"""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import onnx

import command
import foreign
import quiet
from arch import Wrong

ADJUST = {  # what Quark calls it
    "shift_cut": "AdjustShiftCut",
    "shift_bias": "AdjustShiftBias",
    "shift_read": "AdjustShiftRead",
    "shift_write": "AdjustShiftWrite",
    "shift_swish": "AdjustShiftSwish",
    "hard_sigmoid": "AdjustHardSigmoid",
}
NORMS = ("RMSNormalization", "LayerNormalization")
BIAS = {"int8": (False, False), "int16": (False, True), "int32": (True, False)}  # Int32Bias, Int16Bias


def main(a: dict[str, Any]) -> None:
    graphs, out = foreign.graphs(Path(a["graphs"])), command.fresh(a["out"])
    foreign.write({at.stem: quantised(at, a) for at in graphs}, out)
    command.carry(graphs[0].parent, out, "arch.json")


def alone() -> None:
    """Quark compiles ops of its own when it is imported, with whatever C++ compiler the machine has, for number formats that nobody asks for here: it is told
    that they are there, and no session gets any.
    """
    ops: Any = types.ModuleType("quark.onnx.operators.custom_ops.build_custom_ops")
    ops.get_library_path = ops.get_legacy_torch_library_path = lambda *_, **__: ""
    ops.compile_library = lambda *_, **__: None
    sys.modules[ops.__name__] = ops
    import onnxruntime

    onnxruntime.SessionOptions.register_custom_ops_library = lambda *_: None


def options(a: dict[str, Any]) -> dict[str, Any]:
    """What goes to Quark as extra options."""
    int32, int16 = BIAS[a["bias"]]
    found: dict[str, Any] = {
        "ForceQuantizeNoInputCheck": True,
        "QuantizeAllOpTypes": True,
        "AddQDQPairToWeight": a["pairs_on_weights"],
        "DedicatedQDQPair": a["dedicated_pairs"],
        "Int32Bias": int32,
        "Int16Bias": int16,
        **{f"RemoveQDQConv{op}": False for op in ("Relu", "Clip", "LeakyRelu", "PRelu")},  # which AMD's NPU computes as one: here a Conv without a pair behind it is computed in floats, and its bias has no place
        "AlignSlice": False,
        "AlignConcat": True,
        "AlignEltwiseQuantType": a["activations"].endswith("16"),
    }
    if a["per_channel_axes"]:
        found["QDQOpTypePerChannelSupportToAxis"] = a["per_channel_axes"]
    return found | {ADJUST[name]: True for name in a["adjust"]}


def quantised(at: Path, a: dict[str, Any]) -> onnx.ModelProto:
    """One graph. Each is calibrated with what it is given itself.

    Quark creates its own sessions for calibration. They run the float graph, so no kernel saturates.
    """
    with quiet.output("quark.log"):
        alone()
        from onnxruntime.quantization import CalibrationDataReader, QuantType
        from quark.onnx import (
            CalibMethod,
            Int8,
            Int16,
            ModelQuantizer,
            QConfig,
            QLayerConfig,
            QTensorConfig,
            QuantGranularity,
            ScaleType,
            UInt8,
            UInt16,
        )

        class Reader(CalibrationDataReader):  # type: ignore[misc]
            def __init__(self) -> None:
                self.rewind()

            def rewind(self) -> None:
                self.rest = foreign.samples(Path(a["samples"]), at.stem)

            def get_next(self) -> Any:
                return next(self.rest, None)

        kinds = {"int8": Int8, "uint8": UInt8, "int16": Int16, "uint16": UInt16}
        scale = ScaleType.PowerOf2 if a["power_of_two"] else ScaleType.Float32
        method = {"min_max": CalibMethod.MinMax, "percentile": CalibMethod.Percentile, "entropy": CalibMethod.Entropy, "min_mse": CalibMethod.MinMSE}[a["ranges"]]
        activations = QTensorConfig(a["symmetric"], scale, method, QuantGranularity.Tensor, kinds[a["activations"]])
        granularity = QuantGranularity.Channel if a["per_channel"] else QuantGranularity.Tensor
        weights = QTensorConfig(True, scale, method if a["power_of_two"] else CalibMethod.MinMax, granularity, kinds[a["weights"]])
        model = foreign.whole(at)
        known = {n.op_type for n in model.graph.node}
        if unknown := sorted(set(a["exclude_op_types"]) - known):
            raise Wrong(f"exclude_op_types: {at.name} has no {', '.join(unknown)}; it has {', '.join(sorted(known))}.")
        config = QConfig(
            global_config=QLayerConfig(input_tensors=activations, weight=weights),
            exclude=[n.name for n in model.graph.node if n.op_type in a["exclude_op_types"]],
            extra_options=options(a) | {"TensorQuantOverrides": {name: [{"quant_type": QuantType.QUInt8, "symmetric": False}] for name in norms(model, a["exclude_op_types"])}},
        )
        made = ModelQuantizer(config).quantize_model(model, None, Reader())
    if made is None:
        raise Wrong(f"Quark gave nothing for {at.name}. It said:\n{command.tail(Path('quark.log').read_text(errors='replace'), 20)}")
    return scalars(made)


def norms(model: onnx.ModelProto, left: list[str]) -> list[str]:
    """The weights of norms that are quantised. The vendor's compiler takes them unsigned alone."""
    held = {t.name for t in model.graph.initializer}
    return sorted({name for n in model.graph.node if n.op_type in NORMS and n.op_type not in left for name in n.input[1:2] if name in held})


def scalars(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model, whose scales and zero points of whole tensors are scalars. Quark writes lists of one, which ONNX Runtime and the vendor's compiler take for those of an axis."""
    of = {name for n in model.graph.node if n.op_type in ("QuantizeLinear", "DequantizeLinear") for name in n.input[1:]}
    for t in model.graph.initializer:
        if t.name in of and list(t.dims) == [1]:
            del t.dims[:]
    return model


command.run(main)
