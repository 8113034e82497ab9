"""Runs QAIRT's tools, and decides whether they succeeded: qairt.py ACTION OPTIONS [-- TOOL ARGUMENTS].

An exit code of 0 does not show success. Each action checks the tool's arguments first, then log, files, and what `hexmage inspect` reads in them.
Facts and their sources: docs/onnx-qairt.md. It uses numpy for samples and results alone.
"""

from __future__ import annotations

import argparse
import array
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SMALLEST = 1 << 10  # bytes of a DLC or context
SHARED = 1 << 20  # bytes of a DLC from which shared weights show in the size
LOG = 16 << 20  # bytes of a log that are looked at
TEMPORARY = 6  # times the model: what the converter writes at most
RESULTS = 4 << 30  # bytes of all results of a run

# Spellings of an argument, of the newest release first. Two words are an argument with its value.
SPELLINGS = {
    "qairt-converter": [
        ["--source_model_input_shape", "--desired_input_shape"],
        ["--out_tensor_node", "--out_tensor_name"],
        ["--onnx_skip_simplification", "--no_simplification"],
    ],
    "qairt-quantizer": [
        ["--enable_float_fallback", "--float_fallback"],
        ["--apply_algorithms", "--algorithms"],
        ["--act_quantizer_calibration", "--act_quantizer"],
        ["--param_quantizer_calibration", "--param_quantizer"],
    ],
    "qnn-net-run": [["--use_native_output_files", "--output_data_type native_only"]],
}
HIDDEN = {"--disable_dynamic_16_bit_weights"}  # tools take it, and --help does not list it

# Lines of a log that mean failure although the exit code may be 0: pattern, and what to do.
LIES = [
    (r"Unknown Key|Invalid key:|does not adhere to schema", "the tool ignores keys of a config: correct the key or its section"),
    (r"Unused Arguments|Invalid Argument Consumption|unrecognized arguments", "this SDK has no such argument: use a release that has it"),
    (r"Failed to copy external data|No space left on device", "the disk is full: free space, or set TMPDIR to a larger disk"),
    (r"fallbackToFloat", "the quantizer fell back to floats: give samples or encodings"),
    (r"Cannot restrict quantization steps|Restrict_quantization_steps is only supported", "restrict_quantization_steps had no effect: use symmetric weights and their width"),
    (r"mixedPrecisionForWeights", "8-bit activations with 16-bit weights are unsupported: add --disable_dynamic_16_bit_weights"),
    (r"preprocessPerChannel: No bias info", "a convolution has no bias: add a bias of zeros, or remove --use_per_channel_quantization"),
    (r"unable to find graphName", "graph_names of the config differ from the graphs'"),
    (r"No translation registered for op type", "QAIRT has no such operator: replace it (docs/onnx.md)"),
    (r"SocModel doesn't support FP16", "the NPU has no 16-bit floats: quantize the whole graph"),
    (r"memory usage too large", "the context exceeds 2 GB: use fewer bits, or cut the model"),
]
WARNINGS = [
    (r"will be interpreted at conversion time", "the converter folds a Cast into its input"),
    (r"Setting default pd_session", "pd_session fell back to unsigned"),
]


class Wrong(Exception):
    """What is wrong, and the next step."""


def inspect(at: Path) -> dict[str, Any]:
    """What a file says of itself."""
    r = subprocess.run([os.environ["HEXMAGE_SELF"], "inspect", "--json", str(at)], capture_output=True, text=True, errors="replace")
    try:
        found = dict(json.loads(r.stdout))
    except ValueError as e:
        raise Wrong(f"{at}: hexmage inspect cannot read the file: {r.stderr.strip() or r.stdout.strip()}") from e
    if "error" in found:
        raise Wrong(f"{at}: the tool wrote a file of no known format: {found['error']}")
    return found


def value(argv: list[str], *names: str) -> str:
    """An argument's value in a command, or ""."""
    for i, word in enumerate(argv[:-1]):
        if word in names:
            return argv[i + 1]
    return ""


def fit(argv: list[str], sdk: dict[str, Any]) -> list[str]:
    """The command in the spelling of this SDK; arguments that it lacks are refused."""
    tool = Path(argv[0]).name
    have = set(sdk["tools"][tool])
    out = [argv[0]]
    for word in argv[1:]:
        if not re.match(r"--?[A-Za-z]", word) or word in have | HIDDEN:
            out.append(word)
            continue
        known = next((s for s in SPELLINGS.get(tool, []) if any(word == w.split()[0] for w in s)), [])
        use = next((s for s in known if s.split()[0] in have), "")
        if not use:
            raise Wrong(f"{tool} of QAIRT {sdk['version']}: unknown argument {word}. Remove the argument, or use another release of qairt.")
        out += use.split()
    return out


def run(argv: list[str]) -> str:
    """Runs a tool and returns its log. Python programs run in this interpreter: their first lines name another one."""
    with open(argv[0], "rb") as f:
        elf = f.read(4) == b"\x7fELF"
    os.makedirs("qairt-tmp", exist_ok=True)
    env = {**os.environ, "QAIRT_TMP_DIR": os.path.abspath("qairt-tmp")}
    for name in ("LD_LIBRARY_PATH", "PYTHONPATH"):  # tools change their folder
        env[name] = ":".join(os.path.abspath(p) for p in env.get(name, "").split(":") if p)
    name = Path(argv[0]).name
    try:
        r = subprocess.run([*([] if elf else [sys.executable]), *argv], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env)
    except OSError as e:
        raise Wrong(f"{name}: cannot start the tool: {e.strerror}. Unpack the SDK again, and keep the file modes.") from e
    log = r.stdout[-LOG:].decode(errors="replace")
    judged(name, log, r.returncode)
    return log


def judged(name: str, log: str, code: int) -> None:
    """Refuses a tool's run by its log and exit code."""
    for pattern, advice in LIES:
        if m := re.search(rf".*({pattern}).*", log):
            raise Wrong(f"{name}: {m[0].strip()[:300]}: {advice}\n{tail(log)}")
    if code < 0:
        raise Wrong(f"{name}: signal {-code} ended the tool. After signal 9, the memory was full: run with --jobs 1.\n{tail(log)}")
    if code != 0:
        raise Wrong(f"{name}: exit code {code}\n{tail(log)}")


def tail(log: str) -> str:
    return "\n".join(log.splitlines()[-40:])


def said(log: str, tool: str, *tokens: str) -> None:
    if not any(t in log for t in tokens):
        raise Wrong(f"{tool}: exit code 0, but the log lacks {tokens[0]!r}. Read the log:\n{tail(log)}")


def written(at: Path, log: str) -> None:
    if not at.is_file():
        beside = sorted(str(p) for p in at.parent.rglob("*") if p.is_file()) if at.parent.is_dir() else []
        raise Wrong(f"{at}: exit code 0, but the tool did not write this file; written: {', '.join(beside) or 'nothing'}. Is the disk full?\n{tail(log)}")
    if (size := at.stat().st_size) < SMALLEST:
        raise Wrong(f"{at}: exit code 0, but the tool wrote only {size} bytes. Is the disk full?\n{tail(log)}")


def report(at: str, **facts: Any) -> None:
    Path(at).write_text(json.dumps(facts, indent=1, sort_keys=True) + "\n")


def warned(log: str) -> list[str]:
    return [text for pattern, text in WARNINGS if re.search(pattern, log)]


# --- What an SDK is --------------------------------------------------------------------------------------------------------


def flags(a: argparse.Namespace) -> None:
    """Asks each tool for its arguments and its release, once per SDK."""
    root = Path(a.sdk)
    text = (root / "sdk.yaml").read_text()
    version, build = (re.search(rf"^{key}: *v?([\w.]+)", text, re.M) for key in ("version", "build_id"))
    if not version:
        raise Wrong(f"{root}/sdk.yaml: missing version. Unpack the SDK again.")
    tools = {}
    for name in a.tools:
        at = root / "bin/x86_64-linux-clang" / name
        if not at.is_file():
            raise Wrong(f"{at}: the SDK lacks this tool. Install the whole QAIRT SDK, not parts of it.")
        found = set(re.findall(r"(?<![\w-])--?[A-Za-z]\w*", run([str(at), "--help"])))
        if "--help" not in found and len(found) < 3:
            raise Wrong(f"{name} --help lists no arguments. Run the command by hand: this machine may lack libraries.")
        tools[name] = sorted(found)
        if name.startswith("qnn-"):
            m = re.search(r"v?(\d+\.\d+\.\d+)", run([str(at), "--version"]))
            if not m or not version[1].startswith(m[1]):
                raise Wrong(f"{name}: the tool is from QAIRT {m[1] if m else '?'}, but sdk.yaml names {version[1]}. Unpack each release into its own folder.")
    report(a.out, version=version[1], build=f"v{version[1]}.{build[1]}" if build else "", tools=tools)


# --- Graphs ----------------------------------------------------------------------------------------------------------------


def onnx_graph(at: Path) -> dict[str, Any]:
    """A graph's inputs, outputs and operators; shapes must be fixed."""
    g = dict(inspect(at).get("onnx") or {})
    if not g:
        raise Wrong(f"{at}: not an ONNX graph. Use an ONNX file.")
    for t in g["inputs"]:
        if open_ := [d for d in t["dims"] if not d.isdigit() or d == "0"]:
            raise Wrong(f"{at}: input {t['name']} has no fixed shape ({', '.join(open_)}). To fix the shape, run python -m onnxruntime.tools.make_dynamic_shape_fixed")
    return g


def dlc_graph(at: Path, name: str) -> dict[str, Any]:
    found = inspect(at).get("dlc") or {}
    graphs = {g["name"]: g for g in found.get("graphs") or []}
    if name not in graphs:
        raise Wrong(f"{at}: missing graph {name}; the file has {', '.join(graphs) or 'none'}. The converter names a graph after its --output_path.")
    return dict(graphs[name]) | {"converter": found.get("converter", "")}


def same_names(at: Path, graph: dict[str, Any], wanted: dict[str, Any]) -> None:
    for side in ("inputs", "outputs"):
        have, want = ([t["name"] for t in g.get(side) or []] for g in (graph, wanted))
        if sorted(have) != sorted(want):
            raise Wrong(f"{at}: {side} {', '.join(have)} differ from the ONNX graph's {side} {', '.join(want)}. Keep the names with --out_tensor_node.")


def quantized(types: dict[str, int]) -> int:
    return sum(n for t, n in types.items() if "fixed" in t)


def encodings(at: Path) -> set[str]:
    """Names of tensors in a file of encodings: format 0.6.1 has objects, later ones lists."""
    doc = json.loads(at.read_text())
    names: set[str] = set()
    for part in ("activation_encodings", "param_encodings", "encodings"):
        of = doc.get(part) or []
        names |= set(of) if isinstance(of, dict) else {e["name"] for e in of}
    return names


def convert(a: argparse.Namespace, argv: list[str], sdk: dict[str, Any]) -> None:
    source, out = Path(value(argv, "--input_network", "-i")), Path(value(argv, "--output_path", "-o"))
    overrides, width = value(argv, "--quantization_overrides", "-q"), value(argv, "--float_bitwidth")
    name = re.sub(r"[^A-Za-z0-9_]", "_", out.stem)
    if name != out.stem:
        raise Wrong(f"{out}: the converter would name the graph {name}. Use letters, digits and _ in the file's name.")
    if width not in ("16", "32"):
        raise Wrong("qairt-converter: missing --float_bitwidth: with encodings, the converter uses 16 bits and reports 32. Set --float_bitwidth to 16 or 32.")
    graph = onnx_graph(source)
    qdq = "QuantizeLinear" in graph["ops"] or "DequantizeLinear" in graph["ops"]
    if overrides:
        if not (names := encodings(Path(overrides))):
            raise Wrong(f"{overrides}: no encodings. Write encodings with the names of the ONNX graph's tensors.")
        inputs = {t["name"] for t in graph["inputs"] + graph["outputs"]}
        if not names & inputs:
            raise Wrong(f"{overrides}: none of the {len(names)} names is an input or output of {source.name} ({', '.join(sorted(inputs))}). The converter would ignore all encodings. Use the names of the ONNX graph's tensors.")
    out.parent.mkdir(parents=True, exist_ok=True)
    room(source)
    log = run(fit(argv, sdk))
    said(log, "qairt-converter", "INFO_CONVERSION_SUCCESS", "INFO_WRITE_SUCCESS")
    written(out, log)
    processed = re.search(r"Processed (\d+) quantization encodings", log)
    if overrides and (not processed or int(processed[1]) == 0):
        raise Wrong(f"{overrides}: the converter processed {processed[1] if processed else 'no'} encodings. Use the names of the ONNX graph's tensors.")
    types = converted(out, name, graph, width, overrides or source.name if overrides or qdq else "")
    report(a.report, types=types, encodings=int(processed[1]) if processed else 0, warnings=warned(log))


def room(source: Path) -> None:
    """The converter copies the weights, which lie in files beside the graph, and writes them again."""
    need = TEMPORARY * sum(p.stat().st_size for p in source.parent.iterdir() if p.is_file())
    if (free := shutil.disk_usage(".").free) < need:
        raise Wrong(f"{source}: the converter needs up to {need} bytes for temporary files, but only {free} bytes are free. Free disk space, or set HEXMAGE_CACHE to a folder on a larger disk.")


def converted(out: Path, name: str, graph: dict[str, Any], width: str, encoded: str) -> dict[str, int]:
    """Reads a DLC back: its graph, inputs, outputs and floats, and that it is quantized if a file has encodings. Returns numbers of tensors by type."""
    made = dlc_graph(out, name)
    same_names(out, made, graph)
    types = made.get("types") or {}
    if encoded and not quantized(types):
        raise Wrong(f"{out}: no quantized tensors, although {encoded} has encodings: all tensors became floats. Check the names of the encodings.")
    other = f"float{16 if width == '32' else 32}"
    if types.get(other) and not types.get(f"float{width}"):
        raise Wrong(f"{out}: floats have {other[5:]} bits, but --float_bitwidth is {width}. Report this release of QAIRT.")
    return dict(types)


def quantize(a: argparse.Namespace, argv: list[str], sdk: dict[str, Any]) -> None:
    source, out, listed = Path(value(argv, "--input_dlc", "-i")), Path(value(argv, "--output_dlc", "-o")), value(argv, "--input_list", "-l")
    fallback = any(w in argv for w in ("-f", "--enable_float_fallback", "--float_fallback"))
    if fallback and listed:
        raise Wrong("qairt-quantizer: --enable_float_fallback excludes --input_list. Remove one of them.")
    if fallback and not a.allow_float:
        raise Wrong("qairt-quantizer: --enable_float_fallback silently keeps tensors as floats. To allow this, set allow_fp16 = true.")
    if not listed:
        raise Wrong("qairt-quantizer: missing --input_list: without samples, the quantizer ignores all bit widths. Set samples.")
    if "cle" in (value(argv, "--apply_algorithms"), value(argv, "--algorithms")) and "Conv" not in onnx_graph(Path(a.graph))["ops"]:
        raise Wrong("qairt-quantizer: cross-layer equalization needs convolutions, and the graph has none. Remove --apply_algorithms cle.")
    act, bias = value(argv, "--act_bitwidth"), value(argv, "--bias_bitwidth")
    if not act or not value(argv, "--weights_bitwidth") or not bias:
        raise Wrong("qairt-quantizer: missing bit widths: the quantizer would use 8 bits for all tensors. Set --act_bitwidth, --weights_bitwidth and --bias_bitwidth.")
    before = dlc_graph(source, out.stem)
    Path("input_list.txt").write_text(lines(Path(listed), before))
    out.parent.mkdir(parents=True, exist_ok=True)
    log = run(fit(["input_list.txt" if w == listed else w for w in argv], sdk))
    written(out, log)
    made = dlc_graph(out, out.stem)
    same_names(out, made, before)
    types = made.get("types") or {}
    if not quantized(types):
        raise Wrong(f"{out}: no quantized tensors. Read the log:\n{tail(log)}")
    if floats := [t["name"] for t in made["inputs"] + made["outputs"] if t["dtype"].startswith("float")]:
        if not a.allow_float:
            raise Wrong(f"{out}: float tensors {', '.join(floats)}. To allow floats, set allow_fp16 = true.")
    for t in made["inputs"] + made["outputs"]:
        if "fixed" in t["dtype"] and not t["dtype"].endswith("fixed" + act):
            raise Wrong(f"{out}: {t['name']} is {t['dtype']}, but --act_bitwidth is {act}: the quantizer ignored the argument. Try another release of qairt.")
    report(a.report, types=types, samples=len(Path(listed).read_text().splitlines()), warnings=warned(log))


def elements(t: dict[str, Any]) -> int:
    return math.prod(int(d) for d in t["dims"])


def lines(listed: Path, graph: dict[str, Any]) -> str:
    """Checks a list of samples: each input's file is beside the list, has the size of its tensor in float32, and finite numbers. Returns the list with
    paths from here. A graph with one input takes bare paths: some releases read no names.
    """
    inputs = {t["name"]: t for t in graph["inputs"]}
    text = listed.read_text().splitlines() if listed.is_file() else []
    if not text:
        raise Wrong(f"{listed}: no samples. Use a folder of *.npz files with the graph's inputs by name.")
    for number, line in enumerate(text, 1):
        words = [w.partition(":=") for w in line.split()]
        names = [w[0] if w[1] else t["name"] for w, t in zip(words, graph["inputs"], strict=False)]
        if sorted(names) != sorted(inputs):
            raise Wrong(f"{listed}:{number}: inputs {', '.join(names)}, but the graph takes {', '.join(inputs)}. List each input once.")
        for name, w in zip(names, words, strict=True):
            at, want = listed.parent / (w[2] or w[0]), 4 * elements(inputs[name])
            if not at.is_file() or at.stat().st_size != want:
                raise Wrong(f"{at}: {at.stat().st_size if at.is_file() else 'no'} bytes, but input {name} takes {want} bytes in float32. Write float32 numbers.")
            numbers = array.array("f", at.read_bytes())
            if not all(map(math.isfinite, numbers)):
                raise Wrong(f"{at}: some numbers are not finite. Write float32 numbers.")
    here = [[(w.partition(":=")[0] + ":=" if ":=" in w else "") + str(listed.parent / (w.partition(":=")[2] or w)) for w in line.split()] for line in text]
    return "".join(" ".join(words) + "\n" for words in here)


# --- Contexts --------------------------------------------------------------------------------------------------------------


def configs(a: argparse.Namespace, link: Path, graphs: list[str]) -> None:
    """Writes both configs of the generator. It applies only keys that it knows in their section, and graph_names that exist."""
    graph: dict[str, Any] = {"graph_names": graphs, "vtcm_mb": a.vtcm_mb}
    if a.level:
        graph["O"] = a.level
    doc: dict[str, Any] = {"graphs": [graph], "devices": [{"soc_model": a.soc_model, "dsp_arch": a.arch}]}
    if len(graphs) > 1:
        doc["context"] = {"weight_sharing_enabled": True}
    htp = link.with_name("htp.json")
    htp.write_text(json.dumps(doc, indent=1) + "\n")
    link.write_text(json.dumps({"backend_extensions": {"shared_library_path": a.extensions, "config_file_path": str(htp)}}, indent=1) + "\n")


def context(a: argparse.Namespace, argv: list[str], sdk: dict[str, Any]) -> None:
    dlcs, folder = [Path(p) for p in value(argv, "--dlc_path").split(",") if p], Path(value(argv, "--output_dir"))
    binary, link = folder / f"{value(argv, '--binary_file')}.bin", Path(value(argv, "--config_file"))
    if not a.soc_model or not a.arch or not a.vtcm_mb:
        raise Wrong("qnn-context-binary-generator: missing SoC, arch and VTCM: the generator would compile for v68 and 4 MB. Set a target.")
    if not re.fullmatch(r"[A-Za-z0-9_]+", binary.stem):
        raise Wrong(f"{binary}: the generator misreads --binary_file with a folder or a suffix. Use letters, digits and _.")
    if value(argv, "--model").endswith(".dlc"):
        raise Wrong("qnn-context-binary-generator: --model needs libQnnModelDlc.so. Pass the DLC as --dlc_path.")
    graphs = {p.stem: dlc_graph(p, p.stem) for p in dlcs}
    for p in dlcs:
        if (made := graphs[p.stem]["converter"]) and not made.startswith(sdk["version"]):
            raise Wrong(f"{p}: the DLC is from QAIRT {made}, but the generator is from {sdk['version']}. Use one release for all steps.")
    folder.mkdir(parents=True, exist_ok=True)
    configs(a, link, list(graphs))
    log = run(fit(argv, sdk))
    written(binary, log)
    for schematic in Path(".").glob("*_schematic.bin"):  # the generator leaves it where it runs
        schematic.rename(folder / schematic.name)
    found = readback(binary, a, graphs, sdk)
    spill = {g["name"]: g["spill_fill_bytes"] for g in found["graphs"] if g.get("spill_fill_bytes")}
    largest = max(p.stat().st_size for p in dlcs)
    if len(dlcs) > 1 and largest > SHARED and binary.stat().st_size > 1.5 * largest:
        raise Wrong(f"{binary}: {binary.stat().st_size} bytes, and the largest graph has {largest} bytes: the graphs do not share weights. Use the same encodings for all graphs.")
    notes = warned(log) + [f"{name} spills {n} bytes of VTCM to memory" for name, n in spill.items()]
    report(a.report, context=found, warnings=notes)


def readback(binary: Path, a: argparse.Namespace, graphs: dict[str, Any], sdk: dict[str, Any]) -> dict[str, Any]:
    """What a context says of itself, which must be what was asked for."""
    found = dict(inspect(binary).get("context") or {})
    if not found:
        raise Wrong(f"{binary}: not a context binary. Read the generator's log.")
    got = {
        "SoC model": found["soc_model"],
        "arch": f"v{found['arch']}",
        "VTCM": f"{found['vtcm_bytes'] >> 20} MB",
        "optimization level": found.get("optimization_level", 0),
        "graphs": ", ".join(sorted(g["name"] for g in found.get("graphs") or [])),
        "build": found["build_id"].removeprefix("v").startswith(sdk["version"]),
        "simulated": found["simulated"],
    }
    want = {
        "SoC model": a.soc_model,
        "arch": a.arch,
        "VTCM": f"{a.vtcm_mb} MB",
        "optimization level": a.level or 2,
        "graphs": ", ".join(sorted(graphs)),
        "build": True,
        "simulated": a.simulated,
    }
    wrong = [f"{k} {got[k]} instead of {want[k]}" for k in want if got[k] != want[k]]
    if not got["build"]:
        wrong = [w for w in wrong if "build" not in w] + [f"QAIRT {found['build_id']} instead of {sdk['version']}"]
    for g in found.get("graphs") or []:
        of = graphs.get(g["name"]) or {}
        asked = {t["name"]: t for t in (of.get("inputs") or []) + (of.get("outputs") or [])}
        for t in g["inputs"] + g["outputs"]:
            if t["name"] not in asked:
                wrong.append(f"{g['name']} has a tensor {t['name']} that its DLC lacks")
            elif "fixed" in asked[t["name"]]["dtype"] and not (t.get("quantization") and "fixed" in t["dtype"]):
                wrong.append(f"{t['name']} of {g['name']} is {t['dtype']} without an encoding instead of {asked[t['name']]['dtype']}")
    if wrong:
        raise Wrong(f"{binary}: the context does not fit {a.soc}: {'; '.join(wrong)}. The generator does not report this. Check its config.")
    return found


def check(a: argparse.Namespace) -> None:
    """Reads a context back, with graphs as JSON: {GRAPH: {inputs, outputs}}."""
    readback(Path(a.binary), a, json.loads(a.graphs), {"version": a.release})


# --- Samples and results ---------------------------------------------------------------------------------------------------


def placed(at: str) -> Path:
    """A path of the workspace, or of the machine: those are below host."""
    p = Path(at)
    return Path("host", *p.parts[1:]) if p.is_absolute() else p


def graph_of(found: dict[str, Any], name: str) -> dict[str, Any]:
    return next(g for g in found["graphs"] if g["name"] == name)


def raw(a: argparse.Namespace) -> None:
    """Samples as the tools read them: a file for each input, and list.txt with a line for each sample."""
    import numpy as np

    out = Path(a.out)
    out.mkdir()
    graph = graph_of(inspect(Path(a.context))["context"], a.graph) if a.context else onnx_graph(Path(a.graph))
    text = []
    for number, path in enumerate(npz(placed(a.samples))):
        words = []
        with np.load(path, allow_pickle=False) as z:
            for i, t in enumerate(graph["inputs"]):
                if t["name"] not in z.files:
                    raise Wrong(f"{path}: missing input {t['name']}. Write each input of the graph under its name.")
                x, at = z[t["name"]], out / f"{number}.{i}.raw"
                if x.size != elements(t):
                    raise Wrong(f"{path}: {t['name']} has the shape {x.shape}, but the graph takes {t['dims']}. Correct the sample.")
                (native(x, t) if a.native else x.astype(np.float32)).tofile(at)
                name = f"{t['name']}:=" if a.context or len(graph["inputs"]) > 1 else ""
                words.append(name + (str(at) if a.context else at.name))
        text.append(" ".join(words) + "\n")
    (out / "list.txt").write_text("".join(text))


def npz(folder: Path) -> list[Path]:
    found = sorted(folder.glob("*.npz"))
    if not found:
        raise Wrong(f"{folder}: no *.npz files. Use a folder of samples, each with the graph's inputs by name.")
    return found


def dtype(t: dict[str, Any]) -> Any:
    """numpy's type of a tensor on the NPU."""
    import numpy as np

    kind, width = re.fullmatch(r"(s?int|u?int|float|sfixed|ufixed|bool)(\d*)", t["dtype"]).groups()  # type: ignore[union-attr]
    return np.dtype({"ufixed": "u", "uint": "u", "float": "f", "bool": "u"}.get(kind, "i") + str(int(width or 8) // 8))


def native(x: Any, t: dict[str, Any]) -> Any:
    """Numbers in a tensor's own type: q = round(x / scale) - offset."""
    import numpy as np

    kind, q = dtype(t), t.get("quantization")
    if not q or x.dtype.kind != "f":
        return x.astype(kind)
    limits = np.iinfo(kind)
    return np.clip(np.round(x / q["scale"]) - q.get("offset", 0), limits.min, limits.max).astype(kind)


def members(at: Path) -> Iterator[tuple[str, bytes]]:
    """Files of a run, of an archive that a device wrote: names and sizes are bounded, nothing is unpacked."""
    left = RESULTS
    try:
        with tarfile.open(at) as tar:
            for m in tar:
                name = m.name.removeprefix("./").removeprefix("results/")
                if not m.isfile() or not re.fullmatch(r"(Result_\d{1,6}/)?[\w.,:/+-]{1,200}", name):
                    continue
                if (left := left - m.size) < 0:
                    raise Wrong(f"{at}: the files have more than {RESULTS} bytes. Use fewer samples.")
                f = tar.extractfile(m)
                yield name, f.read() if f else b""
    except tarfile.TarError as e:
        raise Wrong(f"{at}: cannot read the archive from the phone: {e}. Run the step again.") from e


def results(a: argparse.Namespace) -> None:
    """The outputs of qnn-net-run as *.npz with the samples' names, if the run was complete."""
    import numpy as np

    log = Path(a.log).read_text(errors="replace")
    said(log, "qnn-net-run", "Finished Executing Graphs")
    graph = graph_of(inspect(Path(a.context))["context"], a.graph)
    names = [p.name for p in npz(placed(a.samples))]
    files = dict(members(Path(a.results)))
    metadata = files.get("execution_metadata.yaml", b"").decode(errors="replace")
    done = [int(n) for n in re.findall(r"inferences_completed: *(\d+)", metadata)]
    if done and sum(done) != len(names):
        raise Wrong(f"qnn-net-run: only {sum(done)} of {len(names)} inferences completed. Read the device's log: hexmage device log.")
    ran = {n.split("/")[0] for n in files if n.startswith("Result_")}
    if ran != {f"Result_{i}" for i in range(len(names))}:
        raise Wrong(f"qnn-net-run: {len(ran)} results for {len(names)} samples. Remove the results of earlier runs, and run again.")
    out = Path(a.out)
    out.mkdir()
    seen = []
    for i, name in enumerate(names):
        made = {}
        for t in graph["outputs"]:
            at = f"Result_{i}/{t['name']}{'_native' if a.native else ''}.raw"
            kind = dtype(t) if a.native else np.dtype(np.float32)
            if at not in files:
                raise Wrong(f"{at}: qnn-net-run did not write this file; written: {', '.join(sorted(n for n in files if n.startswith(f'Result_{i}/')))}.")
            if len(files[at]) != elements(t) * kind.itemsize:
                raise Wrong(f"{at}: {len(files[at])} bytes, but output {t['name']} takes {elements(t) * kind.itemsize} bytes. Check the data type of the outputs.")
            x = np.frombuffer(files[at], kind).reshape([int(d) for d in t["dims"]])
            q = t.get("quantization")
            made[t["name"]] = ((x.astype(np.float64) + q.get("offset", 0)) * q["scale"]).astype(np.float32) if a.native and q else x
            if x.dtype.kind == "f" and not np.isfinite(x).all():
                raise Wrong(f"{at}: some numbers are not finite. Look for an overflow of 16-bit floats.")
        seen.append(made)
        np.savez(out / name, **made)
    if all(not x.any() for made in seen for x in made.values()):
        raise Wrong("qnn-net-run: all outputs are zero. Compare the order and the types of the inputs with the context's.")
    if len(seen) > 1 and all((x == seen[0][k]).all() for made in seen for k, x in made.items()):
        raise Wrong("qnn-net-run: all samples have the same outputs, so the tool read other inputs. Compare the names and types of the inputs with the context's.")


def main() -> None:
    words = sys.argv[1:]
    argv = words[words.index("--") + 1 :] if "--" in words else []
    words = words[: words.index("--")] if "--" in words else words
    p = argparse.ArgumentParser(description=__doc__)
    actions = p.add_subparsers(required=True)

    def action(run: Any, *options: str, more: tuple[str, ...] = ()) -> argparse.ArgumentParser:
        s = actions.add_parser(run.__name__)
        s.set_defaults(run=run)
        for o in options:
            s.add_argument(o, required=True)
        for o in more:
            s.add_argument(o, default="")
        return s

    action(flags, "--sdk", "--out").add_argument("--tools", nargs="+", required=True)
    action(convert, "--flags", "--report")
    action(quantize, "--flags", "--report", "--graph").add_argument("--allow-float", action="store_true")
    for s in (action(context, "--flags", "--report", "--extensions"), action(check, "--binary", "--graphs", "--release")):
        s.add_argument("--soc", default="")
        s.add_argument("--arch", default="")
        for o in ("--soc-model", "--vtcm-mb", "--level"):
            s.add_argument(o, type=int, default=0)
        s.add_argument("--simulated", action="store_true")
    action(raw, "--samples", "--out", "--graph", more=("--context",)).add_argument("--native", action="store_true")
    action(results, "--samples", "--out", "--graph", "--context", "--log", "--results").add_argument("--native", action="store_true")
    a = p.parse_args(words)
    try:
        if argv:
            a.run(a, argv, json.loads(Path(a.flags).read_text()))
        else:
            a.run(a)
    except Wrong as e:
        sys.exit(str(e))


if __name__ == "__main__":
    main()
