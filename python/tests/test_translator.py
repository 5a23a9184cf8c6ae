"""heed.Translator gives what the command gives, lets other threads run, and refuses bad input."""

import json
import threading
import time

import numpy as np
import pytest

import heed

TEXTS = ["Der Hund schläft.", "", "Wo ist der Bahnhof? Ich habe mich verlaufen.", "Siehe https://example.org/a?b=1."]


def test_translates_as_the_command(translator, command):
    assert translator.translate(TEXTS) == command("translate", "--pair", "de-en", *TEXTS).splitlines()
    assert translator.translate(TEXTS, beam=1) == command(
        "translate", "--pair", "de-en", "--beam", "1", *TEXTS
    ).splitlines()


def test_a_text_gives_a_text(translator):
    assert translator.translate(TEXTS[0]) == translator.translate(TEXTS)[0]
    assert translator.translate([]) == []
    assert translator.translate(iter(TEXTS)) == translator.translate(tuple(TEXTS))


def test_details(translator):
    found = translator.translate(TEXTS, beam=4, nbest=3, details=True)
    assert [each.text for each in found] == translator.translate(TEXTS, beam=4)
    best = found[0]
    assert len(best.alternatives) == 2 and best.text not in [each.text for each in best.alternatives]
    scores = [best.score, *(each.score for each in best.alternatives)]
    assert scores == sorted(scores, reverse=True) and scores[0] > scores[2]
    assert best.pieces[-1] == "</s>"
    assert translator.log_probability(TEXTS[0], best.text) == pytest.approx(best.log_probability, abs=1e-4)
    assert translator.translate(TEXTS[0], details=True).text == best.text


def test_a_text_passes_through_several_models(model_directory, command):
    directories = [model_directory, model_directory.parent / "en-es"]
    chain = heed.Translator(directories)
    assert chain.translate(TEXTS) == command("translate", "--pair", "de-es", *TEXTS).splitlines()
    assert repr(chain) == f"heed.Translator({[str(each) for each in directories]!r})"
    found = chain.translate(TEXTS[0], nbest=2, alignment=True, details=True)
    assert found.intermediate == [heed.Translator(model_directory).translate(TEXTS[0])]
    assert found.text == heed.Translator(directories[1]).translate(found.intermediate[0])
    assert (1, 1) in found.alignment and len(found.alternatives) == 1
    assert chain.translate_document("<b>Der Hund</b>", "html").startswith("<b>")
    for call in [lambda: chain.attend(TEXTS[0]), lambda: chain.log_probability(TEXTS[0], "El perro.")]:
        with pytest.raises(heed.Error, match="one model"):
            call()
    with pytest.raises(heed.Error, match="ablate"):
        chain.translate(TEXTS[0], ablate="cross:1:1")
    with pytest.raises(heed.Error, match="reads de, but the model before it writes es"):
        heed.Translator(directories[::-1])
    with pytest.raises(heed.Error, match="source_language"):
        heed.Translator(directories, source_language="de")
    with pytest.raises(heed.Error, match="at least one"):
        heed.Translator([])
    with pytest.raises(TypeError, match="directory must be a path"):
        heed.Translator([model_directory, 5])


def test_options(translator):
    text = "Der Hund schläft. Die Katze auch."
    assert translator.translate(text, split_sentences=False) != ""
    assert "hound" in translator.translate(TEXTS[0], glossary={"Hund": "hound"})
    assert translator.translate(TEXTS[0], glossary=[("Hund", "hound")]) == translator.translate(
        TEXTS[0], glossary={"Hund": "hound"}
    )


def command_json(command, *arguments):
    return [json.loads(line) for line in command("translate", "--pair", "de-en", "--json", *arguments).splitlines()]


@pytest.mark.parametrize(
    "options, arguments",
    [
        ({"max_length": 5, "split_sentences": False}, ["--max-length", "5", "--no-split-sentences"]),
        ({"no_repeat_ngram": 1, "length_penalty": 0.5}, ["--no-repeat-ngram", "1", "--length-penalty", "0.5"]),
        ({"prefix": "And"}, ["--prefix", "And"]),
        ({"require": "now", "forbid": ["dog", "station*"]}, ["--require", "now", "--forbid", "dog", "--forbid", "station*"]),
        ({"sample": True, "temperature": 1.5, "top_k": 50, "top_p": 0.9, "seed": 7, "nbest": 2},
         ["--sample", "--temperature", "1.5", "--top-k", "50", "--top-p", "0.9", "--seed", "7", "--nbest", "2"]),
        ({"ablate": ["cross:1:all"]}, ["--ablate", "cross:1:all"]),
        ({"alignment": True, "beam": 1}, ["--alignment", "--beam", "1"]),
        ({"confidence": True, "beam": 1}, ["--confidence", "--beam", "1"]),
    ],
)  # fmt: skip
def test_every_option_of_the_command(translator, command, options, arguments):
    texts = [TEXTS[0], TEXTS[2]]
    found = translator.translate(texts, details=True, **options)
    expected = command_json(command, *arguments, *texts)
    assert [each.text for each in found] == [each["translation"] for each in expected]
    assert [each.score for each in found] == [each["score"] for each in expected]
    if "confidence" in options:
        assert [each.confidence for each in found] == [each["confidence"] for each in expected]
        assert [each.word_confidence for each in found] == [each["word_confidence"] for each in expected]
    if "alignment" in options:
        assert [each.alignment for each in found] == [[tuple(link) for link in each["alignment"]] for each in expected]
        assert found[0].alignment
    else:
        usual = translator.translate(texts, details=True)
        assert [(each.text, each.score, each.word_confidence) for each in found] != [
            (each.text, each.score, each.word_confidence) for each in usual
        ]
        assert not found[0].alignment
    if "nbest" in options:
        texts = [each.text for each in found[0].alternatives]
        assert texts == [each["translation"] for each in expected[0]["alternatives"]]


def test_several_translations_need_details(translator):
    with pytest.raises(heed.Error, match=r"nbest=3 needs details=True") as raised:
        translator.translate("a", beam=4, nbest=3)
    assert raised.value.kind == "usage"


def test_repr(translator, model_directory):
    assert repr(heed.Translator(model_directory)) == f"heed.Translator({str(model_directory)!r})"
    chosen = heed.Translator(model_directory, threads=1, precision="int8", shortlist=False)
    assert repr(chosen) == f"heed.Translator({str(model_directory)!r}, threads=1, precision='int8', shortlist=False)"


def test_a_derived_class_has_arguments_of_its_own(model_directory):
    class German(heed.Translator):
        def __init__(self, threads=1):
            super().__init__(model_directory, threads)

    assert German().translate("Der Hund schläft.") == heed.Translator(model_directory).translate("Der Hund schläft.")
    assert repr(German()) == f"German({str(model_directory)!r}, threads=1)"


def test_documents(translator, command):
    page = "<p>Der <b>Hund</b> schläft.</p><pre>Hund</pre>"
    translated = translator.translate_document(page, "html", beam=1)
    assert translated == command("translate", "--pair", "de-en", "--format", "html", "--beam", "1", page)[:-1]
    assert translated.endswith("<pre>Hund</pre>") and "<b>" in translated
    assert translator.translate_document("# Der Hund\n", "markdown").startswith("# ")


def test_warnings_of_documents(translator):
    """Of a translation that lost a number."""
    options = {"forbid": ["7", "seven"]}
    found = translator.translate_document("<p>Ich habe <b>7</b> Hunde.</p>", "html", details=True, **options)
    assert found.text == translator.translate_document("<p>Ich habe <b>7</b> Hunde.</p>", "html", **options)
    assert found.warnings[0] == 'the translation lacks "7"'
    assert translator.translate_document("<p>Der Hund</p>", "html", details=True).warnings == []


def test_int8(model_directory, command):
    translator = heed.Translator(model_directory, precision="int8")
    found = translator.translate(TEXTS[0], details=True)
    expected = command_json(command, "--precision", "int8", TEXTS[0])[0]
    assert (found.text, found.score) == (expected["translation"], expected["score"])
    assert found.score != heed.Translator(model_directory, precision="float32").translate(TEXTS[0], details=True).score


def test_shortlist(model_directory, command):
    scores = {}
    for shortlist, value in ((True, "on"), (False, "off")):
        translator = heed.Translator(model_directory, precision="float32", shortlist=shortlist)
        found = translator.translate(TEXTS[0], beam=1, details=True)
        arguments = ("--precision", "float32", "--beam", "1", "--shortlist", value, TEXTS[0])
        scores[value] = found.score
        assert found.score == command_json(command, *arguments)[0]["score"]
    assert scores["on"] != scores["off"]


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda t: t.translate(7), "text must be a str or a list of str, not int"),
        (lambda t: t.translate(b"bytes"), "not bytes"),
        (lambda t: t.translate(["a", None]), r"text\[1\] must be a str, not NoneType"),
        (lambda t: t.translate("a", beam="4"), "beam cannot be '4'"),
        (lambda t: t.translate("a", sampling=True), "sampling"),
        (lambda t: t.translate("a", require=[1]), r"require\[0\] must be a str"),
        (lambda t: t.translate("a", prefix=1), "prefix must be a str, not int"),
        (lambda t: t.translate("a", glossary=5), "glossary must be a dict of str or a list of pairs"),
        (lambda t: t.translate("a", glossary="Hund"), "glossary must be a dict of str or a list of pairs"),
        (lambda t: t.translate("a", glossary=[("Hund",)]), r"glossary\[0\] must be a pair of str"),
        (lambda t: t.translate("a", glossary={"Hund": 1}), r"glossary\[0\] must be a pair of str"),
        (lambda t: t.translate("a", max_length="long"), "max_length cannot be 'long'"),
        (lambda t: t.translate("a", seed=-1), "seed cannot be -1"),
        (lambda t: t.attend(["a"]), "text must be a str, not list"),
        (lambda t: heed.Translator(3), "directory must be a path"),
        (lambda t: heed.Translator("a", threads="two"), "threads"),
    ],
)
def test_wrong_types(translator, call, words):
    with pytest.raises(TypeError, match=words):
        call(translator)


@pytest.mark.parametrize(
    "call, kind, words",
    [
        (lambda t: heed.Translator("/no/such/model"), "not_found", "/no/such/model"),
        (lambda t: t.translate("a", beam=5000), "usage", "beam must be an integer from 1 to 1024, not 5000"),
        (lambda t: t.translate("a", beam=2, nbest=3), "usage", "nbest"),
        (lambda t: t.translate("a", max_length=1), "usage", "max_length must be an integer from 2"),
        (lambda t: t.translate("a", temperature=0.5), "usage", "temperature only works with sample"),
        (lambda t: t.translate("a", sample=True, beam=2), "usage", "beam and sample exclude"),
        (lambda t: t.translate("a", prefix="the dog", forbid="dog"), "usage", "prefix contains 'dog'"),
        (lambda t: t.translate("a", ablate="cross:9:1"), "usage", "there is no head 1 in layer 9"),
        (lambda t: t.translate_document("a", "pdf"), "usage", "html or markdown"),
        (lambda t: heed.Translator("models/de-en", precision="int3"), "usage", "float32, int8, int4, bfloat16"),
        (lambda t: t.attend(""), "usage", "no tokens|empty"),
        (lambda t: t.attend("Hund", ablate="cross:9:1"), "usage", "there is no head 1 in layer 9"),
        (lambda t: t.attend("Hund", ablate=["encoder"]), "usage", "stack:layer:head"),
    ],
)
def test_bad_input(translator, call, kind, words):
    with pytest.raises(heed.Error, match=words) as raised:
        call(translator)
    assert raised.value.kind == kind


def test_lone_surrogates_are_refused(translator):
    with pytest.raises(ValueError, match=r"text\[1\] has half of a surrogate pair at index 4"):
        translator.translate(["ja", "ein \ud800"])
    with pytest.raises(ValueError, match="text has half of a surrogate pair at index 0"):
        translator.translate("\udc80")


def test_the_gil_is_released(translator):
    ticks, done = [], False

    def tick():
        while not done:
            ticks.append(1)
            time.sleep(0.002)

    thread = threading.Thread(target=tick)
    thread.start()
    during = 0
    for _ in range(50):  # on a busy machine, the thread may not get its turn while a call lasts
        before = len(ticks)
        translator.translate(["Ich weiß nicht, ob das stimmt."] * 60)
        during = len(ticks) - before
        if during > 3:
            break
    done = True
    thread.join()
    assert during > 3  # while a call that keeps it lets at most one through


def test_several_threads(translator):
    expected = translator.translate(TEXTS)
    results = [None] * 4

    def work(index):
        results[index] = translator.translate(TEXTS)

    threads = [threading.Thread(target=work, args=[index]) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 4


def test_heads_switched_off(translator):
    plain, without = translator.attend(TEXTS[0]), translator.attend(TEXTS[0], ablate="cross:all:all")
    assert plain.target != without.target
    one = translator.attend(TEXTS[0], target=plain.target, ablate=["encoder:1:2", "decoder:2:all"])
    assert one.target_tokens == plain.target_tokens
    assert not np.array_equal(one.cross[-1], plain.cross[-1])
