"""Finding the verb, running it, and ending well whatever happens.

Verbs are modules that are imported when they are asked for, so that ``lanewise --help`` and every
verb start without the others.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from lanewise.errors import LanewiseError, unknown_name

#: Verbs with their line in the overview. The module of a verb has its name and holds ``app``.
VERBS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "run": "run a program of 64-byte words on a core",
        "check": "say which words are legal, and which rules the others break",
        "asm": "assemble text into words",
        "dis": "print words as text that assembles to the same bytes",
        "dump": "show every field of every word, and what is wrong with it",
        "isa": "list, search, show, compare and export the instruction set",
        "firmware": "find kernel tables and instruction names in firmware images",
        "cases": "run case files and say what differs",
        "explain": "say what a rule, instruction, type, profile field or generation is",
        "cast": "convert values between types and show every step",
        "fuzz": "look for trouble with random and damaged words",
        "bench": "measure speed against peers and budgets",
        "sweep": "convert every code of the types and compare with an oracle",
    }
)

_BAD_INPUT: Final = 2
_INTERRUPTED: Final = 130
_BROKEN_PIPE: Final = 141


class Verbs(TyperGroup):
    """The verbs of :data:`VERBS`, each imported when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"lanewise.cli.{cmd_name}")
        command = typer.main.get_command(module.app)
        command.name = cmd_name
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            raise unknown_name("verb", args[0], VERBS)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))

    def invoke(self, ctx: Any) -> Any:
        # Here and not in main(): typer has its own ends for these two.
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            _give_up_output()
            raise typer.Exit(_BROKEN_PIPE) from None
        except KeyboardInterrupt:
            raise typer.Exit(_INTERRUPTED) from None
        return result


app = typer.Typer(
    cls=Verbs,
    subcommand_metavar="VERB …",
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
    epilog="'lanewise VERB --help' shows the options of a verb and an example.",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from lanewise import __version__

        typer.echo(f"lanewise {__version__}")
        raise typer.Exit


# Here and in every verb the help is no docstring: python -OO has none.
@app.callback(
    help="""A bit-exact model of predicated tensor instructions, and the tools around it.

    Verbs read standard input where no file is named and write standard output where -o names
    none. They exit with 0 when all is well, 1 when a check failed, 2 for bad input.
    """,
)
def _overview(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version and exit.", callback=_show_version),
    ] = False,
) -> None:
    """What the options of the command itself do, they do by themselves."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with ``arguments`` (default: those of the process); its exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    _prepare_streams()
    command = typer.main.get_command(app)
    try:
        status = command.main(given or ["--help"], prog_name="lanewise", standalone_mode=False)
    except LanewiseError as error:
        if hasattr(error, "diagnostics"):
            return _complain_at_length(str(error), len(error.diagnostics))
        return _complain(str(error))
    except OSError as error:
        return _complain(f"{error.filename or 'output'}: {error.strerror or error}")
    except typer.Abort:
        return _INTERRUPTED
    except Exception as error:
        # Usage mistakes are exceptions of typer, whose classes differ from version to version.
        message = getattr(error, "format_message", None)
        if message is None:
            raise
        return _complain(_usage_message(error, message()))
    return status if isinstance(status, int) else 0


def _prepare_streams() -> None:
    """Streams that take anything: closed ones swallow it, narrow ones get escapes."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _usage_message(error: Exception, message: str) -> str:
    """What typer says about a usage mistake, as one line that names the help to look at."""
    context = getattr(error, "ctx", None)
    path = getattr(context, "command_path", "lanewise")
    text = message.strip().removesuffix(".")
    return f"{text[:1].lower()}{text[1:]}; see '{path} --help'"


def _complain(message: str) -> int:
    from lanewise.cli.support.output import printable

    line = "; ".join(printable(part.strip()) for part in message.splitlines() if part.strip())
    with contextlib.suppress(BrokenPipeError):
        print(f"lanewise: {line}", file=sys.stderr, flush=True)
    return _BAD_INPUT


def _complain_at_length(text: str, count: int) -> int:
    """Troubles with a text, each shown in its line."""
    with contextlib.suppress(BrokenPipeError):
        print(text, file=sys.stderr)
        print(f"lanewise: {count} error{'s' * (count != 1)}", file=sys.stderr, flush=True)
    return _BAD_INPUT


def _give_up_output() -> None:
    """Nobody reads any more: let the interpreter's last flush go nowhere."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
