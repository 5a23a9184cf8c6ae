"""Training a small GPT on characters: `heed train --task lm` against PyTorch, both in nanoGPT's CPU configuration: 4
layers, 4 heads, width 128, blocks of 64 characters, batch size 12, no dropout.

PyTorch's model is the same: pre-norm, fused query, key and value projection, GELU, tied embeddings,
scaled_dot_product_attention with its causal mask, fused AdamW. Both read the same artificial text in blocks.
"""

import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from training_contest import Peer, TrainingContest, serve, set_options  # noqa: E402

WIDTH, LAYERS, HEADS, BLOCK, BATCH = 128, 4, 4, 64, 12


class LanguageModel(TrainingContest):
    unit = "tokens/s"
    goal = 2.0
    file = __file__
    steps_a_turn = 200

    def __init__(self, options):
        super().__init__(options)
        self.name = f"training GPT d{WIDTH}, {LAYERS} layers, blocks of {BLOCK} characters, {BATCH} a step"
        # Two operations per weight and token, times three with the backward pass; attention itself is not counted.
        self.operations = 6 * (LAYERS * 12 * WIDTH * WIDTH + WIDTH * len(ALPHABET))

    def write_text(self):
        self.text = self.folder / "text"
        generator = random.Random(1)
        words = ["".join(generator.choices(ALPHABET[1:], k=generator.randint(1, 9))) for _ in range(5000)]
        weights = [1 / (rank + 10) for rank in range(len(words))]
        self.text.write_text(" ".join(generator.choices(words, weights, k=200_000)), encoding="utf-8")

    def heed_arguments(self):
        return ["--task", "lm", "--text", self.text] + set_options(
            {
                "model.arch": "gpt2",
                "model.width": WIDTH,
                "model.layers": LAYERS,
                "model.heads": HEADS,
                "model.feed_forward_width": 4 * WIDTH,
                "model.max_length": BLOCK,
                "model.dropout": 0,
                "model.attention_dropout": 0,
                "tokenizer.type": "characters",
                "training.batch_tokens": BATCH * BLOCK,
                "training.block_size": BLOCK,
                "averaging.kind": "none",
            }
        )

    def job(self):
        return dict(text=str(self.text))


ALPHABET = " abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.,;:!?'-$&3"


def contests(options):
    yield LanguageModel(options)


# ---- The peer, in its own process --------------------------------------------------------------------------


class Torch(Peer):
    def __init__(self, job):
        import torch

        torch.set_num_threads(job["threads"])
        torch.manual_seed(1)
        self.torch = torch
        text = Path(job["text"]).read_text(encoding="utf-8")
        number = {character: n for n, character in enumerate(sorted(set(text)))}
        self.ids = torch.tensor([number[character] for character in text])
        self.model = self.make(len(number))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3, betas=(0.9, 0.99), fused=True)

    def make(self, vocabulary):
        torch, nn = self.torch, self.torch.nn

        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.norm_1, self.norm_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
                self.joined, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
                self.first, self.second = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

            def forward(self, x):
                batch, length, _ = x.shape
                parts = self.joined(self.norm_1(x)).split(WIDTH, dim=2)
                query, key, value = (part.view(batch, length, HEADS, -1).transpose(1, 2) for part in parts)
                mixed = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
                x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, WIDTH))
                return x + self.second(nn.functional.gelu(self.first(self.norm_2(x)), approximate="tanh"))

        class Gpt(nn.Module):
            def __init__(self):
                super().__init__()
                self.words, self.places = nn.Embedding(vocabulary, WIDTH), nn.Embedding(BLOCK, WIDTH)
                self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
                self.norm = nn.LayerNorm(WIDTH)

            def forward(self, ids):
                x = self.words(ids) + self.places(torch.arange(BLOCK))
                return nn.functional.linear(self.norm(self.blocks(x)), self.words.weight)

        return Gpt().train()

    def step(self):
        torch = self.torch
        begins = torch.randint(len(self.ids) - BLOCK - 1, (BATCH,))
        rows = torch.stack([self.ids[begin : begin + BLOCK + 1] for begin in begins])
        logits = self.model(rows[:, :-1])
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return BATCH * BLOCK


if __name__ == "__main__":
    serve(Torch)
