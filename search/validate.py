"""Re-execute a plan, and say whether it is valid and, if not, at which step and why."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from epigym.cli.codes import ExitCode
from epigym.cli.runner import run
from epigym.cli.settings import ReadingSettings


@dataclass(frozen=True, kw_only=True)
class Validate(ReadingSettings):
    """The settings, see `conf/validate.yaml`."""

    problem: str
    plan: list[str] | str


def check(settings: Validate) -> ExitCode:
    """Say whether a plan is valid.

    Raises:
        EpigymError: when the problem or the plan cannot be read.
    """
    from rich.console import Console

    from epigym.io.files import read_plan
    from epigym.problem import load_problem
    from epigym.reference.semantics import validate

    plan = read_plan(settings.plan) if isinstance(settings.plan, str) else settings.plan
    task = load_problem(settings.problem, settings.reading)
    validation = validate(task, plan, settings.consistent_beliefs)
    console = Console(soft_wrap=True, highlight=False, markup=False)
    if not validation.valid:
        console.print(f"not valid: {validation.reason}")
        return ExitCode.INVALID_PLAN
    console.print(f"valid: {len(plan)} actions reach the goal of {task.name}")
    if validation.relies_on_collapse:
        console.print(f"note: it relies on collapse of {', '.join(validation.collapsed)}")
    return ExitCode.SUCCESS


main = partial(run, check, Validate, "search.validate")


if __name__ == "__main__":
    main()
