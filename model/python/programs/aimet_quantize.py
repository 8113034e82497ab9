"""Quantizes graphs with AIMET: graphs, samples, activation_bits, weight_bits, config, ranges → out: the same with QuantizeLinear and DequantizeLinear;
encodings: the float graphs as AIMET had them, and 0.6.1/GRAPH.encodings, 1.0.0/… and 2.0.0/… for Qualcomm's converters.

The first graph is calibrated, that which takes a prompt where there are two: the others have its tensors under the same names, and get its encodings.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import onnx

import command
import foreign
import quiet
from arch import Wrong

VERSIONS = ("0.6.1", "1.0.0", "2.0.0")


def main(a: dict[str, Any]) -> None:
    graphs = foreign.graphs(Path(a["graphs"]))
    out, encodings = command.fresh(a["out"]), command.fresh(a["encodings"])
    sim = simulated(graphs[0], a)
    for version in VERSIONS:
        (encodings / version).mkdir()
        sim.export(str(encodings / version), graphs[0].stem, export_model=False, encoding_version=version)
        for other in graphs[1:]:
            shutil.copyfile(encodings / version / f"{graphs[0].stem}.encodings", encodings / version / f"{other.stem}.encodings")
    del sim
    found = json.loads((encodings / VERSIONS[-1] / f"{graphs[0].stem}.encodings").read_text())
    foreign.write({at.stem: quantized(at, found) for at in graphs}, out)
    source = graphs[0].parent
    for name in sorted({at.name for at in graphs} | {name for at in graphs for name in foreign.data(at)}):
        shutil.copyfile(source / name, encodings / name)
    command.carry(source, out, "arch.json")


def simulated(at: Path, a: dict[str, Any]) -> Any:
    """Returns the graph with AIMET's quantizers, with ranges from the samples.

    AIMET creates its own sessions. They run floats through AIMET's own ops, so no kernel saturates.
    """
    with quiet.output("aimet.log"):
        import aimet_onnx
        from aimet_onnx.quantsim import QuantizationSimModel

        types = {4: aimet_onnx.int4, 8: aimet_onnx.int8, 16: aimet_onnx.int16}
        try:
            sim = QuantizationSimModel(
                foreign.whole(at),
                param_type=types[a["weight_bits"]],
                activation_type=types[a["activation_bits"]],
                quant_scheme=a["ranges"],
                config_file=a["config"],
                providers=["CPUExecutionProvider"],
            )
        except (FileNotFoundError, ValueError, RuntimeError) as e:
            raise Wrong(f"AIMET does not take {at.name} with aimet_config = {json.dumps(a['config'])}: {e}") from e
        sim.compute_encodings(list(foreign.samples(Path(a["samples"]), at.stem)))
    return sim


def quantized(at: Path, encodings: dict[str, Any]) -> onnx.ModelProto:
    """The graph with AIMET's encodings in it, those of tensors that it has."""
    with quiet.output("aimet.log"):
        from aimet_onnx import encodings_to_onnx_qdq

        model = foreign.whole(at)
        g = model.graph
        have = {t.name for t in (*g.input, *g.output, *g.initializer)} | {o for n in g.node for o in n.output}
        mine = {**encodings, "encodings": [e for e in encodings["encodings"] if e["name"] in have]}
        made: onnx.ModelProto = encodings_to_onnx_qdq(model, mine)
        return made


command.run(main)
