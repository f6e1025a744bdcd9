"""The ``lanewise`` command: one file a verb.

``main`` finds the verb, runs it and turns what lanewise refuses into one line on standard error
and an exit status: 0 it worked, 1 a check failed, 2 the input makes no sense.
"""

from lanewise.cli.application import main

__all__ = ["main"]
