"""Training."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from . import _heed
from ._arguments import pair_of, path_of, set_options
from .errors import usage_error

Path = str | os.PathLike[str]
Pairs = Sequence[tuple[str, str]]


class TrainingStep(NamedTuple):
    """The state of a training after an update."""

    step: int
    loss: float
    """The mean per token, with label smoothing and weights."""
    learning_rate: float
    gradient_norm: float
    target_tokens: int
    """So far."""
    target_tokens_per_second: float
    seconds: float
    """Of training so far."""
    epochs: float
    """So far."""
    valid_loss: float | None
    """Set after a validation, like `scores`."""
    scores: dict[str, float]
    """{"bleu": 31.2, ...}"""
    best: bool
    """Whether this validation is the best so far."""


class TrainingResult(NamedTuple):
    """How a training ended."""

    end: str
    """What ended it: "steps", "minutes", "epochs" or "patience"."""
    steps: int
    """In total."""
    resumed_from: int
    """The step of the training that was resumed; 0: a new one."""
    best_step: int
    """Whose weights are in the directory."""
    seconds: float
    """Of training in total."""


def train(
    output: Path,
    *,
    pairs: Path | Sequence[Path] | Pairs = (),
    source: Path = "",
    target: Path = "",
    text: Path = "",
    valid_pairs: Path | Pairs = "",
    valid_source: Path = "",
    valid_target: Path = "",
    valid_text: Path = "",
    swap: bool = False,
    lossy: bool = False,
    task: str = "",
    arch: str = "",
    preset: str = "small",
    recipe: Path = "",
    from_model: Path = "",
    settings: Mapping[str, object] | None = None,
    languages: str = "",
    threads: int = 0,
    seed: int | None = None,
    max_steps: int = 0,
    max_minutes: float = 0,
    max_epochs: float = 0,
    on_step: Callable[[TrainingStep], object] | None = None,
    on_message: Callable[[str], object] | None = None,
) -> TrainingResult:
    """Trains a translation model, a language model or a classifier, as `heed train` does (docs/training.md).

    output: the model directory to create; if it has an unfinished training, that one is resumed.
    pairs: translation: files with lines of SOURCE TAB TARGET, or a list of pairs of texts, (source, target), each of one
        line. source, target: instead, two files with as many lines.
    text: language models: running text; classifiers: lines of LABEL TAB TEXT. valid_*: validation data, likewise.
    swap: swap source and target. lossy: replace invalid UTF-8 instead of failing.
    task: "translation", "lm" or "classify"; empty: that of the architecture. arch: the architecture (model.arch).
    preset: the built-in recipe "tiny", "small" or "base". recipe: a TOML file over it.
    from_model: fine-tune this model: start from its weights and tokenizer (training.from).
    settings: over both: {"model.width": 128, "training.batch_tokens": 2048}.
    languages: stored in the model, such as "de-en". threads: 0 for one per processor. seed: training.seed.
    max_steps, max_minutes, max_epochs: limits in total, at least one of which must be set; or, where there is
        validation data, the setting validation.patience, which ends after so many validations without improvement.
    on_step: called after each update. on_message: called with what was read, resumed or left out.

    Weights depend on data, recipe and seed only, bit for bit: not on threads, not on interruptions. Ctrl-C, and an
    exception in a callback, end the training after the current step; it is saved, the exception is raised, and the
    same call resumes it. Raises heed.Error for invalid options and files.
    """
    for name, callback in (("on_step", on_step), ("on_message", on_message)):
        if callback is not None and not callable(callback):
            raise TypeError(f"{name} must be a function, not {type(callback).__name__}")
    if settings is not None and not isinstance(settings, Mapping):
        raise TypeError(f"settings must be a dict of values by their names, not {type(settings).__name__}")
    options = set_options(
        _heed.TrainOptions(),
        output=path_of("output", output),
        source=path_of("source", source),
        target=path_of("target", target),
        text=path_of("text", text),
        valid_source=path_of("valid_source", valid_source),
        valid_target=path_of("valid_target", valid_target),
        valid_text=path_of("valid_text", valid_text),
        swap=swap,
        lossy=lossy,
        task=task,
        preset=preset,
        recipe=path_of("recipe", recipe),
        from_model=path_of("from_model", from_model),
        settings=_settings_of(settings or {}, arch, seed),
        languages=languages,
        threads=threads,
        max_steps=max_steps,
        max_minutes=max_minutes,
        max_epochs=max_epochs,
    )
    show = None if on_step is None else lambda step: on_step(_step_of(step))
    with tempfile.TemporaryDirectory(prefix="heed-") as folder:  # for pairs that are no files
        options.pairs = _files_of("pairs", pairs, folder)
        validation = _files_of("valid_pairs", valid_pairs, folder)
        if len(validation) > 1:
            raise usage_error("valid_pairs must be one file or a list of pairs")
        options.valid_pairs = validation[0] if validation else b""
        result = _heed.train(options, show, on_message)
    return TrainingResult(result.end, result.steps, result.resumed_from, result.best_step, result.seconds)


def _files_of(name: str, pairs: Path | Sequence[Path] | Pairs, folder: str) -> list[bytes]:
    """The paths of files; pairs of texts are written to a file in a folder."""
    if isinstance(pairs, (str, bytes, os.PathLike)):
        return [path_of(name, pairs)] if pairs else []
    if not isinstance(pairs, Iterable):
        raise TypeError(f"{name} must be a path, or a list of paths or of pairs of str, not {type(pairs).__name__}")
    given: list[Any] = list(pairs)
    if not any(isinstance(each, (tuple, list)) for each in given):
        return list(filter(None, (path_of(name, each) for each in given)))
    path = os.path.join(folder, f"{name}.tsv")
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.writelines(_line_of(f"{name}[{index}]", pair) for index, pair in enumerate(given))
    return [os.fsencode(path)]


def _line_of(name: str, pair: Any) -> str:
    source, target = pair_of(name, pair)
    if any(mark in text for text in pair for mark in "\t\r\n"):
        raise usage_error(f"{name} has a text of several lines or with a tab; give one line for each text: {pair!r}")
    return f"{source}\t{target}\n"


def _settings_of(settings: Mapping[str, object], arch: str, seed: int | None) -> list[tuple[str, str]]:
    all_settings = [(key, _written(value)) for key, value in settings.items()]
    if arch:
        all_settings.append(("model.arch", arch))
    if seed is not None:
        all_settings.append(("training.seed", str(seed)))
    return all_settings


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _step_of(step: Any) -> TrainingStep:
    return TrainingStep(
        step.step,
        step.loss,
        step.learning_rate,
        step.gradient_norm,
        step.target_tokens,
        step.target_tokens_per_second,
        step.seconds,
        step.epochs,
        step.valid_loss,
        dict(step.scores),
        step.best,
    )
