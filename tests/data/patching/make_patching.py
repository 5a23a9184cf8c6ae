#!/usr/bin/env python3
"""Effects of activation patching by PyTorch hooks, for tests/patching_reference_test.cc.

make_patching.py                          writes the folders beside this file: small models with random weights, texts
                                          as ids, and the effects (torch and transformers are needed)
make_patching.py --compare HEED DIR...    compares `heed patch` with PyTorch on models of transformers with tokenizers:
                                          the largest differences of effects and of log-probabilities
"""

import json
import pathlib
import re
import subprocess
import sys

import numpy as np
import torch
import transformers

HERE = pathlib.Path(__file__).resolve().parent
WHAT = ("heads", "layers", "positions")
LAYER = re.compile(r"(?:^|\.)(encoder|decoder|transformer|model|layers|h)\b.*?\.?(?:layers|layer|block|h)\.(\d+)$")
# What is the input of the output projection of attention, and what is added to the residual stream; both without the
# name of the layer.
PROJECTIONS = {
    "self": r"self_attn\.(out_proj|o_proj)|layer\.0\.SelfAttention\.o|attn\.c_proj|attn\.Wo|attention\.out_lin"
            r"|attention\.output\.dense|attention\.attn\.o",
    "cross": r"encoder_attn\.out_proj|layer\.1\.EncDecAttention\.o",
}
FEED_FORWARD = r"fc2|layer\.[12]\.DenseReluDense\.wo|mlp\.c_proj|mlp\.down_proj|mlp\.Wo|ffn\.lin2|output\.dense"
SANDWICH = {"self": "post_attention_layernorm", "feed": "post_feedforward_layernorm"}


class Layer:
    """A layer and the modules whose inputs or outputs are replaced."""

    def __init__(self, name, module, sandwich):
        self.module = module
        found = {kind: None for kind in ("self", "cross", "feed")}
        for inner, each in module.named_modules():
            for kind, pattern in (*PROJECTIONS.items(), ("feed", FEED_FORWARD)):
                if re.fullmatch(pattern, inner):
                    found[kind] = each
        self.projections = {kind: each for kind, each in found.items() if each is not None}
        self.added = dict(self.projections)
        if sandwich:
            self.added.update({kind: getattr(module, norm) for kind, norm in SANDWICH.items()})


class Patched:
    """A model whose states are recorded, and replaced by recorded ones."""

    def __init__(self, model):
        self.model = model.eval()
        config = model.config
        sandwich = config.model_type.startswith(("gemma2", "gemma3"))
        self.stacks = {}
        for name, module in model.named_modules():
            if not re.search(r"(layers|layer|block|h)\.\d+$", name) or re.search(r"\.layer\.\d+$", name) and ".block." in name:
                continue
            stack = "decoder" if "decoder" in name or not self.encodes(config) else "encoder"
            self.stacks.setdefault(stack, []).append(Layer(name, module, sandwich))
        self.heads = {"encoder": getattr(config, "encoder_attention_heads", None) or config.num_attention_heads,
                      "decoder": getattr(config, "decoder_attention_heads", None) or config.num_attention_heads}

    @staticmethod
    def encodes(config):
        return config.is_encoder_decoder or config.model_type in (
            "bert", "roberta", "xlm-roberta", "distilbert", "mpnet", "modernbert")

    def sites(self, stack):
        """(what, map, row, column, [(module, "in" or "out", columns)], all positions or one at a time)"""
        heads, layers = self.heads[stack], self.stacks[stack]
        for n, layer in enumerate(layers):
            for kind, module in layer.projections.items():
                if kind == "feed":
                    continue
                for head in range(heads):
                    yield "heads", "cross" if kind == "cross" else stack, n, head, [(module, "in", (head, heads))]
            parts = [layer.added[kind] for kind in ("self", "cross", "feed") if kind in layer.added]
            yield "layers", stack, n, 0, [(module, "out", None) for module in parts]
            for column, module in enumerate(parts):
                yield "layers", stack, n, column + 1, [(module, "out", None)]
            if n == 0:
                yield "positions", stack, 0, None, [(layer.module, "in", None)]
            yield "positions", stack, n + 1, None, [(layer.module, "out", None)]

    def run(self, value_of, replace=(), position=None, clean=None):
        """value_of(model) with the states of `replace` taken from `clean`; returns it and all states."""
        states, handles = {}, []

        def changed(key, state):
            states[key] = state.detach().clone()
            for module, where, columns in replace:
                if (module, where) != key:
                    continue
                state = state.clone()
                width = state.shape[-1]
                first, last = (0, width) if columns is None else (
                    columns[0] * width // columns[1], (columns[0] + 1) * width // columns[1])
                for mine, theirs in self.aligned[self.stack_of[key[0]]] if position is None else [position]:
                    state[:, theirs, first:last] = clean[key][:, mine, first:last]
            return state

        def before(module, arguments, named):
            if arguments:
                return (changed((module, "in"), arguments[0]), *arguments[1:]), named
            return arguments, {**named, "hidden_states": changed((module, "in"), named["hidden_states"])}

        def after(module, arguments, output):
            state = changed((module, "out"), output[0] if isinstance(output, tuple) else output)
            return (state, *output[1:]) if isinstance(output, tuple) else state

        for module in self.stack_of:
            handles.append(module.register_forward_pre_hook(before, with_kwargs=True))
            handles.append(module.register_forward_hook(after))
        try:
            with torch.inference_mode():
                return value_of(), states
        finally:
            for handle in handles:
                handle.remove()

    def effects(self, values_of, aligned):
        """values_of: of the clean and of the corrupted text. aligned: of each stack, pairs of positions."""
        self.aligned = aligned
        self.stack_of = {}
        for stack, layers in self.stacks.items():
            for layer in layers:
                for module in (layer.module, *layer.projections.values(), *layer.added.values()):
                    self.stack_of[module] = stack
        clean, states = self.run(values_of[0])
        corrupted, _ = self.run(values_of[1])
        found = {what: {"encoder": {}, "decoder": {}, "cross": {}} for what in WHAT}
        for stack in self.stacks:
            for what, map_name, row, column, replace in self.sites(stack):
                cells = [(column, None)] if column is not None else [
                    (pair[0], pair) for pair in aligned[stack]]
                for cell, position in cells:
                    value, _ = self.run(values_of[1], replace, position, states)
                    found[what][map_name][row, cell] = (value - corrupted) / (clean - corrupted)
        return {"clean": clean, "corrupted": corrupted, "effects": {
            what: {name: self.rows_of(cells) for name, cells in maps.items()} for what, maps in found.items()}}

    @staticmethod
    def rows_of(cells):
        if not cells:
            return []
        rows = 1 + max(row for row, _ in cells)
        columns = 1 + max(column for _, column in cells)
        return [[cells.get((row, column)) for column in range(columns)] for row in range(rows)]


def target_value(logits, rows, ids):
    """The sum of ln P(ids) at rows of logits (tokens, vocabulary)."""
    return float(torch.log_softmax(logits.double(), -1)[rows, ids].sum())


def align(clean, corrupted):
    """Pairs of positions: all, or the common beginning and end."""
    if len(clean) == len(corrupted):
        return [(n, n) for n in range(len(clean))]
    least = min(len(clean), len(corrupted))
    begin = next((n for n in range(least) if clean[n] != corrupted[n]), least)
    end = next((n for n in range(least - begin) if clean[-1 - n] != corrupted[-1 - n]), least - begin)
    return [(n, n) for n in range(begin)] + [
        (len(clean) - n, len(corrupted) - n) for n in range(end, 0, -1)]


def reference(model, texts, target, mask=None):
    """texts: the ids of both; of a language model the prompts. target: ids, or a class. mask: the id of what a masked
    language model fills."""
    patched = Patched(model)
    if model.config.is_encoder_decoder:
        decoder = [model.config.decoder_start_token_id, *target[:-1]]
        def value(ids):
            logits = model(input_ids=torch.tensor([ids]), decoder_input_ids=torch.tensor([decoder])).logits[0]
            return target_value(logits, list(range(len(target))), target)
        aligned = {"encoder": align(*texts), "decoder": align(decoder, decoder)}
    elif Patched.encodes(model.config):
        def value(ids):
            logits = model(input_ids=torch.tensor([ids])).logits
            return target_value(logits, [0], target) if mask is None else target_value(logits[0], [ids.index(mask)], target)
        aligned = {"encoder": align(*texts)}
    else:
        def value(ids):
            logits = model(input_ids=torch.tensor([[*ids, *target[:-1]]])).logits[0]
            return target_value(logits, list(range(len(ids) - 1, len(ids) - 1 + len(target))), target)
        read = [len(ids) for ids in texts]
        aligned = {"decoder": align(*texts) + [(read[0] + n, read[1] + n) for n in range(len(target) - 1)]}
    return patched.effects([lambda: value(texts[0]), lambda: value(texts[1])], aligned)


def random_weights(model, seed):
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "embed_positions" in name:
                continue
            spread = 0.1 if "norm" in name or "ln_" in name or "LayerNorm" in name else 0.45
            parameter.add_(spread * torch.randn(parameter.shape, generator=generator))
    return model


def small_models():
    sizes = dict(vocab_size=24, max_position_embeddings=16)
    marian = transformers.MarianConfig(
        **sizes, d_model=12, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2,
        decoder_attention_heads=3, encoder_ffn_dim=10, decoder_ffn_dim=14, activation_function="swish",
        pad_token_id=23, decoder_start_token_id=23, eos_token_id=0, forced_eos_token_id=0, scale_embedding=True)
    gpt2 = transformers.GPT2Config(vocab_size=24, n_positions=16, n_embd=12, n_layer=2, n_head=3, n_inner=20,
                                   bos_token_id=0, eos_token_id=0)
    bert = transformers.BertConfig(**sizes, hidden_size=12, num_hidden_layers=2, num_attention_heads=2,
                                   intermediate_size=20, num_labels=3, pad_token_id=23)
    return {"marian": transformers.MarianMTModel(marian), "gpt2": transformers.GPT2LMHeadModel(gpt2),
            "bert": transformers.BertForSequenceClassification(bert)}


def write_all():
    texts = {"same length": [[3, 7, 11, 9, 0], [3, 8, 11, 9, 0]],
             "longer": [[3, 7, 11, 9, 0], [3, 8, 5, 2, 11, 9, 0]]}
    for seed, (name, model) in enumerate(small_models().items()):
        random_weights(model, seed + 1)
        folder = HERE / name
        model.save_pretrained(folder)
        for path in folder.glob("generation_config.json"):
            path.unlink()
        target = [2] if name == "bert" else [5, 8, 13, 0]
        cases = [{"case": case, "texts": pair, "target": target, **reference(model, pair, target)}
                 for case, pair in texts.items()]
        (folder / "cases.json").write_text(json.dumps(cases) + "\n")


def ids_of_text(tokenizer, text, tokens):
    ids = tokenizer(text).input_ids
    return ids if len(ids) == len(tokens) else tokenizer.convert_tokens_to_ids(tokens)


def ids_of_tokens(tokenizer, tokens):
    """Byte-level tokens are shown as text."""
    vocabulary = tokenizer.get_vocab()
    found = []
    for token in tokens:
        text = re.sub("<0x(..)>", lambda byte: chr(int(byte[1], 16)), token.replace("\u2581", " "))
        ids = [vocabulary[token]] if token in vocabulary else tokenizer.encode(text, add_special_tokens=False)
        if len(ids) != 1:
            raise SystemExit(f"{token!r} is not one token of transformers' tokenizer")
        found += ids
    return found


def compare(heed, directory):
    """The largest differences of `heed patch` to PyTorch."""
    config = transformers.AutoConfig.from_pretrained(directory)
    model = getattr(transformers, config.architectures[0]).from_pretrained(directory, dtype=torch.float32)
    tokenizer = transformers.AutoTokenizer.from_pretrained(directory)
    masked = "MaskedLM" in config.architectures[0]
    texts = [f"The {animal} reads a {tokenizer.mask_token if masked else 'book'}." for animal in ("man", "cat")]
    wanted, worst = None, {}
    for what in WHAT:
        result = subprocess.run([heed, "patch", *texts, "--model", directory, "--what", what, "--json", "--quiet"],
                                capture_output=True, text=True)
        if result.returncode:
            raise SystemExit(result.stderr.strip())
        found = json.loads(result.stdout)
        if wanted is None:
            ids = [ids_of_text(tokenizer, text, found[name])
                   for text, name in zip(texts, ("source_tokens", "other_tokens"))]
            if config.architectures[0].endswith("Classification"):
                target = [config.label2id[found["target"]]]
            else:
                target = ids_of_tokens(tokenizer, found["target_tokens"])
            wanted = reference(model, ids, target, tokenizer.mask_token_id if masked else None)
        for stack in ("encoder", "decoder", "cross"):
            mine = np.array(found["effects"][stack], float)
            theirs = np.array(wanted["effects"][what][stack], float)
            if mine.shape != theirs.shape:
                raise SystemExit(f"{what} of {stack}: {mine.shape}, not {theirs.shape}")
            if mine.size:
                worst[what] = max(worst.get(what, 0), float(np.nanmax(np.abs(mine - theirs))))
        gap = max(abs(found[name] - wanted[name]) for name in ("clean", "corrupted"))
    return (f"ln P {wanted['clean']:.3f}, {wanted['corrupted']:.3f}, difference {gap:.1e}; of effects "
            + ", ".join(f"{what} {value:.1e}" for what, value in worst.items()))


def compare_all(heed, directories):
    for directory in directories:
        try:
            print(f"{directory}: {compare(heed, directory)}", flush=True)
        except (SystemExit, OSError, ValueError) as error:
            print(f"{directory}: not compared: {error}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--compare"]:
        compare_all(sys.argv[2], sys.argv[3:])
    else:
        write_all()
