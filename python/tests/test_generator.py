"""heed.Generator gives what the command gives, streams, and refuses bad input."""

import numpy as np
import pytest
from conftest import control_c_stops

import heed


@pytest.fixture(scope="module")
def generator(language_model):
    return heed.Generator(language_model)


def test_generates_as_the_command(generator, language_model, command):
    options = ["--model", str(language_model), "--max-tokens", "12", "--seed", "3"]
    sampled = generator.generate("rote Hund", max_tokens=12, seed=3)
    assert "rote Hund" + sampled + "\n" == command("generate", "rote Hund", *options)
    greedy = generator.generate("rote Hund", max_tokens=12, greedy=True)
    assert "rote Hund" + greedy + "\n" == command("generate", "rote Hund", *options[:4], "--greedy")
    assert sampled != greedy


def test_lists_and_samples(generator):
    texts = generator.generate(["Hund", "Baum"], max_tokens=8, greedy=True)
    assert texts == [generator.generate(each, max_tokens=8, greedy=True) for each in ("Hund", "Baum")]
    assert texts == generator.generate(["Hund", "Baum"], max_tokens=8, temperature=0)
    samples = generator.samples("Hund", 3, max_tokens=8, temperature=1.5)
    assert len(samples) == 3 and len(set(samples)) > 1


def test_streaming(generator):
    parts = []
    text = generator.generate("Hund", max_tokens=12, on_text=parts.append)
    assert "".join(parts) == text and len(parts) > 1


def test_an_exception_in_the_callback_ends_the_generation(generator):
    calls = []

    def show(part):
        calls.append(part)
        raise ZeroDivisionError("enough")

    with pytest.raises(ZeroDivisionError, match="enough"):
        generator.generate("Hund", max_tokens=12, on_text=show)
    assert len(calls) == 1
    assert generator.generate("Hund", max_tokens=2) is not None  # it still works


def test_scores_and_attention(generator):
    assert generator.log_probability("rote Hund") < 0 and generator.perplexity("rote Hund") > 1
    trace = generator.attend("rote Hund")
    assert trace.decoder.ndim == 4 and trace.cross.size == 0 and trace.encoder.shape == (0, 0, 0, 0)
    assert not np.array_equal(trace.decoder[-1], generator.attend("rote Hund", ablate="decoder:1:all").decoder[-1])


@pytest.mark.parametrize("score", ["perplexity", "log_probability"])
def test_control_c_stops_scoring(generator, score):
    text = "rote Hund and dog. " * 500_000
    assert control_c_stops(lambda: getattr(generator, score)(text))
    assert generator.perplexity("rote Hund") > 1


def test_a_text_without_tokens_to_score_has_no_perplexity(generator):
    with pytest.raises(heed.Error, match="no tokens to score") as raised:
        generator.perplexity("")
    assert raised.value.kind == "usage"


def test_bad_input(generator, model_directory):
    with pytest.raises(heed.Error, match="top_p"):
        generator.generate("Hund", top_p=3.0)
    with pytest.raises(heed.Error, match="language model|marian"):
        heed.Generator(model_directory)
    with pytest.raises(TypeError, match="prompt must be a str or a list of str"):
        generator.generate(5)
    with pytest.raises(TypeError, match="seed cannot be 'x'"):
        generator.generate("Hund", seed="x")
    with pytest.raises(TypeError, match="single prompt"):
        generator.generate(["Hund"], on_text=print)
