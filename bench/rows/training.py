"""Training a Transformer on sentence pairs: `heed train` against PyTorch with Hugging Face's MarianMTModel.

Both train the same Transformer on the same tokenized pairs, in batches of the same number of target tokens. PyTorch
uses padded batches of similar lengths, fused AdamW, the label smoothing of its cross-entropy, and the same dropout.
Padding is not counted as tokens.
"""

import json
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from marian import marian_config  # noqa: E402
from training_contest import Peer, TrainingContest, serve, set_options  # noqa: E402

SHAPES = {
    "d128, 4+4, ffn 256, vocabulary 10k": dict(width=128, layers=4, heads=4, inner=256, vocabulary=10000),
    "d256, 3+3, ffn 1024, vocabulary 8k": dict(width=256, layers=3, heads=8, inner=1024, vocabulary=8000),
    "d512, 6+6, ffn 2048, vocabulary 16k": dict(width=512, layers=6, heads=8, inner=2048, vocabulary=16000),
}
# target tokens per step and target ratio, for each shape
GOALS = [{4096: 3.0, 512: 2.2}, {4096: 2.0, 512: 2.0}, {4096: 1.6, 512: 1.6}]
DROPOUT = 0.1


class Training(TrainingContest):
    unit = "target tokens/s"
    packages = ("torch", "transformers", "sentencepiece")
    file = __file__

    def __init__(self, options, shape_name, batch_tokens, goal, precision="highest"):
        super().__init__(options)
        self.shape, self.batch_tokens, self.goal = SHAPES[shape_name], batch_tokens, goal
        self.precision = precision
        self.name = f"training {shape_name}, {batch_tokens} target tokens a step"
        if precision != "highest":
            self.name += f", {precision} precision"
        self.operations = operations_per_target_token(self.shape)
        large = self.shape["width"] >= 512
        self.steps_a_turn = 10 if large else max(12, 60 * 1024 // batch_tokens)
        self.peer_seconds = 40 if large else 10

    def write_text(self):
        self.pairs = pairs_for(self.options, self.folder)

    def heed_arguments(self):
        return ["--pairs", self.pairs, "--batch-tokens", self.batch_tokens, "--precision", self.precision] + set_options(
            {
                "model.width": self.shape["width"],
                "model.encoder_layers": self.shape["layers"],
                "model.decoder_layers": self.shape["layers"],
                "model.heads": self.shape["heads"],
                "model.feed_forward_width": self.shape["inner"],
                "model.dropout": DROPOUT,
                "tokenizer.vocabulary": self.shape["vocabulary"],
                "averaging.kind": "none",
            }
        )

    def job(self):
        return dict(shape=self.shape, pairs=str(self.pairs), batch_tokens=self.batch_tokens, precision=self.precision)


def operations_per_target_token(shape):
    """Operations of the products with weights: two per weight and token, times three with the backward pass. As many
    source as target tokens; attention itself, a few per cent, is not counted."""
    d, inner = shape["width"], shape["inner"]
    encoder = shape["layers"] * (4 * d * d + 2 * d * inner)
    decoder = shape["layers"] * (8 * d * d + 2 * d * inner)
    return 6 * (encoder + decoder + d * shape["vocabulary"])


def pairs_for(options, folder):
    """The file of --pairs, or an artificial one."""
    if options.pairs:
        return Path(options.pairs)
    make_up_pairs(folder / "pairs.tsv")
    return folder / "pairs.tsv"


def make_up_pairs(path, lines=40000):
    """Sentences of artificial words, with frequencies by Zipf's law and realistic lengths."""
    generator = random.Random(1)
    syllables = [a + b + c for a in "bdfgklmnprstv" for b in "aeiou" for c in ("", "n", "r", "s")]
    dictionary = ["".join(generator.choices(syllables, k=generator.choice((1, 2, 2, 3, 3, 4)))) for _ in range(30000)]
    weights = [1 / (rank + 10) for rank in range(len(dictionary))]
    words = iter(generator.choices(dictionary, weights, k=lines * 64))

    def sentence(length):
        return " ".join(next(words) for _ in range(length)) + "."

    with open(path, "w", encoding="utf-8") as out:
        for _ in range(lines):
            length = min(30, 3 + int(generator.gammavariate(3, 2.5)))
            out.write(f"{sentence(length)}\t{sentence(max(2, length + generator.randint(-2, 2)))}\n")


def contests(options):
    for name, goals in zip(SHAPES, GOALS):
        for batch_tokens, goal in goals.items():
            yield Training(options, name, batch_tokens, goal)
        yield Training(options, name, 4096, None, "medium")


# ---- The peer, in its own process --------------------------------------------------------------------------


def read_batches(job):
    """Padded batches of sentences of similar length, with at most batch_tokens target tokens, in random order."""
    import sentencepiece
    import torch

    vocabulary = json.load(open(f"{job['model']}/vocab.json", encoding="utf-8"))
    pieces = sentencepiece.SentencePieceProcessor(model_file=f"{job['model']}/source.spm")
    end, unknown, pad = vocabulary["</s>"], vocabulary["<unk>"], vocabulary["<pad>"]

    def ids(text):
        return [vocabulary.get(p, unknown) for p in pieces.encode(text, out_type=str)] + [end]

    rows = []
    with open(job["pairs"], encoding="utf-8") as lines:
        for line in lines:
            if len(rows) == 40000:
                break
            source, target = line.rstrip("\n").split("\t")[:2]
            rows.append((ids(source), ids(target)))
    rows.sort(key=lambda row: (len(row[1]), len(row[0])))
    batches, batch, tokens = [], [], 0
    for row in rows:
        if batch and tokens + len(row[1]) > job["batch_tokens"]:
            batches.append(batch)
            batch, tokens = [], 0
        batch.append(row)
        tokens += len(row[1])

    def padded(sequences, value):
        longest = max(map(len, sequences))
        return torch.tensor([s + [value] * (longest - len(s)) for s in sequences])

    random.Random(1).shuffle(batches)
    made = []
    for batch in batches:
        source = padded([s for s, _ in batch], pad)
        made.append((source, (source != pad).long(), padded([t for _, t in batch], -100), sum(len(t) for _, t in batch)))
    return made, len(vocabulary), pad, end


class Torch(Peer):
    def __init__(self, job):
        import torch
        from transformers import MarianMTModel

        torch.set_num_threads(job["threads"])
        self.rounding = torch.autocast("cpu", torch.bfloat16, enabled=job["precision"] == "medium")
        self.torch, shape = torch, job["shape"]
        self.batches, size, pad, end = read_batches(job)
        config = marian_config(
            shape,
            size,
            pad,
            end,
            dropout=DROPOUT,
            attention_dropout=0.0,
            activation_dropout=0.0,
            max_position_embeddings=512,
        )
        self.model = MarianMTModel(config).train()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-5, betas=(0.9, 0.98), fused=True)
        self.loss = torch.nn.CrossEntropyLoss(label_smoothing=0.1, ignore_index=-100)
        self.next = 0

    def step(self):
        source, visible, labels, tokens = self.batches[self.next % len(self.batches)]
        self.next += 1
        start = self.torch.full_like(labels[:, :1], self.model.config.decoder_start_token_id)
        inputs = self.torch.cat([start, labels[:, :-1]], 1)
        inputs.masked_fill_(inputs == -100, self.model.config.pad_token_id)
        with self.rounding:
            logits = self.model(input_ids=source, attention_mask=visible, decoder_input_ids=inputs).logits
            loss = self.loss(logits.view(-1, logits.shape[-1]), labels.view(-1))
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return tokens


if __name__ == "__main__":
    serve(Torch)
