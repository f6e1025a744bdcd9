"""What all tests share: the hypothesis profiles, and the engine where there is only one.

``quick`` is what a developer runs, ``ci`` finds the same examples on every run, ``long`` is for a
night. HYPOTHESIS_PROFILE names one; otherwise it is ``ci`` where CI is set and ``quick`` elsewhere.
No profile has a deadline: the machines are shared, and time is measured in bench/.
"""

from __future__ import annotations

import os

from hypothesis import settings

from lanewise.kernels import available_engines

if "native" not in available_engines():
    # Named, the only engine is no surprise to tell about: the command's notice stays away.
    os.environ.setdefault("LANEWISE_ENGINE", "reference")

settings.register_profile("quick", deadline=None, max_examples=100)
settings.register_profile("ci", deadline=None, max_examples=100, derandomize=True)
settings.register_profile("long", deadline=None, max_examples=10_000)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "quick")
)
