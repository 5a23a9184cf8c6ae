"""heed.Model: logits and hidden states of ids, decoding step by step, and hooks."""

import gc
import weakref

import numpy as np
import pytest

import heed

TEXT = "Der Hund schläft."


@pytest.fixture(scope="module")
def model(model_directory):
    return heed.Model(model_directory)


@pytest.fixture(scope="module")
def tokenizer(model_directory):
    return heed.Tokenizer(model_directory)


@pytest.fixture(scope="module")
def ids(tokenizer):
    return tokenizer.encode(TEXT).ids


def target_ids(model, tokenizer, text):
    """What the decoder reads, and what it is to write."""
    written = tokenizer.encode(text, side="target").ids
    return [model.start_id, *written[:-1]], written


def log_probability(model, ids, read, written, **options):
    logits = model.forward(ids, read, **options).logits.astype(np.float64)
    logits -= np.log(np.exp(logits).sum(1, keepdims=True))
    return logits[np.arange(len(written)), written].sum()


def test_log_probability_is_the_translators(model, tokenizer, translator, ids):
    read, written = target_ids(model, tokenizer, "The dog is sleeping.")
    found = log_probability(model, ids, read, written)
    assert found == pytest.approx(translator.log_probability(TEXT, "The dog is sleeping."), abs=1e-3)


def test_hidden_states_are_the_lens(model, ids, model_directory):
    lens = heed.Inspector(model_directory, threads=1).lens(TEXT)
    result = model.forward(np.array(ids), hidden_states=True)
    assert len(result.encoder) == model.layers("encoder") + 1
    for found, expected in zip(result.encoder, lens.hidden_states("encoder")):
        assert found.dtype == np.float32 and np.array_equal(found, expected)
    assert result.logits.shape == (1, model.vocabulary_size)
    assert model.forward(ids).encoder == []


def beam_search(model, ids, padding, beams, most=30):
    """Log-probability and tokens of the best finished hypothesis, as short as a beam search can be."""
    decoding, rows, finished = model.start(ids), [(0.0, [])], []
    while decoding.length < most:
        logits = decoding.logits.astype(np.float64)
        logits[:, padding] = -np.inf
        scores = logits - np.log(np.exp(logits).sum(1, keepdims=True))
        scores += np.array([score for score, _ in rows])[:, None]
        best = np.argsort(-scores, axis=None)[: 2 * beams]
        parents, tokens, next_rows = [], [], []
        for parent, token in zip(*np.unravel_index(best, scores.shape)):
            hypothesis = (scores[parent, token], rows[parent][1] + [int(token)])
            if token in model.end_ids:
                finished.append(hypothesis)
            elif len(next_rows) < beams:
                parents.append(int(parent)), tokens.append(int(token)), next_rows.append(hypothesis)
        if len(finished) >= beams:
            break
        rows = next_rows
        decoding.step(tokens, parents)
        assert decoding.rows == len(rows)
    return max(finished)


def test_a_beam_search(model, tokenizer, translator):
    for text in (TEXT, "Das Kind sieht einen Vogel."):
        ids = tokenizer.encode(text).ids
        score, written = beam_search(model, ids, tokenizer.special_tokens().padding, 4)
        found = translator.translate(text, beam=4, length_penalty=0, details=True)
        assert tokenizer.decode(written) == found.text
        assert score == pytest.approx(found.log_probability, abs=1e-3)


def test_language_model(language_model):
    model, tokenizer = heed.Model(language_model), heed.Tokenizer(language_model)
    assert model.has_decoder and not model.has_encoder
    assert model.end_ids == []  # of a text that goes on
    ids = tokenizer.encode("dog and tree").ids
    every = model.forward(ids, hidden_states=True)
    decoding = model.start(ids[:2])
    for id in ids[2:]:
        decoding.step([id])
    assert np.allclose(decoding.logits, every.logits[-1:], atol=1e-4)
    assert np.allclose(model.forward(ids, last_only=True).logits, every.logits[-1:], atol=1e-5)
    assert len(every.decoder) == model.layers("decoder") + 1 and every.encoder == []


def test_classifier(classifier_directory):
    model, tokenizer = heed.Model(classifier_directory), heed.Tokenizer(classifier_directory)
    tokens = tokenizer.encode("the dog")
    result = model.forward(tokens.ids, types=tokens.types, hidden_states=True)
    assert result.logits.shape == (1, 2) and result.encoder[0].shape[0] == len(tokens.ids)
    with pytest.raises(heed.Error, match="use forward"):
        model.start(tokens.ids)
    with pytest.raises(heed.Error, match="1 token types") as caught:
        model.forward(tokens.ids, types=[0])
    assert caught.value.kind == "shape"


def test_hooks_repeat_patching(model, tokenizer, model_directory):
    """The effects of `Inspector.patch`, by hooks that read and replace."""
    clean, corrupted = "der Hund", "die Katze"
    patching = heed.Inspector(model_directory, threads=1).patch(clean, corrupted, "the dog", what="heads")
    read, written = target_ids(model, tokenizer, "the dog")
    clean_ids, corrupted_ids = (tokenizer.encode(text).ids for text in (clean, corrupted))
    assert len(clean_ids) == len(corrupted_ids)
    states = {}
    hooks = {"cross:all:all": lambda state: states.update({state.name: state.values})}
    assert log_probability(model, clean_ids, read, written, hooks=hooks) == pytest.approx(patching.clean, abs=1e-4)
    assert len(states) == patching.cross.effects.size
    for layer, head in ((0, 0), (1, 3), (2, 7)):
        name = f"cross:{layer + 1}:{head + 1}"
        found = log_probability(model, corrupted_ids, read, written, hooks={name: lambda state: states[state.name]})
        effect = (found - patching.corrupted) / (patching.clean - patching.corrupted)
        assert effect == pytest.approx(patching.cross.effects[layer, head], abs=1e-3)


def test_hooks_of_steps(model, ids):
    positions = []

    def clear(state):
        positions.append(state.positions)
        state.values[:] = 0

    decoding = model.start(ids, hooks={"decoder:2:cross-attention": clear})
    logits = decoding.step([5, 6], [0, 0])
    assert positions == [[0], [1, 1]]
    expected = model.forward(ids, [model.start_id, 6], hooks={"decoder:2:cross-attention": clear}).logits[-1]
    assert np.allclose(logits[1], expected, atol=1e-4)
    assert not np.allclose(logits[1], model.forward(ids, [model.start_id, 6]).logits[-1], atol=1e-2)


def test_a_decoding_that_its_hook_reaches_is_freed(model, ids):
    def begin():
        reached = []
        decoding = model.start(ids, hooks={"decoder:output": lambda state, reached=reached: None})
        reached.append(decoding)
        decoding.step([5])
        return weakref.ref(decoding)

    gone = begin()
    gc.collect()
    assert gone() is None


def test_errors_of_hooks(model, ids):
    def fails(state):
        raise ZeroDivisionError(state.name)

    with pytest.raises(ZeroDivisionError, match="encoder:2:layer"):
        model.forward(ids, hooks={"encoder:2:layer": fails})
    decoding = model.start(ids, hooks={"decoder:output": lambda state: None if state.positions[0] == 0 else 1 / 0})
    with pytest.raises(ZeroDivisionError):
        decoding.step([5])
    with pytest.raises(heed.Error, match="ended with an exception"):
        decoding.step([5])
    with pytest.raises(heed.Error, match=r"shape \(2,\): give one of shape") as caught:
        model.forward(ids, hooks={"encoder:1:1": lambda state: np.zeros(2)})
    assert caught.value.kind == "shape"
    with pytest.raises(heed.Error, match="no state 'encoder:99:layer'"):
        model.forward(ids, hooks={"encoder:99:layer": fails})
    with pytest.raises(heed.Error, match="are NaN or infinite") as caught:
        model.forward(ids, hooks={"encoder:1:layer": lambda state: state.values * np.nan})
    assert caught.value.kind == "numeric"
    with pytest.raises(TypeError, match="must be a function"):
        model.forward(ids, hooks={"encoder:1:layer": 3})
    with pytest.raises(TypeError, match="the name of a hook must be a str, not int"):
        model.forward(ids, hooks={3: fails})
    with pytest.raises(TypeError, match="hooks must be a dict .*, not list"):
        model.start(ids, hooks=[("encoder:1:layer", fails)])


def test_errors_of_ids(model, ids):
    with pytest.raises(heed.Error, match="has no id 999999"):
        model.forward([999999])
    for call in (lambda: model.forward([5, 2**40]), lambda: model.start(ids).step([-(2**31) - 1])):
        with pytest.raises(heed.Error, match=r"(ids\[1\]|tokens\[0\]) is -?\d+, which is beyond 32 bits") as caught:
            call()
        assert caught.value.kind == "usage"
    with pytest.raises(TypeError, match="ids must be a list of int"):
        model.forward("Der Hund")
    decoding = model.start(ids)
    with pytest.raises(heed.Error, match="2 tokens for 1 rows") as caught:
        decoding.step([5, 6])
    assert caught.value.kind == "shape"
    with pytest.raises(heed.Error, match="no row 3"):
        decoding.step([5], [3])
    assert decoding.length == 1  # nothing was read
