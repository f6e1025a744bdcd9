"""Every form of error, word for word, in the order of the checks; refusals change nothing."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.nki.helpers import f32

from lanewise import Profile, nki
from lanewise.model import IllegalInstruction
from lanewise.nki import FrontEndBug, KernelError, NkiValidationError
from lanewise.nki import isa as nisa
from lanewise.nki import language as nl


def refused(body: Callable[[], Any], **options: Any) -> NkiValidationError:
    """The error of a kernel without arguments."""
    with pytest.raises(NkiValidationError) as caught:
        nki.simulate(body, **options)()
    return caught.value


def tile(rows: int, columns: int, dtype: Any = nl.float32, **options: Any) -> Any:
    """A written tile."""
    return nl.zeros((rows, columns), dtype=dtype, **options)


def psum(rows: int, columns: int, dtype: Any = nl.float32) -> Any:
    """A written tile in PSUM."""
    return tile(rows, columns, dtype, buffer=nl.psum)


WINDOW = "0, 32, 64 or 96 (0 or 64 for more than 32 partitions, 0 for more than 64)"
ALL = (
    "int8, uint8, int16, uint16, int32, uint32, float16, bfloat16, float32, tfloat32, "
    "float8_e5m2, float8_e4m3 or float8_e4m3fn"
)
FORMS: list[tuple[str, Callable[[], Any], dict[str, Any], str, str | None]] = [
    (
        "no tile",
        lambda: nisa.max8(dst=tile(4, 8), src=0.5),
        {},
        "max8 src is a float, must be a tile",
        None,
    ),
    (
        "an array",
        lambda: nisa.tensor_copy(dst=np.zeros((4, 8)), src=tile(4, 8)),
        {},
        "tensor_copy dst is a ndarray, must be a tile",
        None,
    ),
    (
        "hbm",
        lambda: nisa.max8(dst=tile(4, 8), src=tile(4, 8, buffer=nl.shared_hbm)),
        {},
        "max8 src buffer shared_hbm must be sbuf or psum; use dma_copy",
        "src-readable",
    ),
    (
        "hbm to write",
        lambda: nisa.max8(dst=tile(4, 8, buffer=nl.private_hbm), src=tile(4, 8)),
        {},
        "max8 dst buffer private_hbm must be sbuf or psum; use dma_copy",
        "dst-writable",
    ),
    (
        "too many partitions",
        lambda: nl.ndarray((129, 8), dtype=nl.float32, name="x"),
        {},
        "ndarray x partitions 129 exceeds maximum 128",
        "channels",
    ),
    (
        "partitions differ",
        lambda: nisa.tensor_copy(dst=tile(4, 8), src=tile(5, 8)),
        {},
        "tensor_copy dst partitions 4 must be 5 as in src",
        "same-count",
    ),
    (
        "partitions differ where counts may",
        lambda: nisa.max8(dst=tile(4, 8), src=tile(5, 16)),
        {},
        "max8 dst partitions 4 must be 5 as in src",
        None,
    ),
    (
        "elements differ",
        lambda: nisa.tensor_copy(dst=tile(4, 16), src=tile(4, 8)),
        {},
        "tensor_copy dst elements per partition 16 must be 8 as in src",
        "same-count",
    ),
    (
        "predicate elements differ",
        lambda: nisa.tensor_copy_predicated(tile(4, 8), tile(4, 8), tile(4, 9, nl.uint8)),
        {},
        "tensor_copy_predicated predicate elements per partition 9 must be 8 as in src",
        "sources-same-count",
    ),
    (
        "too few elements",
        lambda: nisa.max8(dst=tile(4, 8), src=tile(4, 5)),
        {},
        "max8 src elements per partition 5 must be in 8..16384",
        "source-count",
    ),
    (
        "start partition",
        lambda: nisa.tensor_copy(dst=tile(16, 8), src=tile(64, 8, name="x")[48:64]),
        {},
        f"tensor_copy src start partition 48 must be {WINDOW}; it is rows 48..63 of x, allocated "
        "test_errors.py:{line}",
        "src-window",
    ),
    (
        "start partition for more than 32",
        lambda: nisa.tensor_copy(dst=tile(128, 8, name="y")[32:80], src=tile(48, 8)),
        {},
        f"tensor_copy dst start partition 32 must be {WINDOW}; it is rows 32..79 of y, allocated "
        "test_errors.py:{line}",
        "dst-window",
    ),
    (
        "predicate dtype",
        lambda: nisa.tensor_copy_predicated(tile(4, 8), tile(4, 8), tile(4, 8, nl.int8)),
        {},
        "tensor_copy_predicated predicate dtype int8 must be uint8, uint16 or uint32; reinterpret "
        "signed ones with .view(nl.uint8), .view(nl.uint16) or .view(nl.uint32)",
        "predicate-dtype",
    ),
    (
        "same dtype",
        lambda: nisa.tensor_copy_predicated(
            tile(4, 8, nl.bfloat16), tile(4, 8), tile(4, 8, nl.uint8)
        ),
        {},
        "tensor_copy_predicated src dtype float32 must be bfloat16 as in dst",
        "same-dtype",
    ),
    (
        "packed dtype",
        lambda: nisa.tensor_copy(dst=tile(4, 8), src=nl.ndarray((4, 8), dtype=nl.float8_e8m0fnu)),
        {},
        f"tensor_copy src dtype float8_e8m0fnu must be {ALL}",
        "in-dtype",
    ),
    (
        "both forms of e4m3",
        lambda: nisa.tensor_copy(dst=tile(4, 8, nl.float8_e4m3), src=tile(4, 8, nl.float8_e4m3fn)),
        {},
        "tensor_copy src dtype float8_e4m3fn must not meet float8_e4m3 in one instruction",
        None,
    ),
    (
        "gpsimd and psum",
        lambda: nisa.tensor_copy(psum(4, 8), tile(4, 8), engine=nisa.engine.gpsimd),
        {},
        "tensor_copy engine gpsimd must be vector or scalar, dst is in psum",
        "engine-reach",
    ),
    (
        "scalar on trn1",
        lambda: nisa.tensor_copy(tile(4, 8), tile(4, 8), engine=nisa.engine.scalar),
        {"target": "trn1"},
        "tensor_copy engine scalar must be vector or gpsimd on trn1",
        "engine-reach",
    ),
    (
        "an engine that copies nothing",
        lambda: nisa.tensor_copy(tile(4, 8), tile(4, 8), engine=nisa.engine.tensor),
        {},
        "tensor_copy engine tensor must be vector, scalar or gpsimd",
        "engine-reach",
    ),
    (
        "target",
        lambda: nisa.nonzero_with_count(tile(4, 9, nl.int32), tile(4, 8)),
        {"target": "inf2"},
        "nonzero_with_count needs NeuronCore-v3 (trn2) or newer, target is inf2",
        "opcode",
    ),
    (
        "psum destination",
        lambda: nisa.tensor_copy(psum(4, 8, nl.bfloat16), tile(4, 8)),
        {},
        "tensor_copy dst dtype bfloat16 in psum must be 4 bytes wide",
        "dst-writable",
    ),
    (
        "placement in psum",
        lambda: nisa.select_reduce(tile(4, 8), psum(4, 8, nl.uint8), psum(4, 8), 0.0),
        {},
        "select_reduce on_true and predicate are both in psum, one of them must be in sbuf",
        "source-placement",
    ),
    (
        "placement in quadrants",
        lambda: nisa.tensor_copy_predicated(tile(32, 8), tile(64, 8)[32:64], tile(32, 8, nl.uint8)),
        {},
        "tensor_copy_predicated src and predicate are in different quadrants (start partitions 32 "
        "and 0), must be in one",
        "source-placement",
    ),
    (
        "dimensions",
        lambda: nisa.select_reduce(
            tile(4, 8),
            tile(4, 8, nl.uint8),
            tile(4, 64).reshape((4, 4, 4, 4))[:, ::2, ::2, ::2],
            0.0,
        ),
        {},
        "select_reduce on_true dimensions after merging 3 exceeds 2",
        None,
    ),
    (
        "step",
        lambda: nisa.max8(
            dst=tile(4, 8), src=tile(4, 40000 * 2, nl.uint8).ap([[80000, 4], [40000, 2], [1, 8]])
        ),
        {},
        "max8 src step 40000 exceeds the -32768..32767 of a word",
        None,
    ),
    (
        "partition step",
        lambda: nisa.tensor_copy(dst=tile(4, 8), src=tile(8, 8)[::2]),
        {},
        "tensor_copy src partition step 2 must be 1",
        None,
    ),
    (
        "imm",
        lambda: nisa.nc_match_replace8(tile(4, 8), tile(4, 8), tile(4, 8), imm="x"),
        {},
        "nc_match_replace8 imm is a str, must be a number",
        None,
    ),
]


@pytest.mark.parametrize("place", range(len(FORMS)), ids=[form[0] for form in FORMS])
def test_forms(place: int) -> None:
    _, body, options, message, rule = FORMS[place]
    message = message.replace("{line}", str(tile.__code__.co_firstlineno + 2))
    error = refused(body, **options)
    text = str(error)
    assert text.startswith(message + (f" [rule {rule}]" if rule else "") + " (test_errors.py:")
    assert error.message == message
    assert error.rule == rule
    assert error.location is not None
    assert error.location.file == __file__
    assert error.function == message.split(" ", 1)[0]


def test_the_error_is_what_both_worlds_catch() -> None:
    error = refused(lambda: nisa.max8(dst=tile(4, 8), src=tile(4, 5)))
    assert isinstance(error, IllegalInstruction)
    assert isinstance(error, AssertionError)
    assert isinstance(error, nisa.NkiValidationError)
    assert (error.function, error.operand, error.value) == ("max8", "src", "5")
    assert error.limit == "in 8..16384"
    assert error.step == 2
    assert [broken.rule for broken in error.broken] == ["source-count"]
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.rule, again.operand) == (str(error), error.rule, error.operand)


def test_the_checks_come_in_their_order() -> None:
    """A call with everything wrong names what comes first; each repair shows the next."""
    predicate = {"dtype": nl.int8}
    wrong: list[tuple[str, Callable[[], Any]]] = [
        ("must be a tile", lambda: (1.0, tile(4, 8))),
        ("buffer shared_hbm", lambda: (tile(64, 9, nl.int32, buffer=nl.shared_hbm), tile(4, 8))),
        ("partitions 4 must be 17", lambda: (tile(64, 9, nl.int32)[1:18], tile(4, 8))),
        ("elements per partition 8", lambda: (tile(64, 9, nl.int32)[1:18], tile(17, 8))),
        ("start partition 1", lambda: (tile(64, 9, nl.int32)[1:18], tile(17, 9))),
        ("dtype int32", lambda: (tile(64, 9, nl.int32)[:17], tile(17, 9))),
        ("predicate dtype float32", lambda: (tile(64, 9)[:17], tile(17, 9))),
    ]
    del predicate
    for text, make in wrong:
        error = refused(
            lambda make=make: nisa.select_reduce(tile(17, 9), make()[1], make()[0], 0.0)
        )
        assert text in str(error), str(error)


def test_a_refused_call_changes_nothing() -> None:
    kept: dict[str, Any] = {}

    def kernel() -> None:
        dst, src = tile(4, 8), nl.full((4, 8), 3.0, dtype=nl.float32)
        kept["run"] = nki.context.current.get()
        before = dst.numpy()
        steps = len(kept["run"].steps)
        with pytest.raises(NkiValidationError):
            nisa.max8(dst=dst, src=src[:, :5])
        assert np.array_equal(dst.numpy(), before)
        assert len(kept["run"].steps) == steps
        assert not any(step.words for step in kept["run"].steps)

    nki.simulate(kernel)()


def test_other_profiles_have_other_windows() -> None:
    def kernel() -> None:
        nisa.tensor_copy(dst=tile(16, 8), src=tile(64, 8)[48:64])

    nki.simulate(kernel, profile=Profile.HARDWARE.with_(partition_window="fits"))()
    nki.simulate(kernel, profile="isa")()


# Arguments.


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: nisa.max8(dst=None, scr=None),
            "max8 has no argument 'scr'; did you mean src? (it takes dst, src, name)",
        ),
        (lambda: nisa.max8(tile(4, 8)), "max8 needs src (it takes dst, src, name)"),
        (
            lambda: nisa.max8(tile(4, 8), tile(4, 8), None, 3),
            "max8 takes 3 arguments by position (dst, src, name), got 4",
        ),
        (
            lambda: nisa.max8(tile(4, 8), dst=tile(4, 8)),
            "max8 got dst by keyword and as argument 0",
        ),
        (
            lambda: nisa.tensor_copy(tile(4, 8), tile(4, 8), engine=2),
            "tensor_copy engine is 2 (int), must be one of engine.unknown, engine.tensor",
        ),
        (
            lambda: nisa.select_reduce(
                tile(4, 8), tile(4, 8, nl.uint8), tile(4, 8), 0.0, reduce_cmd=3
            ),
            "select_reduce reduce_cmd is 3 (int), must be one of reduce_cmd.idle, reduce_cmd.reset",
        ),
        (
            lambda: nisa.tensor_reduce(tile(4, 1), "max", tile(4, 8), 1),
            "tensor_reduce op is 'max', must be an operator of nl",
        ),
        (
            lambda: nisa.tensor_tensor(tile(4, 1), tile(4, 1), tile(4, 1), op=np.arctan2),
            "tensor_tensor op is arctan2, must be an operator of nl",
        ),
    ],
)
def test_arguments(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(TypeError) as caught:
        nki.simulate(call)()
    assert str(caught.value).startswith(message), str(caught.value)
    assert "(test_errors.py:" in str(caught.value)


def test_affine_select_with_the_arguments_of_before_0_3() -> None:
    """offset moved from the third place to the last."""
    error = refused(lambda: nisa.affine_select(tile(4, 8), [[1, 8]], 0, 1, tile(4, 8), 0.0))
    assert "offset moved from the third place to the last in version 0.3" in str(error)


def test_functions_that_are_not_offered() -> None:
    with pytest.raises(
        NotImplementedError, match=r"nki.isa.rng is not offered by lanewise; offered: activation, "
    ) as caught:
        nki.simulate(lambda: nisa.rng(tile(4, 8)))()
    assert "tensor_tensor" in str(caught.value)
    with pytest.raises(NotImplementedError, match="did you mean tensor_copy"):
        nisa.tensor_copi()
    with pytest.raises(NotImplementedError, match=r"nki\.language\.gelu is not offered"):
        nl.gelu(1)


def test_functions_outside_a_kernel() -> None:
    with pytest.raises(KernelError, match=r"nl.ndarray works inside a kernel only; run the kernel"):
        nl.ndarray((4, 8), dtype=nl.float32)
    with pytest.raises(KernelError, match="max8 works inside a kernel only"):
        nisa.max8(None, None)


def test_a_word_that_the_machine_refuses_is_a_bug_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lanewise.nki.checks.Checker._windows", lambda self: None)
    with pytest.raises(FrontEndBug, match="this is a bug of lanewise, not of the kernel: COPY"):
        nki.simulate(lambda: nisa.tensor_copy(dst=tile(4, 8), src=tile(64, 8)[48:52]))()


def test_the_innermost_line_of_the_kernel_is_named() -> None:
    def helper(dst: Any, src: Any) -> None:
        nisa.max8(dst=dst, src=src)

    error = refused(lambda: helper(tile(4, 8), tile(4, 5)))
    assert error.location is not None
    with open(__file__, encoding="utf-8") as file:
        line = file.read().splitlines()[error.location.line - 1]
    assert line.strip() == "nisa.max8(dst=dst, src=src)"


def test_values_that_are_no_kernel_result() -> None:
    with pytest.raises(KernelError, match="the kernel returns sbuf_1, a tile in sbuf; copy it to"):
        nki.simulate(lambda x: nl.zeros((4, 8), dtype=nl.float32))(f32(1))
