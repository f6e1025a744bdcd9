"""The pytest plugin ``lanewise-nki``: tests of NKI kernels, for one target or several.

Loaded by pytest wherever lanewise is installed, so it imports nothing of the model until a test
asks for one of its fixtures (the work is in ``lanewise.nki.testing``). ``-p no:lanewise-nki``
leaves it out.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from lanewise.nki.testing import Simulate

_MARKER = (
    "nki(targets=..., profile=..., uninitialised=...): a test of NKI kernels; targets are those it "
    "is for, profile and uninitialised what it needs whatever the command line says"
)
_FRONT_END = "lanewise.nki.launch.simulation"
_ENVIRONMENT = "NEURON_PLATFORM_TARGET_OVERRIDE"
_KEY = pytest.StashKey["Simulate"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options."""
    group = parser.getgroup("lanewise-nki", "NKI kernels on lanewise")
    group.addoption(
        "--nki-target",
        "--lanewise-target",
        dest="nki_target",
        metavar="TARGETS",
        help="run tests that use nki_simulate or nki_target for each of these targets: trn1, inf2, "
        "trn2, trn3, separated by commas",
    )
    group.addoption(
        "--nki-profile",
        "--lanewise-profile",
        dest="nki_profile",
        metavar="PROFILE",
        help="the profile of nki_simulate: hardware (the default) or isa",
    )
    group.addoption(
        "--nki-uninitialised",
        dest="nki_uninitialised",
        choices=("warn", "error", "ignore"),
        default="warn",
        help="what a read of memory that nothing has written does (default: warn)",
    )
    group.addoption(
        "--nki-trace-dir",
        dest="nki_trace_dir",
        metavar="DIR",
        help="write a Perfetto trace of each simulation there, named after its test",
    )
    group.addoption(
        "--nki-max-elements",
        dest="nki_max_elements",
        type=int,
        metavar="N",
        help="skip tests that give a kernel an array of more than N elements",
    )


def pytest_configure(config: pytest.Config) -> None:
    """The marker, and an early word about names that do not exist."""
    config.addinivalue_line("markers", _MARKER)
    targets, profile = config.getoption("nki_target"), config.getoption("nki_profile")
    if targets is None and profile is None:
        return
    from lanewise.errors import UsageError
    from lanewise.neuron import Profile
    from lanewise.nki.targets import find_target

    try:
        for name in _split(targets):
            find_target(name)
        if profile is not None:
            Profile.named(profile)
    except UsageError as error:
        raise pytest.UsageError(f"lanewise-nki: {error}") from None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test a target."""
    if "nki_target" not in metafunc.fixturenames:
        return
    wanted = _split(metafunc.config.getoption("nki_target"))
    allowed = _allowed(metafunc.definition)
    if allowed:
        wanted = wanted or allowed
    if wanted:
        metafunc.parametrize(
            "nki_target",
            [_parameter(name, allowed) for name in wanted],
            ids=wanted,
            indirect=True,
            scope="function",
        )


def _parameter(name: str, allowed: Sequence[str]) -> Any:
    if not allowed or name in allowed:
        return name
    reason = f"the test is for {', '.join(allowed)}"
    return pytest.param(name, marks=pytest.mark.skip(reason=reason))


def _allowed(node: pytest.Item) -> tuple[str, ...]:
    """The targets that the marker names, none for all."""
    marker = node.get_closest_marker("nki")
    named = None if marker is None else marker.kwargs.get("targets")
    if named is None:
        return ()
    return _split(named) if isinstance(named, str) else tuple(named)


def _split(names: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (names or "").split(",") if name.strip())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that use the fixtures, so that ``-m nki`` finds them."""
    for item in items:
        if "nki_target" in getattr(item, "fixturenames", ()):
            item.add_marker("nki")


@pytest.fixture
def nki_target(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The target's name. Kernels that the test calls directly run for it too."""
    from lanewise.nki.targets import find_target

    chosen: str | None = getattr(request, "param", None)
    if chosen is not None:
        monkeypatch.setenv(_ENVIRONMENT, chosen)
    return find_target(chosen).name


@pytest.fixture
def nki_simulate(request: pytest.FixtureRequest, nki_target: str) -> Simulate:
    """``lanewise.nki.simulate`` with the command line's target, profile and other choices."""
    from lanewise.nki.testing import Simulate

    option = request.config.getoption
    marker = request.node.get_closest_marker("nki")
    own = {} if marker is None else marker.kwargs
    traces = option("nki_trace_dir")
    chosen = getattr(request.node, "callspec", None)
    made = Simulate(
        target=nki_target if chosen and "nki_target" in chosen.params else None,
        profile=own.get("profile", option("nki_profile")),
        uninitialised=own.get("uninitialised", option("nki_uninitialised")),
        trace_dir=None if traces is None else Path(traces),
        most_elements=option("nki_max_elements"),
        node=request.node.nodeid,
    )
    request.node.stash[_KEY] = made
    return made


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[Any]
) -> Generator[None, Any, None]:
    """Tell, in a failed test's report, what its simulation did last."""
    if call.excinfo is None or call.when != "call" or _FRONT_END not in sys.modules:
        yield
        return
    from lanewise.nki.testing import SECTION, failure_text, hide_own_frames

    hide_own_frames()
    outcome = yield
    report = outcome.get_result()
    if report.failed:
        simulate = item.stash.get(_KEY, None)
        last = None if simulate is None else simulate.last
        text = failure_text(last, call.excinfo.value, call.start)
        if text is not None:
            report.sections.append((SECTION, text))
