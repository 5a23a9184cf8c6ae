"""The examples of docs/python.md and of the notebook run."""

import contextlib
import importlib.util
import io
import json
import re
import subprocess
import sys
import types
from pathlib import Path

import heed

ROOT = Path(__file__).parents[2]


def test_guide(tmp_path, monkeypatch, language_model, classifier_directory, pairs):
    text = (ROOT / "docs/python.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    assert len(blocks) >= 6
    monkeypatch.chdir(tmp_path)
    # Smaller models, and a training of two steps.
    places = {
        '"models/de-en"': repr(str(ROOT / "models/de-en")),
        '"models/en-es"': repr(str(ROOT / "models/en-es")),
        '"my-language-model"': repr(str(language_model)),
        '"my-classifier"': repr(str(classifier_directory)),
        '"all-MiniLM-L6-v2"': repr(str(classifier_directory)),
        '"de-en.tsv"': repr(str(pairs)),
        '"dev.tsv"': repr(str(pairs)),
        "max_minutes=20": 'max_steps=2, preset="tiny"',
        '{"model.width": 128, "training.batch_tokens": 2048}': '{"model.width": 32, "model.heads": 2, '
        '"training.batch_tokens": 64, "tokenizer.vocabulary": 60, "tokenizer.byte_fallback": False}',
    }
    names = {}
    for block in blocks:
        if "torch" in block and importlib.util.find_spec("torch") is None:
            continue
        for position, here in places.items():
            block = block.replace(position, here)
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(block, "docs/python.md", "exec"), names)
    assert len(names["losses"]) == 2 and names["trace"].cross.shape == (3, 8, 6, 5)
    assert [each.text for each in names["found"].alternatives] == ["That was scary.", "It was close."]
    assert names["unique"] == "The man and the woman, watching that dog or cat."
    assert len(names["saved"]) == 6 and names["changed"].shape == (6, 12000)


def test_notebook(tmp_path, monkeypatch):
    notebook = json.loads((ROOT / "examples/attention.ipynb").read_text())
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(cell["execution_count"] for cell in cells), "run it: jupyter nbconvert --execute"
    assert any("image/png" in output.get("data", {}) for cell in cells for output in cell["outputs"])
    display = types.ModuleType("IPython.display")
    display.Image = lambda path, **_: Path(path).read_bytes()
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    (tmp_path / "examples").mkdir()
    (tmp_path / "models").symlink_to(ROOT / "models")
    monkeypatch.chdir(tmp_path / "examples")
    names = {}
    for cell in cells:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile("".join(cell["source"]), "examples/attention.ipynb", "exec"), names)
    assert isinstance(names["trace"], heed.Trace) and names["change"].min() < -0.1


def load_example(name, monkeypatch, *engines):
    """The module examples/NAME.py, with empty modules in place of the engines that it imports."""
    for engine in engines:
        monkeypatch.setitem(sys.modules, engine, types.ModuleType(engine))
    spec = importlib.util.spec_from_file_location(name, ROOT / f"examples/{name}.py")
    module = importlib.util.module_from_spec(spec)
    if "pyspark.sql" in engines:
        sys.modules["pyspark.sql"].SparkSession = None
    spec.loader.exec_module(module)
    return module


def test_spark_example(monkeypatch):
    example = load_example("spark_translate", monkeypatch, "pyspark", "pyspark.sql")
    monkeypatch.setattr(example, "LINES_PER_CALL", 2)
    lines = ["Der Hund schläft.", "", "Guten Morgen!"]
    expected = heed.Translator(ROOT / "models/de-en").translate(lines)
    assert list(example.translate_partition(iter(lines), ROOT / "models/de-en", 1)) == expected


def test_ray_example(monkeypatch, tmp_path):
    example = load_example("ray_translate", monkeypatch, "ray")
    text = "Der Hund\u2028schläft.\n\nGuten Morgen!\nDanke"
    path = tmp_path / "corpus.de"
    path.write_text(text)
    size = path.stat().st_size
    for chunk in range(1, size + 1):  # each line lies in exactly one chunk, wherever chunks end
        found = []
        for begin in range(0, size, chunk):
            found += example.read_lines({"path": str(path), "begin": begin, "end": min(begin + chunk, size)})
        assert [row["text"] for row in found] == text.split("\n")
    worker = example.Translate(ROOT / "models/de-en", 1)
    assert worker({"text": ["Der Hund schläft.", ""]}) == {"text": ["The dog is sleeping.", ""]}


def test_slurm_example(tmp_path):
    for name, action in ("srun", 'printf "%s " "$1"; shift; exec "$@"'), ("heed", 'printf "%s " "$@"'):
        (tmp_path / name).write_text(f"#!/bin/sh\n{action}\n")
        (tmp_path / name).chmod(0o755)
    script = [str(ROOT / "examples/slurm_translate.sh"), "40", "a b.de", str(tmp_path / "out")]
    task = {"PATH": f"{tmp_path}:/usr/bin:/bin", "SLURM_ARRAY_TASK_ID": "7", "SLURM_CPUS_PER_TASK": "2"}
    run = subprocess.run([*script, "--pair", "de-en"], env=task, check=True, capture_output=True, text=True)
    assert run.stdout == (
        "--cpus-per-task=2 translate --pair de-en --quiet --threads 2 --input a b.de --part 7/40 --resume "
        f"--output {tmp_path}/out/00007.txt "
    )
    assert (tmp_path / "out").is_dir()
    del task["SLURM_ARRAY_TASK_ID"]  # not a job array
    assert subprocess.run(script, env=task, capture_output=True).returncode == 2
