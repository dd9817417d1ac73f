"""Re-execute a plan, and say whether it is valid and, if not, at which step and why."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from epigym.command import ExitCode, ProblemSettings, run
from epigym.errors import EpigymError, MissingError


@dataclass(frozen=True, kw_only=True)
class Validate(ProblemSettings):
    """The settings, see `conf/validate.yaml`."""

    problem: str
    plan: list[str] | str


def check(settings: Validate) -> ExitCode:
    """Say whether a plan is valid.

    Raises:
        EpigymError: when the problem or the plan cannot be read.
    """
    from rich.console import Console

    from epigym.problem import load_problem
    from epigym.reference import validate

    plan = read_plan(settings.plan) if isinstance(settings.plan, str) else settings.plan
    task = load_problem(settings.problem, settings.reading)
    validation = validate(task, plan)
    console = Console(soft_wrap=True, highlight=False, markup=False)
    if not validation.valid:
        console.print(f"not valid: {validation.reason}")
        return ExitCode.INVALID_PLAN
    console.print(f"valid: {len(plan)} actions reach the goal of {task.name}")
    if validation.relies_on_collapse:
        console.print(f"note: it relies on collapse of {', '.join(validation.collapsed)}")
    return ExitCode.SUCCESS


def read_plan(file: str) -> list[str]:
    """The action names in a plan file.

    Raises:
        MissingError: when there is no such file.
        EpigymError: when it is not a JSON array of names.
    """
    try:
        plan = json.loads(Path(file).read_text(encoding="utf-8"))
    except OSError as error:
        raise MissingError(f"cannot read the plan {file!r}: {error.strerror}") from None
    except ValueError as error:
        raise EpigymError(f"the plan {file!r} is not JSON: {error}") from None
    if not isinstance(plan, list) or not all(isinstance(name, str) for name in plan):
        raise EpigymError(f"the plan {file!r} must be a JSON array of action names")
    return plan


main = partial(run, check, Validate, "search.validate")


if __name__ == "__main__":
    main()
