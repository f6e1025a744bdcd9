"""The matrix to pack: log-probabilities of which word follows which, in BF16."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from fractions import Fraction
from pydoc_data.topics import topics

import numpy as np
from numpy.typing import NDArray

from lanewise.formats import BF16, ConversionPolicy, encode, finite

WORDS = 128


def load_matrix() -> NDArray[np.uint16]:
    """Log-probabilities ``(words, words)`` as BF16 codes; row: a word, column: the next one.

    Counted over Python's own documentation, the most frequent words only, each pair counted once
    more than it occurs so that nothing is impossible.
    """
    text = " ".join(topics[name] for name in sorted(topics))
    words = re.findall(r"[a-z]+", text.lower())
    known = {word: place for place, (word, _) in enumerate(Counter(words).most_common(WORDS))}
    counts = np.ones((WORDS, WORDS), np.int64)
    for first, second in itertools.pairwise(words):
        if first in known and second in known:
            counts[known[first], known[second]] += 1
    policy = ConversionPolicy(float_to_int="nearest", float_overflow="infinity")
    matrix = np.zeros((WORDS, WORDS), np.uint16)
    for row, line in enumerate(counts):
        total = int(line.sum())
        for column, count in enumerate(line):
            logarithm = Fraction(math.log(int(count) / total))
            matrix[row, column] = encode(BF16, finite(logarithm), policy)
    return matrix
