"""Which nodes of a graph the provider gives to the NPU, and why it does not take the others, in its own words."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import Any

import session
from runtime import onnxruntime

REFUSED = re.compile(r"Validation FAILED for \d+ nodes in ")
NODE = re.compile(r"^\tOperator type: (\S*) Node name: (.*) Node index: \d+$")
REASON = re.compile(r"^\tREASON : (.*)$")
INVALID = re.compile(r"QNN\.backendValidateOpConfig\(\) failed for node .* with error code \d+")
DROPPED = re.compile(r"set nodes that cannot (?:all )?be fused together")  # ONNX Runtime's words where it gives back to the CPU what the provider takes
RECORD = re.compile(r"^\S*\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.")  # how each message of the log begins, after its color


def placed(s: onnxruntime.InferenceSession) -> list[dict[str, Any]]:
    """Where each node of a compiled graph runs; of those on the NPU, in which part."""
    found: list[dict[str, Any]] = []
    parts = 0
    for part in s.get_provider_graph_assignment_info():
        npu = part.ep_name == session.PROVIDER
        for n in part.get_nodes():
            found.append({"on": "NPU" if npu else "CPU", "name": n.name, "op": n.op_type} | ({"part": parts} if npu else {}))
        parts += npu
    return found


def asked(name: str, libraries: Path, options: dict[str, str]) -> tuple[list[dict[str, Any]], str]:
    """What placed says of a graph that is compiled with the CPU for what the NPU does not take, of those nodes also why; and what ONNX Runtime says where it
    does not give to the NPU what that takes.

    That is in the provider's verbose log, which comes from C and so is taken where the process writes it.
    """
    o = onnxruntime.SessionOptions()
    o.log_severity_level = 0
    o.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    o.add_provider_for_devices(session.devices(libraries), options | {"offload_graph_io_quantization": "0"})
    with tempfile.TemporaryFile() as log:
        stderr = os.dup(2)
        os.dup2(log.fileno(), 2)
        try:
            s = onnxruntime.InferenceSession(name, sess_options=o, enable_fallback=0)
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
        log.seek(0)
        text = log.read().decode(errors="replace")
    why = reasons(text)
    return [n | ({"why": why[n["name"]]} if n["on"] == "CPU" and n["name"] in why else {}) for n in placed(s)], dropped(text)


def dropped(log: str) -> str:
    """ONNX Runtime's own error, the last, that it does not take parts of the provider's; "" where it takes all."""
    found = [r for r in records(log) if DROPPED.search(r)]
    return " ".join(found[-1].split("] ", 1)[-1].split()) if found else ""


def records(log: str) -> list[str]:
    """The messages of a log, each with all of its lines."""
    found: list[str] = []
    for line in log.splitlines():
        if RECORD.match(line) or not found:
            found.append(line)
        else:
            found[-1] += "\n" + line
    return found


def reasons(log: str) -> dict[str, str]:
    """Why the provider does not take nodes, by their names, as its verbose log has it: of each the last that it says."""
    found: dict[str, str] = {}
    names: list[str] = []
    why: list[str] = []  # the lines of a reason that goes on
    invalid = ""  # what Qualcomm's library said of the node before
    refused = False

    def end() -> None:
        if why:
            found.update((n, " ".join(" ".join(why).split())) for n in names if n)

    for line in log.splitlines():
        if RECORD.match(line):
            end()
            names, why, refused = [], [], bool(REFUSED.search(line))
            if said := INVALID.search(line):
                invalid = said[0]
            elif not refused and "Validation PASSED" in line:
                invalid = ""
        elif not refused:
            continue
        elif not why and (node := NODE.match(line)):
            names.append(node[2])
        elif reason := REASON.match(line):
            why, invalid = [reason[1], *([invalid] if invalid else [])], ""
        elif why:
            why.append(line)
    end()
    return found
