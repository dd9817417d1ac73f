"""From a task to a result: search with a configuration, re-execute the plan."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import partial
from math import inf
from time import perf_counter

from epigym.errors import EpigymError, UsageError
from epigym.io.files import write_json
from epigym.reference.semantics import require_consistent_beliefs, validate
from epigym.task.task import Task
from search.agents.limits import Limits, memory_bytes
from search.agents.result import SearchResult, SearchStatus, TaskSize
from search.planning.configuration import Configuration
from search.planning.options import DEFAULTS, SearchOptions
from search.planning.plan_files import make_unverified_path, remove_plans
from search.planning.proofs import SLOW_SECONDS, RefutedError, confirm_unsolvable
from search.planning.single_search import Result, complete_result, make_blank_result, search_in_process
from search.processes.channel import NO_CHANNEL, Message, ProgressChannel, may_be_copied
from search.processes.supervisor import Job, JobResult, watch

GRACE_MEMORY = 1.02
"""The share of the memory limit at which a search is ended that does not do so by itself."""
File = str | os.PathLike[str]


def find_plan(
    task: Task,
    configuration: Configuration,
    options: SearchOptions = DEFAULTS,
    plan_file: File | None = None,
) -> SearchResult:
    """Search for a plan of `task` and re-execute it independently before it is reported.

    Limits that are given hold for everything but re-executing plans, for which no time limit holds, and starting: a
    process of its own searches, and is ended from outside where it does not end by itself.

    The reference checks again that there is none, as far as the time limit and a budget of successors allow, see
    `search.planning.proofs`.

    Args:
        task: the planning task.
        configuration: agent and heuristic.
        options: the limits, and what else to do; without `verify` the first plan is reported as it was found, and not
            written.
        plan_file: the file for the plan. Until the plan has been re-executed, and when that fails, the plan is in
            `search.planning.plan_files.make_unverified_path(plan_file)`. Earlier plans in both are removed before the
            search. With `anytime` each plan replaces the one before as soon as it has been re-executed.

    Returns:
        The result; its status is `error` when a plan that was found is not valid, or the reference contradicts that
        there is none.

    Raises:
        CheckpointError: when a learned heuristic cannot be loaded or does not fit the task.
        TaskError: when the task cannot be represented, or designated worlds disagree about an observer.
        InconsistentBeliefsError: when the initial e-state has inconsistent beliefs, and `consistent_beliefs` is set.
        UsageError: when the configuration is none, or `plan_file`, or the file beside it, exists and is not a plan.
        OSError: when the plan cannot be written.
        KeyboardInterrupt: when it was interrupted; after the first plan, the message says where the best one is.
    """
    if not isinstance(configuration, Configuration):
        raise UsageError(f"expected a Configuration, such as Configuration.of('bfs'), got {configuration!r}")
    _prepare(task, options, plan_file)
    blank = replace(make_blank_result(configuration, task.name, options), size=TaskSize.of(task))
    return run_search(partial(find_plan_here, task, configuration, plan_file=plan_file), options, plan_file, blank)


def find_plan_here(
    task: Task,
    configuration: Configuration,
    options: SearchOptions,
    plan_file: File | None = None,
    channel: ProgressChannel = NO_CHANNEL,
) -> SearchResult:
    """The same in this process; who watches it is told whatever is known, and sees to it that limits hold."""
    start, limits = perf_counter(), options.limits or Limits()
    _prepare(task, options, plan_file)
    result, space, heuristic = search_in_process(task, configuration, options, channel)
    if not options.verify:
        return result
    if result.status is SearchStatus.UNSOLVABLE:
        return _confirm(task, result, limits.after(perf_counter() - start))
    if result.plan is None:
        return result
    verified = partial(_verify, task, plan_file, start, channel)
    result = verified(result)
    if result.status is not SearchStatus.SOLVED or result.optimal or not options.anytime:
        return result
    assert space is not None
    from search.planning.improvement import improve_plan  # with the searches that it needs

    try:
        return improve_plan(space, heuristic, limits, result, verified, channel)
    except KeyboardInterrupt:
        raise _make_interrupt(plan_file) from None


def _prepare(task: Task, options: SearchOptions, plan_file: File | None) -> None:
    """The last checks; then what an earlier search left is removed, so that no limit can end this one before."""
    if options.consistent_beliefs:
        require_consistent_beliefs(task, task.initial, "in the initial e-state")
    if plan_file is not None:
        remove_plans(plan_file)


def run_search(search: Callable[..., Result], options: SearchOptions, file: File | None, blank: Result) -> Result:
    """The result of a search with options: without limits from this process, else from a process of its own.

    Args:
        search: takes `options` and `channel`.
        options: the limits among them.
        file: where it writes what it finds.
        blank: what is known of the result where the process fails.

    Raises:
        EpigymError: the error that ended the search.
        KeyboardInterrupt: when it was interrupted; the message says whether what was found is in `file`.
    """
    if options.limits is None:
        return search(options=options)
    told: object = None
    memory = memory_bytes(options.limits.memory_limit)
    call = partial(search, options=replace(options, limits=replace(options.limits, memory_limit=memory)))
    job = Job("search", call, (), takes_channel=True, time_limit=options.limits.time_limit)
    memory = int(GRACE_MEMORY * memory)
    running = watch([job], parallel=1, memory_limit=memory, preload=[__name__], copies=may_be_copied())
    try:
        with closing(running) as heard:
            for each in heard:
                if isinstance(each, JobResult):
                    ending = each
                    break
                told = each.value if isinstance(each, Message) else told
    except KeyboardInterrupt:
        if isinstance(told, SearchResult) and told.status is SearchStatus.SOLVED:
            raise _make_interrupt(file) from None
        raise
    if ending.failure is SearchStatus.ERROR and ending.detail:
        error = ending.error or EpigymError(ending.message)
        error.add_note(ending.detail)
        raise error
    return complete_result(ending, blank)


def _make_interrupt(plan_file: File | None) -> KeyboardInterrupt:
    kept = "is lost: name a file to keep it" if plan_file is None else f"is in {plan_file}"
    return KeyboardInterrupt(f"the best plan until now {kept}")


def _verify(
    task: Task, plan_file: File | None, start: float, channel: ProgressChannel, result: SearchResult
) -> SearchResult:
    """The result after its plan was re-executed and, if it is valid, written; `start` is when the search began."""
    plan = result.plan
    assert plan is not None
    if plan_file is not None:
        write_json(make_unverified_path(plan_file), plan)
    before = perf_counter()
    validation = validate(task, plan, consistent_beliefs=result.consistent_beliefs)
    now = perf_counter()
    result = result.spending(validation_seconds=result.costs.validation_seconds + now - before)
    result = replace(result, inconsistent_agents=validation.inconsistent_agents)
    if not validation.valid:
        kept = "" if plan_file is None else f" (see {make_unverified_path(plan_file)})"
        message = f"{result.label} returned a plan that is not valid{kept}: {validation.reason}"
        return replace(result, status=SearchStatus.ERROR, message=message, optimal=False)
    if plan_file is not None:
        make_unverified_path(plan_file).replace(plan_file)
    result = replace(result, history=(*result.history, (len(plan), now - start)))
    channel.send(result)
    return result


def _confirm(task: Task, result: SearchResult, limits: Limits) -> SearchResult:
    """The result of a search that found that there is no plan, after the reference has checked it again."""
    start = perf_counter()
    seconds = inf if limits.time_limit is None else limits.time_limit
    try:
        confirmation = confirm_unsolvable(
            task, result.generated, result.distinct, seconds, consistent_beliefs=result.consistent_beliefs
        )
    except RefutedError as error:
        message = f"{result.label} says that there is no plan, but {error}"
        result = replace(result, status=SearchStatus.ERROR, message=message)
    else:
        cut = f"the check stopped at a successor of more than {SLOW_SECONDS:g} s" if confirmation.is_cut else ""
        message = "; ".join(filter(None, (result.message, cut)))
        result = replace(result, proof=str(confirmation), message=message)
    return result.spending(validation_seconds=perf_counter() - start)
