"""Observers: what tracing, watching and coverage attach to a machine.

A machine calls each attached observer three times an instruction: before legality, after
legality, after commit. Observers see and never change; a machine without any pays nothing.
"""

from __future__ import annotations

from typing import Any

from lanewise.model.verdict import VerdictError


class Observer:
    """Does nothing; override what is wanted.

    ``machine`` is the core that runs, ``index`` the instruction's position in the program.
    """

    def before_legality(self, machine: Any, index: int, word: bytes) -> None:
        """Called with the raw bytes, before they are decoded."""

    def after_legality(self, machine: Any, index: int, instruction: Any) -> None:
        """Called with the decoded instruction once every rule holds, before any effect."""

    def after_commit(self, machine: Any, index: int, instruction: Any) -> None:
        """Called when all effects of the instruction are in the machine's state."""

    def refused(self, machine: Any, index: int, error: VerdictError) -> None:
        """Called when the word was malformed, illegal or faulted; the state is unchanged."""
