"""Small encoder-decoder models with random weights, as transformers writes them, for scripts/family-pictures."""

import itertools
import json

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

VOCABULARY = 4000
WIDTH, LAYERS, HEADS, INNER, POSITIONS = 128, 2, 4, 256, 128
STACKS = dict(d_model=WIDTH, encoder_layers=LAYERS, decoder_layers=LAYERS, encoder_attention_heads=HEADS,
              decoder_attention_heads=HEADS, encoder_ffn_dim=INNER, decoder_ffn_dim=INNER,
              max_position_embeddings=POSITIONS, dropout=0.1, bos_token_id=0, pad_token_id=1, eos_token_id=2,
              decoder_start_token_id=2)
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]


def texts(pairs):
    with pairs.open(encoding="utf-8") as lines:
        for line in itertools.islice(lines, 60000):
            yield from line.rstrip("\n").split("\t")


def sentencepiece_like(pairs, special, unknown):
    """A unigram tokenizer with ▁ for spaces, as the tokenizer.json of T5, NLLB and mBART has it in effect."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=VOCABULARY, special_tokens=special, unk_token=unknown,
                                      show_progress=False)
    tokenizer.train_from_iterator(texts(pairs), trainer)
    return tokenizer


def surround(tokenizer, template):
    """Puts the special tokens of a template such as "$A </s>" around a text."""
    names = [name for name in template.split() if name != "$A"]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=template, special_tokens=[(name, tokenizer.token_to_id(name)) for name in names])


def t5(pairs):
    tokenizer = sentencepiece_like(pairs, ["<pad>", "</s>", "<unk>"], "<unk>")
    surround(tokenizer, "$A </s>")
    config = transformers.T5Config(
        vocab_size=tokenizer.get_vocab_size(), d_model=WIDTH, d_kv=WIDTH // HEADS, d_ff=INNER, num_layers=LAYERS,
        num_heads=HEADS, decoder_start_token_id=0, feed_forward_proj="gated-gelu",
        scale_decoder_outputs=False)
    model = transformers.T5ForConditionalGeneration(config)
    torch.nn.init.normal_(model.shared.weight, std=0.05)  # T5's own 1.0 is for Adafactor; Adam learns it slowly
    names = {"tokenizer_class": "T5Tokenizer", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>",
             "extra_ids": 0}
    return tokenizer, model, names


def multilingual(pairs, languages, template):
    tokenizer = sentencepiece_like(pairs, SPECIAL, "<unk>")
    tokenizer.add_special_tokens([*languages, "<mask>"])
    surround(tokenizer, template)
    names = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>", "sep_token": "</s>",
             "cls_token": "<s>", "mask_token": "<mask>", "src_lang": languages[0], "tgt_lang": languages[1],
             "additional_special_tokens": languages}
    return tokenizer, names


def nllb(pairs):
    tokenizer, names = multilingual(pairs, ["deu_Latn", "eng_Latn"], "deu_Latn $A </s>")
    config = transformers.M2M100Config(vocab_size=tokenizer.get_vocab_size(), activation_function="relu", **STACKS)
    model = transformers.M2M100ForConditionalGeneration(config)
    return tokenizer, model, names | {"tokenizer_class": "NllbTokenizer"}


def mbart(pairs):
    tokenizer, names = multilingual(pairs, ["de_DE", "en_XX"], "de_DE $A </s>")
    config = transformers.MBartConfig(vocab_size=tokenizer.get_vocab_size(), activation_function="gelu",
                                      scale_embedding=True, forced_eos_token_id=2, **STACKS)
    model = transformers.MBartForConditionalGeneration(config)
    return tokenizer, model, names | {"tokenizer_class": "MBart50Tokenizer"}


def bart(pairs):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=VOCABULARY, special_tokens=[*SPECIAL, "<mask>"], show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(texts(pairs), trainer)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    config = transformers.BartConfig(vocab_size=tokenizer.get_vocab_size(), activation_function="gelu",
                                     forced_bos_token_id=0, forced_eos_token_id=2, **STACKS)
    names = {"tokenizer_class": "BartTokenizer", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>",
             "pad_token": "<pad>", "mask_token": "<mask>", "add_prefix_space": False}
    return tokenizer, transformers.BartForConditionalGeneration(config), names


def write(family, pairs, folder):
    """Writes the directory of a family: "t5", "bart", "mbart" (mBART-50) or "nllb"."""
    torch.manual_seed(1)
    tokenizer, model, names = {"t5": t5, "bart": bart, "mbart": mbart, "nllb": nllb}[family](pairs)
    model.save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps(names | {"model_max_length": POSITIONS}, indent=2))
