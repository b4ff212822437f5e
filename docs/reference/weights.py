import json, struct, torch

def weights(path):
    """The tensors of a release by name, float64."""
    raw = open(path, "rb").read()
    start = 8 + struct.unpack("<Q", raw[:8])[0]
    found = {}
    for name, a in json.loads(raw[8:start]).items():
        if name != "__metadata__":
            low, high = a["data_offsets"]
            found[name] = torch.frombuffer(bytearray(raw[start + low:start + high]), dtype=torch.float64).reshape(a["shape"])
    return found

def load(module, tensors, name):
    """Sets the weights of one layer. A dense matrix is turned; bias_hh is in bias_ih but for a GRU's last block."""
    for key, value in module.double().state_dict().items():
        w = tensors[f"{name}.{key}"] if "bias_hh" not in key else tensors.get(f"{name}.{key}", torch.zeros(1))
        value.zero_()[-len(w):] = w.T if isinstance(module, torch.nn.Linear) and w.ndim == 2 else w
    return module.eval()
