"""The command `epigym`: all commands of the project by name."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import epigym
from domains.output import end_at_closed_pipe
from epigym.cli.codes import ExitCode, fail
from epigym.cli.help import format_listing, list_commands
from epigym.config.packages import check_place
from epigym.errors import EpigymError, UsageError
from epigym.names import unknown

_HELP = ("-h", "--help")
_OTHERS = {"show": "epigym.cli.show", "convert": "epigym.cli.convert", "domains": "domains.__main__"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command by its name; its exit code."""
    with end_at_closed_pipe():
        return _run(arguments)


def _run(arguments: Sequence[str] | None) -> int:
    name, *rest = (sys.argv[1:] if arguments is None else arguments) or _HELP
    modules = [*list_commands("search"), *list_commands("learn")]
    commands = {module.partition(".")[2]: module for module in modules} | _OTHERS
    if name == "--version":
        print(f"epigym {epigym.__version__}")
        return ExitCode.SUCCESS
    if name in _HELP:
        print(format_listing(commands))
        return ExitCode.SUCCESS
    try:
        if name not in commands:
            raise UsageError(unknown("command", name, [*commands, "--version"]))
        check_place("learn", "search")
    except EpigymError as error:
        return fail(error)
    sys.argv = [f"epigym {name}", *rest]
    sys.path.insert(0, str(Path.cwd()))  # where `python -m` too looks for classes of the user's
    try:
        return int(import_module(commands[name]).main() or ExitCode.SUCCESS)
    except SystemExit as stop:
        return int(stop.code or ExitCode.SUCCESS)


if __name__ == "__main__":
    sys.exit(main())
