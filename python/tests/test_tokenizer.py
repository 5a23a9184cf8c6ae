"""heed.Tokenizer: ids, pieces, and offsets in characters."""

import threading
import time

import pytest

import heed


@pytest.fixture(scope="module")
def tokenizer(model_directory):
    return heed.Tokenizer(model_directory)


def parts_of(text, tokens):
    return [text[begin:end] for begin, end in tokens.offsets]


def test_offsets_are_characters(tokenizer):
    text = "Das Haus schläft. Größe½"
    tokens = tokenizer.encode(text)
    assert parts_of(text, tokens)[:4] == ["Das", " Haus", " schläft", "."]
    assert tokens.pieces[:4] == ["▁Das", "▁Haus", "▁schläft", "."]
    assert tokens.offsets[-1] == (len(text), len(text)) and tokens.texts[-1] == -1
    assert "½" in parts_of(text, tokens)  # which became "1⁄2"
    assert tokenizer.encode("Das", frame=False).ids == tokens.ids[:1]


def test_ids_and_back(tokenizer):
    text = "Der Hund schläft."
    ids = tokenizer.encode(text).ids
    assert tokenizer.decode(ids, side="source") == text
    for id, piece in zip(ids, tokenizer.encode(text).pieces):
        assert tokenizer.piece(id, side="source") == piece and tokenizer.find(piece, side="source") == id
    special = tokenizer.special_tokens()
    assert special.end == ids[-1] and special.mask is None and special.after == [special.end]
    assert special.padding < tokenizer.vocabulary_size()


def test_tokens_of_one_character(language_model):
    tokenizer = heed.Tokenizer(language_model)
    text = "dog, tree"
    tokens = tokenizer.encode(text)
    assert "".join(parts_of(text, tokens)) == text and tokenizer.decode(tokens.ids) == text


def test_pairs(classifier_directory):
    tokenizer = heed.Tokenizer(classifier_directory)
    pair = "Hünd", "dög tree"
    tokens = tokenizer.encode_pair(*pair)
    assert set(tokens.texts) == {-1, 0, 1} and set(tokens.types) == {0, 1}
    ends = [end for _, end in tokens.offsets]
    assert ends[-1] == len(pair[1]) and ends[tokens.texts.index(-1, 1)] == len(pair[0])  # each before a [SEP]
    for text, (begin, end) in zip(tokens.texts, tokens.offsets):
        assert (begin == end) == (text < 0)
    assert tokenizer.encode("[MASK]", special_tokens=True).ids[1] == tokenizer.special_tokens().mask


def test_other_threads_run_in_the_meantime(tokenizer):
    text = "Das Haus und der Hund schlafen. " * 50_000
    encoding = threading.Thread(target=tokenizer.encode, args=(text,))
    encoding.start()
    turns = 0
    while encoding.is_alive():
        time.sleep(0.001)
        turns += 1
    assert turns > 20


def test_errors(tokenizer):
    with pytest.raises(heed.Error, match="choose source or target"):
        tokenizer.encode("a", side="both")
    with pytest.raises(heed.Error, match="pairs of texts are for encoders"):
        tokenizer.encode_pair("a", "b")
    with pytest.raises(heed.Error):
        tokenizer.decode([-1])
    with pytest.raises(TypeError, match="ids must be a list of int"):
        tokenizer.decode(["a"])
    assert tokenizer.find("no such piece") is None
