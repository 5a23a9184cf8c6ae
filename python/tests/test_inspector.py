"""heed.Inspector gives what the commands give."""

import json

import numpy as np
import pytest

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


def test_errors(inspector):
    with pytest.raises(heed.Error, match="choose 1 to"):
        inspector.attribute(TEXT, token=99)
    with pytest.raises(heed.Error, match="unknown method"):
        inspector.attribute(TEXT, method="guess")
    with pytest.raises(heed.Error, match="same tokens"):
        inspector.patch(TEXT, TEXT)
    with pytest.raises(heed.Error, match="unknown part"):
        inspector.patch(TEXT, "die Katze", what="words")
    with pytest.raises(heed.Error, match="empty"):
        inspector.lens(" ")
