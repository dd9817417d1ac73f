"""Execute a plan or a policy with the reference, and print whether it is valid, or else the failing step and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from epigym.cli.codes import ExitCode
from epigym.cli.runner import run
from epigym.cli.settings import TaskSettings, read_actions
from epigym.errors import UsageError

if TYPE_CHECKING:
    from epigym.reference.semantics import Validation
    from search.policies.validation import PolicyValidation


@dataclass(frozen=True, kw_only=True)
class Validate(TaskSettings):
    """The settings, see `conf/validate.yaml`."""

    plan: list[str] | str | None
    policy: str | None = field(metadata={"exists": True})


def check(settings: Validate) -> ExitCode:
    """Print whether a plan or a policy is valid.

    Raises:
        EpigymError: when the problem, the plan or the policy cannot be read, or there are both or none of the last two.
    """
    from rich.console import Console

    from epigym.reference.semantics import validate

    if settings.plan is not None and settings.policy is not None:
        raise UsageError("plan and policy: each is valid or not: give one of them")
    if settings.plan == "" or (settings.plan is None and settings.policy is None):
        raise UsageError("plan: expected a plan, or else a policy: give plan=… or policy=FILE")
    task = settings.load()
    validation: Validation | PolicyValidation
    if settings.policy is None:
        _, plan = read_actions(task, settings.plan or [])
        validation, reaching = validate(task, plan, settings.consistent_beliefs), _count(len(plan))
    else:
        from search.policies.policy import Policy

        policy = Policy.read(task, settings.policy)
        validation = policy.validate(settings.consistent_beliefs)
        depth = "cyclic" if policy.is_cyclic else f"depth {policy.depth if validation.valid else None}"
        reaching = f"a policy of {len(policy.nodes)} e-states, {depth}, reaches"
    console = Console(soft_wrap=True, highlight=False, markup=False, emoji=False)
    if not validation.valid:
        console.print(f"not valid: {validation.reason}")
        return ExitCode.INVALID_PLAN
    console.print(f"valid: {reaching} the goal of {task.name}")
    if validation.inconsistent_agents:
        console.print(f"note: it relies on inconsistent beliefs of {', '.join(validation.inconsistent_agents)}")
    return ExitCode.SUCCESS


def _count(actions: int) -> str:
    return "1 action reaches" if actions == 1 else f"{actions} actions reach"


main = partial(run, check, Validate, "search.validate")


if __name__ == "__main__":
    main()
