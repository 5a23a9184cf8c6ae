#!/usr/bin/env python3
"""Writes word_groups.json and packed_traces.json, the cases of traces that the tests of C++ and of JavaScript read,
with an implementation of its own of both rules (src/inspect/terminal/words.h, src/inspect/json/trace_pack.h)."""
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


def float32(number):
    return struct.unpack("<f", struct.pack("<f", number))[0]


def rounded(row):
    """int8 codes of a row of numbers, and their scale."""
    largest = max(abs(number) for number in row)
    scale = float32(largest / 127) if largest else 1
    return [math.floor(number / scale + 0.5) for number in row], scale


def dot(one, other):
    return sum(a * b for a, b in zip(one, other))


def packed_case(name, queries, keys, width, scale, detailed, *, cap=0, bias=None, distances=None, visible=None, fine=0):
    """`bias`, `visible`: rows, with what is added to the scores, and 0 for what is hidden; `distances`: the bias by
    key - query. `fine`: makes vectors that int8 rounds, with this share of noise."""
    noise = iter(range(1, 10000))
    query, key, value = ([[float32(number + fine * math.sin(next(noise))) for number in row] for row in rows]
                         for rows in (vectors(queries, width, 5), vectors(keys, width, 60), vectors(keys, width, 90)))
    if detailed:  # one key that the first query gives almost nothing
        key[-1] = [-127 / 64 if n == 0 else number for n, number in enumerate(key[-1])]
    if distances:
        bias = [[distances[k - q + queries - 1] for k in range(keys)] for q in range(queries)]
    products = [[dot(q, k) for k in key] for q in query]
    scores = [[scale * product for product in row] for row in products]
    if cap:
        scores = [[cap * math.tanh(score / cap) for score in row] for row in scores]
    if bias:
        scores = [[score + more for score, more in zip(*rows)] for rows in zip(scores, bias)]
    seen = visible or [[1] * keys] * queries
    sums = [math.log(sum(shown * math.exp(score) for score, shown in zip(*rows))) for rows in zip(scores, seen)]
    weights = [[shown * math.exp(score - total) for score, shown in zip(row, shows)]
               for row, total, shows in zip(scores, sums, seen)]
    head = {"weights": base64_of("e", sum(weights, []))}
    trace = {"model": "m", "source": "s", "target": "t", "source_tokens": [f"s{n}" for n in range(keys)],
             "target_tokens": [f"t{n}" for n in range(queries)], "decoder_tokens": [f"d{n}" for n in range(queries)],
             "heads": "all", "attention": {"encoder": [], "decoder": [], "cross": [[weights, []]]}}
    if detailed:
        codes = [rounded(row) for row in query + key + value]
        lacking = []
        for q in range(queries):
            for k in range(keys):
                (q_codes, q_scale), (k_codes, k_scale) = codes[q], codes[queries + k]
                half = struct.unpack("<e", struct.pack("<e", weights[q][k]))[0]
                if cap or half < 2 ** -14:
                    lacking.append(products[q][k] - q_scale * k_scale * dot(q_codes, k_codes))
        corrections, step = rounded(lacking) if lacking else ([], 0)
        head |= {"width": width, "scale": scale,
                 "rows": base64_of("f", sums + [each for _, each in codes] + ([step] if lacking else [])),
                 "vectors": base64_of("b", sum((row for row, _ in codes), []))}
        detail = {"width": width, "scale": scale, "query": query, "key": key, "value": value, "scores": scores}
        if lacking:
            head["corrections"] = base64_of("b", corrections)
        if cap:
            head["cap"] = detail["cap"] = cap
        if bias:
            detail["bias"] = bias
            head |= {"distances": base64_of("f", distances)} if distances else {"bias": base64_of("e", sum(bias, []))}
        if visible:
            detail["visible"] = visible
            bits = sum(1 << n for n, shown in enumerate(sum(visible, [])) if not shown)
            head["hidden"] = base64.b64encode(bits.to_bytes((queries * keys + 7) // 8, "little")).decode()
        trace["details"] = {"cross": [[detail, None]]}
    return {"name": name, "trace": trace, "packed": {"encoder": [], "decoder": [], "cross": [[head, None]]}}


def window(queries, keys, left, right):
    return [[int(query - left <= key <= query + right) for key in range(keys)] for query in range(queries)]


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
               source_words=[0, 1, 1, 1, 2, 3], word_pieces=True),
    group_case("number signs that a text spells, of other tokenizers", ["<s>", "a", "##b", "\u2581c", "</s>"],
               ["\u2581x"], ["</s>"], words=([0, 1, 1, 2, 3], [0], [0]),
               texts=(["<s>", "a##b", "c", "</s>"], ["x"], ["</s>"]), source_words=[0, 1, 1, 2, 3]),
    group_case("a language model, whose queries are what it reads", [], ["\u2581upon", "\u2581a", "time"],
               ["Once", "\u2581upon", "\u2581a"], words=([], [0, 1, 1], [0, 1, 2]),
               texts=([], ["upon", "atime"], ["Once", "upon", "a"])),
    group_case("a start token that the trace knows as a word", [], ["On", "ce", "\u2581a"],
               ["<|begin_of_text|>", "On", "ce"], words=([], [0, 0, 1], [0, 1, 1]),
               texts=([], ["Once", "a"], ["<|begin_of_text|>", "Once"]), decoder_words=[0, 1, 1]),
    group_case("bytes of one character", ["\u2581a", "<0xC3>", "<0xA4>", "\u2581b"], ["\u2581x"], ["</s>"],
               words=([0, 0, 0, 1], [0], [0]), texts=(["a\u00e4", "b"], ["x"], ["</s>"])),
])
write("packed_traces.json", [
    packed_case("weights alone", 2, 3, 2, 0.5, False),
    packed_case("with queries, keys, values and scores", 3, 4, 8, 1.0, True),
    packed_case("one position, one number", 1, 1, 1, 1.0, True),
    packed_case("a sliding window, and vectors that are rounded", 6, 6, 8, 0.5, True, visible=window(6, 6, 2, 0), fine=0.2),
    packed_case("a symmetric window", 5, 5, 4, 0.25, True, visible=window(5, 5, 1, 1)),
    packed_case("a soft cap", 3, 5, 8, 1.0, True, cap=1.5, fine=0.2),
    packed_case("a bias of distances, and the look-ahead mask", 4, 4, 4, 1.0, True,
                distances=[0.25, -1.5, 2, 0.125, -0.75, 1.25, -3], visible=window(4, 4, 4, 0)),
    packed_case("a bias of pairs", 2, 3, 4, 0.5, True, bias=[[0.5, -1, 2], [-2.25, 0, 0.75]]),
    packed_case("a soft cap and a bias of distances", 2, 3, 4, 0.5, True, cap=0.75, distances=[-8, 0.5, -0.75, 1]),
])
