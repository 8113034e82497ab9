"""Lowers a PyTorch module to a .pte for a target's NPU with ExecuTorch: module, soc, precision, libraries → out: NAME.pte; times: a JSON file.

It runs in the environment executorch. libraries is a folder with Qualcomm's libQnnHtp.so for x86, of the release that ExecuTorch was built against: with
those of another it fails as they say, which is told word for word.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

import command
import quiet
from arch import Wrong

LIBRARIES = "lib/x86_64-linux-clang"  # where an SDK has them
DTYPES = {"a8w8": "use_8a8w", "a16w8": "use_16a8w", "a16w4": "use_16a4w"}  # ExecuTorch's names
FLOAT = "f16"


def main(a: dict[str, Any]) -> None:
    script, out = Path(a["module"]), command.fresh(a["out"])
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as d:
        sdk = Path(d) / "sdk"
        (sdk / LIBRARIES).parent.mkdir(parents=True)
        (sdk / LIBRARIES).symlink_to(Path(a["libraries"]).resolve())
        os.environ["QNN_SDK_ROOT"] = str(sdk)  # or it would download one
        with quiet.output(str(Path(d) / "said")):
            lowered(script, a["soc"], a["precision"], out / f"{script.stem}.pte")
    Path(a["times"]).write_text(json.dumps({"compile": round(time.monotonic() - begun, 2)}) + "\n")


def lowered(script: Path, soc: str, precision: str, to: Path) -> None:
    net, samples = given(script)
    from executorch.backends.qualcomm.serialization.qc_schema import QcomChipset
    from executorch.backends.qualcomm.utils.utils import (
        generate_htp_compiler_spec,
        generate_qnn_executorch_compiler_spec,
        to_edge_transform_and_lower_to_qnn,
    )

    known = [c.name for c in QcomChipset if c.value]
    if soc not in known:
        raise Wrong(f"This ExecuTorch knows no {soc}. It knows {', '.join(sorted(known))}.")
    if precision != FLOAT:
        net = quantised(net, samples, soc, precision)
    spec = generate_qnn_executorch_compiler_spec(
        soc_model=QcomChipset[soc],
        backend_options=generate_htp_compiler_spec(use_fp16=precision == FLOAT),
    )
    program = to_edge_transform_and_lower_to_qnn(net, samples[0], spec).to_executorch()
    with to.open("wb") as f:
        program.write_to_file(f)


def given(script: Path) -> tuple[Any, list[tuple[Any, ...]]]:
    """The module and its samples, as the script's module() and samples() return them."""
    spec = importlib.util.spec_from_file_location("lowered_" + script.stem, script)
    if spec is None or spec.loader is None:
        raise Wrong(f"{script.name} is no Python file.")
    of = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # where torch.export looks for what its classes refer to
    try:
        spec.loader.exec_module(of)
        for name in ("module", "samples"):
            if not callable(getattr(of, name, None)):
                raise Wrong(f"{script.name} has no {name}(). It has two functions: module() returns a torch.nn.Module, samples() a list of tuples of its inputs.")
        net, samples = of.module().eval(), list(of.samples())
    except Wrong:
        raise
    except Exception as e:
        lines = [f.lineno for f in traceback.extract_tb(e.__traceback__) if Path(f.filename).name == script.name]
        at = lines[-1] if lines else getattr(e, "lineno", None)  # of a script that cannot be read
        raise Wrong(f"{script.name}, line {at}: {type(e).__name__}: {e}") from e
    if not samples or not all(isinstance(s, tuple) for s in samples):
        raise Wrong(f"samples() of {script.name} returns no list of tuples of inputs: at least one sample is wanted, whose shapes are those that are compiled.")
    return net, samples


def quantised(net: Any, samples: list[tuple[Any, ...]], soc: str, precision: str) -> Any:
    """The module after its samples went through it, with ExecuTorch's own quantiser for Qualcomm's NPU."""
    import torch
    from executorch.backends.qualcomm.quantizer.quantizer import QnnQuantizer, QuantDtype
    from executorch.backends.qualcomm.serialization.qc_schema import QcomChipset
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    exported = torch.export.export(net, samples[0], strict=True).module()
    quantiser = QnnQuantizer(soc_model=QcomChipset[soc])
    quantiser.set_default_quant_config(QuantDtype[DTYPES[precision]], is_linear_per_channel=True)
    seen = prepare_pt2e(exported, quantiser)
    for s in samples:
        seen(*s)
    return convert_pt2e(seen)


command.run(main)
