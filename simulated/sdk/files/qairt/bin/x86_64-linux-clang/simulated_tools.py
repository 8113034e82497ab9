"""hexmage simulated: QAIRT's tools for x86, with Qualcomm's arguments and lines of success. No quantizer and no compiler is in it: a file carries the
ONNX graph and the encodings that real tools would give it, and the simulated qnn-net-run computes the float graph.

It plays a failure that real tools have shown if SIMULATED_FAILURE names one; docs/onnx-qairt.md lists them.
"""

from __future__ import annotations

import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SDK = HERE.parent.parent
MARK = "hexmage simulated"
FAILURE = os.environ.get("SIMULATED_FAILURE", "")
BUILD = "@BUILD_ID@"


def release(text: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", text)[:2])


def arguments(tool: str) -> dict[str, tuple[str, str]]:
    """The tool's arguments in this release: each spelling with the first of its row and the number of its values."""
    found = {}
    for line in (HERE / "arguments.txt").read_text().splitlines():
        if line.startswith(tool + " "):
            _, names, count, since, until, _ = line.split()
            if (since == "-" or release(since) <= release("@VERSION@")) and (until == "-" or release("@VERSION@") <= release(until)):
                for name in names.split(","):
                    found[name] = (names.split(",")[0], count)
    return found


def parse(tool: str, words: list[str]) -> dict[str, list[str]]:
    """The command; an unknown argument ends the tool as Qualcomm's ends."""
    known = arguments(tool)
    given: dict[str, list[str]] = {}
    unknown, i = [], 0
    while i < len(words):
        name, count = known.get(words[i], ("", "0"))
        if not name:
            unknown.append(words[i])
        i += 1
        values = given.setdefault(name, [])
        while i < len(words) and len(values) < (99 if count == "n" else 0 if count == "hidden" else int(count)) and words[i] not in known:
            values.append(words[i])
            i += 1
    if unknown and tool.startswith("qairt-"):
        fail(f"usage: {tool}\n{tool}: error: unrecognized arguments: {' '.join(unknown)}", 2)
    if unknown:
        fail(f"Invalid Argument Consumption\nUnused Arguments: {' '.join(unknown)}\nInitialization failure", 1)
    if "--help" in given:
        listed = [n for n, (_, count) in known.items() if count != "hidden"]
        print(f"usage: {tool} ({MARK})\n" + "\n".join(f"  {n}" for n in ([] if FAILURE == "no-help" else listed)))
        sys.exit(0)
    if "--version" in given:
        print("QNN SDK v2.30.0.0" if FAILURE == "mixed-sdk" else f"QNN SDK {BUILD} ({MARK})")
        sys.exit(0)
    return given


def configured(kind: str, at: str) -> dict[str, Any]:
    """A config without the keys that the tool does not know: it warns and goes on."""
    doc, known = dict(json.loads(Path(at).read_text())), arguments(kind)
    if FAILURE == "unknown-key" and kind == "htp.json":
        doc["memory"] = {"extended_udma": True}
    for section, of in doc.items():
        for part in of if isinstance(of, list) else [of]:
            for key in [k for k in part if f"{section}.{k}" not in known]:
                print(f"[WARNING] Unknown Key = {section}/{key}", flush=True)
                del part[key]
    return doc


def fail(text: str, code: int) -> None:
    print(text, flush=True)
    sys.exit(code)


def inspect(at: str) -> dict[str, Any]:
    return dict(json.loads(subprocess.run([os.environ["HEXMAGE_SELF"], "inspect", "--json", at], capture_output=True, text=True, check=True).stdout))


def write(out: Path, **spec: Any) -> None:
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        json.dump(spec | {"out": str(out), "build_id": BUILD}, f)
        f.flush()
        subprocess.run([os.environ["HEXMAGE_SELF"], "tool", "simulated-qairt", f.name], check=True)


def unpack(at: str, to: str) -> dict[str, Any]:
    """What the simulation wrote into a DLC, with its graph in a file."""
    try:
        with zipfile.ZipFile(at) as z:
            spec = dict(json.loads(z.read("hexmage.json")))
            for g in spec["graphs"]:
                g["onnx"] = str(Path(to, g["name"] + ".onnx"))
                Path(g["onnx"]).write_bytes(z.read(g["name"] + ".onnx"))
    except (KeyError, zipfile.BadZipFile):
        fail("Failed to deserialize the network\nFailed to create dlc handle with code 1002", 1)
    return spec


def typed(t: dict[str, Any], dtype: str, low: float = -8.0, high: float = 8.0) -> dict[str, Any]:
    """A tensor in a type of the NPU, with an encoding if the type has one."""
    t = {"name": t["name"], "dtype": dtype, "dims": [int(d) for d in t["dims"]]}
    if dtype.startswith("ufixed"):
        scale = (high - low) / (2 ** int(dtype[6:]) - 1)
        t["quantization"] = {"encoding": "scale_offset", "scale": scale, "offset": round(low / scale)}
    return t


def small(out: Path, what: str) -> bool:
    """Plays what a full disk does."""
    if FAILURE == what + "-small":
        out.write_bytes(b"")
    return FAILURE in (what + "-none", what + "-small")


def converter(words: list[str]) -> None:
    a = parse("qairt-converter", words)
    source, out = a["--input_network"][0], Path(a["--output_path"][0])
    g = inspect(source)["onnx"]
    names: set[str] = set()
    if "--quantization_overrides" in a:
        doc = json.loads(Path(a["--quantization_overrides"][0]).read_text())
        for part in ("activation_encodings", "param_encodings", "encodings"):
            of = doc.get(part) or []
            names |= set(of) if isinstance(of, dict) else {e["name"] for e in of}
        print(f"INFO - Processed {0 if FAILURE == 'no-encodings' else len(names)} quantization encodings")
    width = a.get("--float_bitwidth", ["16" if names else "32"])[0]
    width = {"16": "32", "32": "16"}[width] if FAILURE == "other-float" else width
    qdq = "QuantizeLinear" in g["ops"]
    if FAILURE in ("all-float", "no-encodings"):
        qdq, names = False, set()

    def tensor(t: dict[str, Any]) -> dict[str, Any]:
        if t["dtype"].startswith("int"):
            return typed(t, "int32")
        return typed(t, "ufixed16" if qdq or t["name"] in names or t["dtype"] == "uint16" else f"float{width}")

    inputs, outputs = [tensor(t) for t in g["inputs"]], [tensor(t) for t in g["outputs"]]
    if FAILURE == "other-inputs":
        inputs[0]["name"] += "_1"
    weight = {"name": "weight", "dtype": "sfixed8" if qdq or names else f"float{width}", "dims": [1]}
    for pattern, line in (("unknown-op", "ERROR - No translation registered for op type DynamicQuantizeLinear"), ("cast", "WARNING - Only numerical type cast is supported, will be interpreted at conversion time")):
        if FAILURE == pattern:
            print(line)
    graph = "model" if FAILURE == "other-name" else re.sub(r"[^A-Za-z0-9_]", "_", out.stem)
    if not small(out, "dlc"):
        write(out, tool="qairt-converter", graphs=[{"name": graph, "inputs": inputs, "outputs": outputs, "tensors": [weight], "onnx": source}])
    if FAILURE != "no-token":
        print("INFO - INFO_INITIALIZATION_SUCCESS\nINFO - INFO_CONVERSION_SUCCESS: Conversion completed successfully\nINFO - INFO_WRITE_SUCCESS")


def quantizer(words: list[str]) -> None:
    a = parse("qairt-quantizer", words)
    if "--input_list" in a and "--enable_float_fallback" in a:
        fail("qairt-quantizer: error: not allowed with argument --input_list", 2)
    out = Path(a["--output_dlc"][0])
    with tempfile.TemporaryDirectory() as d:
        spec = unpack(a["--input_dlc"][0], d)
        g = spec["graphs"][0]
        width = "8" if FAILURE == "width" else a["--act_bitwidth"][0]
        ranges = {t["name"]: [0.0, 0.0] for t in g["inputs"]}
        for line in Path(a["--input_list"][0]).read_text().splitlines():
            for t, word in zip(g["inputs"], line.split(), strict=True):
                data = Path(word.partition(":=")[2] or word).read_bytes()
                numbers = struct.unpack(f"<{len(data) // 4}f", data)
                ranges[t["name"]] = [min(ranges[t["name"]][0], *numbers), max(ranges[t["name"]][1], *numbers)]
        for side in ("inputs", "outputs"):
            g[side] = [t if t["dtype"] == "int32" or FAILURE == "float-left" else typed(t, "ufixed" + width, *ranges.get(t["name"], [-8.0, 8.0])) for t in g[side]]
        g["tensors"] = [t | {"dtype": "float32" if FAILURE == "float-left" else "sfixed" + a["--weights_bitwidth"][0]} for t in g["tensors"]]
        for name, line in (("steps", "WARNING - Restrict_quantization_steps is only supported for symmetric weights"), ("mixed", "mixedPrecisionForWeights: 8 bit activations with 16 bit weights are not supported"), ("no-bias", "preprocessPerChannel: No bias info for op conv")):
            if FAILURE == name:
                print(line)
        if not small(out, "dlc"):
            write(out, tool="qairt-quantizer", graphs=spec["graphs"])


def generator(words: list[str]) -> None:
    a = parse("qnn-context-binary-generator", words)
    if not a.get("--model", [""])[0].endswith("libQnnModelDlc.so"):
        fail("load library failed", 1)
    link = configured("link.json", a["--config_file"][0]) if "--config_file" in a else {}
    at = link.get("backend_extensions", {}).get("config_file_path", "")
    config = configured("htp.json", at) if at else {}
    devices, options = config.get("devices", [{}])[0], config.get("graphs", [{}])[0]
    soc, arch, vtcm, level = devices.get("soc_model", 0), devices.get("dsp_arch", "v68"), options.get("vtcm_mb", 4), options.get("O", 2)
    if FAILURE == "default-target":
        soc, arch, vtcm = 0, "v68", 4
    vtcm, level = 4 if FAILURE == "vtcm" else vtcm, 1 if FAILURE == "level" else level
    folder = Path(a["--output_dir"][0])
    out = folder / (a["--binary_file"][0] + ".bin")
    graphs: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as d:
        for dlc in a["--dlc_path"][0].split(","):
            graphs += unpack(dlc, d)["graphs"]
        if missing := set(options.get("graph_names", [])) - {g["name"] for g in graphs}:
            fail(f"unable to find graphName:{missing.pop()} in provided graphsConfigInfo object", 1)
        for g in graphs:
            g.pop("tensors", None)
        if FAILURE == "graph-name":
            graphs[0]["name"] += "_0"
        if FAILURE == "encoding":
            graphs[0]["inputs"][0] = typed(graphs[0]["inputs"][0], "float32")
        if FAILURE == "other-file":
            out = folder / "bins" / out.name
            out.parent.mkdir()
        if not small(out, "context"):
            write(out, tool="qnn-context-binary-generator", graphs=graphs, soc=f"MODEL{soc}", soc_model=soc, arch=int(arch[1:]), vtcm_mb=vtcm, optimization_level=level)
    print("[WARN] couldn't open libcdsprpc.so")


def main() -> None:
    name = Path(sys.argv[0]).name
    run = {"qairt-converter": converter, "qairt-quantizer": quantizer, "qnn-context-binary-generator": generator}
    print(f"{MARK}: {name}", flush=True)
    if name in run:
        run[name](sys.argv[1:])
    else:
        parse(name, sys.argv[1:])
        fail(f"{name}: {MARK}: only --help and --version work on x86", 1)
