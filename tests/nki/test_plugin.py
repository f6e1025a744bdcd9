"""The pytest plugin, run by pytest on small test files."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytest_plugins = ["pytester"]

KERNELS = """
import numpy as np
import pytest
import lanewise.nki as nki
import lanewise.nki.isa as nisa
import lanewise.nki.language as nl

ROW = np.arange(16, dtype=np.float32).reshape(1, 16)


@nki.jit
def top(x, most=16):
    tile = nl.ndarray(x.shape, dtype=x.dtype, name="tile")
    nisa.dma_copy(dst=tile, src=x)
    best = nl.ndarray((x.shape[0], 8), dtype=x.dtype, name="best")
    nisa.max8(dst=best, src=tile[:, :most])
    out = nl.ndarray(best.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=best)
    return out
"""


def _run(pytester: pytest.Pytester, tests: str, *options: str) -> pytest.RunResult:
    pytester.makepyfile(KERNELS + tests)
    return pytester.runpytest_inprocess("-p", "no:randomly", *options)


def test_the_fixture_simulates(pytester: pytest.Pytester) -> None:
    tests = """
def test_top(nki_simulate, nki_target):
    sim = nki_simulate(top)
    assert sim(ROW)[0, 0] == 15
    assert sim.report.target == nki_target == "trn3"
    assert "hardware" in sim.report.profile
"""
    _run(pytester, tests).assert_outcomes(passed=1)


@pytest.mark.parametrize("option", ["--nki-target", "--lanewise-target"])
def test_a_test_runs_for_each_target(pytester: pytest.Pytester, option: str) -> None:
    tests = """
def test_top(nki_simulate):
    sim = nki_simulate(top)
    sim(ROW)
    print("target", sim.report.target)

def test_direct(nki_target):
    top(ROW)
    assert top.simulation.report.target == nki_target

def test_other():
    pass
"""
    result = _run(pytester, tests, "-v", "-s", f"{option}=trn1, trn2")
    result.assert_outcomes(passed=5)
    result.stdout.fnmatch_lines(
        ["*test_top?trn1? target trn1*", "*test_top?trn2? target trn2*", "*test_other PASSED*"]
    )


def test_the_marker_names_targets_and_selects(pytester: pytest.Pytester) -> None:
    tests = """
@pytest.mark.nki(targets="trn2,trn3", profile="isa", uninitialised="error")
def test_marked(nki_simulate):
    sim = nki_simulate(top)
    sim(ROW)
    assert sim.report.target in ("trn2", "trn3")
    assert sim.report.profile.startswith("isa")
    assert sim.options.uninitialised == "error"

def test_plain(nki_simulate):
    nki_simulate(top)(ROW)

def test_other():
    pass
"""
    _run(pytester, tests, "-m", "nki").assert_outcomes(passed=3, deselected=1)
    result = _run(pytester, tests, "-rs", "--strict-markers", "--nki-target=trn1,trn2")
    result.assert_outcomes(passed=4, skipped=1)
    result.stdout.fnmatch_lines(["*the test is for trn2, trn3*"])


def test_profile_uninitialised_and_traces(pytester: pytest.Pytester) -> None:
    tests = """
def test_cast(nki_simulate):
    def kernel(x):
        tile = nl.ndarray(x.shape, dtype=x.dtype)
        nisa.dma_copy(dst=tile, src=x)
        whole = nl.ndarray(x.shape, dtype=nl.int32)
        nisa.tensor_copy(dst=whole, src=tile)
        out = nl.ndarray(x.shape, dtype=nl.int32, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=out, src=whole)
        return out
    for _ in range(2):
        assert nki_simulate(kernel)(np.array([[1.5]], np.float32))[0, 0] == 1

def test_unwritten(nki_simulate):
    with pytest.raises(nki.NkiValidationError, match="never written"):
        nki_simulate(lambda: nisa.max8(nl.ndarray((1, 8), nl.float32),
                                       nl.ndarray((1, 8), nl.float32)))()
"""
    result = _run(
        pytester,
        tests,
        "--lanewise-profile=isa",
        "--nki-uninitialised=error",
        "--nki-trace-dir=traces",
    )
    result.assert_outcomes(passed=2)
    written = sorted(path.name for path in (pytester.path / "traces").iterdir())
    stem = "test_profile_uninitialised_and_traces.py_test_"
    assert written == [f"{stem}cast-2.json", f"{stem}cast.json", f"{stem}unwritten.json"]
    trace = json.loads((pytester.path / "traces" / written[1]).read_text())
    assert trace["otherData"]["profile"].startswith("isa")


def test_large_arrays_are_skipped(pytester: pytest.Pytester) -> None:
    tests = """
def test_small(nki_simulate):
    nki_simulate(top)(ROW)

def test_large(nki_simulate):
    nki_simulate(top)(np.zeros((2, 16), np.float32))

def test_inside(nki_simulate):
    nki_simulate(lambda xs: None)([{"x": np.zeros((2, 16), np.float32)}])
"""
    result = _run(pytester, tests, "--nki-max-elements=16", "-rs")
    result.assert_outcomes(passed=1, skipped=2)
    result.stdout.fnmatch_lines(["*an array of 32 elements, --nki-max-elements is 16"])


def test_a_refusal_is_shown_with_its_operands_at_the_kernel_s_line(
    pytester: pytest.Pytester,
) -> None:
    result = _run(pytester, "def test_top(nki_simulate):\n    nki_simulate(top)(ROW, 5)\n")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*NkiValidationError: max8 src elements per partition 5 must be in 8..16384*",
            "*- lanewise-nki -*",
            "target trn3, profile hardware; 1 steps, 0 instruction words",
            "refused: max8 src elements per partition 5 must be in 8..16384 ?rule source-count?",
            "  at test_a_refusal*.py:*: nisa.max8(dst=best, src=tile?:, :most?)",
            "  dst=best?1x8? float32 sbuf:0+64",
            "  src=tile?1x5? float32 sbuf:0+0",
            "the steps:",
            "  0: dma_copy(*",
        ]
    )
    assert "checks.py" not in result.stdout.str()


@pytest.mark.parametrize("how", ["nki_simulate(top)", "top"])
def test_a_wrong_result_is_shown_with_the_last_instruction(
    pytester: pytest.Pytester, how: str
) -> None:
    result = _run(pytester, f"def test_top(nki_simulate):\n    assert {how}(ROW)[0, 0] == 14\n")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*- lanewise-nki -*",
            "the last instruction that ran:",
            "  1: max8(dst=best?1x8? float32 sbuf:0+64, src=tile?1x16?*) on vector, 1 word",
            "    MAX8",
            "      6c100000 *",
            "      bits 192..207 src.num?0? *0x10",
        ]
    )


def test_failures_without_a_simulation_have_no_section(pytester: pytest.Pytester) -> None:
    result = _run(pytester, "def test_other():\n    assert False\n")
    result.assert_outcomes(failed=1)
    result.stdout.no_fnmatch_line("*- lanewise-nki -*")


def test_a_mistake_of_the_front_end_is_shown_in_full(pytester: pytest.Pytester) -> None:
    tests = """
def test_top(nki_simulate, monkeypatch):
    monkeypatch.setattr("lanewise.nki.checks.Checker.run", lambda *a, **k: None)
    nki_simulate(top)(ROW, 5)
"""
    result = _run(pytester, tests)
    result.stdout.fnmatch_lines(["*this is a bug of lanewise, not of the kernel*"])
    assert "run.py" in result.stdout.str()


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--nki-target=trn4", "*lanewise-nki: unknown target 'trn4'*"),
        ("--nki-profile=hardwear", "*lanewise-nki: unknown profile 'hardwear'; did you mean*"),
        ("--nki-uninitialised=never", "*invalid choice: 'never'*"),
    ],
)
def test_names_that_do_not_exist(pytester: pytest.Pytester, option: str, message: str) -> None:
    result = _run(pytester, "", option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([message])


def test_unused_it_imports_nothing_of_the_model(pytester: pytest.Pytester) -> None:
    """In a process of its own: no module, no warning, and it can be left out."""
    pytester.makepyfile(
        """
import sys

def test_nothing_is_loaded(request):
    assert request.config.pluginmanager.has_plugin("lanewise-nki")
    assert not {"numpy", "lanewise.nki", "lanewise.neuron"} & set(sys.modules)

def test_failing():
    assert not [name for name in sys.modules if name.startswith("lanewise.nki")]
    raise ValueError
"""
    )
    ignored = (
        "ignore:Module already imported so cannot be rewritten; _editable_"
        ":pytest.PytestAssertRewriteWarning"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-W", "error", "-W", ignored]
    done = subprocess.run(command, cwd=pytester.path, capture_output=True, text=True, check=False)
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    left_out = subprocess.run(
        [*command, "-p", "no:lanewise-nki", "--help"],
        cwd=pytester.path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "--nki-target" not in left_out.stdout
