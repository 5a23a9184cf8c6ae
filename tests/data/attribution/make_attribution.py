#!/usr/bin/env python3
"""Attributions by captum, for src/inspect/attribution/attribution_reference_test.cc.

make_attribution.py                        writes MODEL.json beside this file for the small random models of ../patching:
                                           captum's LayerIntegratedGradients and LayerGradientXActivation (captum, torch
                                           and transformers are needed)
make_attribution.py --compare HEED DIR...  compares `heed attribute` with captum on models of transformers with
                                           tokenizers: the largest differences, as shares of the sum of all magnitudes
"""

import copy
import json
import pathlib
import subprocess
import sys

import captum.attr
import numpy as np
import torch
import transformers

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "patching"))

from make_patching import ids_of_tokens  # noqa: E402

STEPS = 400  # of captum's Gauss-Legendre quadrature


class Explained:
    """A model in float64 and its layers of embeddings, each used once in a forward pass."""

    def __init__(self, model):
        self.model = model.double().eval()
        self.layers = []
        if model.config.is_encoder_decoder:  # both stacks have the same layer: captum needs one for each
            for stack in (model.get_encoder(), model.get_decoder()):
                stack.set_input_embeddings(copy.deepcopy(stack.get_input_embeddings()))
                self.layers.append(stack.get_input_embeddings())
        else:
            self.layers.append(model.get_input_embeddings())

    def value_of(self, row, token, other):
        """f of a batch of ids: ln P(token) at a row, or less that of another; row None: of a class."""

        def value(ids, decoder_ids=None):
            named = {} if decoder_ids is None else {"decoder_input_ids": decoder_ids}
            logits = self.model(input_ids=ids, **named).logits
            logits = logits if row is None else logits[:, row]
            found = torch.log_softmax(logits, -1)
            return found[:, token] - (found[:, other] if other is not None else 0)

        return value

    def attributions(self, inputs, baselines, value):
        """For each stack the values of its tokens, by both methods."""
        inputs = tuple(torch.tensor([ids]) for ids in inputs)
        baselines = tuple(torch.tensor([ids]) for ids in baselines)
        integrated = captum.attr.LayerIntegratedGradients(value, self.layers).attribute(
            inputs, baselines, n_steps=STEPS, method="gausslegendre", internal_batch_size=100)
        gradient = captum.attr.LayerGradientXActivation(value, self.layers).attribute(inputs)
        return {name: [found[0].sum(-1).tolist() for found in values]
                for name, values in (("integrated", integrated), ("gradient", gradient))}


def replaced(ids, kept, baseline):
    return [each if keep else baseline for each, keep in zip(ids, kept)]


def small_case(explained, name, other):
    """The attributions of each prediction of a small model: the last token of the source is a special one."""
    config, baseline = explained.model.config, 9
    source, target = [3, 7, 11, 8, 0], [2] if name == "bert" else [5, 8, 13, 0]
    case = {"source": source, "target": target, "baseline": baseline, "other": other, "predictions": []}
    for n, token in enumerate(target):
        if name == "marian":
            inputs, row = [source, [config.decoder_start_token_id, *target[:n]]], n
            kept = [[False] * 4 + [True], [True] + [False] * n]
        elif name == "gpt2":
            inputs, row = [[*source, *target[:n]]], len(source) - 1 + n
            kept = [[False] * 4 + [True] + [False] * n]
        else:
            inputs, row, kept = [source], None, [[False] * 4 + [True]]
        baselines = [replaced(ids, keep, baseline) for ids, keep in zip(inputs, kept)]
        value = explained.value_of(row, token, other)
        with torch.no_grad():
            ends = [float(value(*(torch.tensor([ids]) for ids in each))[0]) for each in (inputs, baselines)]
        case["predictions"].append({"value": ends[0], "difference": ends[0] - ends[1],
                                    **explained.attributions(inputs, baselines, value)})
    return case


def write_all():
    for name, kind in (("marian", "MarianMTModel"), ("gpt2", "GPT2LMHeadModel"),
                       ("bert", "BertForSequenceClassification")):
        explained = Explained(getattr(transformers, kind).from_pretrained(HERE.parent / "patching" / name))
        cases = [small_case(explained, name, other) for other in (None, 1)]
        (HERE / f"{name}.json").write_text(json.dumps(cases) + "\n")


def heed_attribute(heed, directory, *arguments):
    text = arguments[0]
    result = subprocess.run([heed, "attribute", text, "--model", directory, "--json", "--quiet", *arguments[1:]],
                            capture_output=True, text=True)
    if result.returncode:
        raise SystemExit(result.stderr.strip())
    return json.loads(result.stdout)


def compare(heed, directory):
    """The largest differences of `heed attribute` to captum, for all predictions of a text."""
    config = transformers.AutoConfig.from_pretrained(directory)
    kind = config.architectures[0]
    explained = Explained(getattr(transformers, kind).from_pretrained(directory, dtype=torch.float32))
    tokenizer = transformers.AutoTokenizer.from_pretrained(directory)
    masked, classifies = "MaskedLM" in kind, kind.endswith("Classification")
    text = f"The man reads a {tokenizer.mask_token if masked else 'book'}."
    found = {"gradient": heed_attribute(heed, directory, text, "--method", "gradient")}
    own = heed_attribute(heed, directory, text, "--tolerance", "1")["baseline"]
    # Captum's layers take ids, not zeros: another token of the text.
    named = own if own != "zero" else found["gradient"]["source_tokens"][1]
    found["default"] = heed_attribute(heed, directory, text, "--baseline", named)
    found["integrated"] = heed_attribute(heed, directory, text, "--baseline", named, "--tolerance", "0.001")
    source = tokenizer(text).input_ids
    if len(source) != len(found["gradient"]["source_tokens"]):
        source = ids_of_tokens(tokenizer, found["gradient"]["source_tokens"])
    baseline = ids_of_tokens(tokenizer, [named])[0]
    target = ([config.label2id[found["gradient"]["target"]]] if classifies
              else ids_of_tokens(tokenizer, found["gradient"]["target_tokens"]))
    special = set(tokenizer.all_special_ids) - {tokenizer.mask_token_id}
    kept = [each in special for each in source]
    worst = {name: 0 for name in found}
    for n, token in enumerate(target):
        if config.is_encoder_decoder:
            inputs = [source, [config.decoder_start_token_id, *target[:n]]]
            keeps, row = [kept, [True] + [each in special for each in target[:n]]], n
        elif masked or classifies:
            inputs, keeps = [source], [kept]
            row = None if classifies else [i for i, each in enumerate(source) if each == tokenizer.mask_token_id][n]
        else:
            inputs = [[*source, *target[:n]]]
            keeps, row = [kept + [False] * n], len(source) - 1 + n
        baselines = [replaced(ids, keep, baseline) for ids, keep in zip(inputs, keeps)]
        wanted = explained.attributions(inputs, baselines, explained.value_of(row, token, None))
        for name, each in found.items():
            lists = wanted["gradient" if name == "gradient" else "integrated"]
            theirs = np.array([value for stack, values in enumerate(lists) for value in values[1 if stack else 0:]])
            mine = np.array(each["attributions"][n])
            if mine.shape != theirs.shape:
                raise SystemExit(f"{name}: {mine.shape} values, not {theirs.shape}")
            worst[name] = max(worst[name], float(np.abs(mine - theirs).max() / np.abs(theirs).sum()))
    return ", ".join(f"{name} {value:.1e}" for name, value in worst.items())


def compare_all(heed, directories):
    for directory in directories:
        try:
            print(f"{directory}: {compare(heed, directory)}", flush=True)
        except (SystemExit, OSError, ValueError, KeyError, TypeError) as error:
            print(f"{directory}: not compared: {error}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--compare"]:
        compare_all(sys.argv[2], sys.argv[3:])
    else:
        write_all()
