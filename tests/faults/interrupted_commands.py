"""Commands that write files, and what must be there after they were interrupted: for power_loss.py and kills.py."""

import argparse
import os
import subprocess
import tempfile
from pathlib import Path

OLD = b"an older file\n"


def files_of(folder):
    """The content of each file, and folders as None."""
    paths = sorted(folder.rglob("*"))
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in paths}


class Trial:
    """A command in a folder. `check(trial, folder, expected)` says what is wrong there after an interruption, or nothing;
    `expected` are the files that the command leaves undisturbed."""

    def __init__(self, options, name, arguments, check, prepare=lambda folder: None):
        self.options, self.name, self.arguments, self.check, self.prepare = options, name, arguments, check, prepare

    def start(self, folder, **environment):
        command = [self.options.heed, *(str(each).replace("FOLDER", str(folder)) for each in self.arguments)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen(command, env={**os.environ, **environment}, **pipes)

    def run(self, folder, **environment):
        """Returns the message of the command if it fails."""
        process = self.start(folder, **environment)
        message = process.communicate()[1].strip()
        return message or f"status {process.returncode}" if process.returncode != 0 else None


def is_unfinished(path):
    return ".part" in Path(path).name


def old_or_new(trial, folder, expected):
    """A file under its final name is what it was, or what it became."""
    for path, content in files_of(folder).items():
        if content is None or is_unfinished(path):
            continue
        if content != expected.get(path) and content != OLD:
            return f"{path} is torn: {len(content)} bytes"
    if failure := trial.run(folder):
        return f"cannot be run again: {failure}"
    return None if files_of(folder) == expected else "run again, it leaves other files"


def ends_the_same(trial, folder, expected):
    """The same command, with --resume, ends with the output of an undisturbed run."""
    if failure := trial.run(folder):
        return f"cannot be resumed: {failure}"
    return None if (folder / "out").read_bytes() == expected["out"] else "another output when resumed"


def opens_whole_or_not(trial, folder, expected):
    """A model directory that opens is the whole one."""
    done = subprocess.run([trial.options.heed, "info", folder / "out"], capture_output=True, text=True)
    if done.returncode == 1 and done.stderr.startswith("heed: "):
        return None
    if done.returncode != 0:
        return f"heed info ends with {done.returncode}: {done.stderr.strip()}"
    left = {path: content for path, content in files_of(folder).items() if not is_unfinished(path)}
    different = [path for path in expected if left.get(path, b"") != expected[path]]
    return f"opens, with other or without {different}" if different else None


def trains_on(trial, folder, expected):
    """The same command ends with the weights of an undisturbed training."""
    if failure := trial.run(folder):
        return f"cannot be resumed: {failure}"
    weights = folder / "model/model.safetensors"
    return None if weights.read_bytes() == expected["model/model.safetensors"] else "other weights when resumed"


def trials(options):
    """All commands; options.heed is the command, options.model a model, options.work a folder, options.only a name."""
    return [trial for trial in all_trials(options) if options.only in ("", trial.name)]


def all_trials(options):
    text = Path(options.work) / "text"
    text.write_text("".join(f"Das ist Haus {n}.\n" for n in range(12)))
    pairs = Path(options.work) / "pairs.tsv"
    pairs.write_text("".join(f"Das Haus {n} ist rot.\tThe house {n} is red.\n" for n in range(40)))
    translate = ["translate", "--model", options.model, "--threads", 1, "--input", text, "--output", "FOLDER/out"]
    yield Trial(options, "translate", translate, old_or_new, lambda folder: (folder / "out").write_bytes(OLD))
    yield Trial(options, "translate --resume", [*translate, "--resume", "--batch-tokens", 32], ends_the_same)
    yield Trial(options, "quantize", ["quantize", options.model, "FOLDER/out"], opens_whole_or_not)
    yield Trial(options, "convert", ["convert", options.model, "FOLDER/out", "--weights", "float16"], opens_whole_or_not)
    labels = Path(options.work) / "labels"
    labels.write_text("".join(f"{n % 2}\tDas Haus {n} ist {'rot' if n % 2 else 'blau'}.\n" for n in range(40)))
    texts = {
        "train a translator": ["--pairs", pairs, "--valid-pairs", pairs],
        "train a language model": ["--task", "lm", "--text", text, "--valid-text", text],
        "train a classifier": ["--task", "classify", "--text", labels, "--valid-text", labels],
    }
    for name, data in texts.items():
        train = ["train", *data, "--preset", "tiny", "--max-steps", 4, "--threads", 1, "--output", "FOLDER/model"]
        train += ["--set", "tokenizer.vocabulary=300", "--set", "validation.every=2"]
        yield Trial(options, name, train, trains_on)


def report(options, counted, complaints):
    """Tries all commands: complaints(trial) gives a number of what is `counted`, and a list of what is wrong. Prints both;
    returns the exit status."""
    total, wrong = 0, []
    with tempfile.TemporaryDirectory() as options.work:
        for trial in trials(options):
            count, found = complaints(trial)
            print(f"{trial.name}: {count} {counted}, {len(found)} complaints", flush=True)
            total += count
            wrong += found
    for each in wrong:
        print(each)
    print(f"{total} {counted}, {len(wrong)} complaints")
    return 1 if wrong or total == 0 else 0


def argument_parser(description):
    """With the arguments that all of these scripts have."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("heed")
    parser.add_argument("model")
    parser.add_argument("--only", default="", help="only the command with this name")
    return parser
