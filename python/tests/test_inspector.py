"""heed.Inspector gives what the commands give."""

import json

import numpy as np
import pytest
from conftest import control_c_stops

import heed

TEXT = "der Hund"


@pytest.fixture(scope="module")
def inspector(model_directory):
    return heed.Inspector(model_directory, threads=1)


def test_lens_as_the_command(inspector, model_directory, command):
    wanted = json.loads(command("lens", TEXT, "--model", str(model_directory), "--json", "--details"))
    lens = inspector.lens(TEXT)
    assert json.loads(lens.to_json(details=True)) == wanted
    for stack in ("encoder", "decoder"):
        hidden = lens.hidden_states(stack)
        assert len(hidden) == len(wanted["hidden"][stack])
        for found, each in zip(hidden, wanted["hidden"][stack]):
            assert found.dtype == np.float32 and np.array_equal(found, np.array(each, np.float32))
    with pytest.raises(heed.Error, match="unknown stack 'cross': choose encoder or decoder"):
        lens.hidden_states("cross")
    last = lens.decoder[-1]
    assert last.part == "output" and len(last.predictions) == len(lens.decoder_tokens)
    assert last.norms == pytest.approx(np.linalg.norm(last.values, axis=1), rel=1e-5)


def test_attribution_as_the_command(inspector, model_directory, command):
    for method in ("integrated", "gradient", "rollout", "leave-out"):
        wanted = json.loads(command("attribute", TEXT, "--model", str(model_directory), "--json", "--method", method))
        found = inspector.attribute(TEXT, method=method)
        assert json.loads(found.to_json()) == wanted
        assert [each.values.size for each in found.tokens] == [len(row) for row in wanted["attributions"]]
        if method == "integrated":
            for each in found.tokens:
                assert each.sum == pytest.approx(each.difference, abs=0.01 * max(0.1, abs(each.difference)))


def test_patching_as_the_command(inspector, model_directory, command):
    other = "die Katze"
    for what in ("heads", "layers", "positions"):
        wanted = json.loads(
            command("patch", TEXT, other, "--model", str(model_directory), "--json", "--what", what)
        )
        found = inspector.patch(TEXT, other, what=what)
        assert json.loads(found.to_json()) == wanted
        for stack in ("encoder", "decoder", "cross"):
            part = getattr(found, stack)
            assert part.rows == wanted["rows"][stack] and part.columns == wanted["columns"][stack]
            effects = np.array(wanted["effects"][stack], np.float32)  # None: NaN
            assert np.array_equal(part.effects, effects, equal_nan=True)
        assert found.clean == wanted["clean"]


@pytest.mark.parametrize("call", ["attribute", "patch"])
def test_control_c_stops_it(inspector, call):
    source, target = "der Hund sieht den Mann und " * 25, "the dog sees the man and " * 25
    calls = {
        "attribute": lambda: inspector.attribute(source, target, method="leave-out"),
        "patch": lambda: inspector.patch(source, "die Katze " + source[9:], target, what="positions"),
    }
    assert control_c_stops(calls[call])


def test_parts_of_states(inspector):
    lens = inspector.lens(TEXT, parts=True)
    tokens = len(lens.decoder_ids)
    assert tokens == len(lens.decoder_tokens) and len(lens.encoder_ids) == len(lens.encoder_tokens)
    embedding, attention = lens.decoder[0], lens.decoder[1]
    width = embedding.values.shape[1]
    assert lens.decoder_embeddings.shape == (tokens, width)
    assert not np.array_equal(lens.decoder_embeddings, embedding.values)  # which has the positions
    assert attention.heads.shape == attention.added.shape == (tokens, width)
    assert np.linalg.norm(attention.added, axis=1) == pytest.approx(attention.added_norms, rel=1e-5)
    assert embedding.heads.shape == embedding.added.shape == (tokens, 0)
    assert attention.log_sums.shape == (tokens,)
    assert inspector.lens(TEXT).decoder[1].heads.shape == (tokens, 0)


def test_tables_and_pictures_as_the_command(inspector, model_directory, command, tmp_path):
    other = "die Katze"

    def same(result, name, *arguments, **view):
        options = [*arguments, "--model", str(model_directory), "--quiet"]
        assert result.to_text(60, **view) == command(name, *options, "--columns", "60")
        if "token" in view:  # of tables alone
            return
        for ending in ("svg", "json"):
            result.save(tmp_path / f"found.{ending}", **(view if ending == "svg" else {}))
            command(name, *options, "--output", str(tmp_path / f"wanted.{ending}"))
            assert (tmp_path / f"found.{ending}").read_bytes() == (tmp_path / f"wanted.{ending}").read_bytes()

    lens = inspector.lens(TEXT)
    same(lens, "lens", TEXT)
    same(lens, "lens", TEXT, "--stack", "encoder", "--show", "added", stack="encoder", show="added")
    same(lens, "lens", TEXT, "--query", "2", token=2)
    same(lens, "lens", TEXT, "--query", lens.decoder_tokens[1], token=lens.decoder_tokens[1])
    same(inspector.attribute(TEXT, method="gradient"), "attribute", TEXT, "--method", "gradient")
    same(inspector.patch(TEXT, other), "patch", TEXT, other)
    attribution = inspector.attribute(TEXT, method="gradient")
    assert attribution.method == "gradient"
    named = inspector.attribute(TEXT, token=attribution.target_tokens[1], method="gradient")
    assert [each.token for each in named.tokens] == [1]
    assert inspector.patch(TEXT, other, what="layers").what == "layers"


def test_errors(inspector, tmp_path):
    with pytest.raises(heed.Error, match="number from 1 to"):
        inspector.attribute(TEXT, token=99)
    with pytest.raises(heed.Error, match="unknown method"):
        inspector.attribute(TEXT, method="guess")
    with pytest.raises(heed.Error, match="same tokens"):
        inspector.patch(TEXT, TEXT)
    with pytest.raises(heed.Error, match="unknown part"):
        inspector.patch(TEXT, "die Katze", what="words")
    with pytest.raises(heed.Error, match="empty"):
        inspector.lens(" ")
    lens = inspector.lens(TEXT)
    with pytest.raises(heed.Error, match="unknown stack 'cross': choose encoder or decoder"):
        lens.to_text(stack="cross")
    with pytest.raises(heed.Error, match="number from 1 to"):
        lens.to_text(token=99)
    with pytest.raises(heed.Error, match="unknown value 'weights'"):
        lens.save(tmp_path / "lens.svg", show="weights")
    with pytest.raises(heed.Error, match=r"must end in \.json, \.png, \.svg or \.pdf"):
        lens.save(tmp_path / "lens.gif")
