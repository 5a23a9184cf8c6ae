"""heed.Embedder gives what the command gives."""

import json

import numpy as np
import pytest

import heed

TEXTS = ["Hund Baum", "", "rote Mann Hund"]


@pytest.fixture(scope="module")
def embedder(classifier_directory):
    return heed.Embedder(classifier_directory)


def test_embeds_as_the_command(embedder, classifier_directory, command, tmp_path):
    vectors = embedder.embed(TEXTS)
    assert vectors.shape == (3, embedder.width) and vectors.dtype == np.float32
    lines = command("embed", *TEXTS, "--model", str(classifier_directory)).splitlines()
    assert np.array_equal(np.array([json.loads(line)["embedding"] for line in lines], np.float32), vectors)
    command("embed", *TEXTS, "--model", str(classifier_directory), "--output", str(tmp_path / "a.npy"))
    assert np.array_equal(np.load(tmp_path / "a.npy"), vectors)


def test_one_text(embedder):
    vectors = embedder.embed(TEXTS)
    assert np.array_equal(embedder.embed(TEXTS[2]), vectors[2])
    assert np.array_equal(embedder.embed(TEXTS[0], details=True).vector, vectors[0])
    assert [each.truncated for each in embedder.embed(TEXTS, details=True)] == [False] * 3
    assert embedder.embed("Hund " * 2 * embedder.max_length, details=True).truncated


def test_poolings(embedder, classifier_directory):
    first = heed.Embedder(classifier_directory, pooling="cls").embed(TEXTS)
    assert not np.allclose(first, embedder.embed(TEXTS))
    ones = heed.Embedder(classifier_directory, 1, pooling="max", normalize=True).embed(TEXTS)
    assert np.allclose(np.linalg.norm(ones, axis=1), 1)


def test_attention(embedder):
    trace = embedder.attend("Hund Baum")
    assert trace.target == "" and trace.source_tokens[0] == "[CLS]"
    assert trace.encoder.shape[2:] == (len(trace.source_tokens),) * 2 and trace.cross.size == 0
    with pytest.raises(heed.Error, match="the text has .* tokens, but the model's maximum is"):
        embedder.attend("Hund " * 1000)


def test_bad_input(embedder, classifier_directory, model_directory):
    for bad in (7, [7], b"a"):
        with pytest.raises(TypeError):
            embedder.embed(bad)
    with pytest.raises(heed.Error, match="mean_sqrt_len_tokens"):
        heed.Embedder(classifier_directory, pooling="median")
    with pytest.raises(heed.Error, match="no prompt 'query'"):
        heed.Embedder(classifier_directory, prompt="query")
    with pytest.raises(heed.Error, match="is a translation model"):
        heed.Embedder(model_directory)
