from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]

class Conversion:
    @property
    def to_size(self) -> int: ...

HAS_AVX512: bool

class Source: ...

class Step:
    def run(self, threads: int = 1) -> None: ...

class Program:
    def __init__(self, steps: Sequence[Step]) -> None: ...
    def run(self, threads: int = 1) -> list[tuple[int, bytes]] | None: ...

def copying(size: int) -> Conversion: ...
def looking_up(table: Array) -> Conversion: ...
def source(name: str, flip: int = 0) -> Source: ...
def to_fp32(source: Source, keep_nan: bool) -> Conversion: ...
def to_float(
    source: Source,
    size: int,
    mantissa_bits: int,
    bias: int,
    low_zero_bits: int,
    largest: int,
    overflow: int,
    infinity: int,
    nan: int,
) -> Conversion: ...
def to_integer(
    source: Source,
    size: int,
    most_positive: int,
    most_negative: int,
    to_nearest: bool,
) -> Conversion: ...
def cast_rows(destination: Array, source: Array, conversion: Conversion, /) -> Step: ...
def merge_rows(
    destination: Array, source: Array, predicate: Array, conversion: Conversion, /
) -> Step: ...
def fill_rows(destination: Array, value: Array, predicate: Array, when: bool, /) -> Step: ...
def top8_rows(
    destination: Array, source: Array, to_hub: Conversion, from_hub: Conversion, /
) -> Step: ...
def find8_rows(
    destination: Array, source: Array, to_hub: Conversion, keys: Array, matched: Array, /
) -> Step: ...
def replace8_rows(
    destination: Array,
    source: Array,
    to_hub: Conversion,
    from_hub: Conversion,
    replacement: int,
    keys: Array,
    matched: Array,
    indices: Array,
    /,
) -> Step: ...
def select_rows(
    destination: Array,
    source: Array,
    predicate: Array,
    when: bool,
    conversion: Conversion,
    to_hub: Conversion,
    other: Array | None,
    other_hub: Array | None,
    accumulator: Array | None,
    /,
) -> Step: ...
def range_rows(
    destination: Array,
    source: Array,
    base: int | None,
    low_relation: int,
    low: Array,
    high_relation: int,
    high: Array,
    conversion: Conversion,
    to_hub: Conversion,
    other: Array | None,
    other_hub: Array | None,
    accumulator: Array | None,
    /,
) -> Step: ...
def nonzero_rows(
    destination: Array, source: Array, offset: Array, padding: Array, mask: int, skip_nan: bool, /
) -> Step: ...
def note_rows(flags: Array, /) -> Step: ...

class Ordering: ...

def ordering(size: int, width: int, kind: str, largest: int, quiet: int) -> Ordering: ...
def relate(
    truth: Array, left: Array, right: Array, ordering: Ordering, relation: str, raised: Array, /
) -> Step: ...
def choose(destination: Array, truth: Array, chosen: Array, other: Array, /) -> Step: ...
def compare_words(
    words: Array,
    left: Array,
    right: Array,
    columns: int,
    plane: int,
    ordering: Ordering,
    relation: str,
    raised: Array,
    /,
) -> Step: ...
def select_words(
    destination: Array, words: Array, chosen: Array, other: Array, columns: int, plane: int, /
) -> Step: ...
def expand_words(truth: Array, words: Array, columns: int, plane: int, /) -> Step: ...
def transpose_words(destination: Array, words: Array, plane: int, /) -> Step: ...
