"""Lowers a PyTorch module to a .pte for a Qualcomm NPU with ExecuTorch and its quantizer.

It runs in the environment executorch. --libraries is a folder with Qualcomm's libQnnHtp.so for x86, of the QAIRT
release that ExecuTorch was built against: ExecuTorch fails with libraries of another release.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

DTYPES = {"a8w8": "use_8a8w", "a16w8": "use_16a8w", "a16w4": "use_16a4w"}  # ExecuTorch's names
FLOAT = "f16"


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("module", type=Path)
    p.add_argument("--soc", required=True)
    p.add_argument("--precision", required=True, choices=[FLOAT, *DTYPES])
    p.add_argument("--libraries", required=True, type=Path)
    p.add_argument("--out", required=True, type=Path, help="the .pte")
    p.add_argument("--nodes", required=True, type=Path, help="partitions, and operations on the CPU (JSON)")
    a = p.parse_args()
    with tempfile.TemporaryDirectory() as sdk:
        at = Path(sdk) / "lib" / "x86_64-linux-clang"
        at.parent.mkdir()
        at.symlink_to(a.libraries.resolve())
        os.environ["QNN_SDK_ROOT"] = sdk  # ExecuTorch downloads an SDK if the variable is not set
        nodes = lower(a.module, a.soc, a.precision, a.out)
    a.nodes.write_text(json.dumps(nodes, indent=2, sort_keys=True) + "\n")
    print(f"{nodes['partitions']} partitions on the NPU, {sum(nodes['cpu'].values())} operations on the CPU")


def lower(script: Path, soc: str, precision: str, to: Path) -> dict[str, Any]:
    """Writes the .pte, and returns how many partitions it has and which operations stay on the CPU."""
    net, samples = load(script)
    from executorch.backends.qualcomm.serialization.qc_schema import QcomChipset
    from executorch.backends.qualcomm.utils.utils import (
        generate_htp_compiler_spec,
        generate_qnn_executorch_compiler_spec,
        to_edge_transform_and_lower_to_qnn,
    )

    known = [c.name for c in QcomChipset if c.value]
    if soc not in known:
        sys.exit(f"This ExecuTorch does not know {soc}. It knows {', '.join(sorted(known))}.")
    if precision != FLOAT:
        net = quantized(net, samples, soc, precision)
    spec = generate_qnn_executorch_compiler_spec(
        soc_model=QcomChipset[soc], backend_options=generate_htp_compiler_spec(use_fp16=precision == FLOAT)
    )
    edge = to_edge_transform_and_lower_to_qnn(net, samples[0], spec)
    calls = Counter(str(n.target) for n in edge.exported_program().graph.nodes if n.op == "call_function")
    with to.open("wb") as f:
        edge.to_executorch().write_to_file(f)
    cpu = {name: n for name, n in calls.items() if "call_delegate" not in name and "getitem" not in name}
    return {"partitions": sum(n for name, n in calls.items() if "call_delegate" in name), "cpu": cpu}


def load(script: Path) -> tuple[Any, list[tuple[Any, ...]]]:
    """Returns the module and its samples, as the script's module() and samples() return them."""
    if script.suffix != ".py":
        sys.exit(f"{script} is not a Python file: write module() and samples() in one.")
    spec = importlib.util.spec_from_file_location("lowered_" + script.stem, script)
    assert spec and spec.loader
    of = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # torch.export resolves names of classes there
    try:
        spec.loader.exec_module(of)
        for name in ("module", "samples"):
            if not callable(getattr(of, name, None)):
                sys.exit(
                    f"{script.name} has no {name}(): module() returns a torch.nn.Module, samples() a list of tuples "
                    "of its inputs."
                )
        net, samples = of.module().eval(), list(of.samples())
    except Exception as e:
        lines = [f.lineno for f in traceback.extract_tb(e.__traceback__) if Path(f.filename).name == script.name]
        at = lines[-1] if lines else getattr(e, "lineno", None)  # a syntax error has its line itself
        sys.exit(f"{script.name}, line {at}: {type(e).__name__}: {e}")
    if not samples or not all(isinstance(s, tuple) for s in samples):
        sys.exit(f"samples() of {script.name} does not return a list of tuples of inputs, at least one.")
    return net, samples


def quantized(net: Any, samples: list[tuple[Any, ...]], soc: str, precision: str) -> Any:
    """Returns the module, quantized by ExecuTorch's quantizer after its samples went through it."""
    import torch
    from executorch.backends.qualcomm.quantizer.quantizer import QnnQuantizer, QuantDtype
    from executorch.backends.qualcomm.serialization.qc_schema import QcomChipset
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    exported = torch.export.export(net, samples[0], strict=True).module()
    quantizer = QnnQuantizer(soc_model=QcomChipset[soc])
    quantizer.set_default_quant_config(QuantDtype[DTYPES[precision]], is_linear_per_channel=True)
    prepared = prepare_pt2e(exported, quantizer)
    for s in samples:
        prepared(*s)
    return convert_pt2e(prepared)


main()
