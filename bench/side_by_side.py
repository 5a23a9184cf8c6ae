#!/usr/bin/env python3
"""Heed beside transformers: loading time, peak memory and tokens a second of models at realistic sizes.

    PYTHON bench/side_by_side.py build/bin/heed
    PYTHON bench/side_by_side.py build/bin/heed --models minilm smollm2 --turns 5 --json report.json
    PYTHON bench/side_by_side.py build/bin/heed --small          # reduced sizes, to try the script

PYTHON needs torch, transformers and numpy. The models have the shapes of well-known ones and random weights, which
transformers writes into a temporary folder (NLLB-600M: 2.5 GB). Both sides read the same files and the same token ids,
on one thread, in turns: Heed, the peer, Heed, ... Each run is a process of its own, so that its peak memory (maximum
resident set size) is that of the run. The figures are medians of the turns.

    loading     Heed: the time of the whole command without a text; peer: from_pretrained, without starting Python and
                importing, which is in a column of its own
    tokens/s    Heed: new tokens (embeddings: tokens read) / (time of the whole command - loading); peer: new tokens /
                the time of generate or of the model, after a short first call, in batches of --batch texts of similar
                length
    same        the share of texts whose generated ids are the same; embeddings: the largest difference

Generation is greedy, with a fixed number of new tokens.
"""

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SHORTEST, LONGEST = 8, 48  # words of a text


# ---- The models --------------------------------------------------------------------------------------------


def unigram(pieces, special, before, after):
    """A tokenizer.json that reads "w12 w7" as the pieces "▁w12" and "▁w7"."""

    def template(token):
        return {"SpecialToken": {"id": token, "type_id": 0}}

    around = [template(token) for token in before] + [{"Sequence": {"id": "A", "type_id": 0}}]
    around += [template(token) for token in after]
    space = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    added = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": pieces.index(token), "content": token, **added} for token in special],
        "normalizer": None,
        "pre_tokenizer": space,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": around,
            "pair": [*around, {"Sequence": {"id": "B", "type_id": 0}}],
            "special_tokens": {
                token: {"id": token, "ids": [pieces.index(token)], "tokens": [token]} for token in before + after
            },
        },
        "decoder": space,
        "model": {
            "type": "Unigram",
            "unk_id": pieces.index("<unk>"),
            "vocab": [[piece, -10.0] for piece in pieces],
            "byte_fallback": False,
        },
    }


class Model:
    """One model: how it is made, and how Heed runs it."""

    vocabulary = small_vocabulary = 0

    def __init__(self, options):
        self.options = options
        self.size = self.small_vocabulary if options.small else self.vocabulary

    def reduced(self, **sizes):
        """Sizes of the config; a quarter of the widths and two layers with --small."""
        if not self.options.small:
            return sizes
        return {key: 2 if "layers" in key else size // 4 for key, size in sizes.items()}

    def write_json(self, folder, name, content):
        (folder / name).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")

    def texts(self):
        """Lists of the numbers of words."""
        numbers = random.Random(1)
        return [
            [numbers.randrange(self.words()) for _ in range(numbers.randint(SHORTEST, LONGEST))]
            for _ in range(self.options.texts)
        ]


class Translation(Model):
    kind = "seq2seq"
    before, after = (), ("</s>",)

    def words(self):
        return self.size - len(self.first) - len(self.last)

    def line(self, text):
        return " ".join(f"w{number}" for number in text)

    def ids(self, text):
        pieces = self.pieces()
        return [pieces.index(token) for token in self.before] + [len(self.first) + number for number in text] + [
            pieces.index(token) for token in self.after
        ]

    def pieces(self):
        return [*self.first, *(f"▁w{number}" for number in range(self.words())), *self.last]

    def write_tokenizer(self, folder, config):
        special = [*self.first, *self.last]
        self.write_json(folder, "tokenizer.json", unigram(self.pieces(), special, self.before, self.after))
        self.write_json(folder, "tokenizer_config.json", config)

    def lengths(self, beginning):
        """Settings that make every translation as long as the options say."""
        length = beginning + self.options.tokens
        return {"max_length": length, "min_length": length, "num_beams": 1, "do_sample": False}

    def command(self, folder):
        return ["translate", "--model", str(folder), "--beam", "1", "--json"]

    def result(self, line):
        number = {piece: id for id, piece in enumerate(self.pieces())}
        return [number[piece] for piece in json.loads(line)["pieces"]]


class Nllb(Translation):
    title = "NLLB-200, 600M"
    vocabulary, small_vocabulary = 256206, 2000
    first, last = ("<s>", "<pad>", "</s>", "<unk>"), ("deu_Latn", "eng_Latn", "<mask>")
    before = ("eng_Latn",)

    def make(self, folder):
        from transformers import M2M100Config, M2M100ForConditionalGeneration

        config = M2M100Config(
            vocab_size=self.size,
            max_position_embeddings=1024,
            scale_embedding=True,
            bos_token_id=0,
            pad_token_id=1,
            eos_token_id=2,
            decoder_start_token_id=2,
            **self.reduced(
                d_model=1024,
                encoder_layers=12,
                decoder_layers=12,
                encoder_attention_heads=16,
                decoder_attention_heads=16,
                encoder_ffn_dim=4096,
                decoder_ffn_dim=4096,
            ),
        )
        model = M2M100ForConditionalGeneration(config)
        german = self.pieces().index("deu_Latn")
        # The language comes before the counted tokens, and the start token before it.
        model.generation_config.update(forced_bos_token_id=german, **self.lengths(2))
        self.write_tokenizer(
            folder, {"tokenizer_class": "NllbTokenizer", "src_lang": "eng_Latn", "tgt_lang": "deu_Latn"}
        )
        return model


class FlanT5(Translation):
    title = "Flan-T5-small"
    vocabulary, small_vocabulary = 32128, 2000
    first, last = ("<pad>", "</s>", "<unk>"), ()

    def make(self, folder):
        from transformers import T5Config, T5ForConditionalGeneration

        config = T5Config(
            vocab_size=self.size,
            feed_forward_proj="gated-gelu",
            tie_word_embeddings=False,
            decoder_start_token_id=0,
            d_kv=64,
            num_heads=6,
            **self.reduced(d_model=512, d_ff=1024, num_layers=8, num_decoder_layers=8),
        )
        model = T5ForConditionalGeneration(config)
        model.generation_config.update(**self.lengths(1))
        self.write_tokenizer(folder, {"tokenizer_class": "T5Tokenizer", "extra_ids": 0})
        return model


class SmolLm2(Model):
    """Without a tokenizer, Heed reads ids."""

    title = "SmolLM2-135M"
    kind = "causal"
    vocabulary, small_vocabulary = 49152, 2000
    first = 10  # ids below are not used

    def words(self):
        return self.size - self.first

    def line(self, text):
        return " ".join(map(str, self.ids(text)))

    def ids(self, text):
        return [self.first + number for number in text]

    def make(self, folder):
        from transformers import LlamaConfig, LlamaForCausalLM

        sizes = dict(hidden_size=576, intermediate_size=1536, num_hidden_layers=30)
        config = LlamaConfig(
            vocab_size=self.size,
            num_attention_heads=9,
            num_key_value_heads=3,
            max_position_embeddings=8192,
            rope_parameters={"rope_type": "default", "rope_theta": 100000.0},
            tie_word_embeddings=True,
            bos_token_id=1,
            eos_token_id=2,
            **self.reduced(**sizes),
        )
        model = LlamaForCausalLM(config)
        tokens = self.options.tokens
        model.generation_config.update(max_new_tokens=tokens, min_new_tokens=tokens, pad_token_id=0, do_sample=False)
        return model

    def command(self, folder):
        return ["generate", "--model", str(folder), "--greedy", "--json"]

    def result(self, line):
        return json.loads(line)["ids"]


class MiniLm(Model):
    title = "all-MiniLM-L6"
    kind = "encoder"
    vocabulary, small_vocabulary = 30522, 2000
    first = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")

    def words(self):
        return self.size - len(self.first)

    def line(self, text):
        return " ".join(f"w{number}" for number in text)

    def ids(self, text):
        return [2, *(len(self.first) + number for number in text), 3]

    def make(self, folder):
        from transformers import BertConfig, BertModel

        sizes = dict(hidden_size=384, intermediate_size=1536, num_hidden_layers=6)
        config = BertConfig(vocab_size=self.size, num_attention_heads=12, **self.reduced(**sizes))
        words = [f"w{number}" for number in range(self.words())]
        (folder / "vocab.txt").write_text("".join(f"{word}\n" for word in [*self.first, *words]), encoding="utf-8")
        self.write_json(folder, "tokenizer_config.json", {"tokenizer_class": "BertTokenizer", "do_lower_case": True})
        return BertModel(config, add_pooling_layer=False)

    def command(self, folder):
        return ["embed", "--model", str(folder), "--pooling", "mean"]

    def result(self, line):
        return json.loads(line)["embedding"]


MODELS = {"nllb": Nllb, "smollm2": SmolLm2, "minilm": MiniLm, "flan-t5": FlanT5}


# ---- One run of each side, in a process of its own ---------------------------------------------------------


def run(command, text="", **more):
    """Runs a command; returns its output, its seconds and its peak memory in MB. Linux counts the memory of the process
    that starts it, too, so this one does not import torch."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as taken:
        given.write(text.encode())
        given.seek(0)
        begin = time.perf_counter()
        process = subprocess.Popen(command, stdin=given, stdout=taken, **more)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"side_by_side: '{' '.join(map(str, command))}' failed")
        taken.seek(0)
        return taken.read().decode(), seconds, usage.ru_maxrss / 1024


def run_heed(model, folder, texts):
    command = [model.options.heed, *model.command(folder), "--threads", "1", "--quiet", "--input", "-"]
    # A language model without a tokenizer warns that it reads ids.
    _, loading, _ = run(command, stderr=subprocess.DEVNULL)
    lines = "".join(model.line(text) + "\n" for text in texts)
    output, seconds, memory = run(command, lines, stderr=subprocess.DEVNULL)
    results = [model.result(line) for line in output.splitlines()]
    return {"loading": loading, "seconds": seconds - loading, "memory": memory, "results": results}


def run_peer(model, folder, texts):
    job = {
        "kind": model.kind,
        "folder": str(folder),
        "ids": [model.ids(text) for text in texts],
        "batch": model.options.batch,
    }
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "TRANSFORMERS_OFFLINE": "1"}
    output, _, memory = run([sys.executable, __file__, "--peer"], json.dumps(job), env=environment)
    return {**json.loads(output.splitlines()[-1]), "memory": memory}


def peer():
    """The process of the peer: reads a job from standard input, writes the result as a line of JSON."""
    job = json.load(sys.stdin)
    begin = time.perf_counter()
    import torch
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    torch.set_num_threads(1)
    kinds = {
        "seq2seq": transformers.AutoModelForSeq2SeqLM,
        "causal": transformers.AutoModelForCausalLM,
        "encoder": transformers.AutoModel,
    }
    kind = kinds[job["kind"]]
    importing = time.perf_counter() - begin
    begin = time.perf_counter()
    model = kind.from_pretrained(job["folder"], dtype=torch.float32).eval()
    loading = time.perf_counter() - begin
    pad = 0 if job["kind"] != "seq2seq" else model.config.pad_token_id

    def batch_of(chosen):
        longest = max(map(len, chosen))
        left = job["kind"] == "causal"  # the texts go on at the right
        rows, masks = [], []
        for ids in chosen:
            padding = longest - len(ids)
            rows.append([pad] * padding + ids if left else ids + [pad] * padding)
            masks.append([0] * padding + [1] * len(ids) if left else [1] * len(ids) + [0] * padding)
        return torch.tensor(rows), torch.tensor(masks)

    @torch.inference_mode()
    def compute(chosen):
        ids, mask = batch_of(chosen)
        if job["kind"] == "encoder":
            hidden = model(input_ids=ids, attention_mask=mask).last_hidden_state
            weights = mask.unsqueeze(-1)
            return ((hidden * weights).sum(1) / weights.sum(1)).tolist()
        made = model.generate(input_ids=ids, attention_mask=mask)
        return made[:, ids.shape[1] if job["kind"] == "causal" else 1 :].tolist()

    compute(job["ids"][:1])
    order = sorted(range(len(job["ids"])), key=lambda n: len(job["ids"][n]))
    results = [None] * len(order)
    begin = time.perf_counter()
    for first in range(0, len(order), job["batch"]):
        chosen = order[first : first + job["batch"]]
        for n, result in zip(chosen, compute([job["ids"][n] for n in chosen])):
            results[n] = result
    seconds = time.perf_counter() - begin
    print(json.dumps({"importing": importing, "loading": loading, "seconds": seconds, "results": results}))


# ---- The comparison ----------------------------------------------------------------------------------------


def agreement(model, heed, peer):
    if model.kind == "encoder":
        largest = max(abs(a - b) for one, other in zip(heed, peer) for a, b in zip(one, other))
        return f"{largest:.1e}"
    return f"{sum(one == other for one, other in zip(heed, peer))}/{len(heed)}"


def make():
    """The process that makes a model: reads options from standard input, writes the number of parameters."""
    import torch
    import transformers

    transformers.logging.disable_progress_bar()
    given = json.load(sys.stdin)
    torch.manual_seed(1)
    folder = Path(given["folder"])
    model = MODELS[given["name"]](argparse.Namespace(**given["options"])).make(folder)
    model.save_pretrained(folder)
    print(sum(each.numel() for each in model.parameters()))


def compare(name, options):
    """The report of one model: an object with medians of the turns."""
    model = MODELS[name](options)
    folder = Path(options.folder) / name
    folder.mkdir(parents=True, exist_ok=True)
    given = {"name": name, "folder": str(folder), "options": vars(options)}
    output, _, _ = run([sys.executable, __file__, "--make"], json.dumps(given))
    parameters = int(output.splitlines()[-1])
    texts = model.texts()
    sides = {"heed": [], "peer": []}
    for _ in range(options.turns):
        sides["heed"].append(run_heed(model, folder, texts))
        sides["peer"].append(run_peer(model, folder, texts))
    if not options.keep:
        shutil.rmtree(folder)
    if model.kind == "encoder":
        tokens = sum(len(model.ids(text)) for text in texts)
    else:
        tokens = len(texts) * options.tokens
    report = {"model": model.title, "parameters": parameters, "texts": len(texts), "tokens": tokens}
    for side, turns in sides.items():
        report[side] = {
            "loading": statistics.median(turn["loading"] for turn in turns),
            "memory_mb": statistics.median(turn["memory"] for turn in turns),
            "tokens_per_second": statistics.median(tokens / turn["seconds"] for turn in turns),
        }
    report["peer"]["importing"] = statistics.median(turn["importing"] for turn in sides["peer"])
    report["same"] = agreement(model, sides["heed"][0]["results"], sides["peer"][0]["results"])
    return report


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("heed", help="the command")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--texts", type=int, default=64)
    parser.add_argument("--tokens", type=int, default=24, help="new tokens of each text")
    parser.add_argument("--batch", type=int, default=16, help="texts in a batch of the peer")
    parser.add_argument("--small", action="store_true", help="reduced sizes, to try the script")
    parser.add_argument("--folder", help="where the models are written [default: a temporary folder]")
    parser.add_argument("--keep", action="store_true", help="do not delete the models")
    parser.add_argument("--json", help="write the report to this file, too")
    options = parser.parse_args()
    if options.tokens > 3 * SHORTEST:
        parser.error(f"--tokens: at most {3 * SHORTEST}, since Heed limits translations to three times their source")
    if options.keep and not options.folder:
        parser.error("--keep needs --folder")
    with tempfile.TemporaryDirectory() as temporary:
        options.folder = options.folder or temporary
        reports = []
        print("| model | parameters | loading, s: Heed, peer (import) | peak memory, MB | tokens/s | same |")
        print("| --- | --- | --- | --- | --- | --- |")
        for name in options.models:
            report = compare(name, options)
            reports.append(report)
            heed, other = report["heed"], report["peer"]
            print(
                f"| {report['model']} | {report['parameters'] / 1e6:.1f} M"
                f" | {heed['loading']:.2f}, {other['loading']:.2f} ({other['importing']:.1f})"
                f" | {heed['memory_mb']:.0f}, {other['memory_mb']:.0f}"
                f" | {heed['tokens_per_second']:.0f}, {other['tokens_per_second']:.0f} | {report['same']} |",
                flush=True,
            )
    if options.json:
        Path(options.json).write_text(json.dumps(reports, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] == ["--peer"]:
        peer()
    elif sys.argv[1:] == ["--make"]:
        make()
    else:
        main()
