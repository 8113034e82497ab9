# What PyTorch itself writes, and what it says is in it: python3 make.py FOLDER. The files beside this one are PyTorch 2.6.0's.
import json
import os
import sys

import torch

out = sys.argv[1]
torch.manual_seed(1)
def sd():
    w = torch.randn(4, 6)
    big = torch.arange(24, dtype=torch.float32).reshape(4, 6)
    d = {
        "embed.weight": torch.nn.Parameter(w),
        "head.weight": None,
        "f16": torch.randn(3).half(), "bf16": torch.randn(3, 2).bfloat16(), "f64": torch.randn(2).double(),
        "i8": torch.tensor([-128, 0, 127], dtype=torch.int8), "u8": torch.tensor([0, 255], dtype=torch.uint8),
        "i16": torch.tensor([-2, 3], dtype=torch.int16), "i32": torch.tensor([-70000], dtype=torch.int32), "i64": torch.tensor([1 << 40]),
        "shadow": torch.tensor([True, False]), "c64": torch.tensor([1 + 2j], dtype=torch.complex64),
        "u16": torch.tensor([65535, 1], dtype=torch.uint16), "u32": torch.tensor([4000000000], dtype=torch.uint32),
        "f8": torch.tensor([1.5, -2], dtype=torch.float8_e4m3fn),
        "scalar": torch.tensor(2.5), "empty": torch.empty(0, 3),
        "turned": big.t(), "left": torch.arange(10)[:4], "rows": torch.arange(12.).reshape(3, 4)[1:], "cols": torch.arange(12.).reshape(3, 4)[:, 1:3],
        "_private": torch.ones(1), "step": 7, "name": "x",
    }
    d["head.weight"] = d["embed.weight"]
    return d
def save(name, obj, **kw):
    torch.save(obj, os.path.join(out, name), **kw)
def want(d):
    r = []
    for k, v in d.items():
        if k.startswith("_") or not isinstance(v, torch.Tensor): continue
        v = v.detach().contiguous()
        r.append({"name": k, "dtype": str(v.dtype).split(".")[1], "shape": list(v.shape), "data": bytes(v.flatten().view(torch.uint8).tolist() if v.numel() else b"").hex()})
    return r
d = sd()
json.dump(want(d), open(os.path.join(out, "dict.json"), "w"), indent=1)
save("dict.pth", d)
save("protocol4.pth", d, pickle_protocol=4)
save("legacy.pth", d, _use_new_zipfile_serialization=False)
m = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
save("module.pth", m.state_dict())
json.dump(want(m.state_dict()), open(os.path.join(out, "module.json"), "w"), indent=1)
save("inner.pth", {"model": m.state_dict(), "epoch": 3})
save("whole.pth", m)
q = torch.quantize_per_tensor(torch.randn(3), 0.1, 0, torch.qint8)
save("quantized.pth", {"q": q})
print(torch.__version__)
