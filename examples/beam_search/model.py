"""A bigram language model counted from the documentation that ships with Python.

The text is ``pydoc_data.topics``, what ``help("if")`` shows. It differs between Python versions,
so the counts do too; everything else here follows from the text alone.
"""

from __future__ import annotations

import difflib
import importlib
import itertools
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import BuiltinFunctionType, FunctionType, ModuleType

import numpy as np
from numpy.typing import NDArray

END = 0
"""The word that ends a sentence."""
UNKNOWN = 1
"""The word that stands for all that are too rare to be in the vocabulary."""
PAUSE = 2
"""The word that stands for a comma, a colon, a parenthesis and the like."""
_RESERVED = ("</s>", "<unknown>", "<pause>")

_SMOOTHING = 1.0
"""How many observations the frequencies of single words weigh, against the counted pairs."""

_PARAGRAPHS = re.compile(r"\n\s*\n")
# Grammar, terminal sessions, underlined headings and indented code are no prose.
_NOT_PROSE = re.compile(r"::=|>>>|^\s*[*=+~^-]{3,}\s*$|\A {5}", re.MULTILINE)
_HYPHENATED_LINE_END = re.compile(r"(?<=[A-Za-z]-) (?=[a-z])")
_ASIDE = re.compile(r"\[\d+\]|\([^()]* [^()]*\)")
_SENTENCE_END = re.compile(r"(?<=[.!?:])\s+(?=[A-Z\"(])")
# Notes on versions repeat one phrase hundreds of times; a beam would find nothing else.
_BOILERPLATE = re.compile(r" version |PEP|\ASee ")
_TOKEN = re.compile(r"[A-Za-z_]\w*(?:[-'’.]\w+)*(?:\(\))?|[^\w\s\"'“”‘’]", re.ASCII)
_FULL_STOPS = frozenset(".!?")


@dataclass(frozen=True)
class Bigrams:
    """Smoothed bigram probabilities over a vocabulary.

    ``words`` are the vocabulary, END and UNKNOWN first, then the most frequent; a word's number is
    its position. ``frequency`` is how often each occurs, ``following[w]`` how often each word
    follows word w.
    """

    words: tuple[str, ...]
    frequency: NDArray[np.int64]
    following: Mapping[int, Mapping[int, int]]
    _rows: dict[int, NDArray[np.float32]] = field(default_factory=dict, repr=False)

    def row(self, word: int) -> NDArray[np.float32]:
        """Log-probability of every word after ``word``: float32 [words].

        Words that followed equally often, and are equally frequent, get the same bits: such ties
        are common, and a search has to settle them by position.
        """
        if word not in self._rows:
            weights = (self.frequency + 1) * (_SMOOTHING / (self.frequency + 1).sum())
            after = self.following.get(word, {})
            weights[list(after)] += list(after.values())
            # One logarithm for each distinct weight, so that equal weights cannot differ in a bit.
            distinct, place = np.unique(weights / weights.sum(), return_inverse=True)
            self._rows[word] = np.log(distinct).astype(np.float32)[place]
        return self._rows[word]

    def numbers(self, text: str) -> tuple[int, ...]:
        """The numbers of the words of ``text``; ValueError for a word outside the vocabulary."""
        known = {word: number for number, word in enumerate(self.words)}
        for word in text.split():
            if word not in known:
                near = difflib.get_close_matches(word, self.words, 3) or self.words[3:9]
                raise ValueError(f"{word!r} is not in the vocabulary; try {', '.join(near)}")
        return tuple(known[word] for word in text.split())

    def text(self, numbers: Iterable[int]) -> str:
        """The words of ``numbers``, without the end of the sentence."""
        return " ".join(self.words[number] for number in numbers if number != END)

    @property
    def pairs(self) -> int:
        """Number of different bigrams that were counted."""
        return sum(len(after) for after in self.following.values())


def documentation() -> tuple[str, list[str]]:
    """The English text to count, and where it comes from.

    Python's documentation topics, or the docstrings of loaded modules where a distribution leaves
    the topics out.
    """
    try:
        topics = importlib.import_module("pydoc_data.topics").topics
        return "pydoc_data.topics", [str(text) for text in topics.values()]
    except (ImportError, AttributeError):
        loaded = [sys.modules[name] for name in sorted(sys.stdlib_module_names & set(sys.modules))]
        things = [thing for module in loaded for _, thing in sorted(vars(module).items())]
        documented = (ModuleType, FunctionType, BuiltinFunctionType)
        texts = {str(thing.__doc__) for thing in things if isinstance(thing, documented)}
        return "docstrings of loaded modules", sorted(texts)


def sentences(texts: Iterable[str]) -> list[list[str]]:
    """The tokens of every sentence of the prose in ``texts``: words and punctuation marks.

    A capital at the start of a sentence is dropped where the word also occurs without it.
    """
    found = [tokens for text in texts for tokens in _tokens(text)]
    inside = Counter(word for tokens in found for word in tokens[1:])
    for tokens in found:
        first = tokens[0].lower() if tokens[0][1:].islower() else tokens[0]
        if inside[first] or not inside[tokens[0]]:
            tokens[0] = first
    return found


def _tokens(text: str) -> Iterator[list[str]]:
    for paragraph in _PARAGRAPHS.split(text):
        if _NOT_PROSE.search(paragraph):
            continue
        line = _HYPHENATED_LINE_END.sub("", " ".join(paragraph.split()))
        for sentence in _SENTENCE_END.split(line):
            if not _BOILERPLATE.search(sentence):
                tokens = _TOKEN.findall(_ASIDE.sub("", sentence))
                if len(tokens) > 4 and tokens[-1] in _FULL_STOPS and _is_word(tokens[0]):
                    yield tokens


def _is_word(token: str) -> bool:
    return token[0].isalpha() or token[0] == "_"


def count_bigrams(sentences: Sequence[Sequence[str]], most_words: int) -> Bigrams:
    """The model of ``sentences`` with a vocabulary of at most ``most_words`` words.

    A full stop counts as the end, any other punctuation mark as the same word, PAUSE.
    """
    occurrences = Counter(word for tokens in sentences for word in tokens if _is_word(word))
    by_frequency = sorted(occurrences, key=lambda word: (-occurrences[word], word))
    words = (*_RESERVED, *by_frequency[: most_words - len(_RESERVED)])
    number_of = {word: number for number, word in enumerate(words)}
    number_of |= dict.fromkeys(_FULL_STOPS, END)
    frequency = np.zeros(len(words), dtype=np.int64)
    following: dict[int, Counter[int]] = {}
    for tokens in sentences:
        numbers = [number_of.get(token, UNKNOWN if _is_word(token) else PAUSE) for token in tokens]
        np.add.at(frequency, numbers, 1)
        for before, after in itertools.pairwise(numbers):
            following.setdefault(before, Counter())[after] += 1
    return Bigrams(words, frequency, following)
