"""What all tests share: the hypothesis profiles.

``quick`` is what a developer runs, ``ci`` finds the same examples on every run, ``long`` is for a
night. HYPOTHESIS_PROFILE names one; otherwise it is ``ci`` where CI is set and ``quick`` elsewhere.
No profile has a deadline: the machines are shared, and time is measured in bench/.
"""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("quick", deadline=None, max_examples=100)
settings.register_profile("ci", deadline=None, max_examples=100, derandomize=True)
settings.register_profile("long", deadline=None, max_examples=10_000)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "quick")
)
