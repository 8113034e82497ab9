"""Any ONNX graph with fixed shapes, and samples for it: a folder of *.npz, each with the graph's inputs by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

import foreign
from arch import Wrong

MOST = 10_000  # samples


def graph(folder: Path) -> Path:
    """The one graph of a folder, or the file itself."""
    found = [folder] if folder.is_file() else sorted(folder.glob("*.onnx"))
    if len(found) != 1:
        raise Wrong(f"{folder} has {len(found)} files *.onnx; one graph is wanted.")
    return found[0]


def inputs(model: onnx.ModelProto) -> dict[str, tuple[np.dtype, tuple[int, ...]]]:
    """Type and shape of each input; shapes that are not fixed are refused, since no NPU takes them."""
    constants = {t.name for t in model.graph.initializer}
    out = {}
    for v in model.graph.input:
        if v.name in constants:
            continue
        t = v.type.tensor_type
        open_ = [d.dim_param or "?" for d in t.shape.dim if not d.HasField("dim_value") or d.dim_value < 1]
        if open_ or not v.type.HasField("tensor_type"):
            raise Wrong(
                f"The input {v.name} has no fixed shape ({', '.join(open_) or 'no tensor'}): an NPU takes static graphs. "
                f"Fix it with: python -m onnxruntime.tools.make_dynamic_shape_fixed --input_name {v.name} --input_shape …"
            )
        out[v.name] = np.dtype(helper.tensor_dtype_to_np_dtype(t.elem_type)), tuple(d.dim_value for d in t.shape.dim)
    return out


def samples(folder: Path, wanted: Mapping[str, tuple[np.dtype, Sequence[int | str]]]) -> Iterator[tuple[str, dict[str, np.ndarray]]]:
    """Each sample's name and its inputs, checked against the graph; a dimension that has a name may have any size."""
    files = sorted(folder.glob("*.npz"))
    if not files or len(files) > MOST:
        raise Wrong(f"{folder} has {len(files)} files *.npz; from 1 to {MOST} are wanted, each with {', '.join(wanted)}.")
    for path in files:
        try:
            with np.load(path, allow_pickle=False) as z:
                have = {name: z[name] for name in z.files}
        except (OSError, ValueError) as e:
            raise Wrong(f"{path.name} is no file of arrays: {e}.") from e
        for name, (kind, shape) in wanted.items():
            a = have.get(name)
            if a is None:
                raise Wrong(f"{path.name} has no {name}; it has {', '.join(sorted(have)) or 'nothing'}.")
            if a.dtype != kind or len(a.shape) != len(shape) or any(isinstance(d, int) and d != n for d, n in zip(shape, a.shape, strict=True)):
                raise Wrong(f"{path.name}: {name} is {a.dtype} {list(a.shape)}; the graph takes {kind} [{', '.join(map(str, shape))}].")
        yield path.stem, {name: have[name] for name in wanted}


def quantized(model: onnx.ModelProto) -> bool:
    return any(n.op_type == "QuantizeLinear" for n in model.graph.node)


def quantize(source: Path, folder: Path, out: Path, method: str) -> None:
    """Writes a graph with QuantizeLinear and DequantizeLinear, calibrated with a folder of samples."""
    if method not in ("a16w8", "ort"):
        raise Wrong(f"{source.name}: method {method} is for graphs of onnx_llm. Use a16w8, aimet or quark.")
    model = onnx.load(source, load_external_data=False)
    if quantized(model):
        raise Wrong(f"{source.name} is quantized already: give it to htp_context as it is.")
    if not any(v.type.tensor_type.elem_type == TensorProto.FLOAT for v in model.graph.input):
        raise Wrong(f"{source.name} has no float input: there is nothing to quantize.")
    wanted = inputs(model)
    qdq(source, lambda: (feeds for _, feeds in samples(folder, wanted)), out / source.name)


def qdq(source: Path, feeds: Callable[[], Iterator[dict[str, np.ndarray]]], to: Path) -> None:
    """A graph, quantized to 16-bit activations and 8-bit weights by ONNX Runtime's quantizer as Qualcomm's provider wants it.

    The quantizer creates its own sessions for calibration. They run the float graph, so no kernel saturates.
    """
    from onnxruntime.quantization import CalibrationDataReader, QuantType
    from onnxruntime.quantization import quantize as by_onnxruntime
    from onnxruntime.quantization.execution_providers.qnn import get_qnn_qdq_config, qnn_preprocess_model

    class Reader(CalibrationDataReader):  # type: ignore[misc]
        def __init__(self) -> None:
            self.rest = feeds()

        def get_next(self) -> dict[str, np.ndarray] | None:
            return next(self.rest, None)

    prepared, whole = to.with_name("prepared.onnx"), to.with_name("prepared.onnx.whole")
    if foreign.data(source):
        onnx.save(foreign.whole(source), whole)
        source = whole
    at = prepared if qnn_preprocess_model(source, prepared) else source
    config = get_qnn_qdq_config(at, Reader(), activation_type=QuantType.QUInt16, weight_type=QuantType.QInt8, per_channel=True)
    by_onnxruntime(at, to, config)
    for extra in to.parent.glob("prepared.onnx*"):
        extra.unlink()
