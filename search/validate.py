"""Re-execute a plan: `python -m search.validate problem=coin_in_the_box/pl_7 plan=plan.json`."""

from __future__ import annotations

from omegaconf import DictConfig
from rich.console import Console

from epigym.reference import validate
from search.command import ExitCode, plain, run
from search.planning.plans import read_plan
from search.problem import configured_task


def check(config: DictConfig) -> ExitCode:
    """Say whether a plan is valid and, if not, at which step and why.

    Args:
        config: the composed `conf/validate.yaml`; `plan` is a list of action names, or a JSON file of one.

    Raises:
        EpigymError: when the problem or the plan cannot be read.
    """
    values = plain(config)
    task = configured_task(values)
    plan = values["plan"] if isinstance(values["plan"], list) else read_plan(values["plan"])
    validation = validate(task, plan)
    console = Console(soft_wrap=True, highlight=False, markup=False)
    if not validation.valid:
        console.print(f"not valid: {validation.reason}")
        return ExitCode.INVALID_PLAN
    console.print(f"valid: {len(plan)} actions reach the goal of {task.name}")
    if validation.relies_on_collapse:
        console.print(f"note: it relies on collapse of {', '.join(validation.collapsed)}")
    return ExitCode.SUCCESS


def main() -> None:
    """Run as a Hydra app; exit codes: 0 valid, 1 not valid, 64 and up bad input."""
    run(check, "validate")


if __name__ == "__main__":
    main()
