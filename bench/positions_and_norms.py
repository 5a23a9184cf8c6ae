#!/usr/bin/env python3
"""Trains the same small translation model with each position encoding and each norm, for docs/positions-and-norms.md.

    bench/positions_and_norms.py --pairs train.tsv --valid-pairs dev.tsv --output runs/choices [--updates 1000]

Trains one after the other with `heed train --preset tiny`, all with the same text, seed, batches and number of
updates, and goes on where it was stopped. Prints the tables in Markdown and, where heed_draw_curves was built
(cmake -D HEED_BUILD_BENCH=ON), draws OUTPUT/loss-by-length.svg. Needs nothing but Python's own library.
"""

import argparse
import json
import pathlib
import subprocess

from by_length import draw, range_name

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEED = ROOT / "build" / "bin" / "heed"

POSITIONS = ["sinusoidal", "learned", "none", "relative", "buckets", "rotary", "rotary_interleaved"]
NORMS = ["layer", "rms", "batch"]
# Ranges of source lengths in words.
LENGTHS = [(1, 4), (5, 5), (6, 6), (7, 7), (8, 8), (9, 10), (11, 13), (14, 1000)]


class Run:
    """Runs one training and returns its last validation."""

    def __init__(self, options, name, settings):
        self.options, self.name, self.settings = options, name, settings
        self.directory = options.output / name

    def train(self):
        command = [HEED, "train", "--pairs", self.options.pairs, "--valid-pairs", self.options.valid_pairs,
                   "--preset", "tiny", "--output", self.directory, "--threads", str(self.options.threads),
                   "--max-steps", str(self.options.updates), "--quiet"]
        common = {"validation.every": self.options.updates, "validation.sentences": 500, "validation.metric": "loss"}
        for key, value in {**common, **self.settings}.items():
            command += ["--set", f"{key}={value}"]
        subprocess.run([str(each) for each in command], check=True)
        lines = (self.directory / "training" / "metrics.jsonl").read_text().splitlines()
        self.last = json.loads(lines[-1])

    def row(self):
        return f"| {self.last['valid_loss']:.3f} | {self.last['bleu']:.1f} |"

    def loss_by_length(self):
        """For each group of source lengths, the mean negative log-probability per reference token."""
        command = [HEED, "score", "--pairs", self.options.valid_pairs, "--model", self.directory, "--json",
                   "--threads", str(self.options.threads)]
        output = subprocess.run([str(each) for each in command], check=True, capture_output=True, text=True).stdout
        pairs = [line.split("\t") for line in pathlib.Path(self.options.valid_pairs).read_text().splitlines()]
        sums = {group: [0.0, 0] for group in LENGTHS}
        for pair, line in zip(pairs, output.splitlines()):
            scored = json.loads(line)
            words = len(pair[0].split())
            group = next(each for each in LENGTHS if each[0] <= words <= each[1])
            sums[group][0] -= sum(scored["log_probabilities"])
            sums[group][1] += len(scored["log_probabilities"])
        return {group: total / count for group, (total, count) in sums.items() if count > 0}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", required=True, type=pathlib.Path)
    parser.add_argument("--valid-pairs", required=True, type=pathlib.Path)
    parser.add_argument("--output", required=True, type=pathlib.Path)
    parser.add_argument("--updates", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()

    runs = {}
    for kind in POSITIONS:
        runs[kind] = Run(options, kind, {"model.positions": kind})
    for norm in NORMS:
        for first in ("false", "true"):
            if (norm, first) == ("layer", "false"):
                continue  # the first of those above
            name = f"{norm}-{'before' if first == 'true' else 'after'}"
            runs[name] = Run(options, name, {"model.norm": norm, "model.norm_first": first})
    # The same batches in sixteen shards instead of two, so that the batches of batch norm are eight times smaller.
    runs["batch-after-16"] = Run(options, "batch-after-16", {"model.norm": "batch", "training.shards": 16})
    runs["layer-after-16"] = Run(options, "layer-after-16", {"training.shards": 16})
    for run in runs.values():
        run.train()

    print("\n| positions | valid loss | BLEU |\n| --- | --- | --- |")
    for kind in POSITIONS:
        print(f"| `{kind}` {runs[kind].row()}")
    runs["layer-after"] = runs["sinusoidal"]
    print("\n| norm | valid loss | BLEU |\n| --- | --- | --- |")
    for norm in NORMS:
        for place in ("after", "before"):
            print(f"| `{norm}`, {place} {runs[f'{norm}-{place}'].row()}")
    for norm in ("layer", "batch"):
        print(f"| `{norm}`, after, 16 shards {runs[f'{norm}-after-16'].row()}")

    names = {"layer norm": "layer-after", "batch norm": "batch-after", "batch norm, 16 shards": "batch-after-16"}
    losses = {title: runs[name].loss_by_length() for title, name in names.items()}
    print("\n| words of the source | " + " | ".join(losses) + " |\n| --- |" + " --- |" * len(losses))
    for group in LENGTHS:
        print(f"| {range_name(group)} | " + " | ".join(f"{each[group]:.3f}" for each in losses.values()) + " |")
    series = {
        title: [(low if high >= 1000 else (low + high) / 2, loss) for (low, high), loss in each.items()]
        for title, each in losses.items()
    }
    draw(options.output / "loss-by-length.svg", "Long sentences and the norm", "words of the source", "loss of a piece",
         series)


if __name__ == "__main__":
    main()
