"""Models and files for the tests, and where the command is."""

import os
import signal
import string
import subprocess
import threading
import time
from pathlib import Path

import pytest

import heed

ROOT = Path(__file__).parents[2]
SMALL = {
    "model.width": 16,
    "model.heads": 2,
    "model.feed_forward_width": 32,
    "training.batch_tokens": 64,
    "training.shards": 2,
    "validation.every": 2,
    "validation.metric": "loss",
}
WORDS = [("Hund", "dog"), ("Mann", "man"), ("Baum", "tree"), ("alte", "old"), ("rote", "red")]
LINES = [(WORDS[n % 5], WORDS[n // 5 % 5]) for n in range(60)]


def control_c_stops(call):
    """Whether Ctrl-C ends a call that would compute for minutes, before 10 seconds of computing."""
    timer = threading.Timer(0.3, os.kill, [os.getpid(), signal.SIGINT])
    before = time.process_time()
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        call()
    timer.join()
    return time.process_time() - before < 10


@pytest.fixture(scope="session")
def command():
    """Runs the command `heed`; returns what it writes to standard output."""
    program = os.environ.get("HEED_COMMAND", str(ROOT / "build/bin/heed"))
    return lambda *arguments: subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="session")
def model_directory():
    return ROOT / "models/de-en"


@pytest.fixture(scope="session")
def translator(model_directory):
    return heed.Translator(model_directory)


@pytest.fixture(scope="session")
def pairs(tmp_path_factory):
    """Sentence pairs of a few repeated words."""
    path = tmp_path_factory.mktemp("data") / "pairs.tsv"
    path.write_text("".join(f"{a[0]} {b[0]}\t{a[1]} {b[1]}\n" for a, b in LINES))
    return path


@pytest.fixture(scope="session")
def language_model(tmp_path_factory):
    """The directory of a small language model, trained here."""
    folder = tmp_path_factory.mktemp("lm")
    letters = string.ascii_letters + " ,.-\n"
    (folder / "text").write_text("".join(f"{a[0]} {b[0]} and {a[1]}.\n" for a, b in LINES) + letters)
    heed.train(
        folder / "model",
        text=folder / "text",
        task="lm",
        preset="tiny",
        settings={**SMALL, "training.block_size": 16},
        max_steps=3,
    )
    return folder / "model"


@pytest.fixture(scope="session")
def classifier_directory(tmp_path_factory):
    """The directory of a small classifier, trained here."""
    folder = tmp_path_factory.mktemp("classifier")
    (folder / "text").write_text(
        "".join(f"{'animal' if a[1] == 'dog' else 'other'}\t{a[0]} {b[0]}\n" for a, b in LINES)
    )
    heed.train(
        folder / "model", text=folder / "text", task="classify", preset="tiny", settings=SMALL, max_steps=3
    )
    return folder / "model"
