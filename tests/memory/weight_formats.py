"""Weights of a model in the formats that Heed reads, written without the libraries that own them."""

import json
import math
import pickle
import struct
import sys
import types
import zipfile


def read_safetensors(path):
    """Name -> (type, shape, bytes)."""
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + size])
    header.pop("__metadata__", None)
    at = {name: [8 + size + offset for offset in entry["data_offsets"]] for name, entry in header.items()}
    return {name: (entry["dtype"], entry["shape"], data[at[name][0] : at[name][1]]) for name, entry in header.items()}


def write_safetensors(path, tensors):
    header, offset = {}, 0
    for name, (kind, shape, data) in tensors.items():
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [offset, offset + len(data)]}
        offset += len(data)
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, _, data in tensors.values():
            file.write(data)


class TorchStorage:
    def __init__(self, key, count):
        self.key, self.count = key, count


class TorchTensor:
    def __init__(self, storage, shape):
        self.storage, self.shape = storage, shape

    def __reduce__(self):
        strides = [math.prod(self.shape[n + 1 :]) for n in range(len(self.shape))]
        return sys.modules["torch._utils"]._rebuild_tensor_v2, (self.storage, 0, tuple(self.shape), tuple(strides), False, {})


class TorchPickler(pickle.Pickler):
    def persistent_id(self, value):
        if isinstance(value, TorchStorage):
            return ("storage", sys.modules["torch"].FloatStorage, value.key, "cpu", value.count)
        return None


def torch_pickle(tensors, file, counts=None):
    """The data.pkl of torch.save(); `counts` claims other numbers of elements."""
    torch, utils = types.ModuleType("torch"), types.ModuleType("torch._utils")
    torch.FloatStorage = type("FloatStorage", (), {"__module__": "torch"})

    def rebuild():
        raise NotImplementedError

    rebuild.__module__, rebuild.__qualname__, rebuild.__name__ = "torch._utils", "_rebuild_tensor_v2", "_rebuild_tensor_v2"
    utils._rebuild_tensor_v2 = rebuild
    sys.modules.update({"torch": torch, "torch._utils": utils})
    values = {}
    for number, (name, (_, shape, data)) in enumerate(tensors.items()):
        claimed = (counts or {}).get(name)
        values[name] = TorchTensor(TorchStorage(str(number), claimed or len(data) // 4), [claimed] if claimed else shape)
    TorchPickler(file, protocol=2).dump(values)


def write_torch(path, tensors, counts=None):
    with zipfile.ZipFile(path, "w") as archive:
        with archive.open("model/data.pkl", "w") as file:
            torch_pickle(tensors, file, counts)
        for number, (_, _, data) in enumerate(tensors.values()):
            archive.writestr(f"model/data/{number}", data)
        archive.writestr("model/version", "3\n")


MARIAN_NAMES = [
    ("model.shared.weight", "Wemb"),
    ("final_logits_bias", "decoder_ff_logit_out_b"),
    ("self_attn_layer_norm.weight", "self_Wo_ln_scale"),
    ("self_attn_layer_norm.bias", "self_Wo_ln_bias"),
    ("encoder_attn_layer_norm.weight", "context_Wo_ln_scale"),
    ("encoder_attn_layer_norm.bias", "context_Wo_ln_bias"),
    ("final_layer_norm.weight", "ffn_ffn_ln_scale"),
    ("final_layer_norm.bias", "ffn_ffn_ln_bias"),
    ("self_attn.", "self_"),
    ("encoder_attn.", "context_"),
    ("q_proj.weight", "Wq"),
    ("k_proj.weight", "Wk"),
    ("v_proj.weight", "Wv"),
    ("out_proj.weight", "Wo"),
    ("q_proj.bias", "bq"),
    ("k_proj.bias", "bk"),
    ("v_proj.bias", "bv"),
    ("out_proj.bias", "bo"),
    ("fc1.weight", "ffn_W1"),
    ("fc1.bias", "ffn_b1"),
    ("fc2.weight", "ffn_W2"),
    ("fc2.bias", "ffn_b2"),
]


def npy(shape, kind, data):
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({', '.join(map(str, shape))},), }}"
    header = header.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def write_npz(folder, tensors, config, claim=None):
    """A directory of Marian: the .npz, with a vocabulary without the padding that Heed appends."""
    vocabulary = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
    pieces = sorted(vocabulary, key=vocabulary.get)[:-1]
    lines = "".join(f"{json.dumps(piece, ensure_ascii=False)}: {number}\n" for number, piece in enumerate(pieces))
    (folder / "model.vocab.yml").write_text(lines, encoding="utf-8")
    settings = {
        "type": "transformer", "dim-emb": config["d_model"], "transformer-heads": config["encoder_attention_heads"],
        "enc-depth": config["encoder_layers"], "dec-depth": config["decoder_layers"],
        "transformer-dim-ffn": config["encoder_ffn_dim"], "transformer-ffn-activation": "relu",
        "transformer-preprocess": '""', "transformer-postprocess": "dan", "transformer-postprocess-emb": "d",
        "transformer-decoder-autoreg": "self-attention", "tied-embeddings-all": "true", "tied-embeddings": "false",
        "tied-embeddings-src": "false",
    }  # fmt: skip
    options = "".join(f"{name}: {value}\n" for name, value in settings.items()).encode() + b"\0"
    with zipfile.ZipFile(folder / "model.npz", "w") as archive:
        archive.writestr("special:model.yml.npy", npy([len(options)], "|i1", options))
        for name, (_, shape, data) in tensors.items():
            if name in ("model.shared.weight", "final_logits_bias"):  # without padding, whose row is the last one
                rows = max(shape) - 1
                data = data[: len(data) // (rows + 1) * rows]
                shape = [rows if size == rows + 1 else size for size in shape]
            elif len(shape) == 1:
                shape = [1, *shape]
            for kind in ("encoder", "decoder"):
                if name.startswith(f"model.{kind}.layers."):
                    number, rest = name.removeprefix(f"model.{kind}.layers.").split(".", 1)
                    name = f"{kind}_l{int(number) + 1}_{rest}"
            for old, new in MARIAN_NAMES:
                name = name.replace(old, new)
            # Marian's matrices are transposed; these have the transposed shape and any values.
            shape = shape[::-1] if len(shape) == 2 and shape[0] > 1 and name != "Wemb" else shape
            archive.writestr(f"{name}.npy", npy([claim] if claim and name == "Wemb" else shape, "<f4", data))


def deeper(tensors, times):
    """The same layers, many times."""
    result = {}
    for name, tensor in tensors.items():
        if ".layers." not in name:
            result[name] = tensor
    counts = {}
    for kind in ("encoder", "decoder"):
        of_kind = [name for name in tensors if name.startswith(f"model.{kind}.layers.")]
        layers = 1 + max(int(name.split(".")[3]) for name in of_kind)
        counts[kind] = layers * times
        for time_ in range(times):
            for name in of_kind:
                parts = name.split(".")
                parts[3] = str(int(parts[3]) + time_ * layers)
                result[".".join(parts)] = tensors[name]
    return result, counts
