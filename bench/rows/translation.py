"""Translation of many sentences and of a single one: Heed's search against CTranslate2 on the same weights.

The models are Marian Transformers with random weights, written by Hugging Face's transformers and converted for
CTranslate2. Sources have 8 to 32 random ids; every translation has exactly 24 tokens, so that both do the same work.
Both are called in this process on ids, without tokenization. With --pairs there are also rows of the whole command with
the bundled model, on the first column of that file.
"""

import ctypes
import random
import shutil
import tempfile
from pathlib import Path

from harness import ROOT, CannotRun, Contest, Disagree, clock, clock_of_commands, load_library
from marian import marian_config
from peer_process import require_heed_and
from training_contest import run_and_measure

SHAPES = {
    "d512, 6+6, ffn 2048, vocabulary 32k": dict(width=512, layers=6, heads=8, inner=2048, vocabulary=32000),
    "d256, 3+3, ffn 1024, vocabulary 8k": dict(width=256, layers=3, heads=8, inner=1024, vocabulary=8000),
}
# beam size and batch size, with target ratios in float32 and int8
WORK = [("beam 4, batch 32", 4, 32), ("greedy, batch 32", 1, 32), ("greedy, one sentence", 1, 1)]
GOALS = {
    "d512": {"float32": (1.5, 1.8, 1.2), "int8": (2.5, 2.2, 1.2)},
    "d256": {"float32": (1.5, 1.8, 1.3), "int8": (3.0, 2.2, 1.3)},
}
TOKENS = 24  # of every translation
SENTENCES = 64
BUNDLED = "models/de-en"


class Wanted(ctypes.Structure):
    """HeedBenchTranslation of bench/library/translation.cc."""

    _fields_ = [
        ("ids", ctypes.c_void_p),
        ("offsets", ctypes.c_void_p),
        ("sentences", ctypes.c_int64),
        ("beam", ctypes.c_int64),
        ("batch", ctypes.c_int64),
        ("tokens", ctypes.c_int64),
        ("output", ctypes.c_void_p),
    ]


class Translation(Contest):
    unit = "tokens/s"

    def __init__(self, options, model, model_name, precision, work, goal):
        self.options, self.model, self.precision, self.goal = options, model, precision, goal
        work_name, self.beam, self.batch = work
        self.name = f"translation {model_name}, {precision}: {work_name}"
        self.opened = None

    def sources(self):
        """Lists of ids without the end token."""
        generator = random.Random(1)
        most = self.model.shape["vocabulary"] - 3
        count = SENTENCES if self.batch > 1 else 8
        return [[generator.randint(2, most) for _ in range(generator.randint(8, 32))] for _ in range(count)]

    def prepare(self):
        try:
            import ctranslate2
            import numpy
        except ImportError as missing:
            raise CannotRun(missing)
        if self.options.threads != 1:
            raise CannotRun("one search of Heed's is one thread's work")
        self.model.make()
        self.library = load_library()
        self.library.heed_bench_translation_open.restype = ctypes.c_void_p
        self.opened = self.library.heed_bench_translation_open(
            str(self.model.heed).encode(), self.precision.encode()
        )
        if not self.opened:
            raise CannotRun("Heed does not open the model")
        self.opened = ctypes.c_void_p(self.opened)
        self.peer_translator = ctranslate2.Translator(
            str(self.model.peer), compute_type=self.precision, intra_threads=1, inter_threads=1
        )
        sources = self.sources()
        self.pieces = [self.model.pieces_of(source) for source in sources]
        with_end = [source + [self.model.end] for source in sources]
        self.ids = numpy.array([id for source in with_end for id in source], dtype=numpy.int32)
        self.offsets = numpy.cumsum([0] + [len(source) for source in with_end]).astype(numpy.int64)
        self.output = numpy.zeros((len(sources), TOKENS), dtype=numpy.int32)

    def call_heed(self):
        wanted = Wanted(
            self.ids.ctypes.data,
            self.offsets.ctypes.data,
            len(self.pieces),
            self.beam,
            self.batch,
            TOKENS,
            self.output.ctypes.data,
        )
        self.library.heed_bench_translation_run(self.opened, ctypes.byref(wanted))

    def call_peer(self):
        return self.peer_translator.translate_batch(
            self.pieces,
            beam_size=self.beam,
            max_batch_size=self.batch,
            min_decoding_length=TOKENS,
            max_decoding_length=TOKENS,
        )

    def compare(self):
        """The share of equal tokens. In int8 the two round differently, so no agreement is required."""
        self.call_heed()
        same = total = 0
        for ours, theirs in zip(self.output.tolist(), self.call_peer()):
            pieces = theirs.hypotheses[0]
            same += sum(self.model.pieces_of([a]) == [b] for a, b in zip(ours, pieces))
            total += len(ours)
        if self.precision == "float32" and same < 0.98 * total:
            raise Disagree(f"only {same} of {total} words are the same")
        return f"{same} of {total} words the same"

    def _rate(self, call):
        begin = clock()
        call()
        return len(self.pieces) * TOKENS / (clock() - begin)

    def heed(self):
        return self._rate(self.call_heed)

    def peer(self):
        return self._rate(self.call_peer)

    def close(self):
        if self.opened:
            self.library.heed_bench_translation_close(self.opened)
        self.opened = self.peer_translator = None


class WholeTranslation(Contest):
    """The bundled model and real sentences: `heed translate` from start to exit against CTranslate2's translate_batch
    alone, on tokens that were prepared beforehand. Each ends translations by its own rules."""

    unit = "sentences/s"

    def __init__(self, options, model, precision, work):
        self.options, self.model, self.precision = options, model, precision
        self.work, self.beam, self.batch = work
        self.name = f"heed translate {BUNDLED}, {precision}: {self.work}"
        self.folder = None

    def prepare(self):
        self.command = require_heed_and(("ctranslate2", "transformers", "sentencepiece"))
        import ctranslate2

        self.model.make()
        self.folder = Path(tempfile.mkdtemp())
        with open(self.options.pairs, encoding="utf-8") as lines:
            texts = [line.split("\t")[0].rstrip("\n") for line in lines]
        self.texts = [text for text in texts if text.strip()]
        (self.folder / "source.txt").write_text("".join(f"{text}\n" for text in self.texts), encoding="utf-8")
        self.pieces = [self.model.pieces_of(self.model.ids_of(text)) for text in self.texts]
        self.translator = ctranslate2.Translator(
            str(self.model.peer), compute_type=self.precision, intra_threads=self.options.threads, inter_threads=1
        )

    def compare(self):
        self._translate()
        ours = (self.folder / "target.txt").read_text(encoding="utf-8").splitlines()
        theirs = [self.model.text_of(found.hypotheses[0]) for found in self._peer_translate()]
        same = sum(a == b for a, b in zip(ours, theirs))
        if self.precision == "float32" and same < 0.5 * len(ours):  # Heed compares values after search, and ends elsewhere
            raise Disagree(f"only {same} of {len(ours)} translations are the same")
        return f"{same} of {len(ours)} translations the same"

    def _translate(self):
        command = [self.command, "translate", "--model", self.model.heed, "--precision", self.precision]
        command += ["--beam", self.beam, "--threads", self.options.threads, "--quiet"]
        command += ["--input", self.folder / "source.txt", "--output", self.folder / "target.txt"]
        run_and_measure([str(each) for each in command])

    def _peer_translate(self):
        return self.translator.translate_batch(self.pieces, beam_size=self.beam, max_batch_size=self.batch)

    def heed(self):
        begin = clock_of_commands()
        self._translate()
        return len(self.texts) / (clock_of_commands() - begin)

    def peer(self):
        begin = clock()
        self._peer_translate()
        return len(self.texts) / (clock() - begin)

    def close(self):
        self.translator = None
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)


class Model:
    """The model in both formats, created on first use and removed with the last row that uses it."""

    folder, made = None, False

    def make(self):
        if self.made:
            return
        self.folder = self.folder or Path(tempfile.mkdtemp())
        self.peer = self.folder / "peer"
        try:
            self.fill()
        except ImportError as missing:
            raise CannotRun(missing)
        self.made = True

    def __del__(self):
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)


class RandomModel(Model):
    def __init__(self, shape):
        self.shape = shape

    def fill(self):
        import torch
        from ctranslate2.converters.transformers import MarianMTLoader
        from transformers import MarianMTModel

        torch.manual_seed(1)
        shape = self.shape
        pad = shape["vocabulary"] - 1
        self.end = 0
        config = marian_config(shape, shape["vocabulary"], pad, self.end, max_position_embeddings=128, init_std=0.06)
        self.heed = self.folder / "heed"
        model = MarianMTModel(config).eval()
        model.save_pretrained(self.heed)
        tokens = [f"t{id}" for id in range(pad)]
        tokens[self.end], tokens[1] = "</s>", "<unk>"
        loader = MarianMTLoader()
        specification = loader.get_model_spec(model)
        specification.register_source_vocabulary(tokens)
        specification.register_target_vocabulary(tokens)
        specification.config.eos_token = "</s>"
        specification.config.unk_token = "<unk>"
        specification.config.decoder_start_token = "</s>"
        specification.config.add_source_eos = True
        specification.validate()
        specification.optimize()
        self.peer.mkdir()
        specification.save(str(self.peer))
        self.tokens = tokens

    def pieces_of(self, ids):
        return [self.tokens[id] for id in ids]


class BundledModel(Model):
    def __init__(self, name):
        self.heed = ROOT / name

    def fill(self):
        from ctranslate2.converters import TransformersConverter
        from transformers import MarianTokenizer

        self.tokenizer = MarianTokenizer.from_pretrained(self.heed)
        self.end = self.tokenizer.eos_token_id
        TransformersConverter(str(self.heed)).convert(str(self.peer))

    def ids_of(self, text):
        return self.tokenizer(text).input_ids[:-1]

    def pieces_of(self, ids):
        return self.tokenizer.convert_ids_to_tokens(ids + [self.end])

    def text_of(self, pieces):
        ids = self.tokenizer.convert_tokens_to_ids(pieces)
        return self.tokenizer.decode(ids, skip_special_tokens=True)


def contests(options):
    for name, shape in SHAPES.items():
        model = RandomModel(shape)
        for precision, goals in GOALS[name.split(",")[0]].items():
            for work, goal in zip(WORK, goals):
                yield Translation(options, model, name, precision, work, goal)
    if options.pairs:
        bundled = BundledModel(BUNDLED)
        for precision in ("float32", "int8"):
            for work in (("beam 4", 4, 32), ("greedy", 1, 32)):
                yield WholeTranslation(options, bundled, precision, work)
