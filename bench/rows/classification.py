"""The forward pass of a classifier: Heed against Hugging Face's BERT in PyTorch, and in OpenVINO in float32, bfloat16
and int8, on the same weights and ids.

Weights are random, with the shapes of BERT-base, also with fewer layers, of MiniLM-L6 (Wang et al., 2020) and of
BERT-mini (Turc et al., 2019). Texts are random ids of length 32, 128, or 5 to 60; PyTorch gets them sorted by length,
padded and masked, Heed packed.
"""

import ctypes
import random
import shutil
import tempfile
import warnings
from pathlib import Path

from harness import CallContest, CannotRun, Disagree, load_library

SHAPES = {
    "width 256, 4 layers": dict(hidden_size=256, num_hidden_layers=4, num_attention_heads=4, intermediate_size=1024),
    "width 384, 6 layers": dict(hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536),
    "width 768, 3 layers": dict(hidden_size=768, num_hidden_layers=3, num_attention_heads=12, intermediate_size=3072),
    "width 768, 12 layers": dict(hidden_size=768, num_hidden_layers=12, num_attention_heads=12, intermediate_size=3072),
}
# name, texts, shortest, longest
TEXTS = [("32 texts of 32 tokens", 32, 32, 32), ("8 of 128", 8, 128, 128), ("64 of 5 to 60", 64, 5, 60)]
VOCABULARY = 2000


class Classification(CallContest):
    goal = 2
    limit = "float32"
    seconds = 1.0
    precision = "float32"

    def __init__(self, shape_name, texts, threads):
        self.shape = SHAPES[shape_name]
        name, self.count, self.shortest, self.longest = texts
        self.threads = threads
        self.name = f"forward BERT, {shape_name}: {name}"
        self.folder = self.opened = None

    def prepare(self):
        try:
            import numpy
            import torch
            from transformers import BertConfig, BertForSequenceClassification
        except ImportError as missing:
            raise CannotRun(missing)
        if self.threads != 1:
            raise CannotRun("a pass of Heed's is one thread's work")
        torch.manual_seed(1)
        torch.set_num_threads(1)
        config = BertConfig(
            vocab_size=VOCABULARY, max_position_embeddings=256, num_labels=3, attn_implementation="sdpa", **self.shape
        )
        self.model = BertForSequenceClassification(config).eval()
        self.folder = Path(tempfile.mkdtemp())
        self.model.save_pretrained(self.folder)
        self.library = load_library()
        self.library.heed_bench_classifier_open.restype = ctypes.c_void_p
        self.opened = self.library.heed_bench_classifier_open(str(self.folder).encode(), self.precision.encode())
        if not self.opened:
            raise CannotRun(f"Heed does not open the model in {self.precision}")
        self.opened = ctypes.c_void_p(self.opened)

        generator = random.Random(1)
        texts = sorted(
            ([generator.randint(5, VOCABULARY - 1) for _ in range(generator.randint(self.shortest, self.longest))]
             for _ in range(self.count)),
            key=len,
        )
        self.ids = numpy.array([id for text in texts for id in text], dtype=numpy.int32)
        self.offsets = numpy.cumsum([0] + [len(text) for text in texts]).astype(numpy.int64)
        self.logits = numpy.zeros((self.count, 3), dtype=numpy.float32)
        longest = max(len(text) for text in texts)
        self.padded = torch.tensor([text + [0] * (longest - len(text)) for text in texts])
        self.mask = None
        if self.shortest != self.longest:
            self.mask = torch.tensor([[1] * len(text) + [0] * (longest - len(text)) for text in texts])
        self.operations = sum(self._operations(len(text)) for text in texts)
        self.no_gradients = torch.inference_mode

    def _operations(self, tokens):
        """Operations of the necessary products, for one text."""
        width, inner = self.shape["hidden_size"], self.shape["intermediate_size"]
        layer = 2 * tokens * (4 * width * width + 2 * width * inner) + 4 * tokens * tokens * width
        return self.shape["num_hidden_layers"] * layer

    def call_heed(self):
        self.library.heed_bench_classifier_run(
            self.opened,
            ctypes.c_void_p(self.ids.ctypes.data),
            ctypes.c_void_p(self.offsets.ctypes.data),
            ctypes.c_int64(self.count),
            ctypes.c_void_p(self.logits.ctypes.data),
        )

    def call_peer(self):
        with self.no_gradients():
            return self.model(input_ids=self.padded, attention_mask=self.mask).logits

    def compare(self):
        self.call_heed()
        difference = abs(self.logits - numbers_of(self.call_peer())).max()
        if not difference < 1e-3:
            raise Disagree(f"logits are {difference:.2g} apart")
        return f"logits at most {difference:.1g} apart"

    def close(self):
        if self.opened:
            self.library.heed_bench_classifier_close(self.opened)
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)
        self.opened = self.folder = None


def numbers_of(logits):
    return logits if not hasattr(logits, "numpy") else logits.numpy()


class OpenvinoClassification(Classification):
    """The same model converted by OpenVINO, in float32 or, where the processor has products of bfloat16, in these."""

    goal = 1.2

    def __init__(self, shape_name, texts, threads, precision="float32"):
        super().__init__(shape_name, texts, threads)
        self.precision = precision
        self.name += f", OpenVINO {precision}"

    def prepare(self):
        try:
            import openvino
        except ImportError as missing:
            raise CannotRun(missing)
        super().prepare()
        warnings.simplefilter("ignore")  # of what converts the model
        mask = self.mask if self.mask is not None else self.padded.new_ones(self.padded.shape)
        example = {"input_ids": self.padded, "attention_mask": mask}
        self.inputs = {name: tensor.numpy() for name, tensor in example.items()}
        with self.no_gradients():
            self.exact = self.model(**example).logits.numpy()
        converted = self.converted(openvino.convert_model(self.model, example_input=example))
        hint = "bf16" if self.precision == "bfloat16" else "f32"  # of what is not quantized
        settings = {"INFERENCE_NUM_THREADS": 1, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": hint}
        self.request = openvino.compile_model(converted, "CPU", settings).create_infer_request()
        del self.model

    def converted(self, model):
        return model

    def call_peer(self):
        return next(iter(self.request.infer(self.inputs, share_inputs=True).values()))

    def compare(self):
        """In fewer bits each side rounds in its own way: both are compared with PyTorch in float32."""
        if self.precision == "float32":
            return super().compare()
        self.call_heed()
        ours, theirs = self._error(self.logits), self._error(self.call_peer())
        if not ours < 0.2:
            raise Disagree(f"relative error of the logits {ours:.2g}")
        return f"relative error of the logits {ours:.2g}, the peer's {theirs:.2g}"

    def _error(self, logits):
        return float((((logits - self.exact) ** 2).sum() / (self.exact**2).sum()) ** 0.5)


class QuantizedClassification(OpenvinoClassification):
    """int8 by NNCF, calibrated on the texts themselves, with its settings for Transformers."""

    goal = 1.3

    def __init__(self, shape_name, texts, threads):
        super().__init__(shape_name, texts, threads, "int8")

    def converted(self, model):
        try:
            import nncf
        except ImportError as missing:
            raise CannotRun(missing)
        nncf.set_log_level(40)  # errors
        return nncf.quantize(model, nncf.Dataset([self.inputs]), model_type=nncf.ModelType.TRANSFORMER)


def contests(options):
    kinds = [
        Classification,
        OpenvinoClassification,
        lambda *row: OpenvinoClassification(*row, "bfloat16"),
        QuantizedClassification,
    ]
    for kind in kinds:
        for shape in SHAPES:
            for texts in TEXTS:
                yield kind(shape, texts, options.threads)
