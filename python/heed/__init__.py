"""Heed: a Transformer you can train, translate with and look inside.

    >>> import heed
    >>> translator = heed.Translator("models/de-en")
    >>> translator.translate("Der Hund schläft.")
    'The dog is sleeping.'

Everything computes in C++ without the GIL. Arrays are NumPy's, or of any library with DLPack or the buffer protocol,
such as PyTorch; they are used without copying where they lie in the memory of the CPU. Bad input raises `heed.Error`
with a message that says what is wrong, where, and what to do; an argument of a wrong type raises `TypeError`.
Ctrl-C stops translating, generating, classifying, embedding and training.
"""

from . import _heed
from .attention import (
    AttentionGradients,
    AttentionResult,
    MultiHeadAttention,
    PackedAttentionResult,
    look_ahead_mask,
    padding_mask,
    scaled_dot_product_attention,
    sinusoidal_positions,
)
from .bundled import bundled_models
from .classifier import Classification, Classifier
from .embedder import Embedder, Embedding
from .errors import Error
from .generator import Generator
from .inspector import Attribution, Inspector, Lens, LensState, Patching, PatchMap, TokenAttribution
from .model import Decoding, ForwardResult, HookedState, Model
from .tokenizer import SpecialTokens, Tokenizer, Tokens
from .trace import Trace
from .training import TrainingResult, TrainingStep, train
from .translator import TranslatedDocument, Translation, Translator

__version__: str = _heed.version()

__all__ = [
    "AttentionGradients",
    "AttentionResult",
    "Attribution",
    "Classification",
    "Classifier",
    "Decoding",
    "Embedder",
    "Embedding",
    "Error",
    "ForwardResult",
    "Generator",
    "HookedState",
    "Inspector",
    "Lens",
    "LensState",
    "Model",
    "MultiHeadAttention",
    "PackedAttentionResult",
    "PatchMap",
    "Patching",
    "SpecialTokens",
    "TokenAttribution",
    "Tokenizer",
    "Tokens",
    "Trace",
    "TrainingResult",
    "TrainingStep",
    "TranslatedDocument",
    "Translation",
    "Translator",
    "__version__",
    "bundled_models",
    "look_ahead_mask",
    "padding_mask",
    "scaled_dot_product_attention",
    "sinusoidal_positions",
    "train",
]
