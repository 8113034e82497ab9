"""The part of htp_context and htp_dlc that compiles, in a process of its own: graphs, libraries, soc_model, vtcm_mb, optimization, fallback,
dlc, optrace.

It leaves a context, and json/GRAPH/*.json of each graph; with dlc *.dlc in place of a context: the provider writes either. It reports where nodes run, and its
peak of memory, peak_mb.
"""

from __future__ import annotations

import resource
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import assigned
import command
import session
from arch import Wrong
from runtime import onnxruntime

MOST = 20  # nodes that an error names
LITTLE = 64 << 10  # bytes that are free after something could not be written


def main(spec: dict[str, Any]) -> dict[str, Any]:
    libraries = Path(spec["libraries"])
    options = {"backend_path": session.backend(libraries), "soc_model": spec["soc_model"], "vtcm_mb": str(spec["vtcm_mb"])}
    if spec.get("dlc"):
        options |= {"dump_qnn_ir_dlc": "1", "dump_qnn_ir_dlc_dir": ".", "qnn_ir_backend_path": str(libraries / "libQnnIr.so")}
    else:
        options |= {"enable_htp_prepare_only": "1", "dump_json_qnn_graph": "1", "enable_framework_op_trace": "1"}
    if spec["optrace"]:
        options |= {"profiling_level": "optrace", "profiling_file_path": "compile.csv"}
    if spec["fallback"]:
        options["offload_graph_io_quantization"] = "0"  # what the NPU takes, it gets: the provider would leave the graph's own quantizing to the CPU
    if spec["optimization"] is not None:
        options["htp_graph_finalization_optimization_mode"] = str(spec["optimization"])
    names = spec["graphs"]
    # Each with a heap of its own: the compiler's threads that fold one graph's constants would leave the next one another heap in each run.
    made = command.apart([partial(session_of, name, libraries, entries(spec, i), options | dump(spec, name)) for i, name in enumerate(names)])
    nodes = {name: assigned.placed(s) for name, s in zip(names, made, strict=True)}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # KiB, of all of this process, while every graph of it is there
    for name, of in nodes.items():
        if all(n["on"] == "CPU" for n in of):
            raise Wrong(whole(name, *on_cpu(name, libraries, options)))
    return {"nodes": {Path(name).stem: of for name, of in nodes.items()}, "peak_mb": round(peak * 1024 / 1e6, 1)}


def entries(spec: dict[str, Any], i: int) -> dict[str, str]:
    """What ONNX Runtime is told of the graph at i."""
    found = {"session.record_ep_graph_assignment_info": "1"}
    if not spec.get("dlc"):
        found |= {"ep.context_enable": "1", "ep.context_embed_mode": "0", "ep.context_file_path": f"{Path(spec['graphs'][i]).stem}_ctx.onnx"}
    if not spec["fallback"]:
        found["session.disable_cpu_ep_fallback"] = "1"
    if len(spec["graphs"]) > 1:
        found["ep.share_ep_contexts"] = "1"
        if i == len(spec["graphs"]) - 1:
            found["ep.stop_share_ep_contexts"] = "1"
    return found


def dump(spec: dict[str, Any], name: str) -> dict[str, str]:
    """Has the provider write down what it makes of a graph, and of which nodes it made what."""
    if spec.get("dlc"):
        return {}
    folder = Path("json", Path(name).stem)
    folder.mkdir(parents=True)
    return {"json_qnn_graph_dir": str(folder), "framework_op_trace_dir": str(folder)}


def session_of(name: str, libraries: Path, entries: dict[str, str], options: dict[str, str]) -> onnxruntime.InferenceSession:
    """Compiles a graph."""
    o = onnxruntime.SessionOptions()
    o.log_severity_level = 2
    o.intra_op_num_threads = 1  # nothing runs, and each thread of a machine with more processors would take a part of the address space
    for key, value in entries.items():
        o.add_session_config_entry(key, value)
    o.add_provider_for_devices(session.devices(libraries), options)
    try:
        return onnxruntime.InferenceSession(name, sess_options=o, enable_fallback=0)
    except Exception as e:
        if (free := shutil.disk_usage(".").free) < LITTLE:
            raise Wrong(f"{name} could not be compiled: no space left on device, where {free} bytes are free: {e}") from e
        stay, dropped = on_cpu(name, libraries, options) if "session.disable_cpu_ep_fallback" in entries else ([], "")
        if dropped:
            raise Wrong(whole(name, stay, dropped)) from e
        if stay:
            raise Wrong(
                f"{len(stay)} nodes of {name} are not for the NPU: {listed(stay)}. "
                "Put others in their place, or let them stay on the CPU with allow_cpu_fallback = true: the output placement_table says what crosses."
            ) from e
        raise Wrong(f"{name} could not be compiled: {e}") from e


def listed(stay: list[str]) -> str:
    return "; ".join(stay[:MOST]) + ("; …" if len(stay) > MOST else "")


def whole(name: str, stay: list[str], dropped: str) -> str:
    """Why a graph stays on the CPU: the NPU takes no node, or ONNX Runtime gives it none of those that it takes."""
    why = f": {listed(stay)}" if stay else ""
    if dropped:
        return (
            f"ONNX Runtime leaves nodes of {name} to the CPU that the NPU takes: {dropped}\nThat is for ONNX Runtime to mend. "
            f"Cut the graph around the nodes that stay, and compile each piece (onnx.utils.extract_model cuts), or put others in their place{why}."
        )
    return f"The NPU takes no node of {name}{why}. Replace them: docs/fallback.md lists replacements."


def on_cpu(name: str, libraries: Path, options: dict[str, str]) -> tuple[list[str], str]:
    """The nodes of a graph that the NPU does not take, as "name (op): why", and ONNX Runtime's error where it drops others."""
    try:
        nodes, dropped = assigned.asked(name, libraries, {k: v for k, v in options.items() if k in ("backend_path", "soc_model", "vtcm_mb")})
    except Exception:
        return [], ""  # something else is wrong with it, which the first try has told
    return [f"{n['name']} ({n['op']})" + (f": {n['why']}" if "why" in n else "") for n in nodes if n["on"] == "CPU"], dropped


command.run(main)
