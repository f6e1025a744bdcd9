"""The signature of every public name, as published: order, names, defaults, and by which way."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from lanewise import nki
from lanewise.nki import isa, typing
from lanewise.nki import language as nl
from lanewise.nki.beta1 import isa as beta1
from lanewise.nki.beta1 import language as beta1_nl

FP32_MIN = float(np.finfo(np.float32).min)
TAIL = {"mask": None, "dtype": None}

CURRENT: dict[str, dict[str, Any]] = {
    "tensor_copy": {"dst": ..., "src": ..., "engine": isa.engine.unknown},
    "tensor_copy_predicated": {
        "dst": ...,
        "src": ...,
        "predicate": ...,
        "reverse_pred": False,
    },
    "select_reduce": {
        "dst": ...,
        "predicate": ...,
        "on_true": ...,
        "on_false": ...,
        "reduce_res": None,
        "reduce_cmd": isa.reduce_cmd.idle,
        "reduce_op": nl.maximum,
        "reverse_pred": False,
    },
    "max8": {"dst": ..., "src": ...},
    "nc_find_index8": {"dst": ..., "data": ..., "vals": ...},
    "nc_match_replace8": {"dst": ..., "data": ..., "vals": ..., "imm": ..., "dst_idx": None},
    "range_select": {
        "dst": ...,
        "on_true_tile": ...,
        "comp_op0": ...,
        "comp_op1": ...,
        "bound0": ...,
        "bound1": ...,
        "reduce_cmd": isa.reduce_cmd.reset_reduce,
        "reduce_res": None,
        "reduce_op": nl.maximum,
        "range_start": 0,
        "on_false_value": FP32_MIN,
    },
    "nonzero_with_count": {"dst": ..., "src": ..., "index_offset": 0, "padding_val": -1},
}
OLDER: dict[str, dict[str, Any]] = {
    "tensor_copy": {"src": ..., "*engine": isa.engine.unknown},
    "tensor_copy_predicated": {
        "*src": ...,
        "*dst": ...,
        "*predicate": ...,
        "*reverse_pred": False,
    },
    "select_reduce": {
        "*dst": ...,
        "*predicate": ...,
        "*on_true": ...,
        "*on_false": ...,
        "*reduce_res": None,
        "*reduce_cmd": isa.reduce_cmd.idle,
        "*reduce_op": np.amax,
        "*reverse_pred": False,
    },
    "max8": {"*src": ...},
    "nc_find_index8": {"*data": ..., "*vals": ...},
    "nc_match_replace8": {"*data": ..., "*vals": ..., "*imm": ..., "*dst_idx": None},
    "range_select": {
        "*on_true_tile": ...,
        "*comp_op0": ...,
        "*comp_op1": ...,
        "*bound0": ...,
        "*bound1": ...,
        "*reduce_cmd": isa.reduce_cmd.idle,
        "*reduce_res": None,
        "*reduce_op": np.amax,
        "*range_start": 0,
        "*on_false_value": FP32_MIN,
    },
}
#: Names of arguments, for the neighbours and the language.
NAMES: dict[Any, str] = {
    isa.dma_copy: "dst src priority oob_mode dge_mode engine",
    isa.memset: "dst value engine",
    isa.tensor_reduce: "dst op data axis negate keepdims",
    isa.iota: "dst pattern offset channel_multiplier",
    isa.affine_select: "dst pattern channel_multiplier on_true_tile on_false_value cmp_op offset",
    isa.tensor_scalar: "dst data op0 operand0 reverse0 op1 operand1 reverse1 engine",
    isa.tensor_tensor: "dst data1 data2 op engine",
    isa.activation: "dst op data bias scale reduce_op reduce_res reduce_cmd",
    isa.nc_matmul: "dst stationary moving",
    nl.ndarray: "shape dtype buffer name address",
    nl.zeros: "shape dtype buffer",
    nl.ones: "shape dtype buffer",
    nl.full: "shape fill_value dtype buffer",
    nl.load: "src dtype",
    nl.store: "dst value",
    nl.copy: "x dtype",
    nl.where: "condition x y",
    nl.program_id: "axis",
    nl.num_programs: "axes",
    nl.device_print: "prefix tensor",
    nki.simulate: "kernel target profile trace",
    nki.compare: "actual expected keys",
}


def _shown(function: Any, left_out: tuple[str, ...]) -> dict[str, Any]:
    """Arguments by name (with * when by keyword only) and their defaults."""
    shown: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if name in left_out or parameter.kind == parameter.VAR_KEYWORD:
            continue
        star = "*" if parameter.kind == parameter.KEYWORD_ONLY else ""
        default = parameter.default
        shown[star + name] = ... if default is parameter.empty else default
    return shown


@pytest.mark.parametrize("name", CURRENT)
def test_current(name: str) -> None:
    function = getattr(isa, name)
    shown = _shown(function, ())
    assert shown.pop("name") is None
    assert shown == CURRENT[name]
    assert list(shown) == list(CURRENT[name])


@pytest.mark.parametrize("name", OLDER)
def test_older(name: str) -> None:
    function = getattr(beta1, name)
    shown = _shown(function, ())
    assert [shown.pop(f"*{last}") for last in TAIL] == [None, None]
    assert shown == OLDER[name]
    assert list(shown) == list(OLDER[name])
    kinds = [parameter.kind for parameter in inspect.signature(function).parameters.values()]
    assert kinds[-1] == inspect.Parameter.VAR_KEYWORD


def test_nonzero_with_count_is_new() -> None:
    assert "nonzero_with_count" not in beta1.__all__


@pytest.mark.parametrize("function", NAMES, ids=lambda function: function.__name__)
def test_names_in_order(function: Any) -> None:
    names = NAMES[function].split()
    assert list(inspect.signature(function).parameters)[: len(names)] == names


@pytest.mark.parametrize("name", [*isa.MODELLED, *isa.OUTSIDE])
def test_every_function_takes_a_label(name: str) -> None:
    parameters = inspect.signature(getattr(isa, name)).parameters
    assert list(parameters)[-1] == "name"
    assert parameters["name"].default is None


@pytest.mark.parametrize("module", [isa, beta1, nl, beta1_nl, typing, nki])
def test_public_names_exist(module: Any) -> None:
    names = [name for name in getattr(module, "__all__", dir(module)) if not name.startswith("_")]
    assert names
    for name in names:
        assert "not offered" not in repr(getattr(module, name)), name


LANGUAGE = """
    ndarray zeros ones full zeros_like empty_like rand sbuf psum hbm private_hbm shared_hbm ds
    affine_range static_range sequential_range dynamic_range fori_loop while_loop
    add subtract multiply divide maximum minimum abs power equal not_equal less less_equal greater
    greater_equal bitwise_and bitwise_or bitwise_xor invert left_shift right_shift logical_and
    logical_or logical_xor logical_not exp log sqrt rsqrt tanh sigmoid relu square reciprocal
    negative copy mod sum max min mean load store where broadcast_to transpose expand_dims
    program_id num_programs program_ndim device_print nc tile_size fp32 NKIObject NkiTensor DType
    shared_identity_matrix shared_constant
    int8 uint8 bool_ int16 uint16 int32 uint32 float16 bfloat16 float32 tfloat32 float8_e5m2
    float8_e4m3 float8_e4m3fn
"""


@pytest.mark.parametrize("name", LANGUAGE.split())
def test_language_has(name: str) -> None:
    assert name in nl.__all__
    assert hasattr(beta1_nl, name)


def test_beta_1_language_has_grids() -> None:
    assert {"arange", "mgrid", "par_dim"} <= set(beta1_nl.__all__)


def test_constants() -> None:
    size = nl.tile_size
    assert (size.pmax, size.psum_fmax, size.psum_bank_fmax) == (128, 512, 512)
    assert (size.psum_bank_fmax_bytes, size.psum_num_banks) == (2048, 8)
    assert (size.gemm_stationary_fmax, size.gemm_moving_fmax) == (128, 512)
    assert size.bn_stats_fmax == 512
    for name in ("sbuf_fmax", "sbuf_fmax_bytes", "sbuf_size_bytes", "total_available_sbuf_size"):
        assert int(getattr(size, name)) > 0
    assert nl.fp32.min == FP32_MIN


@pytest.mark.parametrize(
    ("enum", "values"),
    [
        (isa.engine, "unknown 0 tensor 1 scalar 2 gpsimd 3 dma 4 vector 5 sync 6"),
        (isa.reduce_cmd, "idle 0 reset 1 reduce 2 reset_reduce 3 load_reduce 4"),
        (isa.nc_version, "gen2 2 gen3 3 gen4 4"),
        (isa.dge_mode, "unknown 0 swdge 1 hwdge 2 none 3"),
        (isa.oob_mode, "error 0 skip 1"),
    ],
)
def test_enumerations(enum: Any, values: str) -> None:
    words = values.split()
    for name, value in zip(words[::2], map(int, words[1::2]), strict=True):
        assert enum[name].value == value
        assert getattr(isa.constants, enum.__name__)[name] == enum[name]
    first, second = enum[words[0]], enum[words[2]]
    assert first < second
    assert first <= first == first  # noqa: PLR0124
    for old in ("vector", "scalar", "gpsimd", "tensor", "unknown"):
        assert getattr(isa, f"{old}_engine") == isa.engine[old]
        assert getattr(beta1, f"{old}_engine") == isa.engine[old]


def test_version_notes() -> None:
    """Defaults that other versions had differently: range_select reduced nothing in 0.1."""
    current = inspect.signature(isa.range_select).parameters
    older = inspect.signature(beta1.range_select).parameters
    assert current["reduce_cmd"].default == isa.reduce_cmd.reset_reduce
    assert older["reduce_cmd"].default == isa.reduce_cmd.idle
    assert current["on_false_value"].default == older["on_false_value"].default == FP32_MIN
