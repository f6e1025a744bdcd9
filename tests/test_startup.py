"""The import hook that an environment variable switches on, in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import lanewise

SOURCES = Path(lanewise.__file__).parents[1]
HOOK = SOURCES / "lanewise_nki.pth"


def _python(code: str, *, path: Path | None = None, **environment: str) -> str:
    """What the code prints when the hook's line has run before it, as Python does at its start."""
    clean = {
        name: value
        for name, value in os.environ.items()
        if name not in ("LANEWISE_NKI", "NKI_SIMULATOR")
    }
    if path is not None:
        clean["PYTHONPATH"] = str(path)
    done = subprocess.run(
        [sys.executable, "-c", f"{HOOK.read_text(encoding='utf-8')}\n{code}"],
        capture_output=True,
        text=True,
        check=False,
        env={**clean, **environment},
    )
    assert done.returncode == 0 or "Error" in done.stderr
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


def test_python_reads_the_hook_as_one_line() -> None:
    lines = HOOK.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("import ")


@pytest.mark.parametrize("variable", ["LANEWISE_NKI", "NKI_SIMULATOR"])
def test_the_names_resolve(variable: str) -> None:
    code = "import nki.isa as new; import neuronxcc.nki.isa as old; from nki import language"
    shown = "new.max8.__module__, old.max8.__module__"
    assert _python(f"{code}; print({shown})", **{variable: "1"}) == (
        "lanewise.nki.isa.max8 lanewise.nki.beta1.isa"
    )


@pytest.mark.parametrize("value", ["0", "", "false", "OFF"])
def test_off_means_off(value: str) -> None:
    assert "ModuleNotFoundError" in _python("import nki", LANEWISE_NKI=value)


def test_nothing_is_imported_until_a_program_asks() -> None:
    show = "import sys; print(*sorted({'lanewise', 'lanewise.nki', 'numpy'} & set(sys.modules)))"
    assert _python(show + "; print('.')") == "."
    assert _python(show, LANEWISE_NKI="1") == "lanewise"
    assert _python("import os.path as nki_like\n" + show, LANEWISE_NKI="1") == "lanewise"


def test_a_vendor_s_package_goes_first_only_with_the_vendor_s_variable(tmp_path: Path) -> None:
    (tmp_path / "nki").mkdir()
    (tmp_path / "nki" / "__init__.py").write_text("where = 'vendor'", encoding="utf-8")
    code = "import nki; print(getattr(nki, 'where', 'lanewise'))"
    assert _python(code, path=tmp_path) == "vendor"
    assert _python(code, path=tmp_path, NKI_SIMULATOR="1") == "vendor"
    assert _python(code, path=tmp_path, LANEWISE_NKI="1") == "lanewise"


def test_installing_by_hand_as_well_is_fine() -> None:
    code = (
        "import lanewise.nki as offered; handle = offered.install(); import nki; "
        "handle.uninstall(); import nki as again; print(nki is again, offered.installed())"
    )
    assert _python(code, LANEWISE_NKI="1") == "False True"
