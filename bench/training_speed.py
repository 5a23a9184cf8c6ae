#!/usr/bin/env python3
"""Training speed of heed against PyTorch (Hugging Face's MarianMTModel), in turns in one run.

Both train the same Transformer on the same sentence pairs, cut into the same pieces, in batches of the same number of
target tokens, on one thread. heed is given a warm-up of a few steps, and its own metrics.jsonl is read; PyTorch runs
with padded batches of sentences of about the same length (as its users do), fused AdamW, label smoothing in its own
cross-entropy, dropout 0.1. Padding is not counted as tokens for either. The ratio of each turn is taken, and the
median of the ratios is what counts: the machine's speed drifts, the ratio less.

    bench/training_speed.py --pairs de-en.tsv [--heed build/bin/heed] [--turns 3] [--seconds 15]

Needs torch, transformers and sentencepiece.
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

SHAPES = {
    "d128": dict(width=128, layers=4, heads=4, inner=256, vocabulary=10000),
    "d256": dict(width=256, layers=3, heads=8, inner=1024, vocabulary=8000),
}
BATCHES = (4096, 512)


def heed_command(args, shape, batch_tokens, output):
    settings = {
        "model.width": shape["width"],
        "model.encoder_layers": shape["layers"],
        "model.decoder_layers": shape["layers"],
        "model.heads": shape["heads"],
        "model.inner_width": shape["inner"],
        "tokenizer.vocabulary": shape["vocabulary"],
        "averaging.kind": "none",
    }
    command = [args.heed, "train", "--pairs", args.pairs, "--output", output, "--threads", "1", "--quiet"]
    command += ["--batch-tokens", str(batch_tokens)]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    return command


def heed_rate(args, shape, batch_tokens, folder, total_steps):
    """Target tokens a second of the newest steps; the directory is gone on with, so that each turn is warm."""
    command = heed_command(args, shape, batch_tokens, folder) + ["--max-steps", str(total_steps)]
    subprocess.run(command, check=True)
    rows = [json.loads(line) for line in open(f"{folder}/training/metrics.jsonl")]
    return statistics.median(row["target_tokens_per_second"] for row in rows[-(total_steps // 2) :][3:])


def read_batches(pairs, folder, batch_tokens):
    """Padded batches of at most batch_tokens target tokens, of sentences of about the same length, in random order."""
    import sentencepiece
    import torch

    vocabulary = json.load(open(f"{folder}/vocab.json"))
    pieces = sentencepiece.SentencePieceProcessor(model_file=f"{folder}/source.spm")
    end, unknown, pad = vocabulary["</s>"], vocabulary["<unk>"], vocabulary["<pad>"]

    def ids(text):
        return [vocabulary.get(p, unknown) for p in pieces.encode(text, out_type=str)] + [end]

    rows = []
    with open(pairs, encoding="utf-8") as lines:
        for line in lines:
            if len(rows) == 40000:
                break
            source, target = line.rstrip("\n").split("\t")[:2]
            rows.append((ids(source), ids(target)))
    rows.sort(key=lambda row: (len(row[1]), len(row[0])))
    batches, batch, tokens = [], [], 0
    for row in rows:
        if batch and tokens + len(row[1]) > batch_tokens:
            batches.append(batch)
            batch, tokens = [], 0
        batch.append(row)
        tokens += len(row[1])

    def padded(sequences, value):
        longest = max(map(len, sequences))
        return torch.tensor([s + [value] * (longest - len(s)) for s in sequences])

    random.Random(1).shuffle(batches)
    made = []
    for batch in batches:
        source = padded([s for s, _ in batch], pad)
        made.append((source, (source != pad).long(), padded([t for _, t in batch], -100), sum(len(t) for _, t in batch)))
    return made, len(vocabulary), pad, end


class Torch:
    def __init__(self, shape, folder, pairs, batch_tokens):
        import torch
        from transformers import MarianConfig, MarianMTModel

        torch.set_num_threads(1)
        self.torch = torch
        self.batches, size, pad, end = read_batches(pairs, folder, batch_tokens)
        config = MarianConfig(
            vocab_size=size,
            d_model=shape["width"],
            encoder_layers=shape["layers"],
            decoder_layers=shape["layers"],
            encoder_attention_heads=shape["heads"],
            decoder_attention_heads=shape["heads"],
            encoder_ffn_dim=shape["inner"],
            decoder_ffn_dim=shape["inner"],
            activation_function="relu",
            dropout=0.1,
            attention_dropout=0.0,
            activation_dropout=0.0,
            pad_token_id=pad,
            eos_token_id=end,
            decoder_start_token_id=pad,
            forced_eos_token_id=end,
            max_position_embeddings=512,
            scale_embedding=True,
        )
        self.model = MarianMTModel(config).train()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-5, betas=(0.9, 0.98), fused=True)
        self.loss = torch.nn.CrossEntropyLoss(label_smoothing=0.1, ignore_index=-100)
        self.next = 0

    def step(self):
        source, visible, labels, tokens = self.batches[self.next % len(self.batches)]
        self.next += 1
        start = self.torch.full_like(labels[:, :1], self.model.config.decoder_start_token_id)
        inputs = self.torch.cat([start, labels[:, :-1]], 1).masked_fill_(
            self.torch.cat([start, labels[:, :-1]], 1) == -100, self.model.config.pad_token_id
        )
        logits = self.model(input_ids=source, attention_mask=visible, decoder_input_ids=inputs).logits
        loss = self.loss(logits.view(-1, logits.shape[-1]), labels.view(-1))
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return tokens

    def rate(self, seconds):
        self.step()
        tokens, begin = 0, time.perf_counter()
        while time.perf_counter() - begin < seconds:
            tokens += self.step()
        return tokens / (time.perf_counter() - begin)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", required=True)
    parser.add_argument("--heed", default=str(Path(__file__).resolve().parent.parent / "build/bin/heed"))
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=15)
    args = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    import torch
    import transformers

    print(f"torch {torch.__version__}, transformers {transformers.__version__}, one thread")
    print("| shape | target tokens a step | heed tokens/s | PyTorch tokens/s | ratio (each turn) |")
    print("| --- | --- | --- | --- | --- |")
    for name, shape in SHAPES.items():
        for batch_tokens in BATCHES:
            folder = tempfile.mkdtemp()
            steps = 0
            try:
                heed_rates, torch_rates, peer = [], [], None
                for _ in range(args.turns):
                    steps += max(12, 60 * 1024 // batch_tokens)
                    heed_rates.append(heed_rate(args, shape, batch_tokens, folder, steps))
                    peer = peer or Torch(shape, folder, args.pairs, batch_tokens)
                    torch_rates.append(peer.rate(args.seconds))
                ratios = [h / t for h, t in zip(heed_rates, torch_rates)]
                each = " ".join(f"{r:.2f}" for r in ratios)
                print(
                    f"| {name} | {batch_tokens} | {statistics.median(heed_rates):.0f} "
                    f"| {statistics.median(torch_rates):.0f} | {statistics.median(ratios):.2f} ({each}) |",
                    flush=True,
                )
            finally:
                shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
