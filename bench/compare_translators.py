#!/usr/bin/env python3
"""Compares translation models: BLEU over training time, and BLEU over sentence length.

    bench/compare_translators.py --model 'GRU=runs/rnn' --model 'Transformer=runs/transformer' \\
        --source test.de --reference test.en --output FOLDER [--beam 1] [--tokenize none]

Training times and validation BLEU are read from training/metrics.jsonl. For the lengths, test sentences are grouped by
their number of source words, with corpus BLEU per group. Prints Markdown tables and, if heed_draw_curves was built
(cmake -D HEED_BUILD_BENCH=ON), draws FOLDER/bleu-by-minutes.svg and FOLDER/bleu-by-length.svg. Needs only Python's
standard library.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

from by_length import draw, range_name

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEED = ROOT / "build" / "bin" / "heed"

# Ranges of source lengths in words.
LENGTHS = [(1, 8), (9, 10), (11, 12), (13, 14), (15, 17), (18, 1000)]


def curve(directory):
    """(minutes, BLEU) of each validation."""
    rows = map(json.loads, (directory / "training" / "metrics.jsonl").read_text().splitlines())
    return [(row["seconds"] / 60, row["bleu"]) for row in rows if "bleu" in row]


def evaluate(directory, pairs, options):
    with tempfile.TemporaryDirectory() as folder:
        for side, name in enumerate(("source", "reference")):
            text = "".join(pair[side] + "\n" for pair in pairs)
            pathlib.Path(folder, name).write_text(text, encoding="utf-8")
        command = [HEED, "evaluate", "--model", directory, "--source", f"{folder}/source", "--reference",
                   f"{folder}/reference", "--beam", options.beam, "--tokenize", options.tokenize, "--json"]
        output = subprocess.run([str(each) for each in command], check=True, capture_output=True, text=True).stdout
    return json.loads(output)["bleu"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", required=True, action="append", metavar="NAME=DIR")
    parser.add_argument("--source", required=True, type=pathlib.Path)
    parser.add_argument("--reference", required=True, type=pathlib.Path)
    parser.add_argument("--output", required=True, type=pathlib.Path)
    parser.add_argument("--beam", type=int, default=1)
    parser.add_argument("--tokenize", default="none")
    options = parser.parse_args()
    models = {name: pathlib.Path(directory) for name, directory in (each.split("=", 1) for each in options.model)}
    texts = [path.read_text(encoding="utf-8").splitlines() for path in (options.source, options.reference)]
    pairs = list(zip(*texts, strict=True))

    print("| model | BLEU |\n| --- | --- |")
    for name, directory in models.items():
        print(f"| {name} | {evaluate(directory, pairs, options):.2f} |")

    by_length = {name: [] for name in models}
    print("\n| words of the source | sentences | " + " | ".join(models) + " |\n| --- | --- |" + " --- |" * len(models))
    for low, high in LENGTHS:
        group = [pair for pair in pairs if low <= len(pair[0].split()) <= high]
        if not group:
            continue
        mean = sum(len(pair[0].split()) for pair in group) / len(group)
        figures = []
        for name, directory in models.items():
            figures.append(evaluate(directory, group, options))
            by_length[name].append((mean, figures[-1]))
        print(f"| {range_name((low, high))} | {len(group)} | " + " | ".join(f"{each:.1f}" for each in figures) + " |")

    options.output.mkdir(parents=True, exist_ok=True)
    draw(options.output / "bleu-by-minutes.svg", "Quality against minutes", "minutes of training", "BLEU",
         {name: curve(directory) for name, directory in models.items()})
    draw(options.output / "bleu-by-length.svg", "Quality against length", "words of the source", "BLEU", by_length)


if __name__ == "__main__":
    main()
