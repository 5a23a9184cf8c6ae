#!/usr/bin/env python3
"""A large file, translated in parts with kills on the way: the result must be that of one undisturbed process.

    bench/interrupted_translation.py --text german.txt [--lines 1000000] [--kills 20] [--parts 4] [--compress zst]

Makes a file of short lines, all different, from the words of a text. Translates it undisturbed (int8, greedy), then in
parts (--part, --resume), where the process is killed (SIGKILL) at random times and started again. Checks the parts with
`heed verify`, and compares both results byte for byte. Without --model, a tiny model is trained for that first, since
what counts here is the number of lines; give it its training text with --pairs.
"""
import argparse
import collections
import itertools
import json
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

BLOCK = 1024  # lines that are written at once (src/cli/jobs/resumable/resumable_file.cc)


def make_lines(text, count, path):
    """Different lines of three words: combinations of frequent words, in an order without pattern."""
    words = collections.Counter(re.findall(r"\w+", open(text, encoding="utf-8").read()))
    frequent = [word for word, _ in words.most_common(200)]
    if len(frequent) ** 3 < count:
        sys.exit(f"'{text}' has {len(frequent)} words, too few for {count} different lines")
    lines = [" ".join(each) for each in itertools.islice(itertools.product(frequent, repeat=3), count)]
    random.shuffle(lines)
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def train_tiny_model(arguments, folder):
    if not arguments.pairs:
        sys.exit("give --model DIR, or --pairs to train a tiny model")
    model = folder / "model"
    subprocess.run([arguments.heed, "train", "--quiet", "--preset", "tiny", "--pairs", arguments.pairs, "--max-steps",
                    str(arguments.train_steps), "--output", model], check=True)
    return model


def lines_done(output):
    """What the manifest says is on disk."""
    try:
        manifest = json.loads((output.parent / (output.name + ".manifest.json")).read_text())
    except FileNotFoundError:
        return 0
    return manifest["output"]["input_lines"]


class Kills:
    """Kills when so many lines of all parts are done, random numbers, and a random time after that."""

    def __init__(self, count, lines, seconds):
        self.at = sorted(random.randrange(lines * 19 // 20) for _ in range(count))
        self.delay = BLOCK * seconds / lines
        self.done, self.lines_before = 0, 0

    def is_due(self, output):
        return self.done < len(self.at) and self.lines_before + lines_done(output) >= self.at[self.done]

    def translate(self, command, output):
        """Runs the command until it ends by itself, again after each kill."""
        status = None
        while status != 0:
            process = subprocess.Popen(command)
            while (status := process.poll()) is None and not self.is_due(output):
                time.sleep(0.005)
            if status is None:
                time.sleep(random.uniform(0, self.delay))
                process.send_signal(signal.SIGKILL)
                if (status := process.wait()) == -signal.SIGKILL:
                    self.done += 1
                    print(f"kill {self.done}: {output.name} has {lines_done(output)} lines", flush=True)
            if status not in (0, -signal.SIGKILL):
                sys.exit(f"heed translate failed with status {status}")
        self.lines_before += lines_done(output)


def content(paths, compress):
    program = {"zst": "zstdcat", "gz": "zcat", None: "cat"}[compress]
    return subprocess.run([program, *paths], check=True, capture_output=True).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--heed", default="build/bin/heed")
    parser.add_argument("--text", required=True, help="where the words of the lines come from")
    parser.add_argument("--model", help="without it, a tiny one is trained")
    parser.add_argument("--pairs", help="training text of the tiny model")
    parser.add_argument("--train-steps", type=int, default=300)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--parts", type=int, default=4)
    parser.add_argument("--compress", choices=["zst", "gz"], help="compressed input and outputs")
    parser.add_argument("--seed", type=int, default=1, help="of the lines and of the moments of the kills")
    arguments = parser.parse_args()
    random.seed(arguments.seed)
    suffix = f".{arguments.compress}" if arguments.compress else ""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model = arguments.model or train_tiny_model(arguments, folder)
        source = folder / "source.txt"
        make_lines(arguments.text, arguments.lines, source)
        if arguments.compress:
            subprocess.run([{"zst": "zstd", "gz": "gzip"}[arguments.compress], "-q", source], check=True)
            source = folder / f"source.txt{suffix}"
        command = [arguments.heed, "translate", "--quiet", "--model", model, "--precision", "int8", "--beam", "1",
                   "--max-length", "16", "--input", source]

        begin = time.monotonic()
        whole = folder / f"whole{suffix}"
        subprocess.run([*command, "--output", whole], check=True)
        undisturbed = time.monotonic() - begin
        print(f"undisturbed: {arguments.lines} lines in {undisturbed:.1f} s, {arguments.lines / undisturbed:.0f} a second",
              flush=True)

        begin = time.monotonic()
        kills = Kills(arguments.kills, arguments.lines, undisturbed)
        parts = [folder / f"part{n}{suffix}" for n in range(1, arguments.parts + 1)]
        for n, part in enumerate(parts, 1):
            kills.translate([*command, "--part", f"{n}/{arguments.parts}", "--resume", "--output", part], part)
        disturbed = time.monotonic() - begin
        print(f"with {kills.done} kills in {arguments.parts} parts: {disturbed:.1f} s")
        subprocess.run([arguments.heed, "verify", *parts], check=True)
        if kills.done < arguments.kills:
            sys.exit(f"only {kills.done} kills before the end: use more lines")
        if content(parts, arguments.compress) != content([whole], arguments.compress):
            sys.exit("The result differs from that of the undisturbed process.")
        print("The result is that of the undisturbed process, byte for byte.")


if __name__ == "__main__":
    main()
