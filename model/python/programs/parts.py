"""A decoder's quantized graphs cut into parts between layers, each for a context of its own: GRAPH_0.onnx, GRAPH_1.onnx and so on in place of GRAPH.onnx."""

from __future__ import annotations

import onnx
from onnx import TensorProto, helper

from arch import Arch, Wrong

BITS = {"a16w8": 8, "a16w4": 4, "lpbq": 4, "mobilequant": 8}  # of the layers' matrices


def layers(arch: Arch, method: str, count: int) -> list[int]:
    """How many layers each of so many parts has, so that the largest is as small as can be: the first has the embedding, the last the head."""
    if not 1 <= count <= arch.layers:
        raise Wrong(f"The model has {arch.layers} layers: they cannot be cut into {count} parts.")
    q, kv = arch.heads * arch.head_dim, arch.kv_heads * arch.head_dim
    layer = arch.hidden * (2 * q + 2 * kv + 3 * arch.intermediate) * BITS[method] // 8
    first, last = 0 if arch.outside else 2 * arch.vocabulary * arch.hidden, arch.vocabulary * arch.hidden

    def within(most: int) -> list[int]:
        """The fewest parts none of which is larger, the fullest first; none where that cannot be."""
        found: list[int] = []
        left = arch.layers
        while left:
            room = most - (0 if found else first)
            if left * layer + last <= room:
                return [*found, left]
            n = min(room // layer, left - 1)  # the head's part has a layer
            if n < 1:
                return []
            found.append(n)
            left -= n
        return found

    low, high = 0, first + last + arch.layers * layer
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if 0 < len(within(middle)) <= count else (middle, high)
    made = within(high)
    while len(made) < count:  # fewer would be as good
        i = made.index(max(made))
        made[i : i + 1] = [made[i] - made[i] // 2, made[i] // 2]
    return made


def cut(model: onnx.ModelProto, counts: list[int], tokens: int, hidden: int) -> list[onnx.ModelProto]:
    """The parts of a graph of so many tokens, by how many layers each has.

    What one hands to the next are the 16 bits that are there in the whole, so together they say the same.
    """
    g = model.graph
    makes = {out: i for i, n in enumerate(g.node) for out in n.output}
    initial, given = {t.name: t for t in g.initializer}, {v.name: v for v in g.input}
    ends = [sum(counts[: i + 1]) for i in range(len(counts))]
    handed = [f"layer{end - 1}_out_q" for end in ends[:-1]]
    made = []
    for i, end in enumerate(ends):
        own = {str(layer) for layer in range(end - counts[i], end)}
        outputs = [v for v in g.output if v.name.rpartition("_")[2] in own or (v.name == "logits" and end == ends[-1])]
        before, after = handed[i - 1] if i else "", handed[i] if i < len(handed) else ""
        todo = [*(v.name for v in outputs), *([after] if after else [])]
        nodes: set[int] = set()
        names: set[str] = set()
        while todo:
            name = todo.pop()
            if name in names or not name:
                continue
            names.add(name)
            if name in makes and name != before and makes[name] not in nodes:
                nodes.add(makes[name])
                todo += g.node[makes[name]].input
        ports = [v for n, v in given.items() if n in names]
        if before:
            ports.insert(0, helper.make_tensor_value_info(before, TensorProto.UINT16, [1, tokens, hidden]))
        if after:
            outputs.insert(0, helper.make_tensor_value_info(after, TensorProto.UINT16, [1, tokens, hidden]))
        constants = [t for n, t in initial.items() if n in names]
        part = helper.make_graph([n for j, n in enumerate(g.node) if j in nodes], f"{g.name}_{i}", ports, outputs, constants)
        made.append(helper.make_model(part, opset_imports=model.opset_import, ir_version=model.ir_version, producer_name="hexmage"))
    return made
