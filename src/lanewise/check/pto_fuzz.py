"""Fuzzing bundles: words from nearly legal to noise, and what must hold of every one of them.

Whatever the words, a run ends with a report and no foreign exception, a refused program leaves
the state of the bundles before it, and words that decode print to text that assembles back.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from lanewise.errors import UsageError
from lanewise.kernels import available_engines
from lanewise.model import Verdict
from lanewise.pto.assembly import assemble, disassemble
from lanewise.pto.carriers import GPR_FIELDS, predicate_descriptor
from lanewise.pto.core import PtoCore, State
from lanewise.pto.datatypes import DTYPE_NONE, ROW_MAJOR_TYPES, DataType
from lanewise.pto.faults import FaultKind, PtoFault
from lanewise.pto.geometry import Layout, supports
from lanewise.pto.instructions import ALL, Operation
from lanewise.pto.registers import GPR_COUNT, Hand
from lanewise.pto.tile import Tile, padded_tile
from lanewise.pto.words import (
    Bdatr,
    Bdim,
    Bior,
    Bios,
    BiotNone,
    BiotOne,
    BiotTwo,
    Bstart,
    Bstop,
    BundleWord,
    Cbdimi,
    Cbstop,
)

_KEPT_FAILURES = 20
_SHAPES = ((Layout.CUBE_M32, 32), (Layout.CUBE_M16, 16), (Layout.NORM, 7))
_STATE_EVERY = 64


@dataclass(frozen=True, slots=True)
class FuzzFailure:
    """A program that broke a promise: its words, the state it met and what happened."""

    words: tuple[str, ...]
    problem: str
    initial: State


@dataclass(frozen=True, slots=True)
class FuzzReport:
    """What became of ``count`` bundles made from ``seed``.

    ``verdicts`` counts ``ok`` and the fault kinds, ``rules`` the checks that refused.
    """

    count: int
    seed: int
    verdicts: Mapping[str, int] = field(default_factory=dict)
    rules: Mapping[str, int] = field(default_factory=dict)
    failures: tuple[FuzzFailure, ...] = ()


def fuzz_bundles(count: int, seed: int = 0) -> FuzzReport:
    """Run ``count`` generated bundles; the same seed makes the same ones.

    Every engine there is runs them. Failures are collected (the first twenty), never raised.
    UsageError for a negative count.
    """
    if count < 0:
        raise UsageError(f"a count of bundles must not be negative, not {count}")
    generator = _Generator(random.Random(seed))
    # Where there are two engines, each bundle runs on both, to the same state.
    core, *others = (PtoCore(engine=engine) for engine in available_engines())
    verdicts: Counter[str] = Counter()
    rules: Counter[str] = Counter()
    failures: list[FuzzFailure] = []
    for number in range(count):
        if number % _STATE_EVERY == 0:
            initial = generator.state()
        core.state = initial
        words = generator.bundle()
        try:
            outcome, rule, problem = _check(core, words, initial)
            for other in others:
                other.state = initial
                same = _check(other, words, initial)[:2] == (outcome, rule)
                if not (same and other.state == core.state):
                    problem = f"the engines {core.engine} and {other.engine} end differently"
            verdicts[outcome] += 1
            rules.update([rule] if rule else [])
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
        if problem and len(failures) < _KEPT_FAILURES:
            failures.append(FuzzFailure(tuple(words), problem, initial))
    return FuzzReport(count, seed, dict(verdicts), dict(rules), tuple(failures))


def _check(core: PtoCore, words: list[str], initial: State) -> tuple[str, str | None, str | None]:
    """Outcome, refusing rule and broken promise of one program."""
    report = core.attempt(words)
    problem = None
    text = disassemble(words)
    if [f"{int(w):0{w.width // 4}x}" for w in assemble(text)] != words:
        problem = f"the text does not assemble back:\n{text}"
    if report.verdict is Verdict.OK:
        return "ok", None, problem
    fault = report.error
    if not isinstance(fault, PtoFault) or fault.kind not in FaultKind:
        return str(report.verdict), None, f"refused without a fault kind: {fault!r}"
    if report.executed == 0 and core.state != initial:
        problem = f"refused ({fault}), but the state has changed"
    return str(fault.kind), fault.rule, problem


class _Generator:
    """Makes states and bundles; most bundles are legal but for a few changes."""

    def __init__(self, source: random.Random) -> None:
        self._random = source

    def state(self) -> State:
        """PEs with tiles of several types, masks among them, and biased registers."""
        pick = self._random
        core = PtoCore()
        for register in range(1, GPR_COUNT):
            core.set_gpr(register, pick.choice((0, 1, pick.getrandbits(64), (1 << 64) - 1)))
        layout, rows = pick.choice(_SHAPES)
        types = [t for t in DataType if supports(layout, t) and t.width > 4]
        dtype = pick.choice([t for t in types if t in ROW_MAJOR_TYPES])
        valid = pick.randint(1, rows), pick.choice((1, 2, 3, 5))
        self._layout, self._dtype, self._valid = layout, dtype, valid
        same = [t for t in types if t.width == dtype.width]
        data = [self._tile(pick.choice((dtype, dtype, *same)), layout, valid) for _ in range(4)]
        for hand, tile in zip((Hand.T, Hand.U, Hand.T, Hand.U), data, strict=True):
            core.push(hand, tile)
        self._columns = data[0].descriptor.cols
        mask = predicate_descriptor(data[0].descriptor, dtype, 1 << 16)
        bits = np.array(
            [[pick.getrandbits(1) for _ in range(valid[1])] for _ in range(valid[0])], np.bool_
        )
        core.push(Hand.M, padded_tile(bits, mask, None))
        core.push(Hand.N, self._tile(pick.choice(list(types)), layout, valid))
        return core.state

    def _tile(self, dtype: DataType, layout: Layout, valid: tuple[int, int]) -> Tile:
        pick = self._random
        special = (0, 1 << (dtype.width - 1), (1 << dtype.width) - 1)
        codes = np.array(
            [
                [pick.choice((*special, pick.getrandbits(dtype.width))) for _ in range(valid[1])]
                for _ in range(valid[0])
            ],
            np.uint64,
        )
        return Tile.from_array(codes, dtype, layout, fill=pick.choice((0, None)))

    def bundle(self) -> list[str]:
        """The words of one program of a single bundle, in hexadecimal."""
        pick = self._random
        if pick.random() < 0.02:
            return [_text(pick.getrandbits(32), pick) for _ in range(pick.randint(1, 6))]
        words = [f"{int(w):0{w.width // 4}x}" for w in self._nearly_legal()]
        while pick.random() < 0.35:
            pick.choice(_MUTATIONS)(words, pick)
        return words

    def _nearly_legal(self) -> list[BundleWord]:
        """A bundle of one of the instructions, its operands mostly fitting the state."""
        pick = self._random
        operation = pick.choice(ALL)
        packs = not operation.has_lb2
        concrete = DataType.U8 if packs else self._dtype
        explicit = pick.random() < 0.5
        words: list[BundleWord] = [
            Bstart(
                mode=operation.mode,
                function=operation.function,
                dtype=DTYPE_NONE if explicit else concrete,
            )
        ]
        if explicit or pick.random() < 0.6:
            halves = (self._layout, 8) in GPR_FIELDS and concrete.width == 8
            words.append(
                Bdatr(
                    dtype=concrete if explicit else DTYPE_NONE,
                    pad=pick.randint(0, 1 if packs else 3),
                    cmode=pick.randint(0, 5) if operation.mode < 2 and _compares(operation) else 0,
                    rmode=pick.randint(0, 3) if packs else 0,
                    sat=pick.randint(0, 1) if halves and _compares(operation) else 0,
                )
            )
        rows, columns = pick.choice(((32, 4), (16, 8))) if packs else self._valid
        words.append(Bdim(lb=0, imm=columns) if pick.random() < 0.5 else Cbdimi(lb=0, imm=columns))
        if rows != 1 or pick.random() < 0.5:
            words.append(Bdim(lb=1, imm=rows))
        if not packs:
            words.append(Bdim(lb=2, imm=self._columns))
        words += self._operands(operation, packs)
        words.append(pick.choice((Bstop, Cbstop))())
        return words

    def _operands(self, operation: Operation, packs: bool) -> list[BundleWord]:
        pick = self._random
        pemode, hand, size = pick.randint(0, 7), pick.randint(0, 3), pick.randint(1, 8)
        gprs = [pick.randrange(GPR_COUNT) for _ in range(4)]
        made = {"pemode": pemode, "last": 1, "hand": hand, "size": size}
        only = {"pemode": pemode, "last": 1}
        t, u, m = pick.choice((0, 1)), pick.choice((16, 17)), 32
        if packs:
            first = Bior(src0=gprs[0], src1=gprs[1], src2=gprs[2])
            return [first, Bior(src0=gprs[3]), BiotNone(**made)]
        kind = f"{operation.name}{pick.choice(('tile', 'gpr'))}"
        scalar: list[BundleWord] = [Bior(src0=gprs[0])]
        wide = {"src1": gprs[1]} if self._dtype.width == 8 else {}
        makers: dict[str, Callable[[], list[BundleWord]]] = {
            "TCMPtile": lambda: [BiotTwo(src0=t, src1=u, **made)],
            "TCMPgpr": lambda: [Bior(dst=gprs[0]), BiotTwo(src0=t, src1=u, **only)],
            "TCMPStile": lambda: [*scalar[: pick.randint(0, 1)], BiotOne(src0=t, **made)],
            "TCMPSgpr": lambda: [Bior(src0=gprs[0], dst=gprs[1]), BiotOne(src0=t, **only)],
            "TSELtile": lambda: [
                BiotTwo(src0=m, src1=t, pemode=pemode),
                BiotOne(src0=u, **made),
            ],
            "TSELgpr": lambda: [Bior(src0=gprs[0], **wide), BiotTwo(src0=t, src1=u, **made)],
            "TSELStile": lambda: [
                *scalar[: pick.randint(0, 1)],
                BiotTwo(src0=m, src1=t, **made),
            ],
            "TSELSgpr": lambda: [
                Bior(src0=gprs[0], src1=gprs[1], src2=gprs[2] if wide else 0),
                BiotOne(src0=t, **made),
            ],
        }
        return makers[kind]()


def _compares(operation: Operation) -> bool:
    return bool(getattr(operation, "compares", False))


def _text(raw: int, pick: random.Random) -> str:
    """Bits as a word of the width that bit 0 announces."""
    raw = raw if pick.random() < 0.7 else raw | 1
    return f"{raw:08x}" if raw & 1 else f"{raw & 0xFFFF:04x}"


def _flip_bit(words: list[str], pick: random.Random) -> None:
    at = pick.randrange(len(words))
    width = 4 * len(words[at])
    # Bit 0 announces the length and stays.
    raw = int(words[at], 16) ^ 1 << pick.randrange(1, width)
    words[at] = f"{raw:0{width // 4}x}"


def _swap(words: list[str], pick: random.Random) -> None:
    first, second = pick.randrange(len(words)), pick.randrange(len(words))
    words[first], words[second] = words[second], words[first]


def _repeat(words: list[str], pick: random.Random) -> None:
    words.insert(pick.randrange(len(words) + 1), pick.choice(words))


def _remove(words: list[str], pick: random.Random) -> None:
    if len(words) > 1:
        del words[pick.randrange(len(words))]


def _insert_noise(words: list[str], pick: random.Random) -> None:
    words.insert(pick.randrange(len(words) + 1), _text(pick.getrandbits(32), pick))


def _insert_shared(words: list[str], pick: random.Random) -> None:
    shared = Bios(tid=pick.getrandbits(8), pemode=pick.randrange(8), size=pick.randrange(16))
    words.insert(pick.randrange(len(words) + 1), f"{int(shared):08x}")


_MUTATIONS: tuple[Callable[[list[str], random.Random], None], ...] = (
    _flip_bit,
    _flip_bit,
    _flip_bit,
    _swap,
    _repeat,
    _remove,
    _insert_noise,
    _insert_shared,
)
