"""The command `epigym`: all commands of the project by name, `show`, which draws e-states, and `convert`."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import domains
import epigym
from epigym.cli.codes import ExitCode, warning
from epigym.cli.help import doors, listing
from epigym.config.packages import check_place
from epigym.drawing import write
from epigym.drawing.page import write_page
from epigym.drawing.steps import walk
from epigym.errors import EpigymError, UsageError
from epigym.io.files import check_writable, is_file, read_plan
from epigym.language import SEMANTICS, check_format, save
from epigym.names import unknown
from epigym.problem import Reading, domain_problem, load_problem
from epigym.space.space import StateSpace
from epigym.task.task import Task

_SHOW = """
examples:
  epigym show grapevine agents=3 rooms=2
  epigym show grapevine instance=3_pl_4 out=grapevine.svg      the same as grapevine/3_pl_4
  epigym show coin_in_the_box looking=ab after=open_a,peek_a   the e-state after two actions
  epigym show coin_in_the_box scene=true                       the e-state that shows what the domain is about
  epigym show coin_in_the_box/pl_7 plan=plan.json out=plan.html   a page to step through a plan
  epigym show problem.txt semantics=update_model
  epigym show problem.epddl domain_file=domain.epddl libraries=[library.epddl]
"""
_CONVERT = """
examples:
  epigym convert grapevine agents=3 rooms=2 out=grapevine.json
  epigym convert problem.txt out=problem.json format=compact   for thousands of worlds, and for what json cannot say
  epigym convert problem.epddl domain_file=domain.epddl libraries=[library.epddl] out=problem.json
  epigym convert gossip out=gossip.txt                         in mA*, where that language can say it
"""
_READING = ("semantics", "domain_file", "libraries", "plank_compat")
_READING_HELP = (
    f"semantics ({', '.join(SEMANTICS)}), domain_file, libraries and plank_compat (how an EPDDL problem is read),"
    " parameters of the domain, and instance (the name of one, as in gym.make)"
)
_HELP = ("-h", "--help")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command by its name, and return or exit with its code."""
    name, *rest = (sys.argv[1:] if arguments is None else arguments) or _HELP
    lines = doors("search") | doors("learn")
    commands = {door.partition(".")[2]: door for door in lines}
    others = {"show": "Draw an e-state of a problem or the steps of a plan, and sum the problem up.",
              "convert": "Write a problem in any language as a ground task in JSON, or in mA*.",
              "domains": "List domains, their parameters and suites, and write the text of a problem."}  # fmt: skip
    if name == "--version":
        print(f"epigym {epigym.__version__}")
        return ExitCode.SUCCESS
    if name in _HELP:
        print(listing({name: lines[door] for name, door in commands.items()} | others, "epigym "))
        return ExitCode.SUCCESS
    if name in ("show", "convert"):
        return show(rest) if name == "show" else convert(rest)
    if name == "domains":
        return int(import_module("domains.__main__").main(rest))
    try:
        if name not in commands:
            raise EpigymError(unknown("command", name, [*commands, *others, "--version"]))
        check_place("learn", "search")
    except EpigymError as error:
        print(f"error: {error}", file=sys.stderr)
        return ExitCode.USAGE
    sys.argv = [f"epigym {name}", *rest]
    sys.path.insert(0, str(Path.cwd()))  # where `python -m` too looks for classes of the user's
    return int(import_module(commands[name]).main() or ExitCode.SUCCESS)


def show(arguments: Sequence[str]) -> int:
    """Draw an e-state of a problem, or the page of all on the way to it, and sum the problem up."""
    parser = _parser(
        "show",
        "Draw the initial e-state of a problem, that after some actions, or all the way there, and sum the problem up.",
        "out (the picture: .png, .svg or .dot; .html for a page to step through the actions), after (actions, separated"
        " by commas), plan (a JSON file of actions, in place of after), scene=true (the problem and the actions that"
        " show what a domain is about)",
        _SHOW,
    )
    return _run(_show, parser, arguments)


def convert(arguments: Sequence[str]) -> int:
    """Write a problem as a ground task in JSON, or in mA*, which every command reads."""
    parser = _parser(
        "convert",
        "Write a problem as a ground task in JSON, or in mA*, which every command reads.",
        "out (the file, which ends in .json or .txt), format (json: the layout of the official EPDDL toolkit, the"
        " default for .json; compact: worlds with equal successors share a row; mastar: mA*, the default for .txt)",
        _CONVERT,
    )
    return _run(_convert, parser, arguments)


def _run(
    command: Callable[[str, dict[str, Any]], None], parser: argparse.ArgumentParser, arguments: Sequence[str]
) -> int:
    """Call a command with a problem and parameters; what is wrong is one line and an exit code."""
    try:
        options = parser.parse_args(arguments)
    except SystemExit as stop:  # how argparse ends
        return ExitCode.USAGE if stop.code else ExitCode.SUCCESS
    warnings.formatwarning = warning
    try:
        problem, parameters = options.problem, domains.read_parameters(options.parameters)
        if "instance" in parameters and not is_file(problem):
            if "/" in problem:
                raise UsageError(f"{problem} is an instance already: leave instance= out")
            problem = f"{problem}/{parameters.pop('instance')}"
        command(problem, parameters)
    except domains.DomainError as error:
        print(f"error: {error}", file=sys.stderr)
        return ExitCode.USAGE
    except EpigymError as error:
        print(f"error: {error}", file=sys.stderr)
        return ExitCode.after(error)
    except OSError as error:
        print(f"error: cannot write {error.filename}: {error.strerror}", file=sys.stderr)
        return ExitCode.CANNOT_WRITE
    return ExitCode.SUCCESS


def _show(problem: str, parameters: dict[str, Any]) -> None:
    scene = _scene(problem) if _flag(parameters, "scene") else None
    if scene:
        parameters = {**scene.parameters, "after": ",".join(scene.plan), **parameters}
    out = _out(parameters.pop("out", f"{Path(problem).stem}.png"))
    check_writable(out)
    source, plan = _plan(parameters)
    task = _load(problem, parameters)
    space = StateSpace(task)
    state = _end(space, plan, source)
    if out.suffix == ".html":
        write_page(space, plan, out)
    else:
        write(space.model(state), out)
    print(_summary(task, space, state))
    print(f"drawn to {out}")


def _convert(problem: str, parameters: dict[str, Any]) -> None:
    if "out" not in parameters:
        raise UsageError("out is not given: add out=FILE.json or out=FILE.txt")
    out = _out(parameters.pop("out"))
    form = check_format(out, parameters.pop("format", None))
    check_writable(out)
    semantics = save(_load(problem, parameters), out, form)
    print(f"written to {out}" + ("" if semantics == "default" else f", to be read with semantics={semantics}"))


def _parser(name: str, description: str, values: str, examples: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"epigym {name}",
        description=description,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("problem", help="a problem file, a domain, or domain/instance")
    parser.add_argument("parameters", nargs="*", metavar="name=value", help=f"{values}, {_READING_HELP}")
    return parser


def _out(name: object) -> Path:
    if not str(name):
        raise UsageError("out is empty: name a file")
    return Path(str(name))


def _flag(parameters: dict[str, Any], name: str) -> bool:
    """Whether a flag is set; it is taken out of the parameters."""
    value = parameters.pop(name, False)
    if str(value).lower() not in ("true", "false"):
        raise UsageError(f"{name} must be true or false, got {value!r}")
    return str(value).lower() == "true"


def _scene(name: str) -> domains.Scene:
    domain, instance = domains.find(name)
    if instance:
        raise UsageError(f"{name} is an instance: scene=true draws the scene of a domain, here {domain.name}")
    return domain.scene


def _plan(parameters: dict[str, Any]) -> tuple[str, list[str]]:
    """Where the actions to execute are named, and their names; taken out of the parameters."""
    after, file = str(parameters.pop("after", "")), parameters.pop("plan", None)
    if file is None:
        return "after", [name for name in after.split(",") if name]
    if after:
        raise UsageError("after and plan both name actions: give one of them")
    return str(file), read_plan(str(file))


def _end(space: StateSpace, plan: Sequence[str], source: str) -> int:
    """The e-state after a plan."""
    try:
        return walk(space, plan)[-1]
    except UsageError as error:
        raise UsageError(f"{source}, {error}") from None


def _load(problem: str, parameters: dict[str, Any]) -> Task:
    """The task of a file, read as the parameters say, or of a domain with them."""
    reading = {name: parameters.pop(name) for name in _READING if name in parameters}
    if parameters and not is_file(problem):
        return domain_problem(problem, **reading, **parameters)
    for name in parameters:
        raise UsageError(f"{problem} is a file: {unknown('parameter', name, _READING)}")
    reading["plank_compat"] = _flag(reading, "plank_compat")
    if "domain_file" in reading:
        reading["domain_file"] = str(reading["domain_file"])
    return load_problem(problem, Reading(**{**reading, "libraries": _names(reading.get("libraries", []))}))


def _names(value: Any) -> tuple[str, ...]:
    """The names in a list such as `[one.epddl,two.epddl]`, or the one that stands alone."""
    names = value if isinstance(value, list) else str(value).strip("[]").split(",")
    return tuple(str(name).strip() for name in names)


def _summary(task: Task, space: StateSpace, state: int) -> str:
    model = space.model(state)
    applicable = [
        action.name for action, holds in zip(task.actions, space.applicable([state])[0], strict=True) if holds
    ]
    rows = {
        "problem": task.name,
        "agents": _listed(task.agents),
        "fluents": _listed(task.fluents),
        "actions": _listed([action.name for action in task.actions]),
        "applicable": _listed(applicable),
        "worlds": f"{len(model.worlds)}, of which {len(model.designated)} designated",
        "goal": "\n".join(
            f"{'reached' if done else 'open':<8}{subgoal}" for subgoal, done in _goal(task, space, state)
        ),
    }
    return "\n".join(f"{title:<12}" + text.replace("\n", "\n" + " " * 12) for title, text in rows.items())


def _goal(task: Task, space: StateSpace, state: int) -> list[tuple[str, bool]]:
    truths = space.query(task.goal)([state])[0]
    return [(str(subgoal), bool(truth)) for subgoal, truth in zip(task.goal, truths, strict=True)]


def _listed(names: Sequence[str], shown: int = 8) -> str:
    more = ", …" if len(names) > shown else ""
    return f"{len(names)}: {', '.join(names[:shown])}{more}" if names else "none"


if __name__ == "__main__":
    sys.exit(main())
