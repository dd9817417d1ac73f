"""`python -m epigym show`: draw the initial e-state of a problem."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import domains
from epigym.drawing import write
from epigym.errors import EpigymError
from epigym.language import SEMANTICS
from epigym.problem import domain_problem, load_problem
from epigym.space import StateSpace
from epigym.task import Task

_EXAMPLES = """
examples:
  python -m epigym show grapevine agents=3 rooms=2
  python -m epigym show coin_in_the_box/pl_5 out=coin.svg
  python -m epigym show problem.txt semantics=update_model
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0, or 64 for bad input."""
    options = _parser().parse_args(arguments)
    try:
        parameters = domains.read_parameters(options.parameters)
        semantics = parameters.pop("semantics", "default")
        out = Path(str(parameters.pop("out", f"{Path(options.problem).stem}.png")))
        task = _load(options.problem, semantics, parameters)
        space = StateSpace(task)
        write(space.model(space.initial), out)
    except (EpigymError, domains.DomainError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 64
    print(_summary(task, space))
    print(f"drawn to {out}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m epigym",
        description="Pictures of epistemic planning problems.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="show")
    show = commands.add_parser("show", help="draw the initial e-state of a problem and sum the problem up")
    show.add_argument("problem", help="a problem file, a domain, or domain/instance")
    show.add_argument(
        "parameters",
        nargs="*",
        metavar="name=value",
        help=f"out (the picture: .png, .svg or .dot), semantics ({', '.join(SEMANTICS)}), parameters of the domain",
    )
    return parser


def _load(problem: str, semantics: Any, parameters: dict[str, Any]) -> Task:
    return domain_problem(problem, semantics, **parameters) if parameters else load_problem(problem, semantics)


def _summary(task: Task, space: StateSpace) -> str:
    model = space.model(space.initial)
    applicable = [
        action.name for action, holds in zip(task.actions, space.applicable([space.initial])[0], strict=True) if holds
    ]
    rows = {
        "problem": task.name,
        "agents": _listed(task.agents),
        "fluents": _listed(task.fluents),
        "actions": _listed([action.name for action in task.actions]),
        "applicable": _listed(applicable),
        "worlds": f"{len(model.worlds)}, of which {len(model.designated)} designated",
        "goal": "\n".join(f"{'reached' if done else 'open':<8}{subgoal}" for subgoal, done in _goal(task, space)),
    }
    return "\n".join(f"{title:<12}" + text.replace("\n", "\n" + " " * 12) for title, text in rows.items())


def _goal(task: Task, space: StateSpace) -> list[tuple[str, bool]]:
    truths = space.query(task.goal)([space.initial])[0]
    return [(str(subgoal), bool(truth)) for subgoal, truth in zip(task.goal, truths, strict=True)]


def _listed(names: Sequence[str], shown: int = 8) -> str:
    more = ", …" if len(names) > shown else ""
    return f"{len(names)}: {', '.join(names[:shown])}{more}" if names else "none"


if __name__ == "__main__":
    sys.exit(main())
