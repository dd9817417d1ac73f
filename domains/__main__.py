"""List domains, their parameters and suites, and write the text of a problem."""

from __future__ import annotations

import argparse
import shutil
import sys
import textwrap
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import domains
from domains.domain import Domain
from domains.instances import Parameters
from domains.output import end_at_closed_pipe, replace_unknown_characters
from domains.suites import SUITES
from domains.words import write_value
from domains.writing.epddl import parts

_MOST_INSTANCES, _MOST_ELEMENTS = 12, 4
"""The most instances, and elements of a parameter, that are shown without `--all`."""
_EXAMPLES = """
examples:
  python -m domains                                    domains, their parameters and suites
  python -m domains show grapevine                     the parameters, documentation and first instances of a domain
  python -m domains write grapevine agents=3 rooms=2   the text of a problem
  python -m domains write coin_in_the_box/pl_5 > problem.txt
  python -m domains write gossip agents=4 > problem.epddl           with its domain and library in the same file
  python -m domains write gossip agents=4 --files folder            problem.epddl, domain.epddl and library.epddl
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0, 64 for bad input, 73 for what cannot be written."""
    replace_unknown_characters()
    with end_at_closed_pipe():
        return _run(arguments)


def _run(arguments: Sequence[str] | None) -> int:
    try:
        options, others = _parser().parse_known_args(arguments)
        if others:
            raise domains.DomainError(f"unknown option {others[0]!r}: a parameter is given as name=value, as agents=3")
        match options.command:
            case "write":
                parameters = domains.read_parameters(options.parameters)
                text = domains.write(options.problem, **parameters)
                if options.files is None:
                    sys.stdout.write(text)
                else:
                    _write_files(options.problem, text, options.files)
            case "show":
                print(_documentation(domains.find(options.domain)[0], is_whole=options.all))
            case _:
                print(_overview())
    except domains.DomainError as error:
        print(f"error: {error}", file=sys.stderr)
        return 64
    except BrokenPipeError:
        raise
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        return 130
    except OSError as error:
        print(f"error: cannot write {error.filename}: {error.strerror}", file=sys.stderr)
        return 73
    except SystemExit as stop:  # how argparse ends
        return 64 if stop.code else 0
    return 0


def _write_files(name: str, text: str, folder: Path) -> None:
    """Write the three files of an EPDDL problem, each at once."""
    if domains.find(name)[0].language != "EPDDL":
        raise domains.DomainError(f"{name} is written in mA*, in one text: leave --files out")
    folder.mkdir(parents=True, exist_ok=True)
    for part, content in parts(text).items():
        temporary = folder / f"{part}.epddl.part"
        temporary.write_text(content, encoding="utf-8")
        temporary.replace(folder / f"{part}.epddl")
    print(f"written to {folder}: problem.epddl, domain.epddl and library.epddl")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m domains",
        description="Domains of epistemic planning problems.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"epigym {version('epigym')}", help="show the version")
    commands = parser.add_subparsers(dest="command", metavar="{list,show,write}")
    commands.add_parser("list", help="list domains, their parameters and suites (the default)")
    show = commands.add_parser("show", help="show the parameters, the documentation and the instances of a domain")
    show.add_argument("--all", action="store_true", help="list all instances, with whole values of parameters")
    show.add_argument("domain", help="a domain, such as grapevine")
    write = commands.add_parser("write", help="print the text of a problem")
    write.add_argument(
        "--files", type=Path, metavar="FOLDER", help="write an EPDDL problem as three files there instead"
    )
    write.add_argument("problem", help="a domain, or domain/instance, such as coin_in_the_box/pl_5")
    write.add_argument("parameters", nargs="*", metavar="name=value", help="parameters of the domain")
    return parser


def _overview() -> str:
    rows = [
        (domain.name, str(len(domain.train)), str(len(domain.test)), _parameters(domain))
        for domain in domains.DOMAINS.values()
    ]
    suites = [(name, str(len(suite.train)), str(len(suite.test)), suite.summary) for name, suite in SUITES.items()]
    return "\n".join(
        [
            *_table(("domain", "train", "test", "parameters"), rows),
            "",
            *_table(("suite", "train", "test", "what it is"), suites),
            "",
            "python -m domains show DOMAIN explains the parameters;",
            "python -m domains write DOMAIN name=value … writes a problem.",
        ]
    )


def _documentation(domain: Domain, *, is_whole: bool) -> str:
    """The parameters of a domain, what it is about, and its instances: the first ones, or all."""
    summary, _, text = domain.documentation.partition("\n\n")
    about, _, rest = text.partition("Args:\n")
    meanings, _, source = rest.partition("\n\n")
    head = [f"{domain.name}({_parameters(domain)})", "", summary, "", "parameters:", meanings, "", about + source, ""]
    note = "Actions can make beliefs inconsistent; consistent_beliefs=true leaves such e-states out.\n"
    names = list(domain.instances)
    shown = names if is_whole else names[:_MOST_INSTANCES]
    rows = [(f"{domain.name}/{name}", _format_instance(domain.instances[name], is_whole)) for name in shown]
    more = f"… and {len(names) - len(shown)} more: python -m domains show {domain.name} --all lists all"
    table = [*_table(("instance", "parameters"), rows), *([more] if len(shown) < len(names) else [])]
    return "\n".join([*head, *([] if domain.consistent_beliefs else [note]), *table])


def _format_instance(parameters: Parameters, is_whole: bool) -> str:
    write = write_value if is_whole else _shorten
    return " ".join(f"{name}={write(value)}" for name, value in parameters.items())


def _shorten(value: Any) -> str:
    """A value with the first elements of a long list, and the number of the others."""
    if not isinstance(value, list | tuple) or len(value) <= _MOST_ELEMENTS:
        return write_value(value)
    return f"{write_value(value[:_MOST_ELEMENTS])[:-1]}, … {len(value) - _MOST_ELEMENTS} more]"


def _parameters(domain: Domain) -> str:
    return ", ".join(f"{name}={write_value(value)}" for name, value in domain.defaults.items())


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Aligned columns, the last of them wrapped at the width of the terminal; in a narrow one below the others."""
    width = min(shutil.get_terminal_size().columns, 120)
    columns = list(zip(head, *rows, strict=True))
    sizes = [max(map(len, column)) for column in columns[:-1]]
    indent = sum(sizes) + 2 * len(sizes)
    is_below = width - indent < 40
    lines = []
    for row in (head, *rows):
        cells = [cell.ljust(size) for cell, size in zip(row, sizes, strict=False)]
        start = "  ".join([*cells, ""])
        below = " " * (4 if is_below else indent)
        last = textwrap.wrap(row[-1], width - len(below), break_long_words=False) or [""]
        first = [start.rstrip(), below + last[0]] if is_below else [start + last[0]]
        lines += [*first, *(below + line for line in last[1:])]
    titles = 1 + is_below
    return [*lines[:titles], "-" * width, *lines[titles:]]


if __name__ == "__main__":
    sys.exit(main())
