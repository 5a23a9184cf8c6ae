"""The examples of docs/python.md and of the notebook run."""

import contextlib
import importlib.util
import io
import json
import re
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
        '"my-language-model"': repr(str(language_model)),
        '"my-classifier"': repr(str(classifier_directory)),
        '"de-en.tsv"': repr(str(pairs)),
        '"dev.tsv"': repr(str(pairs)),
        "max_minutes=20": 'max_steps=2, preset="tiny"',
        '{"model.width": 128, "training.batch_tokens": 2048}': '{"model.width": 32, "model.heads": 2, '
        '"training.batch_tokens": 64, "tokenizer.vocabulary": 60, "tokenizer.byte_fallback": False}',
    }
    names = {}
    for block in blocks:
        if "import torch" in block and importlib.util.find_spec("torch") is None:
            continue
        for place, here in places.items():
            block = block.replace(place, here)
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(block, "docs/python.md", "exec"), names)
    assert len(names["losses"]) == 2 and names["trace"].cross.shape == (3, 8, 6, 5)
    assert [each.text for each in names["found"].alternatives] == ["That was close.", "It was close.", "That was short."]


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
