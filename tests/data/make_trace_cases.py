#!/usr/bin/env python3
"""Writes word_groups.json and packed_traces.json, the cases of traces that the tests of C++ and of JavaScript read,
with an implementation of its own of both rules (src/inspect/terminal/words.h, src/inspect/trace/trace_pack.h)."""
import base64
import json
import math
import pathlib
import struct

FOLDER = pathlib.Path(__file__).parent


def matrix(queries, keys, causal=False):
    """Rows that sum to 1, in 64ths, with the remainder on the last key that may have any."""
    rows = []
    for query in range(queries):
        seen = min(keys, query + 1) if causal else keys
        row = [(7 * query + 3 * key) % 5 / 64 for key in range(seen)] + [0] * (keys - seen)
        row[seen - 1] += 1 - sum(row)
        rows.append(row)
    return rows


def grouped(rows, query_words, key_words):
    """Sums over the keys of a word, means over its queries."""
    if not rows:
        return []
    result = [[0] * (key_words[-1] + 1) for _ in range(query_words[-1] + 1)]
    for query, row in enumerate(rows):
        for key, weight in enumerate(row):
            result[query_words[query]][key_words[key]] += weight / query_words.count(query_words[query])
    return result


def group_case(name, source, target, decoder, *, words, texts, **more):
    """`words`: of source, target and decoder tokens; `texts`: what these words are."""
    sides = dict(zip(("source", "target", "decoder"), words))
    queries = {"encoder": "source", "cross": "target", "decoder": "target" if source else "decoder"}
    keys = {"encoder": "source", "cross": "source", "decoder": "decoder"}
    attention, expected = {}, {}
    for stack in ("encoder", "cross", "decoder"):
        shape = len(sides[queries[stack]]), len(sides[keys[stack]])
        heads = [[matrix(*shape, causal=stack == "decoder"), []]] if all(shape) else []
        attention[stack] = heads
        expected[stack] = [[grouped(head, sides[queries[stack]], sides[keys[stack]]) for head in layer]
                           for layer in heads]
    tokens = {"source_tokens": source, "target_tokens": target, "decoder_tokens": decoder}
    trace = {"model": "m", "source": "s", "target": "t", **tokens, "heads": "all", "attention": attention, **more}
    return {"name": name, "trace": trace, "words": {**dict(zip(tokens, texts)), "attention": expected}}


def base64_of(form, numbers):
    return base64.b64encode(struct.pack(f"<{len(numbers)}{form}", *numbers)).decode()


def vectors(count, width, shift):
    """Numbers in 64ths of which the largest in each row is 127/64: int8 has them without rounding."""
    return [[127 / 64 if n == row % width else ((31 * row + 17 * n + shift) % 101 - 50) / 64 for n in range(width)]
            for row in range(count)]


def packed_case(name, queries, keys, width, scale, detailed):
    query, key, value = vectors(queries, width, 5), vectors(keys, width, 60), vectors(keys, width, 90)
    if detailed:  # one key that the first query gives almost nothing
        key[-1] = [-127 / 64 if n == 0 else number for n, number in enumerate(key[-1])]
    scores = [[scale * sum(a * b for a, b in zip(q, k)) for k in key] for q in query]
    sums = [math.log(sum(math.exp(score) for score in row)) for row in scores]
    weights = [[math.exp(score - total) for score in row] for row, total in zip(scores, sums)]
    head = {"weights": base64_of("e", sum(weights, []))}
    trace = {"model": "m", "source": "s", "target": "t", "source_tokens": [f"s{n}" for n in range(keys)],
             "target_tokens": [f"t{n}" for n in range(queries)], "decoder_tokens": [f"d{n}" for n in range(queries)],
             "heads": "all", "attention": {"encoder": [], "decoder": [], "cross": [[weights, []]]}}
    if detailed:
        rows = query + key + value
        head |= {"width": width, "scale": scale, "rows": base64_of("f", sums + [1 / 64] * len(rows)),
                 "vectors": base64_of("b", [round(64 * number) for row in rows for number in row])}
        trace["details"] = {"cross": [[{"width": width, "scale": scale, "query": query, "key": key, "value": value,
                                        "scores": scores}, None]]}
    return {"name": name, "trace": trace, "packed": {"encoder": [], "decoder": [], "cross": [[head, None]]}}


def write(name, cases):
    lines = ",\n ".join(json.dumps(case, ensure_ascii=True) for case in cases)
    (FOLDER / name).write_text(f"[\n {lines}\n]\n", encoding="utf-8")


write("word_groups.json", [
    group_case("pieces of words, and an end token", ["\u2581Das", "\u2581H", "aus", ".", "</s>"],
               ["\u2581The", "\u2581ho", "use", "</s>"], ["<pad>", "\u2581The", "\u2581ho", "use"],
               words=([0, 1, 1, 1, 2], [0, 1, 1, 2], [0, 1, 2, 2]),
               texts=(["Das", "Haus.", "</s>"], ["The", "house", "</s>"], ["<pad>", "The", "house"])),
    group_case("words that the trace brings along", ["[CLS]", "un", "##believ", "##able", "!", "[SEP]"],
               ["\u2581x"], ["</s>"], words=([0, 1, 1, 1, 2, 3], [0], [0]),
               texts=(["[CLS]", "unbelievable", "!", "[SEP]"], ["x"], ["</s>"]),
               source_words=[0, 1, 1, 1, 2, 3]),
    group_case("a language model, whose queries are what it reads", [], ["\u2581upon", "\u2581a", "time"],
               ["Once", "\u2581upon", "\u2581a"], words=([], [0, 1, 1], [0, 1, 2]),
               texts=([], ["upon", "atime"], ["Once", "upon", "a"])),
    group_case("bytes of one character", ["\u2581a", "<0xC3>", "<0xA4>", "\u2581b"], ["\u2581x"], ["</s>"],
               words=([0, 0, 0, 1], [0], [0]), texts=(["a\u00e4", "b"], ["x"], ["</s>"])),
])
write("packed_traces.json", [
    packed_case("weights alone", 2, 3, 2, 0.5, False),
    packed_case("with queries, keys, values and scores", 3, 4, 8, 1.0, True),
    packed_case("one position, one number", 1, 1, 1, 1.0, True),
])
