"""The matrix to pack: log-probabilities of the beam search example's language model, in BF16."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from examples.beam_search.model import count_bigrams, documentation, sentences
from lanewise.formats import BF16, ConversionPolicy, encode, finite

WORDS = 256


def load_matrix() -> NDArray[np.uint16]:
    """Log-probabilities ``(words, words)`` as BF16 codes; row: a word, column: the next one."""
    _, texts = documentation()
    model = count_bigrams(sentences(texts), WORDS)
    return bf16_codes(np.stack([model.row(word) for word in range(WORDS)]))


def bf16_codes(values: NDArray[np.float32]) -> NDArray[np.uint16]:
    """FP32 numbers as BF16 codes, nearest even."""
    policy = ConversionPolicy(float_to_int="nearest", float_overflow="infinity")
    # Equal logarithms are common: each is rounded once.
    distinct, place = np.unique(values, return_inverse=True)
    codes = [encode(BF16, finite(Fraction(float(value))), policy) for value in distinct]
    return np.array(codes, np.uint16)[place].reshape(values.shape)
