"""Warnings of the front end are part of what is tested, so here they are no errors."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let front-end warnings pass in these tests; those about them use pytest.warns."""
    for item in items:
        item.add_marker(pytest.mark.filterwarnings("default::lanewise.nki.errors.NkiWarning"))
