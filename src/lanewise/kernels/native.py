"""The compiled engine: everything of the reference engine, with what is compiled put over it.

Importing this module raises ImportError where the extension has not been built; ask
:func:`lanewise.kernels.select_engine` for an engine instead of importing one.
"""

from __future__ import annotations

from lanewise.kernels import _native
from lanewise.kernels.reference import *  # noqa: F403

merge_rows = _native.merge_rows
