"""Searches for a plan with a configuration and validates the result with the reference."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace
from functools import partial
from time import perf_counter

from epigym.errors import EpigymError, UsageError
from epigym.io.files import write_json
from epigym.reference.semantics import require_consistent_beliefs, validate
from epigym.task.task import Task
from search.agents.limits import Limits, memory_bytes
from search.agents.result import SearchResult, SearchStatus, TaskSize
from search.agents.run import Counts
from search.planning.configuration import Configuration
from search.planning.options import DEFAULTS, SearchOptions
from search.planning.plan_files import make_unverified_path, remove_plans
from search.planning.proofs import Confirmation, RefutedError, confirm_unsolvable
from search.planning.single_search import Result, complete_result, make_blank_result, search_in_process
from search.processes.channel import (
    NO_CHANNEL,
    LocalChannel,
    Message,
    ProgressChannel,
    UnsendableError,
    may_be_copied,
)
from search.processes.supervisor import Job, JobResult, watch

GRACE_MEMORY = 1.02
"""The share of the memory limit at which a search is killed; it ends by itself at the limit."""
File = str | os.PathLike[str]
ProgressReceiver = Callable[[Counts | SearchResult], None]
"""Receives counts and results of a running search, at most ten times a second."""


def find_plan(
    task: Task,
    configuration: Configuration,
    options: SearchOptions = DEFAULTS,
    plan_file: File | None = None,
    on_progress: ProgressReceiver | None = None,
) -> SearchResult:
    """Search for a plan of `task`; the reference validates the plan before it is reported.

    With limits, a separate process searches, which is killed if it exceeds them. Its start and the validation of plans
    do not count. The reference also checks the result that there is no plan, by default within bounds.

    Args:
        task: the planning task.
        configuration: agent and heuristic.
        options: the options; with `verify="none"` the plan is neither validated nor written.
        plan_file: the file for the plan. Until the plan is validated, and when it is not valid, the plan is in
            `search.planning.plan_files.make_unverified_path(plan_file)`. Earlier plans in both are removed before the
            search. With `anytime` each plan replaces the one before as soon as it is validated.
        on_progress: receives counts and results of the running search.

    Returns:
        The result; its status is `error` when a plan is not valid, or the reference contradicts that there is none.

    Raises:
        ModelError: when the model of a learned heuristic cannot be read.
        TaskError: when the task cannot be represented, or designated worlds disagree about an observability type.
        InconsistentBeliefsError: when the initial e-state has inconsistent beliefs, and `consistent_beliefs` is set.
        UsageError: when `configuration` is no Configuration, or a file for plans exists and is no plan.
        OSError: when the plan cannot be written.
        KeyboardInterrupt: on Ctrl-C; after the first plan, the message says where the best one is.
    """
    if not isinstance(configuration, Configuration):
        raise UsageError(f"expected a Configuration, such as Configuration.of('bfs'), got {configuration!r}")
    _prepare(task, options, plan_file)
    blank = replace(make_blank_result(configuration, task.name, options), size=TaskSize.of(task))
    search = partial(find_plan_here, task, configuration, plan_file=plan_file)
    return run_search(search, options, plan_file, blank, on_progress)


def find_plan_here(
    task: Task,
    configuration: Configuration,
    options: SearchOptions,
    plan_file: File | None = None,
    channel: ProgressChannel = NO_CHANNEL,
) -> SearchResult:
    """Search as `find_plan` in this process; the channel receives counts, results and time limits."""
    start = perf_counter()
    _prepare(task, options, plan_file)
    found = search_in_process(task, configuration, options, channel)
    result = found.result
    if options.shorten and result.plan and not result.optimal:
        from search.planning.shortening import shorten_result  # imports a further agent

        result = shorten_result(found, options.active_limits, perf_counter() - start)
    if options.verify == "none":
        return result
    if result.status is SearchStatus.UNSOLVABLE:
        is_bounded = options.verify == "bounded"
        limits = options.active_limits.after(perf_counter() - start) if is_bounded else None
        return _confirm(task, result, limits, channel)
    if result.plan is None:
        return result
    verify = partial(_verify, task, plan_file, start, channel)
    result = verify(result)
    if result.status is not SearchStatus.SOLVED or result.optimal or not options.anytime:
        return result
    from search.planning.improvement import improve_plan  # imports further searches

    try:
        return improve_plan(found._replace(result=result), options, verify, channel)
    except KeyboardInterrupt:
        raise _make_interrupt(plan_file) from None


def _prepare(task: Task, options: SearchOptions, plan_file: File | None) -> None:
    """Check the initial e-state and the plan file, and remove earlier plans before any limit can end the search."""
    if options.consistent_beliefs:
        require_consistent_beliefs(task, task.initial, "in the initial e-state")
    if plan_file is not None:
        remove_plans(plan_file)


def run_search(
    search: Callable[..., Result],
    options: SearchOptions,
    file: File | None,
    blank: Result,
    on_progress: ProgressReceiver | None = None,
) -> Result:
    """Run a search: with limits in a separate process, else in this one.

    A search that cannot be sent to another process runs in this one, with a warning.

    Args:
        search: a function of `options` and `channel`.
        options: the options.
        file: the file for plans or policies.
        blank: the result when the process fails.
        on_progress: receives the messages of the search.

    Raises:
        EpigymError: as the search.
        KeyboardInterrupt: on Ctrl-C; the message says whether the best plan is in `file`.
    """
    search_here = partial(search, channel=NO_CHANNEL if on_progress is None else LocalChannel(on_progress))
    if options.limits is None:
        return search_here(options=options)
    try:
        return complete_result(_search_elsewhere(search, options, file, on_progress), blank)
    except UnsendableError as error:
        warnings.warn(
            f"{blank.label} cannot be sent to another process and searches in this one ({error}): time_limit and "
            "memory_limit hold between two expansions only",
            stacklevel=4,
        )
    return search_here(options=options)


def _search_elsewhere(
    search: Callable[..., SearchResult],
    options: SearchOptions,
    file: File | None,
    on_progress: ProgressReceiver | None,
) -> JobResult:
    """Run a search in a separate process, see `run_search`.

    Raises:
        UnsendableError: when the search cannot be sent there.
    """
    latest: SearchResult | None = None
    try:
        with closing(watch_search(search, options)) as received:
            for each in received:
                if isinstance(each, JobResult):
                    job_result = each
                    break
                if isinstance(each, Message):
                    latest = each.value if isinstance(each.value, SearchResult) else latest
                    if on_progress is not None:
                        on_progress(each.value)
    except KeyboardInterrupt:
        if latest is not None and latest.status is SearchStatus.SOLVED:
            raise _make_interrupt(file) from None
        raise
    if job_result.failure is SearchStatus.ERROR and job_result.detail:
        error = job_result.error or EpigymError(job_result.message)
        error.add_note(job_result.detail)
        raise error
    return job_result


def watch_search(
    search: Callable[..., SearchResult], options: SearchOptions
) -> Generator[JobResult | Message | None, None, None]:
    """Run a search, see `run_search`, in a separate process; yields as `watch` of `search.processes.supervisor`."""
    limits = options.active_limits
    memory = memory_bytes(limits.memory_limit)
    call = partial(search, options=replace(options, limits=replace(limits, memory_limit=memory)))
    job = Job("search", call, (), takes_channel=True, time_limit=limits.time_limit)
    memory = int(GRACE_MEMORY * memory)
    return watch([job], parallel=1, memory_limit=memory, preload=[__name__], copies=may_be_copied())


def _make_interrupt(plan_file: File | None) -> KeyboardInterrupt:
    kept = "is lost: name a file to keep it" if plan_file is None else f"is in {plan_file}"
    return KeyboardInterrupt(f"the best plan until now {kept}")


def _verify(
    task: Task, plan_file: File | None, start: float, channel: ProgressChannel, result: SearchResult
) -> SearchResult:
    """Validate the plan of a result, and write it if it is valid; `start` is the start of the search."""
    plan = result.plan
    assert plan is not None
    if plan_file is not None:
        write_json(make_unverified_path(plan_file), plan)
    before = perf_counter()
    validation = validate(task, plan, consistent_beliefs=result.consistent_beliefs)
    now = perf_counter()
    result = result.with_costs(validation_seconds=result.costs.validation_seconds + now - before)
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


def _confirm(task: Task, result: SearchResult, limits: Limits | None, channel: ProgressChannel) -> SearchResult:
    """Check with the reference that there is no plan, within the limits; without limits the whole space."""
    start = perf_counter()

    def send(confirmation: Confirmation) -> None:
        channel.send(replace(result, proof=str(confirmation)))

    if limits is None:
        channel.set_time_limit(None)
    try:
        confirmation = confirm_unsolvable(task, result, limits, send)
    except RefutedError as error:
        message = f"{result.label} says that there is no plan, but {error}"
        result = replace(result, status=SearchStatus.ERROR, message=message)
    else:
        result = replace(result, proof=str(confirmation))
    return result.with_costs(validation_seconds=perf_counter() - start)
