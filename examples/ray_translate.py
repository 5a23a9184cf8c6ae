"""Translates a text file with Ray Data, in one or more workers that keep the model in memory.

usage: python examples/ray_translate.py INPUT OUTPUT --model DIR [--workers N] [--threads N]

The package heed, the model directory and INPUT must be on every node, or on a file system that all see. Lines are read,
translated and written as a stream, in the order of INPUT.
"""

import argparse
import os
from typing import Any

import ray

CHUNK = 4 << 20  # bytes of INPUT that one task reads


def read_lines(chunk: dict[str, Any]) -> list[dict[str, Any]]:
    """The lines whose first byte lies in the chunk. (read_text would end lines at U+2028 and the like, too.)"""
    lines = []
    with open(chunk["path"], "rb") as file:
        if chunk["begin"] > 0:
            file.seek(chunk["begin"] - 1)
            file.readline()  # the end of a line of the chunk before
        while file.tell() < chunk["end"] and (line := file.readline()):
            lines.append({"text": line.removesuffix(b"\n").decode()})
    return lines


class Translate:
    """A worker of the pool: loads the model once and translates batch after batch."""

    def __init__(self, model: str, threads: int) -> None:
        import heed

        self.translator = heed.Translator(model, threads=threads)

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        return {"text": self.translator.translate(list(batch["text"]))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input")
    parser.add_argument("output")
    parser.add_argument("--model", required=True, help="model directory")
    parser.add_argument("--workers", type=int, default=1, help="processes with a model")
    parser.add_argument("--threads", type=int, default=1, help="threads of each worker")
    options = parser.parse_args()

    ray.data.DataContext.get_current().execution_options.preserve_order = True
    path, size = os.path.abspath(options.input), os.path.getsize(options.input)
    chunks = [{"path": path, "begin": n, "end": min(n + CHUNK, size)} for n in range(0, size, CHUNK)]
    parts = ray.data.from_items(chunks, override_num_blocks=len(chunks))
    lines = parts.flat_map(read_lines, num_cpus=0, concurrency=2)  # reading is quick; the processors are for workers
    translated = lines.map_batches(
        Translate,
        fn_constructor_args=(options.model, options.threads),
        batch_size=1024,
        num_cpus=options.threads,
        concurrency=options.workers,
    )
    with open(options.output, "w", encoding="utf-8") as output:
        for batch in translated.iter_batches(batch_size=1024):
            output.writelines(line + "\n" for line in batch["text"])


if __name__ == "__main__":
    main()
