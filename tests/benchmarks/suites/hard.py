"""The suites `hard` and `hard_control`: growing problems on which seven searches fail one after the other.

At every step of a domain's line the goal is a conjunction of formulas that are true at the end of a random walk: the
walk, cut where the goal first holds, is a plan that keeps all beliefs consistent. The searches run on the problem, each
alone within the same limits; a search that failed on two steps in a row is given up. Generation ends when no search
solves four steps in a row. The suite begins with the first step that some search fails; the table also has the steps
below, which show where the suite begins.

The control has as many problems, with sizes sampled uniformly from those of the instances, and goals sampled as theirs.
No search runs on them here, so their choice favours none.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, fields, replace
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any, Final

import numpy as np
from rich.progress import Progress

from domains.domain import Growth
from domains.instances import kind_of
from epigym import StateSpace, Task
from epigym.errors import EpigymError, UsageError
from epigym.problem import domain_problem
from epigym.reference.semantics import validate
from epigym.space.sampling import sample_goal, sample_narrow_walk
from search.agents.limits import Limits, memory_bytes
from search.agents.result import SearchResult, SearchStatus
from search.evaluation.record import search_from
from search.planning.configuration import Choice, Configuration
from search.planning.options import SearchOptions
from search.planning.single_search import complete_result, make_blank_result
from search.processes.supervisor import Job, supervise
from tests.benchmarks.suites.hard_sizes import LINES
from tests.benchmarks.suites.tables import Source, read_instances, store
from tests.helpers.structures import follow

GIVEN_UP: Final = "given_up"
"""The status of a search that is not run, as it failed on two lower steps in a row."""
_FAILURES = 2  # steps in a row after which a search is given up
_BEYOND = 4  # steps in a row that no search solves, after which generation ends
_SEEDS = 1000  # how far apart the seeds of the steps are
_MOST_WORLDS = 20_000  # of the e-states of a walk, where the first one has fewer
_GRACE = 60.0  # seconds to start, build and re-execute a plan, beside the time limit
_KINDS: tuple[tuple[Choice, str | None], ...] = (
    ("bfs", None),
    ("hfs", "goal_count"),
    ("hfs", "split_goal_count"),
    ("bfws", "split_goal_count"),
    ("hfs", "c_pg"),
    ({"name": "lazy", "boost": 1000}, "h_ff"),
    ("hfs", "landmarks"),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one search; the counts are blank where it was given up or killed from outside.

    Attributes:
        status: how it ended, or `given_up`.
        expanded: nodes expanded.
        seconds: of reading, building, searching and re-executing.
    """

    status: str
    expanded: str = ""
    seconds: str = ""

    @classmethod
    def of(cls, result: SearchResult) -> Outcome:
        """The outcome that a result tells."""
        return cls(result.status.value, str(result.expanded or ""), f"{result.costs.total_seconds:.2f}")

    @property
    def is_solved(self) -> bool:
        """Whether a plan was found."""
        return self.status == SearchStatus.SOLVED


@dataclass(frozen=True, slots=True)
class HardInstance:
    """One row of the table: a step of a line, or a problem of the control.

    Attributes:
        domain: name of the domain.
        instance: `hard_` and the step, `below_` and the step where no search has failed yet, or `hard_control_` and a
            number.
        parameters: parameters of the domain, as JSON.
        step: of the line, counted from 1.
        seed: of its goal.
        plan: names of the actions of a plan, separated by blanks.
        plan_length: its length, an upper bound of that of the shortest.
        fluents: their number in the task.
        agents: the same.
        actions: the same.
        validated: what has executed the plan: the `reference`, or the `space` where the reference would take long.
        outcomes: of each search by its label; empty for the control.
        time_limit_s: the limit in force, in seconds.
        memory_limit: the limit in force.
    """

    domain: str
    instance: str
    parameters: str
    step: int
    seed: int
    plan: str
    plan_length: int
    fluents: int
    agents: int
    actions: int
    validated: str
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    time_limit_s: str = ""
    memory_limit: str = ""

    @classmethod
    def read(cls, row: Mapping[str, str]) -> HardInstance:
        """The instance of a row."""
        plain: dict[str, Any] = {name: int(row[name]) if kind == "int" else row[name] for name, kind in _columns()}
        found = {label: Outcome(*(row[f"{label}.{name}"] for name in _MEASURED)) for label in searches()}
        return cls(**plain, outcomes={label: one for label, one in found.items() if one.status})

    def row(self) -> dict[str, Any]:
        """The instance as the table holds it."""
        found = {label: self.outcomes.get(label, Outcome("")) for label in searches()}
        return {name: getattr(self, name) for name, _ in _columns()} | {
            f"{label}.{name}": getattr(one, name) for label, one in found.items() for name in _MEASURED
        }

    @property
    def is_control(self) -> bool:
        """Whether it is a problem of the control."""
        return kind_of(self.instance) == "hard_control"

    @property
    def is_kept(self) -> bool:
        """Whether it belongs to the suite: a search fails, here or below."""
        return kind_of(self.instance) == "hard"

    @property
    def is_solved(self) -> bool:
        """Whether any search solves it."""
        return any(one.is_solved for one in self.outcomes.values())

    @property
    def goals(self) -> tuple[str, ...]:
        """The subgoals."""
        return tuple(json.loads(self.parameters)["goals"])

    def task(self) -> Task:
        """The problem."""
        return domain_problem(self.domain, **json.loads(self.parameters))


_MEASURED = ("status", "expanded", "seconds")
Sampler = Callable[[int, int], HardInstance]
Searcher = Callable[[HardInstance, Iterable[str]], dict[str, Outcome]]


def _columns() -> Iterator[tuple[str, Any]]:
    """The names of the columns before those of the searches, with the types of their values."""
    yield from ((one.name, one.type) for one in fields(HardInstance) if one.name != "outcomes")


@cache
def searches() -> dict[str, Configuration]:
    """The searches that are tried, by label."""
    made = [Configuration.of(agent, heuristic) for agent, heuristic in _KINDS]
    return {one.label: one for one in made}


def generate(domain: str, table: Path, limits: Limits, *, parallel: int = 1) -> None:
    """Generate larger instances of a domain until no search solves them, and sample its control.

    What the table has is not done again; it is written after every instance.

    Args:
        domain: name of the domain.
        table: where the instances are kept.
        limits: of time to read, ground and search, and of memory of the process, per search and instance.
        parallel: searches at a time.

    Raises:
        UsageError: when the table was measured within other limits.
        EpigymError: when the process that samples a problem dies, or a sampled plan is not valid.
    """
    line = LINES[domain]
    sample = partial(sample_apart, domain, line, limits)
    search = partial(run_searches, limits=limits, parallel=parallel)
    instances = [instance for instance in read_instances(table, HardInstance.read) if instance.domain == domain]
    control = [instance for instance in instances if instance.is_control]
    instances = [instance for instance in instances if not instance.is_control]
    instances.sort(key=lambda instance: instance.step)
    _require(limits, instances, table)
    with Progress() as progress:
        bar = progress.add_task(domain, total=len(line), completed=len(instances))
        while len(instances) < len(line) and not _is_over(instances):
            instances.append(_measure(sample(len(instances) + 1, 0), instances, limits, search))
            store([instances[-1].row()], table)
            progress.advance(bar)
        for problem in _control(domain, instances, control, sample):
            store([problem.row()], table)


def _require(limits: Limits, instances: Iterable[HardInstance], table: Path) -> None:
    """The table has the same limits, or there are no instances."""
    for instance in instances:
        if (float(instance.time_limit_s), instance.memory_limit) != (limits.time_limit, str(limits.memory_limit)):
            within = f"--time-limit {instance.time_limit_s} --memory-limit {instance.memory_limit}"
            raise UsageError(f"{table} was measured with {within}: give these limits, or another --out")


def _is_over(instances: Sequence[HardInstance]) -> bool:
    return len(instances) >= _BEYOND and not any(instance.is_solved for instance in instances[-_BEYOND:])


def sample_apart(domain: str, line: Growth, limits: Limits, step: int, attempt: int) -> HardInstance:
    """A problem of a step, made in a process of its own, which may need much memory."""
    job = Job(None, sample_instance, (domain, line.at(step), step, seed_of(step, attempt)))
    with closing(supervise([job], parallel=1, memory_limit=memory_bytes(limits.memory_limit))) as endings:
        ending = next(endings)
    if ending.failure:
        raise EpigymError(f"{domain}, step {step} of its line: {ending.message}")
    sampled: HardInstance = ending.value
    return sampled


def seed_of(step: int, attempt: int) -> int:
    """The seed of a goal of a step."""
    return _SEEDS * step + attempt


def sample_instance(
    domain: str, at: tuple[dict[str, Any], int, int], step: int, seed: int, *, reference_worlds: int = 50_000
) -> HardInstance:
    """A problem of a step with a goal that a walk reaches, not yet measured.

    Args:
        domain: name of the domain.
        at: its parameters, most actions of the walk, and most subgoals.
        step: of the line.
        seed: equal seeds give equal goals.
        reference_worlds: of all e-states of a plan together, for the reference to execute it.

    Raises:
        TaskError: when no walk changes the truth of any formula.
        EpigymError: when the plan is not valid.
    """
    parameters, steps, size = at
    source = Source(domain, parameters, consistent_beliefs=True)
    most_worlds = max(_MOST_WORLDS, *source.space.world_counts([source.space.initial]).tolist())
    walk = partial(sample_narrow_walk, max_worlds=most_worlds)
    goal = sample_goal(source.space, source.holds, np.random.default_rng(seed), steps=steps, size=size, walk=walk)
    plan = source.names(goal)
    text = json.dumps({**parameters, "goals": source.formulas(goal)})
    task = source.space.task
    counts = len(task.fluents), len(task.agents), len(task.actions)
    sampled = HardInstance(domain, "", text, step, seed, " ".join(plan), len(plan), *counts, "")
    return replace(sampled, validated=_validate(sampled.task(), plan, reference_worlds))


def _validate(task: Task, plan: Sequence[str], reference_worlds: int) -> str:
    """What has executed a plan.

    Raises:
        EpigymError: when the plan is not valid.
    """
    space = StateSpace(task, consistent_beliefs=True)
    states = follow(space, plan)
    is_small = int(space.world_counts(states).sum()) <= reference_worlds
    reached = space.is_goal(states)
    if reached[0] or not reached[-1] or (is_small and not validate(task, plan, consistent_beliefs=True).valid):
        raise EpigymError(f"{task.name}: the plan of a sampled goal is not valid")
    return "reference" if is_small else "space"


def _measure(sampled: HardInstance, lower: Sequence[HardInstance], limits: Limits, search: Searcher) -> HardInstance:
    """An instance with the outcome of every search, and with its name."""
    last = lower[-_FAILURES:]
    given_up = {
        label
        for label in searches()
        if len(last) == _FAILURES and not any(instance.outcomes[label].is_solved for instance in last)
    }
    found = dict.fromkeys(given_up, Outcome(GIVEN_UP)) | search(sampled, searches().keys() - given_up)
    fails = any(instance.is_kept for instance in lower) or not all(one.is_solved for one in found.values())
    return replace(
        sampled,
        instance=f"{'hard' if fails else 'below'}_{sampled.step:02d}",
        outcomes={label: found[label] for label in searches()},
        time_limit_s=str(limits.time_limit),
        memory_limit=str(limits.memory_limit),
    )


def run_searches(
    instance: HardInstance, labels: Iterable[str], limits: Limits, parallel: int = 1
) -> dict[str, Outcome]:
    """The outcome of searches on an instance, each alone in a process of its own."""
    chosen = {label: one for label, one in searches().items() if label in set(labels)}
    options = SearchOptions(limits)
    jobs = [
        Job(label, search_from, (instance.task, one, options), takes_channel=True, time_limit=limits.time_limit)
        for label, one in chosen.items()
    ]
    running = supervise(
        jobs,
        parallel=parallel,
        wall_limit=(limits.time_limit or 0.0) + _GRACE,
        memory_limit=memory_bytes(limits.memory_limit),
        preload=[__name__],
    )
    with closing(running) as endings:
        return {
            ending.job.key: Outcome.of(
                complete_result(ending, make_blank_result(chosen[ending.job.key], instance.domain, options))
            )
            for ending in endings
        }


def _control(
    domain: str, instances: Iterable[HardInstance], known: Iterable[HardInstance], sample: Sampler
) -> Iterator[HardInstance]:
    """The problems of the control that are missing: at sampled steps of instances, with goals of their own."""
    kept = [instance for instance in instances if instance.is_kept]
    there = {instance.instance: instance for instance in known}
    steps = Random(f"control {domain}").choices([instance.step for instance in kept], k=len(kept)) if kept else []
    goals = {(instance.step, instance.goals) for instance in kept}
    for number, step in enumerate(steps, start=1):
        name = f"hard_control_{number:02d}"
        if name not in there:
            sampled = (sample(step, attempt) for attempt in range(number, _SEEDS, len(LINES[domain])))
            there[name] = replace(next(one for one in sampled if (step, one.goals) not in goals), instance=name)
            yield there[name]
        goals.add((step, there[name].goals))
