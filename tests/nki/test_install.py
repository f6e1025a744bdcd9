"""Making ``import nki`` find lanewise: registration, refusal, undoing, scripts, environment."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import lanewise.nki
from lanewise import LanewiseError

KERNEL = """
import sys
import numpy as np
import nki
import nki.isa as nisa
import nki.language as nl
from nki.isa.constants import engine
from nki.isa import dropout  # not offered, and never called
import nki.typing as nt


@nki.jit
def double(x: nt.tensor[4, 8]):
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=2.0)
    whole = nl.ndarray(x.shape, dtype=nl.int32, buffer=nl.sbuf)
    nisa.tensor_copy(dst=whole, src=tile, engine=engine.vector)
    out = nl.ndarray(x.shape, dtype=nl.int32, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=whole)
    return out


if __name__ == "__main__":
    print(double(np.full((4, 8), 1.25, np.float32))[0, :3].tolist(), sys.argv[1:])
    print(nisa.get_nc_version() <= nisa.nc_version.gen3)
"""


@pytest.fixture
def kernel_file(tmp_path: Path) -> Path:
    path = tmp_path / "my_kernel.py"
    path.write_text(KERNEL, encoding="utf-8")
    return path


def test_an_unmodified_kernel_file_is_imported(
    kernel_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(kernel_file.parent))
    assert not lanewise.nki.installed()
    with lanewise.nki.install():
        assert lanewise.nki.installed()
        module = importlib.import_module("my_kernel")
        result = module.double(np.full((4, 8), 1.25, np.float32))
    del sys.modules["my_kernel"]
    assert (result == 2).all()
    assert not lanewise.nki.installed()
    assert not any(name.partition(".")[0] in ("nki", "neuronxcc") for name in sys.modules)


def test_both_worlds_in_one_file() -> None:
    with lanewise.nki.install():
        import neuronxcc.nki.isa as old
        import nki.isa as new
        from neuronxcc import nki as older

        assert older.isa is old
        assert new.max8 is not old.max8
        assert new.max8 is lanewise.nki.isa.max8
        assert new.__name__ == "nki.isa"


def test_one_world_only() -> None:
    with lanewise.nki.install(worlds=["beta1"]):
        assert "neuronxcc.nki" in sys.modules
        assert "nki" not in sys.modules
        assert lanewise.nki.installed()
    with pytest.raises(ValueError, match="unknown world 'beta2'; did you mean 'beta1'"):
        lanewise.nki.install(worlds=["beta2"])


def test_modules_that_are_not_offered() -> None:
    with lanewise.nki.install(), pytest.raises(ModuleNotFoundError):
        importlib.import_module("nki.collectives")


def test_a_real_package_is_not_replaced_unless_forced(monkeypatch: pytest.MonkeyPatch) -> None:
    real, child = ModuleType("nki"), ModuleType("nki.compiler")
    monkeypatch.setitem(sys.modules, "nki", real)
    monkeypatch.setitem(sys.modules, "nki.compiler", child)
    with pytest.raises(
        LanewiseError, match=r"the package nki is already imported from somewhere else; .*force"
    ):
        lanewise.nki.install()
    assert sys.modules["nki"] is real
    with lanewise.nki.install(force=True):
        assert sys.modules["nki"] is not real
        assert "nki.compiler" not in sys.modules
    assert sys.modules["nki"] is real
    assert sys.modules["nki.compiler"] is child


def test_installations_nest_and_uninstall_undoes_all() -> None:
    first = lanewise.nki.install()
    module = sys.modules["nki"]
    second = lanewise.nki.install()
    second.uninstall()
    second.uninstall()
    assert sys.modules["nki"] is module
    lanewise.nki.install()
    lanewise.nki.uninstall()
    assert not lanewise.nki.installed()
    first.uninstall()


def _run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def test_python_m_lanewise_nki(kernel_file: Path) -> None:
    done = _run("-m", "lanewise.nki", str(kernel_file), "a", "-b")
    assert done.stdout.splitlines() == ["[2, 2, 2] ['a', '-b']", "False"], done.stderr
    done = _run("-m", "lanewise.nki", "--target", "trn2", str(kernel_file))
    assert done.stdout.splitlines() == ["[2, 2, 2] []", "True"], done.stderr


def test_python_m_lanewise_nki_with_a_module(kernel_file: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "lanewise.nki", "-m", "my_kernel", "x"],
        capture_output=True,
        text=True,
        check=True,
        cwd=kernel_file.parent,
    )
    assert done.stdout.startswith("[2, 2, 2] ['x']")


def test_python_m_lanewise_nki_tells_how(kernel_file: Path) -> None:
    assert _run("-m", "lanewise.nki").returncode == 2
    assert "usage: python -m lanewise.nki" in _run("-m", "lanewise.nki", "--help").stdout
    missing = _run("-m", "lanewise.nki", "nowhere.py")
    assert missing.returncode == 2
    assert missing.stderr == "lanewise.nki: there is no file nowhere.py\n"
    for wrong, said in ((["trn9", str(kernel_file)], "unknown target 'trn9'"), ([], "needs a ta")):
        done = _run("-m", "lanewise.nki", "--target", *wrong)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert said in done.stderr


def test_the_environment_names_the_target(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, target in (("gen2", "trn1"), ("inf2", "inf2"), ("trn2", "trn2"), ("gen4", "trn3")):
        monkeypatch.setenv("NEURON_PLATFORM_TARGET_OVERRIDE", name)
        assert lanewise.nki.simulate(lambda: None).target.name == target
    monkeypatch.delenv("NEURON_PLATFORM_TARGET_OVERRIDE")
    assert lanewise.nki.simulate(lambda: None).target.name == "trn3"
    assert lanewise.nki.simulate(lambda: None, target="trn1").target.name == "trn1"
    with pytest.raises(ValueError, match="unknown target 'trn4'"):
        lanewise.nki.simulate(lambda: None, target="trn4")()
