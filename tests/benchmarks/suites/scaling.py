"""The `scaling` suite, growing problems of each domain: sampling their goals and measuring blind search.

The goal of an instance is sampled with a fixed seed and is true after a random walk, which is stored as a witness that
it can be reached. In the lower instances it is the one of many sampled goals for which breadth-first search generates
closest to `1000 * 2.5^number` nodes, where `number` is that of the instance. In the upper instances, which grow
further, it is the goal that the first e-states of breadth-first search miss by the most subgoals.

The sampled goals do not depend on the machine. The effort of breadth-first search, or the limit that stopped it, is
measured in a process of its own and stored with the limits.
"""

import json
import math
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from numpy.typing import NDArray
from rich.progress import Progress

from domains.instances import SCALING
from epigym import EpigymError, StateSpace, Task
from epigym.problem import domain_problem
from epigym.space.sampling import RandomGoal, sample_goal
from epigym.space.traversal import breadth_first
from search.agents import run_agent
from search.agents.breadth_first import BreadthFirst
from search.agents.limits import Limits
from search.agents.result import SearchStatus
from search.processes.supervisor import Job, supervise
from tests.benchmarks.suites.tables import Source, read_instances, store

_GROWTH = 2.5
_SEEDS = 1000  # how far apart the seeds of the instances are
_FEWEST_SUBGOALS, _MOST_SUBGOALS = 3, 24
_CHUNK = 1024


@dataclass(frozen=True, slots=True)
class ScalingInstance:
    """One row of the table.

    Attributes:
        domain: name of the domain.
        instance: name of the instance in its domain.
        parameters: parameters of the domain, as JSON.
        seed: of its goal.
        witness: names of the actions of the walk that reaches the goal, separated by blanks.
        walk_length: its length, an upper bound of the plan length.
        status: how breadth-first search ended.
        plan_length: length of the shortest plan, empty when it is not known.
        expanded: nodes expanded.
        generated: nodes generated.
        distinct: e-states seen.
        seconds: search time.
        memory_mib: memory that the process held at the end, in MiB.
        time_limit_s: the limit in force, in seconds.
        memory_limit: the limit in force.
    """

    domain: str
    instance: str
    parameters: str
    seed: int
    witness: str
    walk_length: int
    status: str = ""
    plan_length: int | str = ""
    expanded: int | str = ""
    generated: int | str = ""
    distinct: int | str = ""
    seconds: float | str = ""
    memory_mib: int | str = ""
    time_limit_s: float | str = ""
    memory_limit: str = ""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How a domain's instances grow.

    Attributes:
        instances: parameters of the domain for each instance, from the lowest to the highest.
        lower: number of lower instances, whose goals are chosen by the effort of breadth-first search.
        most_steps: most steps of the walks on the lower instances; the upper instances take four times as many.
        look_ahead: nodes generated to judge the goals of the upper instances.
        goals: number of goals sampled for the upper instances.
        first_effort: nodes generated on the lowest instance.
        lower_goals: number of goals sampled for each size of the lower instances.
    """

    instances: Sequence[Mapping[str, Any]]
    lower: int = 10
    most_steps: int = 40
    look_ahead: int = 100_000
    goals: int = 40
    first_effort: int = 1000
    lower_goals: int = 600


class ExploredProblem(Source):
    """The beginning of one problem's state space, in the order of breadth-first search.

    Args:
        domain: name of the domain.
        parameters: the size of the problem.
        max_generated: how many successors to generate.
    """

    def __init__(self, domain: str, parameters: Mapping[str, Any], max_generated: int) -> None:
        super().__init__(domain, parameters)
        states, self.generated_at = _explore(self.space, max_generated)
        # One row per formula, since goals pick formulas.
        self.truths = np.ascontiguousarray(self.holds(states).T)

    def sample_goals(self, number: int, count: int, most_steps: int) -> list[tuple[int, RandomGoal]]:
        """Different random goals, and the seeds that they are sampled with."""
        found: dict[tuple[int, ...], tuple[int, RandomGoal]] = {}
        for seed in range(_SEEDS * number, _SEEDS * number + count):
            goal = self.sample_goal(seed, most_steps)
            found.setdefault(goal.subgoals, (seed, goal))
        return list(found.values())

    def sample_goal(self, seed: int, most_steps: int) -> RandomGoal:
        """A random goal with a random number of steps and subgoals."""
        rng = np.random.default_rng(seed)
        steps = int(rng.integers(max(most_steps // 4, 1), most_steps, endpoint=True))
        size = int(rng.integers(_FEWEST_SUBGOALS, _MOST_SUBGOALS, endpoint=True))
        return sample_goal(self.space, self.holds, rng, steps=steps, size=size)

    def effort(self, goal: RandomGoal) -> int | None:
        """How many nodes breadth-first search generates until the goal; None when it is not in sight."""
        reached = np.flatnonzero(self.truths[list(goal.subgoals)].all(axis=0))
        return int(self.generated_at[reached[0]]) if len(reached) else None

    def missing(self, goal: RandomGoal) -> int:
        """How many subgoals the e-states in sight miss at least."""
        return int((~self.truths[list(goal.subgoals)]).sum(axis=0).min())


def sample_instances(domain: str, sizes: Sizes) -> list[ScalingInstance]:
    """The instances of a domain, not yet measured."""
    targets = [round(sizes.first_effort * _GROWTH**number) for number in range(sizes.lower)]
    numbered = list(enumerate(sizes.instances))
    instances: list[ScalingInstance] = []
    for size, group in groupby(numbered[: sizes.lower], key=lambda instance: instance[1]):
        numbers = [number for number, _ in group]
        problem = ExploredProblem(domain, size, 3 * targets[numbers[-1]] // 2)
        sampled = problem.sample_goals(numbers[0], sizes.lower_goals, sizes.most_steps)
        for number in numbers:
            chosen = nearest(problem, sampled, targets[number])
            sampled.remove(chosen)
            instances.append(_make_instance(problem, number, *chosen))
    for size, group in groupby(numbered[sizes.lower :], key=lambda instance: instance[1]):
        numbers = [number for number, _ in group]
        problem = ExploredProblem(domain, size, sizes.look_ahead)
        sampled = problem.sample_goals(numbers[0], sizes.goals, 4 * sizes.most_steps)
        sampled.sort(key=lambda one: problem.missing(one[1]), reverse=True)
        instances += [
            _make_instance(problem, number, *one) for number, one in zip(reversed(numbers), sampled, strict=False)
        ]
    return instances


def measure(instances: Sequence[ScalingInstance], limits: Limits) -> list[ScalingInstance]:
    """Run breadth-first search on the first of some instances that differ in their goals alone.

    Breadth-first search does the same whatever its goal is, until it meets it. So where it ends without a plan,
    the outcome is also that of the other instances whose goals it has not met.

    Returns:
        The instances whose outcome is known now, with that outcome.
    """
    first, *others = instances
    space = StateSpace(_task(first))
    result = run_agent(BreadthFirst(), space, limits=limits)
    outcome: dict[str, Any] = {
        "status": result.status.value,
        "plan_length": "" if result.plan_length is None else result.plan_length,
        "expanded": result.expanded,
        "generated": result.generated,
        "distinct": result.distinct,
        "seconds": round(result.costs.search_seconds, 2),
        "memory_mib": psutil.Process().memory_info().rss >> 20,
        "time_limit_s": limits.time_limit,
        "memory_limit": limits.memory_limit,
    }
    alike = (
        [] if result.status is SearchStatus.SOLVED else [instance for instance in others if not _meets(space, instance)]
    )
    return [replace(instance, **outcome) for instance in (first, *alike)]


def read(path: Path) -> list[ScalingInstance]:
    """The instances of a table."""
    return read_instances(path, lambda row: ScalingInstance(**row))  # type: ignore[arg-type]


def _size(instance: ScalingInstance) -> dict[str, Any]:
    """The parameters of instances that differ in their goals alone."""
    return {name: value for name, value in json.loads(instance.parameters).items() if name != "goals"}


_LONG: dict[str, Any] = {"most_steps": 160, "look_ahead": 3_000_000, "goals": 400}
_CHOICES: dict[str, dict[str, Any]] = {
    "assembly_line": {},
    "coin_in_the_box": {"most_steps": 30, "look_ahead": 1_000_000},
    "collaboration_communication": {},
    "epistemic_gossip": {"most_steps": 24},
    "grapevine": {"most_steps": 30},
    "selective_communication": {"lower": 12, **_LONG},
    "selective_communication_enriched": {"lower": 14, **_LONG},
}
SIZES: Mapping[str, Sizes] = {
    domain: Sizes([_size(instance) for instance in read(SCALING) if instance.domain == domain], **chosen)
    for domain, chosen in _CHOICES.items()
}
"""How the instances of the suite grow: with the parameters that its table has."""


def _task(instance: ScalingInstance) -> Task:
    return domain_problem(instance.domain, **json.loads(instance.parameters))


def _meets(space: StateSpace, instance: ScalingInstance) -> bool:
    """Whether an e-state of the space satisfies the goal of an instance of the same problem."""
    holds = space.query(_task(instance).goal)
    chunks = (np.arange(start, min(start + _CHUNK, len(space))) for start in range(0, len(space), _CHUNK))
    return any(holds(chunk).all(axis=1).any() for chunk in chunks)


def _explore(space: StateSpace, max_generated: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """int32[k] and int64[k]: the e-states met breadth first, each with the number of nodes generated until then."""
    states, counts = [np.array([space.initial], dtype=np.int32)], [np.zeros(1, dtype=np.int64)]
    generated = 0
    for wave in breadth_first(space):
        states.append(wave.transitions.target[wave.fresh])
        counts.append(generated + 1 + wave.fresh)
        generated += len(wave.transitions.target)
        if generated >= max_generated:
            break
    return np.concatenate(states), np.concatenate(counts)


def nearest(problem: ExploredProblem, sampled: Sequence[tuple[int, RandomGoal]], target: int) -> tuple[int, RandomGoal]:
    """The sampled goal whose effort is closest to the target, by ratio."""
    efforts = [(problem.effort(goal), seed, goal) for seed, goal in sampled]
    _, seed, goal = min(
        ((abs(math.log(effort / target)), seed, goal) for effort, seed, goal in efforts if effort),
        key=lambda one: one[:2],
    )
    return seed, goal


def _make_instance(problem: ExploredProblem, number: int, seed: int, goal: RandomGoal) -> ScalingInstance:
    return ScalingInstance(
        domain=problem.domain,
        instance=f"scaling_{number + 1:02d}",
        parameters=json.dumps({**problem.parameters, "goals": problem.formulas(goal)}),
        seed=seed,
        witness=" ".join(problem.names(goal)),
        walk_length=len(goal.plan),
    )


def generate(chosen: Sequence[str], table: Path, limits: Limits, *, fresh: bool = False, parallel: int = 1) -> None:
    """Measure the instances of some domains and keep them in a table.

    Args:
        chosen: names of the domains.
        table: where the instances are kept; those that are not there yet are those of the suite.
        limits: of time and memory, per instance.
        fresh: whether to sample the instances anew.
        parallel: instances measured at the same time.

    Raises:
        EpigymError: when the process of a search dies.
    """
    if not table.exists():
        store(map(asdict, read(SCALING)), table)
    with Progress() as progress:
        for domain in chosen:
            if fresh:
                store(map(asdict, sample_instances(domain, SIZES[domain])), table)
            instances = [instance for instance in read(table) if instance.domain == domain]
            bar = progress.add_task(domain, total=len(instances))
            groups = [list(group) for _, group in groupby(instances, key=_size)]
            while groups:
                jobs = [Job(group, measure, (group, limits)) for group in groups]
                groups = []
                with closing(supervise(jobs, parallel=parallel)) as endings:
                    for ending in endings:
                        if ending.failure:
                            raise EpigymError(f"{domain}/{ending.job.key[0].instance}: {ending.message}")
                        store(map(asdict, ending.value), table)
                        progress.advance(bar, len(ending.value))
                        names = {instance.instance for instance in ending.value}
                        groups.append([instance for instance in ending.job.key if instance.instance not in names])
                groups = [group for group in groups if group]
