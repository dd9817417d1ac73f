"""From a task to a result: search with a configuration, re-execute the plan."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from time import perf_counter

from epigym.files import write_json
from epigym.reference import refuse_collapse, validate
from epigym.task import Task
from search.agents.limits import Limits
from search.agents.result import SearchResult, SearchStatus
from search.planning.configuration import Configuration
from search.planning.improving import improved
from search.planning.plans import unverified
from search.planning.portfolio import decisive, search_in_portfolio
from search.planning.proofs import SECONDS, RefutedError, confirmed
from search.planning.single import search_alone


def find_plan(
    task: Task,
    configuration: Configuration,
    limits: Limits | None = None,
    plan_file: str | os.PathLike[str] | None = None,
    *,
    anytime: bool = False,
    forbid_collapse: bool = False,
    reexecute: bool = True,
) -> SearchResult:
    """Search for a plan of `task` and re-execute it independently before it is reported.

    That there is none is looked at again too, for as long as the time limit allows and 10 s at most, see
    `search.planning.proofs`.

    Args:
        task: the planning task.
        configuration: agent and heuristic, or a portfolio of them.
        limits: when to give up; by default 600 s and 80 % of the free memory.
        plan_file: where to write the plan; until it has been re-executed, and for good when that fails, it is beside
            that file, see `search.planning.plans.unverified`.
        anytime: whether to go on for shorter plans, see `search.planning.improving`; each takes the place of the one
            before as soon as it has been re-executed.
        forbid_collapse: whether plans are left out that make an agent believe everything, see `StateSpace`.
        reexecute: without it the first plan is reported as it was found, and not written, and so is that there is none.

    Returns:
        The result; its status is `error` when a plan that was found is not valid, or the reference contradicts that
        there is none.

    Raises:
        CheckpointError: when a learned heuristic cannot be loaded or does not fit the task.
        TaskError: when the task cannot be represented, or designated worlds disagree about an observer.
        CollapseError: when an agent is collapsed in the initial e-state, and that is forbidden.
        OSError: when the plan cannot be written.
        KeyboardInterrupt: when it was interrupted; after the first plan, the message says where the best one is.
    """
    start = perf_counter()
    limits = limits or Limits()
    if plan_file is not None:
        unverified(plan_file).unlink(missing_ok=True)  # of an earlier search
    if forbid_collapse:
        refuse_collapse(task, task.initial, "in the initial e-state")
    result = replace(
        (search_in_portfolio if configuration.members else search_alone)(task, configuration, limits, forbid_collapse),
        actions=len(task.actions),
        fluents=len(task.fluents),
        initial_worlds=len(task.initial.valuations),
        forbid_collapse=forbid_collapse,
    )
    if not reexecute:
        return result
    if result.status is SearchStatus.UNSOLVABLE:
        return _confirmed(task, result, limits.after(perf_counter() - start).at_most(SECONDS))
    if result.plan is None:
        return result
    verified = partial(_verified, task, plan_file, start)
    result = verified(result)
    if result.status is not SearchStatus.SOLVED:
        return result
    decider = decisive(configuration, result)
    if decider.make_agent().finds_shortest:
        return replace(result, optimal=True)
    if not anytime:
        return result
    try:
        return improved(task, decider, limits, result, verified)
    except KeyboardInterrupt:
        kept = "is lost: name a plan_file to keep it" if plan_file is None else f"is in {plan_file}"
        raise KeyboardInterrupt(f"the best plan until now {kept}") from None


def _verified(task: Task, plan_file: str | os.PathLike[str] | None, start: float, result: SearchResult) -> SearchResult:
    """The result after its plan was re-executed and, if it is valid, written; `start` is when the search began."""
    plan = result.plan
    assert plan is not None
    if plan_file is not None:
        write_json(unverified(plan_file), plan)
    before = perf_counter()
    validation = validate(task, plan, forbid_collapse=result.forbid_collapse)
    now = perf_counter()
    result = replace(
        result,
        validation_seconds=result.validation_seconds + now - before,
        collapsed_agents=validation.collapsed,
    )
    if not validation.valid:
        kept = "" if plan_file is None else f" (see {unverified(plan_file)})"
        message = f"{result.label} returned a plan that is not valid{kept}: {validation.reason}"
        return replace(result, status=SearchStatus.ERROR, message=message)
    if plan_file is not None:
        unverified(plan_file).replace(plan_file)
    return replace(result, history=(*result.history, (len(plan), now - start)))


def _confirmed(task: Task, result: SearchResult, limits: Limits) -> SearchResult:
    """The result of a search that found that there is no plan, after the reference has looked again."""
    assert limits.time_limit is not None
    start = perf_counter()
    try:
        proof = confirmed(task, limits.time_limit, forbid_collapse=result.forbid_collapse)
    except RefutedError as error:
        result = replace(
            result, status=SearchStatus.ERROR, message=f"{result.label} says that there is no plan, but {error}"
        )
    else:
        result = replace(result, proof=proof)
    return replace(result, validation_seconds=perf_counter() - start)
