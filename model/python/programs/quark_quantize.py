"""Quantizes graphs with AMD's Quark: graphs, samples, activation_bits, symmetric, ranges → out: the same with QuantizeLinear and DequantizeLinear, as Quark puts
them. Weights are int8.
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

NORMS = ("RMSNormalization", "LayerNormalization")


def main(a: dict[str, Any]) -> None:
    graphs, out = foreign.graphs(Path(a["graphs"])), command.fresh(a["out"])
    foreign.write({at.stem: quantized(at, a) for at in graphs}, out)
    command.carry(graphs[0].parent, out, "arch.json")


def alone() -> None:
    """Keeps Quark from compiling its own ops when it is imported: they are for number formats that hexmage does not use."""
    ops: Any = types.ModuleType("quark.onnx.operators.custom_ops.build_custom_ops")
    ops.get_library_path = ops.get_legacy_torch_library_path = lambda *_, **__: ""
    ops.compile_library = lambda *_, **__: None
    sys.modules[ops.__name__] = ops
    import onnxruntime

    onnxruntime.SessionOptions.register_custom_ops_library = lambda *_: None


def options(bits: int) -> dict[str, Any]:
    """Returns Quark's extra options. Without a pair between a Conv and its Relu, Qualcomm's compiler computes the Conv in floats."""
    return {
        "ForceQuantizeNoInputCheck": True,
        "QuantizeAllOpTypes": True,
        "Int32Bias": True,
        **{f"RemoveQDQConv{op}": False for op in ("Relu", "Clip", "LeakyRelu", "PRelu")},
        "AlignSlice": False,
        "AlignConcat": True,
        "AlignEltwiseQuantType": bits == 16,
    }


def quantized(at: Path, a: dict[str, Any]) -> onnx.ModelProto:
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

        kinds = {(8, True): Int8, (8, False): UInt8, (16, True): Int16, (16, False): UInt16}
        method = {"min_max": CalibMethod.MinMax, "percentile": CalibMethod.Percentile, "entropy": CalibMethod.Entropy}[a["ranges"]]
        tensor, bits, symmetric = QuantGranularity.Tensor, a["activation_bits"], a["symmetric"]
        activations = QTensorConfig(symmetric, ScaleType.Float32, method, tensor, kinds[bits, symmetric])
        weights = QTensorConfig(True, ScaleType.Float32, CalibMethod.MinMax, tensor, Int8)
        model = foreign.whole(at)
        apart = NORMS if symmetric else ()  # the compiler takes no norm with signed activations: they stay float
        config = QConfig(
            global_config=QLayerConfig(input_tensors=activations, weight=weights),
            exclude=[n.name for n in model.graph.node if n.op_type in apart],
            extra_options=options(bits) | {"TensorQuantOverrides": {} if symmetric else {name: [{"quant_type": QuantType.QUInt8, "symmetric": False}] for name in norms(model)}},
        )
        made = ModelQuantizer(config).quantize_model(model, None, Reader())
    if made is None:
        raise Wrong(f"Quark gave nothing for {at.name}. It said:\n{command.tail(Path('quark.log').read_text(errors='replace'), 20)}")
    return scalars(made)


def norms(model: onnx.ModelProto) -> list[str]:
    """Returns the weights of norms. Qualcomm's compiler takes only unsigned ones."""
    held = {t.name for t in model.graph.initializer}
    return sorted({name for n in model.graph.node if n.op_type in NORMS for name in n.input[1:2] if name in held})


def scalars(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model, whose scales and zero points of whole tensors are scalars. Quark writes lists of one, which ONNX Runtime and Qualcomm's compiler take for those of an axis."""
    of = {name for n in model.graph.node if n.op_type in ("QuantizeLinear", "DequantizeLinear") for name in n.input[1:]}
    for t in model.graph.initializer:
        if t.name in of and list(t.dims) == [1]:
            del t.dims[:]
    return model


command.run(main)
