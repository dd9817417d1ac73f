"""Cloud Scheduling: a team of hosts runs the tasks of its tenants and tells each of them about its own tasks only."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from domains.checks import (
    MAX_INSTANCES,
    MAX_WORLDS,
    check_at_least,
    check_flag,
    check_formulas,
    check_limit,
    check_one_each,
    check_subset,
    make_random,
    power,
)
from domains.data import read_text
from domains.domain import Domain, Growth, Scene, sizes
from domains.writing.epddl import atom, believes, common, knows_whether, literal, not_, number_names, unsure, write

_STAGES = ("new", "scheduled", "executing", "failed")


def problem(
    *,
    tasks: int = 2,
    tenants: int = 2,
    owners: Sequence[str] | None = None,
    stages: Sequence[str] | None = None,
    large: Sequence[str] | None = None,
    private: bool = True,
    confirmed: bool = False,
    seed: int = 0,
    goals: Sequence[str] | None = None,
) -> str:
    """Tenants have tasks run in a cloud by three hosts: a scheduler, an observer and a reporter.

    A task whose workload has been sensed is scheduled, before all, and starts. That it is completed or has failed
    only the hosts see; a failed one can be scheduled once more. A completed one is validated and reported to its
    owner alone. At the start everybody knows how far each task is, but nobody knows its workload, nor whether it has
    been validated. All tasks shall be completed and validated, and every owner shall know that of its own.

    Difficulty grows with the number of tasks: the initial e-state has 4^tasks worlds, and a plan has 6 actions for a
    new task, 4 for a scheduled, 3 for an executing and 5 for a failed one, which come in any order between tasks.

    Args:
        tasks: how many, at least 1; they are called task1, task2, …
        tenants: how many, at least 1; they are called tenant1, tenant2, …
        owners: the tenant that owns each task.
        stages: how far each task is: `new`, `scheduled`, `executing` or `failed`.
        large: the tasks with a large workload.
        private: whether tenants shall not come to believe that tasks of others are completed.
        confirmed: whether the reporter shall know that every owner knows that its tasks are completed.
        seed: draws the owners, stages and large tasks that are not given.
        goals: explicit EPDDL formulas instead, about the atoms `(completed task1)`, ….

    Source: the family *cloud scheduling* of the epistemic track of the International Planning Competition 2026.
    """
    names, holders = _names(tasks, tenants)
    draw = make_random(seed)
    drawn_owners, drawn_stages = draw.choices(holders, k=len(names)), draw.choices(_STAGES, k=len(names))
    drawn_large = [name for name in names if draw.random() < 0.5]
    owner_of = check_one_each("owners", drawn_owners if owners is None else owners, holders, names)
    stage = check_one_each("stages", drawn_stages if stages is None else stages, _STAGES, names)
    heavy = check_subset("large", drawn_large if large is None else large, names)
    wanted = [
        *(atom(predicate, name) for predicate in ("completed", "validated") for name in names),
        *(believes(agent, atom("completed", name)) for name in names for agent in ("scheduler", owner_of[name])),
    ]
    if check_flag("private", private):
        wanted += [
            not_(believes(other, atom("completed", name)))
            for name in names
            for other in holders
            if other != owner_of[name]
        ]
    if check_flag("confirmed", confirmed):
        wanted += [believes("reporter", believes(owner_of[name], atom("completed", name))) for name in names]
    return write(
        title=f"Cloud Scheduling: {len(names)} tasks of {len(holders)} tenants",
        story="""
            Tasks are sensed, scheduled, started, completed, validated and reported. Tenants do not see when their
            tasks are completed; a report tells the owner and nobody else.
        """,
        action_types=["public-sensing", "public-ontic", "private-ontic"],
        # A report makes its task completed and validated, as it says: that is so already, but a tenant may not know it.
        domain=read_text("cloud_scheduling.epddl"),
        name="cloud_scheduling",
        objects={"task": names},
        agents={"tenant": holders},
        facts=[atom("owner", name, owner_of[name]) for name in names],
        init=[
            *(literal(name in heavy, atom("large", name)) for name in names),
            "(:forall (?task - task) (not (validated ?task)))",
            common("(forall (?task - task) (and (submitted ?task) (not (completed ?task)) (not (rescheduled ?task))))"),
            *(common(literal(stage[name] == step, atom(step, name))) for name in names for step in _STAGES[1:]),
        ],
        goals=wanted if goals is None else check_formulas("goals", goals),
    )


def vocabulary(*, tasks: int = 2, tenants: int = 2, **_: Any) -> list[str]:
    """How far the tasks are, what tenants believe about them, and what hosts and tenants believe about that."""
    names, holders = _names(tasks, tenants)
    found = []
    for name in names:
        large, completed, validated = (atom(predicate, name) for predicate in ("large", "completed", "validated"))
        found += [completed, validated, atom("executing", name), atom("failed", name), atom("rescheduled", name)]
        found += [knows_whether("scheduler", large), unsure("scheduler", large)]
        for tenant in holders:
            told = believes(tenant, completed)
            found += [told, not_(told), believes(tenant, validated), unsure(tenant, validated)]
            found += [believes("reporter", told), not_(believes("reporter", told))]
            for other in holders:
                if other != tenant:
                    found += [believes(other, told), believes(other, not_(told))]
    return found


def _names(tasks: int, tenants: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    check_at_least("tasks", tasks, 1)
    check_at_least("tenants", tenants, 1)
    check_limit("worlds", power(4, tasks), MAX_WORLDS, tasks=tasks)
    check_limit("pairs of a task and a tenant", tasks * tenants, MAX_INSTANCES, tasks=tasks, tenants=tenants)
    return number_names("task", tasks), number_names("tenant", tenants)


DOMAIN = Domain(
    name="cloud_scheduling",
    language="EPDDL",
    problem=problem,
    vocabulary=vocabulary,
    scene=Scene(
        parameters={"tasks": 1, "owners": ["tenant1"], "stages": ["executing"], "large": []},
        plan=("sense_task1", "observe_completion_task1", "validate_task1", "report_task1_tenant1"),
        caption=(
            "The reporter has told tenant1 that its task is completed; tenant2 believes that it is "
            "still executing, and so does tenant1 in the eyes of the other hosts."
        ),
    ),
    ranges={
        "train": ({"tasks": (1, 2), "tenants": (1, 2, 3), "private": (False, True), "confirmed": (False, True)},),
        "validation": ({"tasks": (3,), "tenants": (2, 3), "confirmed": (False, True)},),
        "test": ({"tasks": (4, 5), "tenants": (2, 3, 4), "confirmed": (False, True)},),
    },
    growth=Growth(sizes("tasks tenants", product((5, 6), (2, 3, 3, 4, 4, 5, 5, 6))), walk=(20, 40), subgoals=(16, 240)),
    consistent_beliefs=False,
)
