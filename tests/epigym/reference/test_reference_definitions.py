"""The reference, which computes with arrays, against the definitions in sets, on any frame."""

import dataclasses
import random
from itertools import compress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epigym import EState, Task, TaskError
from epigym.reference import semantics as reference
from epigym.reference.dense_model import PointedModel, rank_tuples
from epigym.task.formula import Formula
from tests.helpers import strategies
from tests.helpers.marks import slow_but
from tests.oracles import definitions

FLUENTS, AGENTS = strategies.FLUENTS, strategies.AGENTS
SIZES = slow_but([64, 65, 512, 513], 64, 65)


def assert_updates(task: Task) -> None:
    """Hold applicability, update and contraction against the definitions for all actions of a task."""
    here = task.initial
    for action in task.actions:
        can = definitions.applicable(task, here, action)
        assert reference.applicable(task, here, action) == can
        if not can or any(len(kinds) > 1 for kinds in definitions.observability_types(task, here, action)):
            with pytest.raises(TaskError):
                reference.update(task, here, action)
            continue
        after = reference.update(task, here, action)
        assert after == definitions.update(task, here, action)
        assert reference.contract(after) == definitions.contract(after)
        assert reference.apply(task, here, action) == reference.contract(after)


def assert_canonical(estate: EState) -> None:
    small = definitions.contract(estate)
    truth = [tuple(name in valuation for name in FLUENTS) for valuation in small.valuations]
    rank = definitions.ranks(small, truth)
    order = sorted(range(len(rank)), key=rank.__getitem__)
    assert reference.canonical(estate, FLUENTS) == (
        tuple(truth[world] for world in order),
        tuple(tuple(tuple(sorted(rank[v] for v in rows[world])) for world in order) for rows in small.successors),
        tuple(sorted(rank[world] for world in small.designated)),
    )


def large(seed: int, worlds: int) -> EState:
    return strategies.random_estate(random.Random(seed), worlds, FLUENTS, AGENTS)


@given(strategies.estates(max_worlds=7, max_designated=3), st.lists(strategies.formulas(), min_size=1, max_size=4))
def test_truth_is_as_defined(estate: EState, formulas: list[Formula]) -> None:
    evaluation = reference.Evaluation(AGENTS, estate)
    for formula in formulas:
        truth = definitions.truth(AGENTS, estate, formula)
        assert evaluation.truth(formula) == truth
        assert evaluation.holds(formula) == truth.issuperset(estate.designated)


@pytest.mark.parametrize("worlds", SIZES)
@settings(max_examples=4)
@given(formula=strategies.formulas(), seed=st.integers(0, 2**32))
def test_truth_is_as_defined_in_many_worlds(worlds: int, formula: Formula, seed: int) -> None:
    estate = large(seed, worlds)
    assert reference.Evaluation(AGENTS, estate).truth(formula) == definitions.truth(AGENTS, estate, formula)


@given(strategies.tasks(max_worlds=5, max_designated=3))
def test_updates_are_as_defined(task: Task) -> None:
    assert_updates(task)


@pytest.mark.parametrize("worlds", SIZES)
@settings(max_examples=3)
@given(task=strategies.tasks(max_worlds=1, max_actions=1), seed=st.integers(0, 2**32))
def test_updates_are_as_defined_in_many_worlds(worlds: int, task: Task, seed: int) -> None:
    assert_updates(dataclasses.replace(task, initial=large(seed, worlds)))


@given(strategies.estates(max_worlds=7, max_designated=3))
def test_contraction_and_canonical_form_are_as_defined(estate: EState) -> None:
    assert reference.contract(estate) == definitions.contract(estate)
    assert_canonical(estate)


@pytest.mark.parametrize("worlds", SIZES)
@settings(max_examples=3)
@given(seed=st.integers(0, 2**32))
def test_contraction_and_canonical_form_are_as_defined_in_many_worlds(worlds: int, seed: int) -> None:
    rng, estate = random.Random(seed), large(seed, worlds)
    assert reference.contract(estate) == definitions.contract(estate)
    assert_canonical(estate)
    # Every world of a small e-state some times over, its successors any copies of those that it has.
    small = strategies.random_estate(rng, 9, FLUENTS, AGENTS)
    original = [*range(9), *rng.choices(range(9), k=worlds - 9)]
    copies = [[w for w in range(worlds) if original[w] == v] for v in range(9)]

    def copied(row: frozenset[int]) -> frozenset[int]:
        return frozenset(w for v in row for w in rng.sample(copies[v], rng.randint(1, len(copies[v]))))

    blown_up = EState(
        tuple(small.valuations[v] for v in original),
        tuple(tuple(copied(rows[v]) for v in original) for rows in small.successors),
        small.designated,
    )
    assert reference.contract(blown_up) == definitions.contract(small)


@given(strategies.estates(max_worlds=7))
def test_worlds_have_equal_ranks_iff_they_are_bisimilar(estate: EState) -> None:
    model = PointedModel.of(estate)
    rank = model.refine(model.fluents)
    pairs = {(v, w) for v in range(len(rank)) for w in range(len(rank)) if rank[v] == rank[w]}
    assert pairs == definitions.bisimilar(estate)


@given(st.integers(0, 2**32), st.integers(0, 6))
def test_a_plan_is_valid_iff_its_actions_can_be_applied_one_by_one_and_the_goal_holds(seed: int, length: int) -> None:
    rng = random.Random(seed)
    task = strategies.telling_task(rng)
    plan = [rng.choice(task.actions) for _ in range(length)]
    estate, step = task.initial, None
    for number, action in enumerate(plan, start=1):
        try:
            estate = reference.apply(task, estate, action)
        except TaskError:
            step = number
            break
    verdict = reference.validate(task, [action.name for action in plan])
    assert verdict.step == step
    assert verdict.valid == (step is None and all(reference.subgoals(task, estate)))
    inconsistent = [not all(rows[w] for w in estate.designated) for rows in estate.successors]
    assert verdict.inconsistent_agents == tuple(compress(AGENTS, inconsistent))


@given(strategies.estates(max_worlds=7, max_designated=3))
def test_arrays_and_sets_are_the_same_e_state(estate: EState) -> None:
    model = PointedModel.of(estate)
    assert model.estate() == estate
    assert PointedModel.of(model) is model


def test_worlds_with_equal_successors_share_them() -> None:
    estate = PointedModel.of(large(1, 513)).contract().estate()
    for rows in estate.successors:
        assert len({id(row) for row in rows}) == len(set(rows))


@pytest.mark.parametrize("most", [1, 2, 2**20, 2**31 - 1])
@given(seed=st.integers(0, 2**32), columns=st.integers(1, 6))
def test_tuples_are_ranked_in_lexicographic_order(most: int, seed: int, columns: int) -> None:
    rng = np.random.default_rng(seed)
    choice = rng.integers(0, most, (columns, 3), endpoint=True)
    table = [rng.choice(one, 50) for one in choice]
    tuples = list(zip(*(column.tolist() for column in table), strict=True))
    distinct = sorted(set(tuples))
    first, rank = rank_tuples(table)
    assert [distinct[place] for place in rank] == tuples
    assert first.tolist() == [tuples.index(one) for one in distinct]
