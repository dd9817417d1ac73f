"""The command `epigym`: all commands of the project by name, and `show`, which draws e-states of a problem."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import domains
from epigym.command.codes import ExitCode
from epigym.command.help import doors, listing
from epigym.drawing import write
from epigym.drawing.page import write_page
from epigym.drawing.steps import walk
from epigym.errors import EpigymError, UsageError
from epigym.files import read_json
from epigym.language import SEMANTICS
from epigym.names import unknown
from epigym.packages import check_place
from epigym.problem import Reading, domain_problem, load_problem
from epigym.space import StateSpace
from epigym.task import Task

_EXAMPLES = """
examples:
  epigym show grapevine agents=3 rooms=2
  epigym show coin_in_the_box/pl_5 out=coin.svg
  epigym show coin_in_the_box looking=ab after=open_a,peek_a   the e-state after two actions
  epigym show coin_in_the_box scene=true                       the e-state that shows what the domain is about
  epigym show coin_in_the_box/pl_7 plan=plan.json out=plan.html   a page to step through a plan
  epigym show problem.txt semantics=update_model
"""
_HELP = ("-h", "--help")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command by its name, and return or exit with its code."""
    name, *rest = (sys.argv[1:] if arguments is None else arguments) or _HELP
    lines = doors("search") | doors("learn")
    commands = {door.partition(".")[2]: door for door in lines}
    others = {"show": "Draw an e-state of a problem or the steps of a plan, and sum the problem up.",
              "domains": "List domains, their parameters and suites, and write the text of a problem."}  # fmt: skip
    if name in _HELP:
        print(listing({name: lines[door] for name, door in commands.items()} | others, "epigym "))
        return ExitCode.SUCCESS
    if name == "show":
        return show(rest)
    if name == "domains":
        return int(import_module("domains.__main__").main(rest))
    try:
        if name not in commands:
            raise EpigymError(unknown("command", name, [*commands, *others]))
        check_place("learn", "search")
    except EpigymError as error:
        print(f"error: {error}", file=sys.stderr)
        return ExitCode.USAGE
    sys.argv = [f"epigym {name}", *rest]
    sys.path.insert(0, str(Path.cwd()))  # where `python -m` too looks for classes of the user's
    return int(import_module(commands[name]).main() or ExitCode.SUCCESS)


def show(arguments: Sequence[str]) -> int:
    """Draw an e-state of a problem, or the page of all on the way to it, and sum the problem up."""
    try:
        options = _parser().parse_args(arguments)
    except SystemExit as stop:  # how argparse ends
        return ExitCode.USAGE if stop.code else ExitCode.SUCCESS
    try:
        parameters = domains.read_parameters(options.parameters)
        scene = _scene(options.problem) if _flag(parameters, "scene") else None
        if scene:
            parameters = {**scene.parameters, "after": ",".join(scene.plan), **parameters}
        semantics = parameters.pop("semantics", "default")
        out = Path(str(parameters.pop("out", f"{Path(options.problem).stem}.png")))
        source, plan = _plan(parameters)
        task = _load(options.problem, semantics, parameters)
        space = StateSpace(task)
        state = _end(space, plan, source)
        if out.suffix == ".html":
            write_page(space, plan, out)
        else:
            write(space.model(state), out)
    except domains.DomainError as error:
        print(f"error: {error}", file=sys.stderr)
        return ExitCode.USAGE
    except EpigymError as error:
        print(f"error: {error}", file=sys.stderr)
        return ExitCode.after(error)
    except OSError as error:
        print(f"error: cannot write {out}: {error.strerror}", file=sys.stderr)
        return ExitCode.CANNOT_WRITE
    print(_summary(task, space, state))
    print(f"drawn to {out}")
    return ExitCode.SUCCESS


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="epigym show",
        description="Draw the initial e-state of a problem, that after some actions, or all the way there, and sum the"
        " problem up.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("problem", help="a problem file, a domain, or domain/instance")
    parser.add_argument(
        "parameters",
        nargs="*",
        metavar="name=value",
        help="out (the picture: .png, .svg or .dot; .html for a page to step through the actions), after (actions,"
        " separated by commas), plan (a JSON file of actions, in place of after), scene=true (the problem and"
        f" the actions that show what a domain is about), semantics ({', '.join(SEMANTICS)}), parameters of the domain",
    )
    return parser


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
    plan = read_json(str(file))
    if not isinstance(plan, list) or not all(isinstance(action, str) for action in plan):
        raise EpigymError(f"{file}: a plan is a JSON array of action names")
    return str(file), plan


def _end(space: StateSpace, plan: Sequence[str], source: str) -> int:
    """The e-state after a plan."""
    try:
        return walk(space, plan)[-1]
    except UsageError as error:
        raise UsageError(f"{source}, {error}") from None


def _load(problem: str, semantics: Any, parameters: dict[str, Any]) -> Task:
    return domain_problem(problem, semantics, **parameters) if parameters else load_problem(problem, Reading(semantics))


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
