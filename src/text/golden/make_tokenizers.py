"""Writes tokenizers/NAME/case.json: ids and decoded text by Hugging Face's tokenizers and transformers.

    pip install transformers==5.23.0 tokenizers==0.23.3
    HEED_GOLDEN_OUT=/tmp/own build/bin/text_test --gtest_filter='OwnTokenizers.*'
    python make_tokenizers.py --own /tmp/own [--out tokenizers]

The tokenizers of Heed's own kinds (--own) are those that the test saves; AutoTokenizer reads them. The others are trained
here, and computed from tokenizer.json alone.
"""

import argparse
import json
import pathlib
import random
import shutil

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import AutoTokenizer

WORDS = (
    "the cat sat on a mat and saw the other cats in the house it's don't we've 12 345 2024 x1y2 Der Hund schläft im Haus "
    "größer Straße naïve café Дом дома 家 中文 日本語 😀 👩‍👩‍👧 e\u0301 İ ß ﬁ ½ _ __init__ () {} [] -- ... ?! , . ' \" <b> </b> &amp;"
).split()
ODD = [
    "", " ", "  ", "\n", "\t\t", " a", "a ", "  a  b  ", "a\n\nb", "a \n b", "▁", "▁a", " ▁ a", "a▁b", "<0x41>", "<0xE4>", "0x41>",
    "\u00a0a\u3000b", "\u200ba\u200d", "\x00a\x01\x7f", "a\u202eb", "....", "aaaaaaaa", "\U0001f642\U0001f3fd", "it's IT'S 'tis", "1234567890",
    "don't do not", "a . b , c ! d ? e", "[MASK", "##ing", "中文abc中文", "A" * 120, "Ａｂ", "\ufeffx", "é e\u0301 É", "ǅ ŉ ΐ Σς",
]


def texts(seed: int, count: int) -> list[str]:
    draw = random.Random(seed)
    made = []
    for _ in range(count):
        made.append("".join(draw.choice(WORDS) + draw.choice(["", " ", " ", " ", "  ", "\n"]) for _ in range(draw.randrange(1, 9))))
    return ODD + made


def corpus() -> list[str]:
    draw = random.Random(5)
    return [" ".join(draw.choice(WORDS) for _ in range(8)) for _ in range(400)]


def byte_bpe() -> Tokenizer:
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.train_from_iterator(corpus(), trainers.BpeTrainer(
        vocab_size=400, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), special_tokens=["<|endoftext|>"], show_progress=False))
    made.add_tokens([AddedToken("<tool>", normalized=False), AddedToken("Haus", single_word=True, normalized=False),
                     AddedToken("<l>", lstrip=True, normalized=False), AddedToken("<r>", rstrip=True, normalized=True)])
    return made


def marked_bpe(kind: str) -> Tokenizer:
    made = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    special = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    mark = [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    made.normalizer = normalizers.Sequence(mark)
    made.train_from_iterator(corpus(), trainers.BpeTrainer(
        vocab_size=480, special_tokens=special, limit_alphabet=50, show_progress=False))
    # The bytes are pieces of the model, not added tokens.
    file = json.loads(made.to_str())
    file["added_tokens"] = file["added_tokens"][:3]
    made = Tokenizer.from_str(json.dumps(file))
    if kind != "prepend":
        made.normalizer = None
        made.pre_tokenizer = pre_tokenizers.Metaspace("▁", prepend_scheme=kind, split=False)
    made.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    made.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", 1)])
    made.add_tokens([AddedToken("<tool>", normalized=False)])
    return made


def wordpiece(lowercase: bool) -> Tokenizer:
    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.WordPiece(cleanup=lowercase)
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    made.train_from_iterator(corpus(), trainers.WordPieceTrainer(vocab_size=300, special_tokens=special, show_progress=False))
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return made


def write_case(folder: pathlib.Path, library: str, cases: list[dict], **more) -> None:
    case = {"library": library, **more, "texts": cases}
    folder.joinpath("case.json").write_text(json.dumps(case, ensure_ascii=False) + "\n", encoding="utf-8")


def write_made(folder: pathlib.Path, made: Tokenizer, recipe: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    made.no_padding()
    folder.joinpath("tokenizer.json").write_text(json.dumps(json.loads(made.to_str()), ensure_ascii=False) + "\n", encoding="utf-8")
    more = ["a<tool>b <tool> c", "Haus Hausboot 1Haus Haus", "a <l> b<l>c", "a <r>  b<r>c"] if recipe != "wordpiece" else []
    rows = []
    for text in texts(7, 60) + more:
        row = {"text": text, "ids": made.encode(text).ids}
        row["decoded"] = made.decode(row["ids"], skip_special_tokens=True)
        if recipe != "wordpiece":
            row["special_ids"] = made.encode(f"x</s> {text}<|endoftext|>y").ids
        rows.append(row)
    pairs = []
    if recipe == "wordpiece":
        for first, second in zip(texts(8, 0)[20:30], texts(9, 20)[-10:]):
            encoded = made.encode(first, second)
            pairs.append({"first": first, "second": second, "ids": encoded.ids, "types": encoded.type_ids})
    write_case(folder, "tokenizers", rows, recipe=recipe, pairs=pairs)


def write_own(folder: pathlib.Path, source: pathlib.Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder)
    tokenizer = AutoTokenizer.from_pretrained(str(folder))
    known = set(json.loads((source / "vocab.json").read_text(encoding="utf-8"))) if (source / "vocab.json").exists() else None
    rows = []
    for text in texts(7, 60):
        if known is not None:
            text = "".join(c for c in text if c in known)
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        rows.append({"text": text, "ids": ids, "with_special": tokenizer(text)["input_ids"],
                     "decoded": tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)})
    write_case(folder, "transformers", rows)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--own", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent / "tokenizers")
    options = parser.parse_args()
    write_made(options.out / "byte_bpe", byte_bpe(), "byte_bpe")
    for kind in ("prepend", "first", "always"):
        write_made(options.out / f"marked_{kind}", marked_bpe(kind), "marked_bpe")
    for lowercase in (True, False):
        write_made(options.out / ("wordpiece_lower" if lowercase else "wordpiece_cased"), wordpiece(lowercase), "wordpiece")
    if options.own:
        for source in sorted(options.own.iterdir()):
            write_own(options.out / f"own_{source.name}", source)


if __name__ == "__main__":
    main()
