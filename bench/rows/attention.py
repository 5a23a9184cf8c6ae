"""Scaled dot-product attention in float32: Heed's streaming attention against PyTorch's scaled_dot_product_attention.

Both get the same inputs in their preferred layout: Heed packed rows (tokens, heads * width), PyTorch contiguous (batch,
heads, tokens, width). Both allocate their results; "forward and backward" uses both automatic differentiations.
"""

import ctypes
import random

from harness import CallContest, CannotRun, Disagree, load_library

# batch, heads, tokens, head width, causal, and target ratio
FORWARD = [
    (32, 4, 32, 32, False, 3.0),
    (32, 8, 32, 64, False, 2.5),
    (8, 8, 128, 64, False, 1.6),
    (8, 8, 128, 64, True, 2.5),
    (1, 8, 512, 64, False, 1.35),
    (1, 8, 512, 64, True, 2.2),
    (1, 8, 2048, 64, False, 1.4),
    (1, 8, 2048, 64, True, 1.8),
    (1, 8, 4096, 64, True, 1.7),
]
# the same, with dropout before the ratio
BACKWARD = [
    (8, 8, 128, 64, False, 0.0, 2.0),
    (8, 8, 128, 64, True, 0.0, 3.0),
    (8, 8, 128, 64, False, 0.1, 4.0),
    (1, 8, 512, 64, False, 0.0, 1.3),
    (1, 8, 512, 64, False, 0.1, 4.0),
    (1, 8, 2048, 64, False, 0.0, 1.7),
    (1, 8, 2048, 64, True, 0.0, 2.0),
    (1, 8, 2048, 64, False, 0.1, 6.0),
]
RAGGED = (32, 8, 64)  # sentences, heads, width; lengths 5 to 60


class Case(ctypes.Structure):
    """HeedBenchAttention of bench/library/attention.cc."""

    _fields_ = [
        ("offsets", ctypes.c_void_p),
        ("sentences", ctypes.c_int64),
        ("heads", ctypes.c_int64),
        ("width", ctypes.c_int64),
        ("causal", ctypes.c_int64),
        ("dropout", ctypes.c_double),
        ("query", ctypes.c_void_p),
        ("key", ctypes.c_void_p),
        ("value", ctypes.c_void_p),
        ("upstream", ctypes.c_void_p),
    ]


class Attention(CallContest):
    limit = "float32"

    def __init__(self, options, lengths, heads, width, causal=False, dropout=0.0, backward=False, goal=None):
        self.options, self.lengths, self.heads, self.width = options, lengths, heads, width
        self.causal, self.dropout, self.backward, self.goal = causal, dropout, backward, goal
        ragged = len(set(lengths)) > 1
        tokens = "5 to 60" if ragged else lengths[0]
        self.name = f"attention {'forward and backward' if backward else 'forward'} {len(lengths)},{heads},{tokens},{width}"
        self.name += " causal" if causal else ""
        self.name += f" dropout {dropout}" if dropout else ""
        self.name += " packed, the peer padded" if ragged else ""
        # Two products forward; five backward, one of which recomputes the weights. Masked keys are not counted.
        pairs = sum(n * (n + 1) // 2 if causal else n * n for n in lengths)
        self.operations = 2 * (7 if backward else 2) * pairs * heads * width
        self.made = None

    def prepare(self):
        try:
            import numpy
            import torch
        except ImportError as missing:
            raise CannotRun(missing)
        self.torch, self.library = torch, load_library()
        torch.set_num_threads(self.options.threads)
        if self.options.threads != 1:
            raise CannotRun("one operation of Heed's is one thread's work")
        generator = numpy.random.default_rng(1)
        rows, columns = sum(self.lengths), self.heads * self.width
        self.packed = [generator.standard_normal((rows, columns), dtype=numpy.float32) for _ in range(4)]
        self.offsets = numpy.concatenate([[0], numpy.cumsum(self.lengths)]).astype(numpy.int32)
        self._make_heed(self.dropout)
        self._make_peer()

    def _make_heed(self, dropout):
        self._free()
        pointers = [array.ctypes.data for array in self.packed]
        case = Case(
            self.offsets.ctypes.data, len(self.lengths), self.heads, self.width, self.causal, dropout, *pointers
        )
        make = self.library.heed_bench_attention_make
        make.restype = ctypes.c_void_p
        self.made = ctypes.c_void_p(make(ctypes.byref(case)))

    def _make_peer(self):
        torch, longest = self.torch, max(self.lengths)
        self.padded, self.mask = [], None
        for packed in self.packed:
            full = torch.zeros(len(self.lengths), longest, self.heads, self.width)
            for n, length in enumerate(self.lengths):
                begin = self.offsets[n]
                full[n, :length] = torch.from_numpy(packed[begin : begin + length]).view(length, self.heads, self.width)
            self.padded.append(full.transpose(1, 2).contiguous())
        if min(self.lengths) < longest:
            visible = torch.arange(longest)[None, :] < torch.tensor(self.lengths)[:, None]
            self.mask = visible[:, None, None, :]
            self.padded[3] = self.padded[3] * visible[:, None, :, None]
        for tensor in self.padded[:3]:
            tensor.requires_grad_(self.backward)

    def _peer_result(self, dropout):
        """The output, or the output and its gradients."""
        torch, (query, key, value, upstream) = self.torch, self.padded
        attention = torch.nn.functional.scaled_dot_product_attention
        if not self.backward:
            with torch.inference_mode():
                return [attention(query, key, value, attn_mask=self.mask, is_causal=self.causal)]
        mixed = attention(query, key, value, attn_mask=self.mask, is_causal=self.causal, dropout_p=dropout)
        return [mixed, *torch.autograd.grad(mixed, (query, key, value), upstream)]

    def call_heed(self):
        work = self.library.heed_bench_attention_backward if self.backward else self.library.heed_bench_attention_forward
        work(self.made)

    def call_peer(self):
        self._peer_result(self.dropout)

    def compare(self):
        """All outputs. With dropout the masks would differ, so dropout is turned off."""
        import numpy

        if self.dropout:
            self._make_heed(0.0)
        self.call_heed()
        worst = 0.0
        for which, theirs in enumerate(self._peer_result(0.0)):
            ours = numpy.empty_like(self.packed[0])
            self.library.heed_bench_attention_result(self.made, which, ours.ctypes.data_as(ctypes.c_void_p))
            rows = theirs.detach().transpose(1, 2).flatten(2).numpy()
            rows = numpy.concatenate([rows[n, :length] for n, length in enumerate(self.lengths)])
            worst = max(worst, float(numpy.abs(ours - rows).max() / max(1.0, numpy.abs(rows).max())))
        if self.dropout:
            self._make_heed(self.dropout)
        # A relative error of epsilon per term of a sum, in both.
        allowed = 2 * 1.2e-7 * (max(self.lengths) + self.width)
        if not worst <= allowed:
            raise Disagree(f"by {worst:.1e} of the largest number, where {allowed:.1e} is rounding")
        return f"agree to {worst:.0e}" + (" without dropout" if self.dropout else "")

    def close(self):
        self._free()
        self.packed = self.padded = None

    def _free(self):
        if self.made:
            self.library.heed_bench_attention_free(self.made)
        self.made = None


def contests(options):
    for batch, heads, tokens, width, causal, goal in FORWARD:
        yield Attention(options, [tokens] * batch, heads, width, causal, goal=goal)
    for batch, heads, tokens, width, causal, dropout, goal in BACKWARD:
        yield Attention(options, [tokens] * batch, heads, width, causal, dropout, backward=True, goal=goal)
    sentences, heads, width = RAGGED
    generator = random.Random(1)
    lengths = [generator.randint(5, 60) for _ in range(sentences)]
    yield Attention(options, lengths, heads, width, goal=3.0)
    yield Attention(options, lengths, heads, width, backward=True, goal=3.0)
