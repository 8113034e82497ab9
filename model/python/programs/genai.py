"""onnxruntime-genai's layout of a decoder: genai_config.json, and the small graphs that stand beside the contexts in its pipeline.

genai pads a prompt to whole chunks, counts tokens, and holds the key/value cache. What it does not know of our graphs runs on the processor:
  positions.onnx: input_ids, past_sequence_length → mask, cos, sin;
  embedding.onnx, where the embedding is outside: input_ids → embedded;
  cache.onnx: new_k_I, new_v_I of these tokens into the cache, present_k_I, present_v_I, which is the memory of past_k_I, past_v_I.
past_sequence_length, int32 [1, 1], is the position of the last token of what runs, padding counted; total_sequence_length is only there
because genai gives neither without the other.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import feed
import tokens
from arch import Arch, Wrong

QUESTION = "What is the capital of France?"
LENGTHS = ("past_sequence_length", "total_sequence_length")
HERE: dict[str, Any] = {"provider_options": [{"CPU": {}}]}
NPU: dict[str, Any] = {"provider_options": [{"QNN": {"backend_type": "htp"}}]}
SEARCH = ("do_sample", "temperature", "top_k", "top_p", "repetition_penalty")  # what generation_config.json has under the same names


class _Graph:
    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def op(self, kind: str, inputs: list[str], output: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        return output

    def constant(self, name: str, a: np.ndarray) -> str:
        self.constants.append(numpy_helper.from_array(a, name))
        return name

    def slots(self, width: str) -> str:
        """The positions of the tokens that run, int64 [tokens], of which there are as many as width says, int64 [1]."""
        one, scalar = self.constant("one", np.array([1], np.int64)), self.constant("step", np.array(1, np.int64))
        last = self.op("Reshape", [self.op("Cast", [LENGTHS[0]], "last_long", to=TensorProto.INT64), one], "last")
        end = self.op("Add", [last, one], "end")
        first = self.op("Sub", [end, width], "first")
        return self.op("Range", [self.op("Squeeze", [first], "first_scalar"), self.op("Squeeze", [end], "end_scalar"), scalar], "slots")

    def save(self, at: Path, inputs: dict[str, tuple[int, list[Any]]], outputs: dict[str, tuple[int, list[Any]]]) -> None:
        takes, gives = ([helper.make_tensor_value_info(n, *of) for n, of in side.items()] for side in (inputs, outputs))
        graph = helper.make_graph(self.nodes, at.stem, takes, gives, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10, producer_name="hexmage")
        onnx.save(model, at)
        onnx.checker.check_model(str(at), full_check=True)


def lengths() -> dict[str, tuple[int, list[Any]]]:
    return {LENGTHS[0]: (TensorProto.INT32, [1, 1]), LENGTHS[1]: (TensorProto.INT32, [1])}


def positions(at: Path, arch: Arch) -> None:
    """What feed.inputs gives a graph beside tokens and cache, as a graph of any number of tokens."""
    g = _Graph()
    slots = g.slots(g.op("Shape", ["input_ids"], "width", start=1, end=2))
    for name, table in zip(("cos", "sin"), arch.rotation(0, arch.context), strict=True):
        g.op("Gather", [g.constant(name + "_table", table), slots], name, axis=2)
    zero, never = g.constant("zero", np.array(0, np.float32)), g.constant("never", np.array(feed.MASK, np.float32))
    before = g.op("Less", [g.constant("every_slot", np.arange(arch.context, dtype=np.int64)), "first"], "before")
    row = g.op("Where", [before, zero, never], "cache_row")
    wide = g.op("Concat", ["width", g.constant("context", np.array([arch.context], np.int64))], "cache_shape", axis=0)
    rows = g.op("Unsqueeze", [slots, g.constant("axis", np.array([1], np.int64))], "rows")
    own = g.op("Where", [g.op("LessOrEqual", [slots, rows], "not_after"), zero, never], "own")
    both = g.op("Concat", [g.op("Expand", [row, wide], "cache"), own], "mask_flat", axis=1)
    g.op("Unsqueeze", [both, g.constant("axes", np.array([0, 1], np.int64))], "mask")
    inputs = {"input_ids": (TensorProto.INT32, [1, "tokens"]), **lengths()}
    half = (TensorProto.FLOAT, [1, 1, "tokens", arch.head_dim // 2])
    g.save(at, inputs, {"mask": (TensorProto.FLOAT, [1, 1, "tokens", "seen"]), "cos": half, "sin": half})


def cache(at: Path, arch: Arch, kind: int) -> None:
    """Puts new keys and values into the cache, of tensors of an ONNX type, at the positions of their tokens."""
    g, inputs, outputs = _Graph(), lengths(), {}
    new: list[Any] = [1, arch.kv_heads, "tokens", arch.head_dim]
    slots = g.slots(g.op("Shape", ["new_k_0"], "width", start=2, end=3))
    column = g.op("Reshape", [slots, g.constant("column", np.array([1, 1, -1, 1], np.int64))], "slots_column")
    where = g.op("Expand", [column, g.op("Shape", ["new_k_0"], "new_shape")], "where")
    for name in tensors(arch):
        inputs["past_" + name], inputs["new_" + name] = (kind, [1, arch.kv_heads, arch.context, arch.head_dim]), (kind, new)
        outputs["present_" + name] = inputs["past_" + name]
        g.op("ScatterElements", ["past_" + name, where, "new_" + name], "present_" + name, axis=2)
    g.save(at, inputs, outputs)


def embedding(at: Path, arch: Arch) -> None:
    """The rows of tokens, float, from the table beside it."""
    table = TensorProto(name="table", data_type=TensorProto.FLOAT16, dims=[arch.vocabulary, arch.hidden], data_location=TensorProto.EXTERNAL)
    for key, value in (("location", feed.TABLE), ("offset", "0"), ("length", str(2 * arch.vocabulary * arch.hidden))):
        table.external_data.add(key=key, value=value)
    g = _Graph()
    g.constants.append(table)
    g.op("Cast", [g.op("Gather", ["table", "input_ids"], "rows", axis=0)], "embedded", to=TensorProto.FLOAT)
    g.save(at, {"input_ids": (TensorProto.INT32, [1, "tokens"])}, {"embedded": (TensorProto.FLOAT, [1, "tokens", arch.hidden])})


def tensors(arch: Arch) -> list[str]:
    return [f"{t}_{i}" for i in range(arch.layers) for t in "kv"]


def write(folder: Path, arch: Arch, contexts: dict[str, Path], ids: dict[str, int], search: dict[str, Any]) -> dict[str, Any]:
    """Writes both graphs beside contexts, the EP-context models of feed.GRAPHS, and gives genai_config.json.

    ids has the tokens bos and pad, search what generation_config.json says.
    """
    if arch.context % arch.chunk:
        raise Wrong(
            f"onnxruntime-genai pads a prompt to whole chunks, and a cache of {arch.context} tokens ends within one of {arch.chunk}: "
            "give onnx_llm a context that is a multiple of chunk."
        )
    past, new = (["past_" + t for t in tensors(arch)], ["new_" + t for t in tensors(arch)])
    kinds = set()
    parts = {g: feed.stems(contexts, g) for g in feed.GRAPHS}
    for name, width in zip(feed.GRAPHS, (arch.chunk, 1), strict=True):
        kinds |= ends([contexts[n] for n in parts[name]], arch, width)
    if len(kinds) != 1:
        raise Wrong(f"The caches of {', '.join(feed.GRAPHS)} have different types.")
    positions(folder / "positions.onnx", arch)
    cache(folder / "cache.onnx", arch, kinds.pop())
    stages = [
        ("positions", {"filename": "positions.onnx", "inputs": ["input_ids", *LENGTHS], "outputs": ["mask", "cos", "sin"], "session_options": HERE}),
        *((n, stage(contexts[n]) | {"run_on_token_gen": False}) for n in parts["prefill"]),
        *((n, stage(contexts[n]) | {"run_on_prompt": False}) for n in parts["decode"]),
        ("cache", {"filename": "cache.onnx", "inputs": [*LENGTHS, *past, *new], "outputs": ["present_" + t for t in tensors(arch)], "session_options": HERE}),
    ]
    if arch.outside:
        embedding(folder / "embedding.onnx", arch)
        stages.insert(1, ("embedding", {"filename": "embedding.onnx", "inputs": ["input_ids"], "outputs": ["embedded"], "session_options": HERE}))
    return {
        "model": {
            "type": "decoder-pipeline",
            "bos_token_id": ids["bos"],
            "eos_token_id": list(arch.stop),
            "pad_token_id": ids["pad"],
            "vocab_size": arch.vocabulary,
            "context_length": arch.context,
            "decoder": {
                "session_options": NPU,
                "hidden_size": arch.hidden,
                "head_size": arch.head_dim,
                "num_attention_heads": arch.heads,
                "num_key_value_heads": arch.kv_heads,
                "num_hidden_layers": arch.layers,
                "inputs": {"input_ids": "input_ids", **{n: n for n in LENGTHS}, "past_key_names": "past_k_%d", "past_value_names": "past_v_%d"},
                "outputs": {"logits": "logits", "present_key_names": "present_k_%d", "present_value_names": "present_v_%d"},
                "sliding_window": {"window_size": arch.chunk, "alignment": "left", "slide_key_value_cache": False, "slide_inputs": True},
                "pipeline": [{name: stage} for name, stage in stages],
            },
        },
        "search": {"do_sample": False, **{k: search[k] for k in SEARCH if search.get(k) is not None}, "max_length": arch.context, "num_beams": 1},
    }


def stage(model: Path) -> dict[str, Any]:
    """What the pipeline says of an EP-context model."""
    graph = onnx.load(model, load_external_data=False).graph
    return {"filename": model.name, "inputs": [v.name for v in graph.input], "outputs": [v.name for v in graph.output], "session_options": NPU}


def ends(models: list[Path], arch: Arch, width: int) -> set[int]:
    """Checks that the EP-context models of a graph's parts take and give together what the pipeline says, and tells the type of their cache."""
    sides: list[dict[str, tuple[int, list[int]]]] = [{}, {}]
    handed: set[str] = set()
    for model in models:
        graph = onnx.load(model, load_external_data=False).graph
        takes, gives = ({v.name: (v.type.tensor_type.elem_type, [d.dim_value for d in v.type.tensor_type.shape.dim]) for v in s} for s in (graph.input, graph.output))
        handed |= takes.keys() & sides[1].keys()
        sides = [sides[0] | takes, sides[1] | gives]
    for side in sides:
        for name in handed:
            del side[name]
    kinds = {kind for side in sides for n, (kind, _) in side.items() if n.startswith(("past_", "new_"))}
    kind = next(iter(kinds), 0)
    half = (TensorProto.FLOAT, [1, 1, width, arch.head_dim // 2])
    want: list[dict[str, tuple[int, list[int]]]] = [
        {"mask": (TensorProto.FLOAT, [1, 1, width, arch.context + width]), "cos": half, "sin": half},
        {"logits": (TensorProto.FLOAT, [1, width, arch.vocabulary])},
    ]
    if arch.outside:
        want[0]["embedded"] = TensorProto.FLOAT, [1, width, arch.hidden]
    else:
        want[0]["input_ids"] = TensorProto.INT32, [1, width]
    for t in tensors(arch):
        want[0]["past_" + t] = kind, [1, arch.kv_heads, arch.context, arch.head_dim]
        want[1]["new_" + t] = kind, [1, arch.kv_heads, width, arch.head_dim]
    for verb, have, wanted in zip(("takes", "gives"), sides, want, strict=True):
        if have != wanted:
            odd = sorted(n for n in have.keys() | wanted.keys() if have.get(n) != wanted.get(n))
            raise Wrong(f"{models[0].name} {verb} other tensors than arch.json says: {', '.join(odd[:8])}.")
    return kinds


def special(arch: Arch, named: dict[str, int], words: tokens.Text) -> dict[str, int]:
    """The special tokens bos and pad, where the model names some. genai takes the first pad for a prompt's end, so that is one that no chat has."""
    chat = set(words.chat(QUESTION, "Be short."))
    wanted = [*(named[k] for k in ("pad", "unk") if k in named), *sorted(words.tokenizer.get_added_tokens_decoder()), arch.vocabulary - 1]
    free = [i for i in wanted if i not in chat and i not in arch.stop and 0 <= i < arch.vocabulary]
    if not free:
        raise Wrong("Every special token is used in a chat: there is none to pad prompts with.")
    return {"bos": named.get("bos", free[0]), "pad": free[0]}


def check(folder: Path) -> str:
    """Has genai's own reader take genai_config.json; its version."""
    import onnxruntime_genai as og

    try:
        og.Config(str(folder))
    except Exception as e:
        raise Wrong(f"onnxruntime-genai {og.__version__} does not take genai_config.json: {e}") from e
    return str(og.__version__)


def same_tokens(folder: Path, texts: list[tuple[str, list[int]]]) -> str:
    """What is different when genai's own tokenizer reads texts, "" if nothing is: texts comes with the tokens of tokenizer.json."""
    import onnxruntime_genai as og

    try:
        t = og.Tokenizer(og.Config(str(folder)))
    except Exception as e:
        return str(e)
    for text, ids in texts:
        got = [int(i) for i in t.encode(text)]
        if got != ids:
            at = next((i for i, (a, b) in enumerate(zip(got, ids, strict=False)) if a != b), min(len(got), len(ids)))
            return f"token {at} of {text[:40]!r} is {got[at : at + 1]}, not {ids[at : at + 1]}"
    return ""
