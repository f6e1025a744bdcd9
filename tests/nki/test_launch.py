"""jit, simulate, grids, arguments and results, steps, report, trace, replay."""

from __future__ import annotations

import itertools
import json
import re
from collections import namedtuple
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from tests.nki.helpers import same_bits

from lanewise import Profile, nki
from lanewise.neuron import NeuronCore
from lanewise.nki import KernelError, NkiError
from lanewise.nki import isa as nisa
from lanewise.nki import language as nl


def copied(x: Any) -> Any:
    """A kernel that gives back its argument through SBUF."""
    tile = nl.ndarray(x.shape, dtype=x.dtype)
    nisa.dma_copy(dst=tile, src=x)
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=tile)
    return out


DATA = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.mark.parametrize(
    "decorate",
    [
        nki.jit,
        nki.jit(),
        nki.jit(mode="simulation"),
        nki.jit(mode="torchxla", platform_target="trn2"),
        nki.simulate,
        lambda f: nki.simulate(nki.jit(f)),
    ],
)
def test_ways_to_run(decorate: Any) -> None:
    same_bits(decorate(copied)(DATA), DATA)


def test_a_kernel_is_still_a_function_to_look_at() -> None:
    kernel = nki.jit(copied)
    assert kernel.__name__ == "copied"
    assert kernel.__doc__ == copied.__doc__
    assert kernel.simulation is None
    kernel(DATA)
    assert kernel.simulation is not None
    assert kernel.simulation.target.name == "trn3"
    assert repr(kernel[2]) == "<kernel copied on a grid of (2,)>"


def test_the_decorator_names_the_target_and_the_caller_overrides_it() -> None:
    kernel = nki.jit(platform_target="trn1")(copied)
    kernel(DATA)
    assert kernel.simulation is not None
    assert kernel.simulation.report.target == "trn1"
    sim = nki.simulate(kernel, target="trn2")
    sim(DATA)
    assert sim.report.target == "trn2"


def test_the_profile_is_hardware_unless_said_otherwise() -> None:
    def kernel(x: Any) -> Any:
        tile = nl.ndarray(x.shape, dtype=x.dtype)
        nisa.dma_copy(dst=tile, src=x)
        whole = nl.ndarray(x.shape, dtype=nl.int32)
        nisa.tensor_copy(dst=whole, src=tile)
        out = nl.ndarray(x.shape, dtype=nl.int32, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=out, src=whole)
        return out

    half = np.full((1, 1), 1.5, np.float32)
    for profile, expected in (
        (None, 2),
        ("hardware", 2),
        ("isa", 1),
        (Profile.HARDWARE.with_(float_to_int="truncate"), 1),
    ):
        sim = nki.simulate(kernel, profile=profile)
        assert sim(half)[0, 0] == expected
    assert sim.report.profile == "hardware with float_to_int=truncate"
    step = next(step for step in sim.steps if step.words)
    assert step.profile == sim.report.profile


@pytest.mark.parametrize(
    "dtype",
    [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.float16, np.float32,
     ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3, ml_dtypes.float8_e4m3fn],
)  # fmt: skip
def test_arrays_of_every_type_come_back_as_they_were(dtype: Any) -> None:
    size = np.dtype(dtype).itemsize
    codes = np.random.default_rng(1).integers(0, 256, (5, 8 * size), np.uint8)
    array = codes.view(dtype)
    same_bits(nki.simulate(copied)(array), array)


@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.complex64, "S3"])
def test_types_that_kernels_do_not_have(dtype: Any) -> None:
    with pytest.raises(NkiError, match=r"argument x: (unknown )?dtype"):
        nki.simulate(copied)(np.zeros((2, 2), dtype))


def test_arrays_need_not_be_contiguous() -> None:
    array = np.arange(48, dtype=np.float32).reshape(6, 8)[::2, ::-2]
    same_bits(nki.simulate(copied)(array), np.ascontiguousarray(array))
    same_bits(nki.simulate(copied)(array.astype(">f4")), np.ascontiguousarray(array))


def test_arguments_that_a_kernel_writes_change_in_place() -> None:
    def kernel(x: Any, y: Any) -> Any:
        tile = nl.ones((2, 4), dtype=nl.float32)
        nisa.dma_copy(dst=x[1:3], src=tile)
        return x

    array, other = np.zeros((3, 8), np.float32)[:, ::2], np.zeros((1, 1), np.float32)
    result = nki.simulate(kernel)(array, other)
    assert result is array
    assert array.tolist() == [[0] * 4, [1] * 4, [1] * 4]

    frozen = np.zeros((3, 4), np.float32)
    frozen.flags.writeable = False
    with pytest.raises(NkiError, match="argument x is read-only, but the kernel writes to it"):
        nki.simulate(kernel)(frozen, other)


def test_views_of_an_argument_come_back_as_copies() -> None:
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    for view in (lambda x: x[0:2], lambda x: x[1:3, 0:4], lambda x: [x[0:3]][0]):
        result = nki.simulate(view)(array)
        assert not np.shares_memory(result, array)
        result += 1
    assert array.tolist() == np.arange(12).reshape(3, 4).tolist()


def test_a_kernel_that_fails_changes_no_argument() -> None:
    def kernel(x: Any) -> None:
        nisa.dma_copy(dst=x, src=nl.ones((3, 4), dtype=nl.float32))
        raise RuntimeError("on purpose")

    array = np.zeros((3, 4), np.float32)
    with pytest.raises(RuntimeError, match="on purpose"):
        nki.simulate(kernel)(array)
    assert not array.any()


def test_one_array_passed_twice_is_one_tensor() -> None:
    same = []
    nki.simulate(lambda x, y: same.append(x is y))(DATA, DATA)
    assert same == [True]


Pair = namedtuple("Pair", "first second")


def test_containers_and_other_arguments() -> None:
    def kernel(arrays: Any, scale: float = 1.0, *, options: Any = None) -> Any:
        assert scale == 2.0
        assert options["flag"] is True
        first, second = arrays
        return {"both": [copied(first), (copied(second),)], "pair": Pair(copied(options["x"]), 7)}

    result = nki.simulate(kernel)(
        [DATA, DATA + 1], scale=2.0, options={"x": DATA * 2, "flag": True}
    )
    same_bits(result["both"][0], DATA)
    same_bits(result["both"][1][0], DATA + 1)
    same_bits(result["pair"].first, DATA * 2)
    assert result["pair"].second == 7


def test_arguments_that_do_not_fit() -> None:
    with pytest.raises(TypeError, match=r"copied: missing a required argument: 'x' \(test_launch"):
        nki.simulate(copied)()


def test_kernels_call_kernels() -> None:
    inner = nki.jit(copied)

    def kernel(x: Any) -> Any:
        return inner(inner(x))

    same_bits(nki.simulate(kernel)(DATA), DATA)
    with pytest.raises(KernelError, match="a simulation cannot be started inside a kernel"):
        nki.simulate(nki.simulate(copied))(DATA)


def test_grids() -> None:
    seen = []

    @nki.jit
    def kernel(x: Any) -> Any:
        seen.append((nl.program_id(0), nl.num_programs(0), nl.program_ndim()))
        scratch = nl.ndarray((1, 4), dtype=nl.float32, buffer=nl.private_hbm)
        out = nl.ndarray((4, 4), dtype=nl.float32, buffer=nl.shared_hbm, name="out")
        row = nl.ds(2 * nl.program_id(0), 2)
        tile = nl.ndarray((2, 4), dtype=nl.float32)
        nisa.dma_copy(dst=tile, src=x[row])
        nisa.dma_copy(dst=out[row], src=tile)
        del scratch
        return out

    data = np.arange(16, dtype=np.float32).reshape(4, 4)
    for kernel_on_two in (kernel[2], kernel[nl.nc(2)], kernel[(2,)]):
        seen.clear()
        same_bits(kernel_on_two(data), data)
        assert seen == [(0, 2, 1), (1, 2, 1)]
    sim = nki.simulate(kernel[2])
    same_bits(sim(data), data)
    assert len(sim.runs) == 2
    assert [step.program_id for step in sim.steps] == [0, 0, 1, 1]


def test_grids_of_two_dimensions_run_in_order() -> None:
    seen = []

    def kernel() -> None:
        seen.append((nl.program_id(0), nl.program_id(1)))
        assert nl.num_programs((0, 1)) == (2, 3)
        with pytest.raises(KernelError, match=r"program_id axis 2 must be in 0\.\.1"):
            nl.program_id(2)

    nki.simulate(nki.jit(kernel)[2, 3])()
    assert seen == [(x, y) for x in range(2) for y in range(3)]


@pytest.mark.parametrize("grid", [0, -1, "x", ()])
def test_what_is_no_grid(grid: Any) -> None:
    with pytest.raises(ValueError, match="a grid is one or more positive numbers of programs"):
        nki.jit(copied)[grid]


@pytest.mark.parametrize("name", ["core_barrier", "sendrecv"])
def test_cores_do_not_meet(name: str) -> None:
    with pytest.raises(NotImplementedError, match=f"nki.isa.{name} is not offered"):
        nki.simulate(getattr(nisa, name))()


# What a simulation leaves behind.


def searching(x: Any) -> Any:
    """A kernel of modelled calls with memory moved around them."""
    tile = nl.ndarray(x.shape, dtype=x.dtype, name="tile")
    nisa.dma_copy(dst=tile, src=x)
    values = nl.ndarray((x.shape[0], 8), dtype=nl.float32, name="values")
    places = nl.ndarray((x.shape[0], 8), dtype=nl.uint32, name="places")
    nisa.max8(dst=values, src=tile, name="the best")
    nisa.nc_match_replace8(tile, tile, values, -1.0, dst_idx=places)
    narrow = nl.ndarray((x.shape[0], 8), dtype=nl.bfloat16, name="narrow")
    nisa.tensor_copy(dst=narrow, src=values, engine=nisa.engine.scalar)
    out = nl.ndarray((x.shape[0], 8), dtype=nl.uint32, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=places)
    return out


SCORES = np.random.default_rng(3).standard_normal((64, 100)).astype(np.float32)


def test_steps_name_function_line_operands_and_words() -> None:
    sim = nki.simulate(searching)
    sim(SCORES)
    assert [step.function for step in sim.steps] == [
        "dma_copy",
        "max8",
        "nc_match_replace8",
        "tensor_copy",
        "dma_copy",
    ]
    best = sim.steps[1]
    assert best.label == "the best"
    assert best.location.file == __file__
    assert not best.outside
    assert best.engine == "vector"
    assert [str(operand) for operand in best.operands] == [
        "dst=values[64x8] float32 sbuf:0+400",
        "src=tile[64x100] float32 sbuf:0+0",
    ]
    assert sim.steps[0].outside
    assert sim.steps[0].note == "outside the modelled set: NumPy semantics, FP32 inside"
    assert len(sim.program) == 5
    assert sim.program == tuple(word for step in sim.steps for word in step.words)


def test_the_words_alone_give_the_same_memory() -> None:
    sim = nki.simulate(searching)
    sim(SCORES)
    assert sim.replay_problem is None
    core = NeuronCore(sim.target.generation, sim.profile)
    core.state = sim.initial_state
    core.run(sim.dispatches)
    for name, expected in sim.final_state().arrays().items():
        assert np.array_equal(core.state.arrays()[name], expected), name


def test_the_words_alone_are_not_enough_when_something_else_writes_between() -> None:
    def kernel() -> None:
        x = nl.zeros((4, 8), dtype=nl.float32, name="x")
        y = nl.ndarray((4, 8), dtype=nl.float32)
        nisa.tensor_copy(dst=y, src=x)
        nisa.memset(dst=x, value=1.0)
        nisa.tensor_copy(dst=y, src=x)

    sim = nki.simulate(kernel)
    sim()
    assert sim.replay_problem is not None
    assert re.fullmatch(
        r"memset \(test_launch.py:\d+\) wrote to x between words", sim.replay_problem
    )


def test_report() -> None:
    sim = nki.simulate(searching)
    sim(SCORES)
    report = sim.report
    assert report.words == {
        "MAX8": 1,
        "MATCH_VALUE_LOAD": 1,
        "MATCH_REPLACE8": 1,
        "DVE_READ_INDICES": 1,
        "CAST": 1,
    }
    assert report.calls == {"max8": 1, "nc_match_replace8": 1, "tensor_copy": 1}
    assert report.outside == {"dma_copy": 2}
    assert (report.cycles, report.overhead, report.unknown) == (100 + 100 + 64, 300, 2)
    text = str(report)
    assert "estimate: 264 cycles + 300 overhead (2 steps without a published formula)" in text
    assert json.loads(json.dumps(report.as_dict()))["estimate"]["cycles"] == 264


def test_trace(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "run.json"
    nki.simulate(searching, trace=path)(SCORES)
    trace = json.loads(path.read_text())
    assert trace["otherData"]["schema"] == 1
    tracks = {
        event["args"]["name"] for event in trace["traceEvents"] if event["name"] == "thread_name"
    }
    assert tracks == {"vector", "gpsimd", "scalar", "dma", "outside"}
    slices = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert [event["name"] for event in slices] == [
        "dma_copy",
        "MAX8",
        "MATCH_VALUE_LOAD + MATCH_REPLACE8 + DVE_READ_INDICES",
        "CAST",
        "dma_copy",
    ]
    assert slices[1]["dur"] == 200
    assert slices[1]["args"]["words"] == [word.hex() for word in nki_words(searching)["max8"]]
    assert slices[1]["args"]["location"].startswith("test_launch.py:")
    assert all(later["ts"] > earlier["ts"] for earlier, later in itertools.pairwise(slices))


def nki_words(kernel: Any) -> dict[str, tuple[bytes, ...]]:
    """The words of each function of a kernel."""
    sim = nki.simulate(kernel)
    sim(SCORES)
    return {step.function: step.words for step in sim.steps}


def test_device_print(capsys: pytest.CaptureFixture[str]) -> None:
    def kernel(x: Any) -> None:
        tile = nl.ndarray(x.shape, dtype=x.dtype)
        nisa.dma_copy(dst=tile, src=x)
        nl.device_print("scores", tile[:, :2])

    sim = nki.simulate(kernel)
    sim(DATA)
    assert capsys.readouterr().out == f"scores {DATA[:, :2]}\n"
    assert sim.steps[-1].function == "device_print"


def test_calls_again_start_from_power_up_and_reuse_what_was_lowered() -> None:
    sim = nki.simulate(searching)
    first = sim(SCORES)
    words = sim.program
    same_bits(sim(SCORES), first)
    assert sim.program == words
    assert len(sim.steps) == 5


def test_later_calls_decode_and_check_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    sim = nki.simulate(searching)
    first = sim(SCORES)

    def fail(*arguments: Any) -> Any:
        raise AssertionError("a word was decoded again")

    monkeypatch.setattr("lanewise.neuron.core.decode", fail)
    same_bits(sim(SCORES), first)


def test_a_step_that_there_is_not_is_an_index_error() -> None:
    simulation = nki.simulate(copied)
    with pytest.raises(IndexError, match=r"there is no step 0: there are no steps"):
        simulation.dump(0)
    simulation(DATA)
    with pytest.raises(IndexError, match=r"there is no step 99: there are 2 steps, 0\.\.1"):
        simulation.dump(99)
    assert simulation.dump(-1) == simulation.dump(1)
