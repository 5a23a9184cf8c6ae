"""Training a GRU with Bahdanau attention: `heed train --arch rnn` against the same network of PyTorch layers, as in
tutorials: a packed bidirectional GRU encoder and a decoder loop with a GRUCell and teacher forcing. Attention keys are
projected once per sentence, and the logits of all positions are computed in one product. Pairs, pieces and batches are
those of rows/training.py.
"""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parent.parent)]
from training import pairs_for, read_batches  # noqa: E402
from training_contest import Peer, TrainingContest, serve, set_options  # noqa: E402

WIDTH, ENCODER, DECODER, ATTENTION, VOCABULARY = 256, 256, 512, 256, 8000
DROPOUT = 0.1
BATCH_TOKENS = 2048


class Recurrent(TrainingContest):
    unit = "target tokens/s"
    limit = None  # the steps of a recurrent network are small products, one after the other
    packages = ("torch", "sentencepiece")
    file = __file__
    steps_a_turn = 12
    peer_seconds = 20

    def __init__(self, options):
        super().__init__(options)
        self.name = f"training GRU with attention, {WIDTH} / {DECODER}, {BATCH_TOKENS} target tokens a step"

    def write_text(self):
        self.pairs = pairs_for(self.options, self.folder)

    def heed_arguments(self):
        return ["--pairs", self.pairs, "--batch-tokens", BATCH_TOKENS] + set_options(
            {
                "model.arch": "rnn",
                "model.width": WIDTH,
                "model.encoder_state_width": ENCODER,
                "model.decoder_state_width": DECODER,
                "model.attention_width": ATTENTION,
                "model.dropout": DROPOUT,
                "tokenizer.vocabulary": VOCABULARY,
                "averaging.kind": "none",
            }
        )

    def job(self):
        return dict(pairs=str(self.pairs), batch_tokens=BATCH_TOKENS)


def contests(options):
    yield Recurrent(options)


# ---- The peer, in its own process --------------------------------------------------------------------------


class Torch(Peer):
    def __init__(self, job):
        import torch

        torch.set_num_threads(job["threads"])
        self.torch = torch
        self.batches, size, self.pad, _ = read_batches(job)
        self.model = self.make(size)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-5, betas=(0.9, 0.98), fused=True)
        self.loss = torch.nn.CrossEntropyLoss(label_smoothing=0.1, ignore_index=-100)
        self.next = 0

    def make(self, vocabulary):
        torch, nn = self.torch, self.torch.nn

        class Network(nn.Module):
            def __init__(self):
                super().__init__()
                self.words, self.drop = nn.Embedding(vocabulary, WIDTH), nn.Dropout(DROPOUT)
                self.reader = nn.GRU(WIDTH, ENCODER, bidirectional=True, batch_first=True)
                self.begin = nn.Linear(ENCODER, DECODER)
                self.of_state = nn.Linear(DECODER, ATTENTION, bias=False)
                self.of_annotation = nn.Linear(2 * ENCODER, ATTENTION)
                self.score = nn.Linear(ATTENTION, 1, bias=False)
                self.cell = nn.GRUCell(WIDTH + 2 * ENCODER, DECODER)
                self.readout = nn.Linear(DECODER + 2 * ENCODER + WIDTH, WIDTH)
                self.bias = nn.Parameter(torch.zeros(vocabulary))

            def forward(self, source, visible, inputs):
                rnn = nn.utils.rnn
                packed = rnn.pack_padded_sequence(
                    self.drop(self.words(source)), visible.sum(1), batch_first=True, enforce_sorted=False
                )
                annotations, last = self.reader(packed)
                annotations = rnn.pad_packed_sequence(annotations, batch_first=True)[0]
                keys, hidden = self.of_annotation(annotations), visible[:, :, None] == 0
                state, words, steps = torch.tanh(self.begin(last[1])), self.drop(self.words(inputs)), []
                for t in range(inputs.shape[1]):
                    scores = self.score(torch.tanh(self.of_state(state)[:, None] + keys)).masked_fill(hidden, -1e9)
                    context = (scores.softmax(1) * annotations).sum(1)
                    state = self.cell(torch.cat([words[:, t], context], 1), state)
                    steps.append(torch.cat([state, context, words[:, t]], 1))
                readout = self.drop(torch.tanh(self.readout(torch.stack(steps, 1))))
                return nn.functional.linear(readout, self.words.weight, self.bias)

        return Network().train()

    def step(self):
        torch = self.torch
        source, visible, labels, tokens = self.batches[self.next % len(self.batches)]
        self.next += 1
        inputs = torch.cat([torch.full_like(labels[:, :1], self.pad), labels[:, :-1]], 1)
        logits = self.model(source, visible, inputs.masked_fill(inputs == -100, self.pad))
        self.loss(logits.flatten(0, 1), labels.flatten()).backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return tokens


if __name__ == "__main__":
    serve(Torch)
