"""Signatures of tasks: equal whatever things are called and in whichever order they are declared, else different."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epigym.problem import domain_problem, load_problem
from epigym.space.signature import signature
from epigym.task.task import EState, Task
from tests.helpers.renaming import rename_task
from tests.helpers.strategies import tasks
from tests.helpers.tasks import coin


@given(tasks(), st.integers(0, 1000))
def test_names_and_orders_do_not_matter(task: Task, seed: int) -> None:
    assert signature(rename_task(task, seed, operands=True)[0]) == signature(task)


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


def test_it_matters_which_events_can_happen() -> None:
    task = coin()
    signatures = {
        signature(replace(task, actions=tuple(replace(one, designated=events) for one in task.actions)))
        for events in ((0,), (1,), (0, 1))
    }
    assert len(signatures) == 3


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
