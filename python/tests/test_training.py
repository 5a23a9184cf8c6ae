"""heed.train: steps as they happen, errors, and going on after an interruption."""

import os
import shutil
import signal
import threading
import time

import numpy as np
import pytest
from conftest import SMALL

import heed

TRANSLATION = {
    **SMALL,
    "tokenizer.vocabulary": 60,
    "tokenizer.byte_fallback": False,
    "validation.sentences": 2,
    "schedule.fit": False,  # trainings are stopped by another number of steps than they have
}


def train(output, pairs, **options):
    return heed.train(
        output, pairs=pairs, preset="tiny", settings=TRANSLATION, **{"max_steps": 6, "threads": 2, **options}
    )


def weights(directory):
    return (directory / "model.safetensors").read_bytes()


def test_steps(pairs, tmp_path):
    steps, messages = [], []
    result = train(
        tmp_path / "model", pairs, valid_pairs=pairs, languages="de-en", on_step=steps.append, on_message=messages.append
    )
    assert (result.end, result.steps, result.resumed_from) == ("steps", 6, 0)
    assert [each.step for each in steps] == [1, 2, 3, 4, 5, 6]
    assert steps[1].valid_loss is not None and "bleu" in steps[1].scores and steps[0].valid_loss is None
    assert all(each.loss > 0 and each.learning_rate > 0 for each in steps)
    assert messages and all(isinstance(each, str) for each in messages)
    translator = heed.Translator(tmp_path / "model")
    assert isinstance(translator.translate("Hund Baum"), str)


def test_pairs_of_texts(pairs, tmp_path):
    """A list of pairs trains as a file with the same lines does, and resumes."""
    lines = pairs.read_text(encoding="utf-8").splitlines()
    texts = [tuple(line.split("\t")) for line in lines]
    train(tmp_path / "file", pairs, valid_pairs=pairs)
    train(tmp_path / "list", texts, valid_pairs=texts, max_steps=3)
    result = train(tmp_path / "list", texts, valid_pairs=texts)
    assert result.resumed_from == 3
    assert weights(tmp_path / "list") == weights(tmp_path / "file")
    with pytest.raises(heed.Error, match=r"pairs\[1\] has a text of several lines") as raised:
        train(tmp_path / "model", [("a", "b"), ("a\nb", "c")])
    assert raised.value.kind == "usage"
    with pytest.raises(TypeError, match=r"pairs\[1\] must be a pair of str"):
        train(tmp_path / "model", [("a", "b"), "c"])


def test_errors_name_arguments(pairs, model_directory, tmp_path):
    """Not the flags of the command."""
    for words, options in (
        ("give max_steps, max_minutes or max_epochs", {"pairs": pairs, "max_steps": 0}),
        (r"give text \(and valid_text\)", {"pairs": pairs, "task": "lm"}),
        ("pairs, or source and target; text is for", {"text": pairs, "task": "translation"}),
    ):
        with pytest.raises(heed.Error, match=words) as raised:
            heed.train(tmp_path / "model", preset="tiny", **{"max_steps": 1, **options})
        assert "--" not in str(raised.value)
    copy = tmp_path / "copy"
    copy.symlink_to(model_directory)
    with pytest.raises(heed.Error, match="to start from the weights of this model, give it as from_model"):
        heed.train(copy, pairs=pairs, max_steps=1)


def test_messages_name_arguments(pairs, tmp_path):
    train(tmp_path / "model", pairs, max_steps=2)
    messages = []
    train(tmp_path / "model", pairs, max_steps=2, on_message=messages.append)
    assert "its 2 steps reach max_steps 2. To continue it, give a larger max_steps" in messages[-1]
    shutil.rmtree(tmp_path / "model")
    settings = {**TRANSLATION, "schedule.fit": True}
    heed.train(
        tmp_path / "model", pairs=pairs, preset="tiny", settings=settings, max_steps=6, on_message=messages.append
    )
    assert any("or fine-tune a model (from_model)" in each for each in messages)


def test_an_exception_ends_it_and_it_can_be_resumed(pairs, tmp_path):
    train(tmp_path / "whole", pairs)

    def stop(step):
        if step.step == 3:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        train(tmp_path / "model", pairs, on_step=stop)
    result = train(tmp_path / "model", pairs)
    assert result.resumed_from == 3 and result.steps == 6
    assert weights(tmp_path / "model") == weights(tmp_path / "whole")


def test_interruption(pairs, tmp_path):
    """Ctrl-C: the training is saved and KeyboardInterrupt is raised."""
    seen = threading.Event()

    def interrupt():
        seen.wait()
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    before = time.process_time()
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path / "model", pairs, max_steps=0, max_minutes=5, on_step=lambda step: seen.set())
    thread.join()
    assert time.process_time() - before < 60  # of computing; the training would take five minutes
    assert train(tmp_path / "model", pairs, max_steps=100000, max_minutes=1e-9).resumed_from > 0


def test_other_tasks(language_model, classifier_directory):
    assert (language_model / "config.json").exists() and (classifier_directory / "config.json").exists()


@pytest.mark.parametrize(
    "options, words",
    [
        ({"max_steps": 0}, "max"),
        ({"settings": {"model.widht": 3}}, "model.widht.*model.width"),
        ({"arch": "conformer"}, "conformer"),
        ({"languages": "german"}, "languages must be two"),
        ({"source": "a", "target": "b"}, "exclude|either"),
        ({"pairs": "/no/such/file"}, "/no/such/file"),
        ({"max_minutes": -1}, "at least 0"),
    ],
)
def test_bad_input(pairs, tmp_path, options, words):
    with pytest.raises(heed.Error, match=words):
        heed.train(tmp_path / "model", **{"pairs": [pairs, pairs], "preset": "tiny", "max_steps": 1, **options})


def test_wrong_types(tmp_path):
    with pytest.raises(TypeError, match="output must be a path"):
        heed.train(5)
    with pytest.raises(TypeError, match="max_steps cannot be '3'"):
        heed.train(tmp_path / "model", max_steps="3")
    for options, words in (
        ({"on_step": 5}, "on_step must be a function, not int"),
        ({"on_message": "print"}, "on_message must be a function, not str"),
        ({"settings": [("model.width", 16)]}, "settings must be a dict .*, not list"),
        ({"pairs": None}, "pairs must be a path, or a list of paths or of pairs of str, not NoneType"),
        ({"valid_pairs": 5}, "valid_pairs must be a path"),
        ({"pairs": np.array([["a", "b"]])}, "pairs must be a path"),
    ):
        with pytest.raises(TypeError, match=words):
            heed.train(tmp_path / "model", **{"max_steps": 1, **options})
        assert not (tmp_path / "model").exists()
