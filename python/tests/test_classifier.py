"""heed.Classifier gives what the command gives."""

import json

import pytest

import heed

TEXTS = ["Hund Baum", "rote Mann", ""]


@pytest.fixture(scope="module")
def classifier(classifier_directory):
    return heed.Classifier(classifier_directory)


def test_classifies_as_the_command(classifier, classifier_directory, command):
    lines = command("classify", *TEXTS[:2], "--model", str(classifier_directory), "--json").splitlines()
    wanted = [json.loads(line) for line in lines]
    assert classifier.classify(TEXTS[:2]) == [each["label"] for each in wanted]
    for found, each in zip(classifier.classify(TEXTS[:2], details=True), wanted):
        assert found.label == each["label"] and not found.truncated
        assert found.probabilities == pytest.approx(each["probabilities"])
        assert found.probability == max(found.probabilities.values())
    assert sorted(classifier.labels) == ["animal", "other"]


def test_one_text(classifier):
    assert classifier.classify(TEXTS[0]) == classifier.classify(TEXTS)[0]
    assert classifier.classify(TEXTS[0], details=True) == classifier.classify(TEXTS, details=True)[0]


def test_pairs(classifier):
    try:
        assert classifier.classify(("Hund", "Baum")) in classifier.labels
    except heed.Error as error:
        assert "pairs" in str(error)


def test_attention(classifier):
    trace = classifier.attend("Hund Baum")
    assert trace.target == classifier.classify("Hund Baum") and trace.source_tokens[0] == "[CLS]"
    assert trace.encoder.shape[2:] == (len(trace.source_tokens),) * 2 and trace.cross.size == 0
    with pytest.raises(heed.Error, match="the text has .* tokens, but the model's maximum is"):
        classifier.attend("Hund " * 1000)


def test_bad_input(classifier, model_directory):
    for bad in (7, [7], [("a",)], b"a"):
        with pytest.raises(TypeError):
            classifier.classify(bad)
    for bad, name in (("\ud800", "text"), (("\ud800", "a"), "the first text"), (("a", "\ud800"), "the second text")):
        with pytest.raises(ValueError, match=f"{name} has half of a surrogate pair"):
            classifier.classify(bad)
    with pytest.raises(heed.Error):
        heed.Classifier(model_directory)
