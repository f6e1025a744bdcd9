"""``python -m lanewise.nki script.py …``: run a script whose ``import nki`` finds lanewise."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from lanewise.nki.install import install

_USAGE = """\
usage: python -m lanewise.nki [--target TARGET] SCRIPT [ARGUMENTS ...]
       python -m lanewise.nki [--target TARGET] -m MODULE [ARGUMENTS ...]
       python -m lanewise.nki --functions

Runs a script or module with `import nki` and `import neuronxcc.nki` resolving to lanewise.
TARGET is trn1, inf2, trn2 or trn3, as in NEURON_PLATFORM_TARGET_OVERRIDE. --functions lists
every function of nki.isa with its state here.

example: python -m lanewise.nki my_kernel.py
"""


def main(arguments: list[str]) -> int:
    """Run what the arguments name."""
    if arguments == ["--functions"]:
        from lanewise.nki.listing import markdown

        print(markdown())
        return 0
    if arguments[:1] == ["--target"] and len(arguments) > 1:
        import os

        from lanewise.errors import UsageError
        from lanewise.nki.targets import find_target

        try:
            target = find_target(arguments[1])
        except UsageError as error:
            print(f"lanewise.nki: {error}", file=sys.stderr)
            return 2
        os.environ["NEURON_PLATFORM_TARGET_OVERRIDE"] = target.name
        arguments = arguments[2:]
    if arguments == ["--target"]:
        print("lanewise.nki: --target needs a target, such as trn2", file=sys.stderr)
        return 2
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_USAGE, end="")
        return 0 if arguments else 2
    install()
    if arguments[0] == "-m":
        if len(arguments) < 2:
            print("lanewise.nki: -m needs a module", file=sys.stderr)
            return 2
        sys.argv = arguments[1:]
        sys.path.insert(0, "")
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return 0
    script = Path(arguments[0])
    if not script.exists():
        print(f"lanewise.nki: there is no file {script}", file=sys.stderr)
        return 2
    sys.argv = arguments
    sys.path.insert(0, str(script.resolve().parent))
    runpy.run_path(str(script), run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
