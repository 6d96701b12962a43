"""Parallel sentences, English-German and English-French, with the true word alignment."""

from .batches import Batch, make_batch
from .generator import LONGEST, SHORTEST, sample_pairs
from .loaders import PairsFileError, TokenPair, load_tatoeba
from .pairs import Language, Pair, to_text, tokenise
from .splits import Split
from .vocabulary import Vocabulary

__all__ = [
    "LONGEST",
    "SHORTEST",
    "Batch",
    "Language",
    "Pair",
    "PairsFileError",
    "Split",
    "TokenPair",
    "Vocabulary",
    "load_tatoeba",
    "make_batch",
    "sample_pairs",
    "to_text",
    "tokenise",
]
