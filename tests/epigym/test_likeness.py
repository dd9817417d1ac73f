"""Signatures of tasks: equal whatever things are called and in whichever order they are declared, else different."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epigym.formula import Formula, Op, and_, fluent, not_, or_
from epigym.likeness import signature
from epigym.problem import domain_problem, load_problem
from epigym.task import Action, Effect, EState, Event, Task
from tests.helpers.strategies import tasks


def shuffled(task: Task, seed: int) -> Task:
    """The same task with other names, declared in another order."""
    random = Random(seed)
    fluents, agents = (
        {name: f"{letter}{number}" for name, number in zip(names, random.sample(range(99), len(names)), strict=True)}
        for letter, names in (("x", task.fluents), ("y", task.agents))
    )
    order = random.sample(range(len(task.agents)), len(task.agents))

    def renamed(formula: Formula) -> Formula:
        if formula.op is Op.FLUENT:
            return fluent(fluents[formula.name])
        parts = [renamed(child) for child in formula.children]
        if formula.op in (Op.AND, Op.OR):
            random.shuffle(parts)
            return (and_ if formula.op is Op.AND else or_)(*parts)
        named = tuple(sorted(agents[name] for name in formula.agents))
        return not_(parts[0]) if formula.op is Op.NOT else Formula(formula.op, "", named, tuple(parts))

    def event(old: Event, number: int) -> Event:
        effects = [Effect(fluents[e.fluent], e.value, renamed(e.condition)) for e in old.effects]
        return Event(f"e{number}", renamed(old.precondition), tuple(random.sample(effects, len(effects))))

    def action(old: Action, number: int) -> Action:
        observability = [tuple((renamed(c), f"t{kind}") for c, kind in old.observability[agent]) for agent in order]
        return replace(
            old,
            name=f"do{number}",
            applicability=renamed(old.applicability),
            events=tuple(event(e, n) for n, e in enumerate(old.events)),
            relations={f"t{kind}": rows for kind, rows in old.relations.items()},
            observability=tuple(observability),
        )

    worlds = random.sample(range(len(task.initial.valuations)), len(task.initial.valuations))
    place = {world: number for number, world in enumerate(worlds)}
    initial = EState(
        valuations=tuple(frozenset(fluents[name] for name in task.initial.valuations[world]) for world in worlds),
        successors=tuple(
            tuple(frozenset(place[target] for target in task.initial.successors[agent][world]) for world in worlds)
            for agent in order
        ),
        designated=tuple(sorted(place[world] for world in task.initial.designated)),
    )
    return Task(
        name="other",
        fluents=tuple(random.sample(sorted(fluents.values()), len(fluents))),
        agents=tuple(agents[task.agents[agent]] for agent in order),
        actions=tuple(action(old, n) for n, old in enumerate(random.sample(task.actions, len(task.actions)))),
        initial=initial,
        goal=tuple(renamed(goal) for goal in random.sample(task.goal, len(task.goal))),
    )


@given(tasks(), st.integers(0, 1000))
def test_names_and_orders_do_not_matter(task: Task, seed: int) -> None:
    assert signature(shuffled(task, seed)) == signature(task)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("grapevine/3_pl_3", "grapevine/3_pl_4"),
        ("coin_in_the_box/pl_5", "coin_in_the_box/pl_7"),
        ("gossip/gos_03_all", "gossip/gos_03_all_private"),
        ("active_muddy_child/amc_06_03_clean", "active_muddy_child/amc_06_06_muddy"),
    ],
)
def test_different_problems_have_different_signatures(one: str, other: str) -> None:
    assert signature(load_problem(one)) != signature(load_problem(other))


def test_which_agent_a_goal_names_matters_only_up_to_renaming() -> None:
    def gossip(goal: str) -> str:
        return signature(domain_problem("epistemic_gossip", goals=[goal]))

    assert gossip("B(a, sb)") == gossip("B(c, sa)")
    assert gossip("B(a, sb)") != gossip("B(a, sa)")
    assert gossip("B(a, B(b, sb))") != gossip("B(a, B(b, sc))") != gossip("B(a, B(b, sa))")


def test_a_bisimilar_initial_e_state_is_the_same() -> None:
    task = domain_problem("coin_in_the_box/pl_3")
    old = task.initial
    count = len(old.valuations)
    doubled = EState(
        old.valuations * 2,
        tuple(tuple(row | frozenset(world + count for world in row) for row in rows) * 2 for rows in old.successors),
        old.designated,
    )
    assert signature(replace(task, initial=doubled)) == signature(task)
