"""What a text has named so far: constants and buffers, and the generation they are for."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

from lanewise.neuron.dtypes import Dtype
from lanewise.neuron.generation import Generation, Space
from lanewise.text.diagnostics import Span
from lanewise.text.neuron.scalars import Number


@dataclass(frozen=True, slots=True)
class Buffer:
    """A named piece of memory: the same bytes in each of ``partitions`` partitions.

    ``offset`` is in bytes; ``shape`` is outermost first, the last axis lies densely.
    """

    name: str
    space: Space
    partition: int
    partitions: int
    offset: int
    dtype: Dtype
    shape: tuple[int, ...]
    span: Span

    @property
    def count(self) -> int:
        """Elements in a partition."""
        return prod(self.shape)

    @property
    def size(self) -> int:
        """Bytes in a partition."""
        return self.count * self.dtype.size

    @property
    def end(self) -> int:
        """One past the last byte in a partition."""
        return self.offset + self.size

    def shares_partitions(self, other: Buffer) -> bool:
        """Whether some partition holds a part of both."""
        return (
            self.space == other.space
            and self.partition < other.partition + other.partitions
            and other.partition < self.partition + self.partitions
        )


@dataclass(slots=True)
class Symbols:
    """The names a text has given, all different."""

    generation: Generation
    constants: dict[str, Number] = field(default_factory=dict)
    buffers: dict[str, Buffer] = field(default_factory=dict)
    spans: dict[str, Span] = field(default_factory=dict)
    #: Names whose definitions were wrong, so that their uses are not reported too.
    broken: set[str] = field(default_factory=set)

    def free_offset(self, buffer: Buffer, alignment: int) -> int:
        """The first aligned byte behind every buffer that shares a partition with this one."""
        ends = [b.end for b in self.buffers.values() if b.shares_partitions(buffer)]
        return -(-max(ends, default=0) // alignment) * alignment
