"""The package as a whole: version, types, signals, and its neighbours in the process."""

import inspect
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from conftest import SMALL, control_c_stops

import heed
from heed import _heed, _options

ROOT = Path(__file__).parents[2]


def with_heed():
    """The environment of a program that imports heed from where these tests do."""
    folders = [str(Path(heed.__file__).parent.parent), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, folders))}


def test_version():
    declared = re.search(r'HEED_VERSION "([^"]+)"', (ROOT / "include/heed/version.h").read_text())[1]
    assert heed.__version__ == declared


def test_the_command_of_the_package(command, tmp_path):
    def run(*arguments, **more):
        program = [sys.executable, "-m", "heed", *arguments]
        return subprocess.run(program, env={**with_heed(), **more}, capture_output=True, text=True)

    assert run("--version").stdout.strip() == heed.__version__
    models = {"HEED_MODELS": str(ROOT / "models")}
    translated = run("translate", "Der Hund schläft.", **models)
    assert (translated.returncode, translated.stderr) == (0, "")
    assert translated.stdout == command("translate", "Der Hund schläft.")
    assert run("translate", "--no-such-option").returncode == 2
    # As that of a program, the end of a pipe is no error to speak of.
    reading, writing = os.pipe()
    os.close(reading)
    program = [sys.executable, "-m", "heed", "info", "--help"]
    cut = subprocess.run(program, env=with_heed(), stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert (cut.returncode, cut.stderr) == (-signal.SIGPIPE, b"")
    missing = run("translate", "--model", str(tmp_path / "none"), "x")
    assert missing.returncode == 1 and str(tmp_path / "none") in missing.stderr


def test_names_that_are_no_text(language_model, pairs, tmp_path):
    """Paths are bytes, which need not be UTF-8."""
    folder = os.fsencode(tmp_path) + b"/caf\xe9"
    shutil.copytree(language_model, os.fsdecode(folder))
    generator = heed.Generator(os.fsdecode(folder))
    trace = generator.attend("rote Hund")
    assert os.fsencode(trace.model) == b"caf\xe9" and "\\udce9" in repr(generator)
    trace.save(Path(os.fsdecode(folder + b".json")))
    trace.save(os.fsdecode(folder + b".svg"))
    assert os.path.getsize(folder + b".json") and os.path.getsize(folder + b".svg")
    assert heed.Model(folder).has_decoder and heed.Tokenizer(folder).encode("rote Hund").ids
    with pytest.raises(heed.Error, match="No such file") as raised:
        heed.Generator(folder + b"-none")
    assert b"caf\xe9-none" in os.fsencode(str(raised.value))
    with pytest.raises(ValueError, match="directory has half of a surrogate pair at index 1"):
        heed.Generator("a\ud800")
    with pytest.raises(ValueError, match="path has a null character at index 1"):
        trace.save("a\0.svg")
    os.rename(pairs, folder + b".tsv")
    try:
        heed.train(folder + b"-trained", pairs=folder + b".tsv", preset="tiny", settings=SMALL, max_steps=1)
    finally:
        os.rename(folder + b".tsv", pairs)
    assert os.path.exists(folder + b"-trained/config.json")

    program = [sys.executable, "-m", "heed", "info", "--model", folder]
    done = subprocess.run(program, env=with_heed(), capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    program = [sys.executable, "-m", "heed", "info", "--model", folder + b"-none"]
    missing = subprocess.run(program, env=with_heed(), capture_output=True)
    assert missing.returncode == 1 and b"-none" in missing.stderr and b"Traceback" not in missing.stderr


def test_bundled_models(monkeypatch, tmp_path):
    monkeypatch.setenv("HEED_MODELS", str(ROOT / "models"))
    assert {"de-en", "en-de", "en-es", "es-en"} <= set(heed.bundled_models())
    assert heed.bundled_models()["de-en"] == ROOT / "models/de-en"
    monkeypatch.setenv("HEED_MODELS", str(tmp_path))
    assert heed.bundled_models() == {}


def test_everything_has_documentation():
    for name in heed.__all__:
        thing = getattr(heed, name)
        if name == "__version__":
            continue
        assert thing.__doc__, name
        for member, value in vars(thing).items() if isinstance(thing, type) else ():
            if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                assert value.__doc__, f"{name}.{member}"


def test_options_are_in_signature_and_documentation():
    translate = inspect.signature(heed.Translator.translate).parameters
    assert translate["beam"].default is None and translate["nbest"].default == 1 and "details" in translate
    assert "nbest" not in inspect.signature(heed.Translator.translate_document).parameters
    assert inspect.signature(heed.Generator.generate).parameters["stop"].default == []
    for row in _options.rows_of(_heed.TranslateOptions):
        assert f"\n{row.name}: {row.help.split()[0]}" in heed.Translator.translate.__doc__


def test_unknown_options_are_named(translator):
    with pytest.raises(TypeError, match="no option 'beams' here; did you mean 'beam'"):
        translator.translate("a", beams=3)
    with pytest.raises(TypeError, match="no option 'nbest' here"):
        translator.translate_document("a", "html", nbest=2)


def test_only_the_entry_point_is_visible():
    """So that no symbol can clash with those of another module, such as PyTorch's oneDNN."""
    listed = subprocess.run(["nm", "-D", "--defined-only", _heed.__file__], capture_output=True, text=True, check=True)
    symbols = [line.split()[-1] for line in listed.stdout.splitlines()]
    assert [name for name in symbols if "heed" in name.lower()] == ["PyInit__heed"]
    assert not [name for name in symbols if "dnnl" in name.lower() or "omp" in name.lower()]


def test_types(tmp_path):
    mypy = pytest.importorskip("mypy.api")
    folder = str(Path(heed.__file__).parent.parent)
    program = tmp_path / "program.py"
    program.write_text(
        "import heed\n"
        "t: heed.Translator = heed.Translator('x')\n"
        "s: str = t.translate('a', beam=4, forbid=['b'], glossary={'a': 'b'})\n"
        "s = t.translate_document('a', 'html', beam=None)\n"
        "w: list[str] = t.translate_document('a', 'html', details=True).warnings\n"
        "l: list[str] = t.translate(['a'])\n"
        "d: heed.Translation = t.translate('a', details=True)\n"
        "c: str = heed.Classifier('x').classify('a')\n"
        "v: float = heed.Embedder('x').embed('a')[0].item()\n"
        "g: list[str] = heed.Generator('x').generate(['a'])\n"
        "def kind(error: heed.Error) -> str: return error.kind\n"
    )
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "import heed\n"
        "n: int = heed.Translator('x').translate('a')\n"
        "heed.Translator('x').translate_document('a', 'html', nbest=2)\n"
    )
    os.environ["MYPYPATH"] = folder
    arguments = ["--strict", "--cache-dir", str(tmp_path / "cache")]
    output, errors, status = mypy.run([*arguments, str(program)])
    assert status == 0, output + errors
    # The package itself; generics without arguments are in the generated stub only.
    output, errors, status = mypy.run([*arguments, "--allow-any-generics", "-p", "heed"])
    assert status == 0, output + errors
    output, errors, status = mypy.run([*arguments, str(wrong)])
    assert status == 1 and "Incompatible types" in output and '"nbest"' in output


def test_control_c_stops_a_translation(model_directory):
    translator = heed.Translator(model_directory, threads=1)
    lines = ["Ich weiß nicht, ob das stimmt, aber ich glaube es."] * 20000
    assert control_c_stops(lambda: translator.translate(lines))
    assert translator.translate("Ja.")


def test_control_c_while_a_model_is_loaded_leaves_nothing_of_it(tmp_path):
    model = tmp_path / "model"
    model.mkdir()
    for name in ("config.json", "model.safetensors"):  # without a tokenizer, which is warned of while it is loaded
        shutil.copy(ROOT / "models/sentences" / name, model)
    taken = threading.Event()

    def interrupt(*_):
        taken.set()
        raise KeyboardInterrupt

    class DuringTheWarning(logging.Handler):
        def emit(self, record):
            taken.clear()
            os.kill(os.getpid(), signal.SIGINT)
            taken.wait()

    def load():
        with pytest.raises(KeyboardInterrupt):
            heed.Generator(model)

    def resident():
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    handler = DuringTheWarning()
    before = signal.signal(signal.SIGINT, interrupt)
    logging.getLogger("heed").addHandler(handler)
    try:
        load()  # the first one starts threads and fills pools
        at_first = resident()
        for _ in range(20):
            load()
        grown = resident() - at_first
    finally:
        logging.getLogger("heed").removeHandler(handler)
        signal.signal(signal.SIGINT, before)
    assert grown < 10 * (model / "model.safetensors").stat().st_size


def test_a_signal_handler_may_compute(model_directory):
    translator = heed.Translator(model_directory, threads=1)
    found = []
    before = signal.signal(signal.SIGUSR1, lambda *_: found.append(translator.translate("Ja.")))
    timer = threading.Timer(0.05, os.kill, [os.getpid(), signal.SIGUSR1])
    timer.start()
    try:
        whole = translator.translate(["Ich weiß nicht, ob das stimmt, aber ich glaube es."] * 40)
        timer.join()
        time.sleep(0.01)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert len(whole) == 40 and found == [translator.translate("Ja.")]


def test_warnings_are_logged(language_model, tmp_path):
    copy = tmp_path / "model"
    shutil.copytree(language_model, copy)
    for name in ("tokenizer.json", "tokenizer_config.json", "vocab.json", "merges.txt", "tokenizer.model"):
        (copy / name).unlink(missing_ok=True)
    program = "import heed, sys\ntry: heed.Generator(sys.argv[1])\nexcept heed.Error: pass\n"
    done = subprocess.run([sys.executable, "-c", program, str(copy)], env=with_heed(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "texts are token ids" in done.stderr


def test_who_only_translates_does_not_load_numpy(model_directory):
    program = (
        "import heed, sys\nheed.Translator(sys.argv[1], threads=1).translate('der Hund')\n"
        "assert not any(name.split('.')[0] == 'numpy' for name in sys.modules)\n"
        "heed.padding_mask([1], 2)\nassert 'numpy' in sys.modules\n"
    )
    command = [sys.executable, "-c", program, str(model_directory)]
    done = subprocess.run(command, env=with_heed(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


TOGETHER = """
import {first}
import {second}
import torch, heed, numpy as np
torch.set_num_threads(2)
layer, ours = torch.nn.MultiheadAttention(64, 8, batch_first=True), heed.MultiHeadAttention(64, 8, dropout=0)
optimizer = torch.optim.SGD(layer.parameters(), 0.1)
def copy():
    with torch.no_grad():
        for n in ('weight', 'bias'):
            for i, x in enumerate('qkv'):
                ours.set_parameter(f'{{x}}_proj.{{n}}', getattr(layer, 'in_proj_' + n)[64 * i:64 * i + 64])
            ours.set_parameter('out_proj.' + n, getattr(layer.out_proj, n))
for step in range(5):
    copy()
    x = torch.randn(3, 50, 64)
    output, _ = layer(x, x, x, need_weights=False)
    result = ours.forward_training(x, x, x)
    assert torch.allclose(torch.from_dlpack(result.output), output, atol=1e-5)
    optimizer.zero_grad()
    output.square().mean().backward()
    gradients = ours.backward((2 * output / output.numel()).detach())
    found = torch.from_numpy(gradients.parameters['out_proj.weight'])
    assert torch.allclose(found, layer.out_proj.weight.grad, atol=1e-6)
    optimizer.step()
    assert torch.get_num_threads() == 2
"""


@pytest.mark.parametrize("first, second", [("torch", "heed"), ("heed", "torch")])
def test_beside_torch(first, second):
    """In either order of import; PyTorch keeps its threads."""
    if subprocess.run([sys.executable, "-c", "import torch"], capture_output=True).returncode != 0:
        pytest.skip("PyTorch is not installed")
    program = TOGETHER.format(first=first, second=second)
    done = subprocess.run([sys.executable, "-c", program], env=with_heed(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
