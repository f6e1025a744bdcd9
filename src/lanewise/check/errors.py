"""What can be wrong with a case file."""

from __future__ import annotations

from lanewise.errors import LanewiseError


class CaseError(LanewiseError):
    """A case that cannot be read; the message says where (file, line, JSON path) and why."""
