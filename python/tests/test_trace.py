"""heed.Trace: arrays, files, and its picture in a notebook."""

import html
import json
import re
import resource

import numpy as np
import pytest

import heed


@pytest.fixture(scope="module")
def trace(translator):
    return translator.attend("Der Hund schläft.")


def test_arrays_are_those_of_the_command(trace, command):
    wanted = json.loads(command("attend", "Der Hund schläft.", "--pair", "de-en", "--json"))
    for stack in ("encoder", "decoder", "cross"):
        array = getattr(trace, stack)
        assert isinstance(array, np.ndarray) and array.dtype == np.float32
        assert np.array_equal(array, np.array(wanted["attention"][stack], np.float32))
        assert np.allclose(array.sum(-1), 1, atol=1e-5)
    assert trace.source_tokens == wanted["source_tokens"] and trace.target_tokens == wanted["target_tokens"]
    assert trace.cross.shape[2:] == (len(trace.target_tokens), len(trace.source_tokens))
    assert json.loads(trace.to_json())["attention"] == wanted["attention"]
    assert np.allclose(trace.log_probabilities, wanted["log_probabilities"])


def test_the_decoder_looks_at_nothing_later(trace):
    queries, keys = trace.decoder.shape[2:]
    later = np.triu(np.ones((queries, keys), bool), 1)
    assert np.all(trace.decoder[..., later] == 0) and np.all(trace.cross > 0)


def test_in_a_notebook(trace):
    shown = trace._repr_html_()
    page = html.unescape(re.fullmatch(r'<iframe srcdoc="([^"]*)" sandbox="allow-scripts[^"]*"[^>]*></iframe>', shown)[1])
    assert page == trace.to_html()
    assert page.startswith("<!doctype html>") or page.startswith("<!DOCTYPE html>")
    assert "default-src 'none'" in page


def test_files(trace, tmp_path):
    trace.save(tmp_path / "a.svg", title="A title", values=True)
    assert "<svg" in (tmp_path / "a.svg").read_text()
    trace.save(tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    trace.save(tmp_path / "a.html")
    assert (tmp_path / "a.html").read_text() == trace.to_html()
    trace.save(str(tmp_path / "a.json"))
    assert json.loads((tmp_path / "a.json").read_text())["source"] == "Der Hund schläft."
    with pytest.raises(heed.Error, match=r"must end in \.html, \.json, \.png, \.svg or \.pdf"):
        trace.save(tmp_path / "a.gif")
    for ending in ("svg", "html", "json"):
        with pytest.raises(heed.Error, match="cannot write.*missing/a") as raised:
            trace.save(tmp_path / "missing" / f"a.{ending}")
        assert raised.value.kind == "file"


def test_a_file_that_cannot_be_written_keeps_what_it_was(trace, tmp_path):
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    for ending in ("svg", "html", "json"):
        path = tmp_path / f"a.{ending}"
        path.write_text("what it was")
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, usual[1]))
        try:
            with pytest.raises(heed.Error, match=f"cannot write.*a.{ending}"):
                trace.save(path)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, usual)
        assert path.read_text() == "what it was"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.html", "a.json", "a.svg"]


def test_text(trace):
    lines = trace.to_text(60).splitlines()
    assert max(map(len, lines)) <= 60 and any("cross" in line for line in lines)
    assert "cross 3x8x" in repr(trace)
