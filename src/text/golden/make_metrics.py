"""Writes metrics/*/case.json: BLEU, chrF and TER of sacreBLEU 2.6.0 on awkward text.

pip install sacrebleu==2.6.0 && python make_metrics.py [--seed N] [--lines N] [--out FOLDER]
"""

import argparse
import json
import pathlib
import random
import warnings

from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest

WORDS = (
    'the cat sat on mat a dog\'s well-known U.S.A. 3.14 1,234.56 10-12 2019. e.g. etc., (hi) "quoted" &amp; &lt;b&gt;'
    " &quot; <skipped> a-b/c $5 50% #tag @you _x_ ~ `tick` it's . , ! ? ... -- -\n ß ẞ İstanbul ΣΟΦΟΣ ΟΔΥΣΣΕΥΣ ǅ ﬁ"
    " naïve Straße größer «mot» „Wort“ ‘x’ – — … € £5 ½ ² Ⅷ ٣٫١٤ १२,३ 我喜欢吃苹果。 今天,天气 日本語、です 한국어 Москва"
    " 😀 👩‍👩‍👧 e\u0301 \u0130 \u200b \ufeff x\u00ady"
).split(" ")
SPACES = [" "] * 12 + ["  ", "\t", "\u00a0", "\u3000", "\u2009", "\u2028", "\x1c", "\r"]


def line(rng, longest):
    text = "".join(rng.choice(WORDS) + rng.choice(SPACES) for _ in range(rng.randint(0, longest)))
    return text if rng.random() < 0.3 else text.strip()


def noisy(rng, text):
    """Text close to the given one, so that there are n-grams to find."""
    characters = list(text)
    for _ in range(rng.randint(0, 3)):
        if not characters:
            break
        position = rng.randrange(len(characters))
        action = rng.random()
        if action < 0.4:
            del characters[position]
        elif action < 0.7:
            characters.insert(position, rng.choice(" .,-5x'"))
        else:
            characters[position] = characters[position].swapcase()
    return "".join(characters)


def reordered(rng, text):
    """The words of the text with runs of them moved, one dropped and one repeated now and then."""
    words = text.split()
    for _ in range(rng.randint(0, 4)):
        start = rng.randint(0, len(words))
        end = min(len(words), start + rng.randint(1, 5))
        run = words[start:end]
        del words[start:end]
        position = rng.randint(0, len(words))
        words[position:position] = run if rng.random() < 0.8 else run * 2
    if words and rng.random() < 0.3:
        del words[rng.randrange(len(words))]
    return " ".join(words)


def bleu_rows(hypotheses, references):
    options = [
        dict(tokenize=t, lowercase=c, smooth_method="exp")
        for t in ("13a", "none", "char", "intl", "zh")
        for c in (False, True)
    ]
    options += [
        dict(tokenize=t, smooth_method="floor", smooth_value=v) for t, v in (("13a", 0.1), ("intl", 0.01))
    ]
    options += [dict(tokenize="intl", smooth_method="add-k", smooth_value=v) for v in (1, 0.5)]
    options += [
        dict(tokenize="none", smooth_method="none"),
        dict(tokenize="13a", smooth_method="exp", effective_order=True),
    ]
    options += [dict(tokenize="char", smooth_method="exp", max_ngram_order=6)]
    for option in options:
        metric = BLEU(force=True, **option)
        score = metric.corpus_score(hypotheses, references)
        single = BLEU(force=True, **{**option, "effective_order": True})
        yield dict(
            options=option,
            score=score.score,
            precisions=score.precisions,
            counts=score.counts,
            totals=score.totals,
            brevity_penalty=score.bp,
            hypothesis_length=score.sys_len,
            reference_length=score.ref_len,
            signature=str(metric.get_signature()),
            sentences=[
                single.sentence_score(h, [r[n] for r in references]).score for n, h in enumerate(hypotheses)
            ],
        )


def chrf_rows(hypotheses, references):
    options = [dict(word_order=w, lowercase=c, whitespace=False) for w in (0, 2) for c in (False, True)]
    options += [
        dict(word_order=0, whitespace=True),
        dict(word_order=2, eps_smoothing=True),
        dict(char_order=3, beta=1),
    ]
    for option in options:
        metric = CHRF(**option)
        score = metric.corpus_score(hypotheses, references)
        yield dict(
            options=option,
            score=score.score,
            name=score.name,
            signature=str(metric.get_signature()),
            sentences=[
                metric.sentence_score(h, [r[n] for r in references]).score for n, h in enumerate(hypotheses)
            ],
        )


def ter_rows(hypotheses, references):
    for option in (dict(), dict(case_sensitive=True)):
        metric = TER(**option)
        score = metric.corpus_score(hypotheses, references)
        yield dict(
            options=option,
            score=score.score,
            reference_length=score.ref_length,
            signature=str(metric.get_signature()),
            sentences=[
                metric.sentence_score(h, [r[n] for r in references]).score for n, h in enumerate(hypotheses)
            ],
        )


def paired_rows(hypotheses, references):
    """A system against a baseline, which is the first reference with words moved."""
    rng = random.Random("baseline")
    baseline = [reordered(rng, text) for text in references[0]]
    metrics = {"BLEU": BLEU(force=True), "chrF": CHRF(), "TER": TER()}
    for test, samples in (("bs", 100), ("ar", 100)):
        named = [("baseline", baseline), ("system", hypotheses)]
        signatures, results = PairedTest(named, metrics, references, test_type=test, n_samples=samples)()
        scores = {
            name: dict(
                signature=str(signature),
                **{
                    system: dict(score=float(r.score), mean=r.mean and float(r.mean), ci=r.ci and float(r.ci))
                    for system, r in zip(("baseline", "system"), results[name])
                },
                p_value=results[name][1].p_value,
            )
            for name, signature in signatures.items()
        }
        yield dict(test=test, samples=samples, baseline=baseline, scores=scores)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lines", type=int, default=12)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    arguments = parser.parse_args()
    cases = (("one_reference", 1, 12), ("three_references", 3, 9), ("short", 2, 3), ("reordered", 2, 70))
    for name, count, longest in cases:
        rng = random.Random(f"{arguments.seed}/{name}")
        truths = [line(rng, longest) for _ in range(arguments.lines)]
        change = reordered if name == "reordered" else noisy
        references = [[change(rng, t) for t in truths] for _ in range(count)]
        hypotheses = [change(rng, t) if rng.random() < 0.9 else line(rng, longest) for t in truths]
        case = dict(
            about="sacreBLEU 2.6.0; made by make_metrics.py",
            seed=arguments.seed,
            hypotheses=hypotheses,
            references=references,
            bleu=list(bleu_rows(hypotheses, references)),
            chrf=list(chrf_rows(hypotheses, references)),
            ter=list(ter_rows(hypotheses, references)),
            paired=list(paired_rows(hypotheses, references)),
        )
        folder = arguments.out / "metrics" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "case.json").write_text(json.dumps(case, indent=1) + "\n")


warnings.filterwarnings("ignore")
main()
