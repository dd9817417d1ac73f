"""Symmetries of tasks and of e-states, held against plain Python; and that nothing is lost by them."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epigym import StateSpace, load_problem
from epigym.reference import semantics as reference
from epigym.task.formula import TRUE, and_, believes, fluent, not_, or_
from epigym.task.symmetry import Symmetry, symmetries
from epigym.task.task import Action, Effect, EState, Event, Task
from tests.oracles.symmetric import EXCHANGE, muddy_children, rename_estate, symmetric_task

SEEDS = st.integers(0, 2**32)
PROBLEMS = ["epistemic_gossip", "coin_in_the_box/pl_5", "assembly_line", "collaboration_communication", "grapevine"]


def images(task: Task, symmetry: Symmetry) -> dict[str, str]:
    """The agents and fluents that a symmetry exchanges, by name."""
    pairs = [(task.agents[i], task.agents[j]) for i, j in symmetry.agents]
    pairs += [(task.fluents[f], task.fluents[g]) for f, g in symmetry.fluents]
    return dict(pairs) | {other: one for one, other in pairs}


def exchanged_agents(task: Task) -> set[tuple[str, ...]]:
    """The agents that each symmetry of a task exchanges."""
    return {tuple(task.agents[i] for pair in symmetry.agents for i in pair) for symmetry in symmetries(task)}


def walk(space: StateSpace, steps: int, choose: int) -> list[int]:
    """E-states that some sequence of actions passes."""
    states = [space.initial]
    for step in range(steps):
        actions = np.flatnonzero(space.applicable(states[-1:])[0])
        if len(actions) == 0 or space.world_counts(states[-1:])[0] > 30:
            break
        states.append(space.successor(states[-1], int(actions[(choose >> 3 * step) % len(actions)])))
    return states


def firsts(task: Task, found: list[Symmetry], state: EState) -> list[int]:
    """The first action of each action's orbit in plain Python: symmetries are tried on the e-state one by one."""
    here = reference.canonical(state, task.fluents)
    applicable = reference.applicable_actions(task, state)
    orbits = [{action} for action in range(len(task.actions))]
    for symmetry in found:
        there = rename_estate(state, images(task, symmetry), task.agents)
        if reference.canonical(there, task.fluents) != here:
            continue
        for one, other in symmetry.actions:
            assert applicable[one] == applicable[other]
            if applicable[one]:
                joined = orbits[one] | orbits[other]
                for action in joined:
                    orbits[action] = joined
    return [min(orbit) for orbit in orbits]


def check_orbits(task: Task, space: StateSpace, states: list[int]) -> int:
    """Hold the orbits of e-states against plain Python; how many actions are left out."""
    left_out = 0
    for state in states:
        expected = firsts(task, space.symmetries, space.model(state).state)
        assert space.representatives([state])[0].tolist() == expected
        applicable = np.flatnonzero(space.applicable([state])[0]).tolist()
        tried = space.expand([state])
        assert tried.action.tolist() == [action for action in applicable if expected[action] == action]
        assert tried.target.tolist() == [space.successor(state, action) for action in tried.action.tolist()]
        left_out += len(applicable) - len(tried.action)
    return left_out


@given(SEEDS, SEEDS)
def test_the_orbits_of_random_tasks_are_those_of_plain_python(seed: int, choose: int) -> None:
    task = symmetric_task(seed)
    space = StateSpace(task, symmetry=True)
    check_orbits(task, space, walk(space, 3, choose))


def test_symmetries_of_random_tasks_are_found_and_leave_out_actions() -> None:
    left_out = 0
    for seed in range(40):
        space = StateSpace(symmetric_task(seed), symmetry=True)
        assert [images(space.task, symmetry) for symmetry in space.symmetries] == [EXCHANGE]
        left_out += check_orbits(space.task, space, [0])
    assert left_out > 40


@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_orbits_of_problems_are_those_of_plain_python(problem: str) -> None:
    task = load_problem(problem)
    space = StateSpace(task, symmetry=True)
    for choose in range(0, 4000, 401):
        check_orbits(task, space, walk(space, 4, choose))


@settings(max_examples=50)
@given(SEEDS, SEEDS)
def test_symmetries_of_random_tasks_commute_with_updates(seed: int, choose: int) -> None:
    assert_updates(symmetric_task(seed), choose)


@pytest.mark.slow
@given(SEEDS, SEEDS)
def test_symmetries_of_more_random_tasks_commute_with_updates(seed: int, choose: int) -> None:
    assert_updates(symmetric_task(seed), choose)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_symmetries_of_problems_commute_with_updates(problem: str) -> None:
    for choose in range(0, 4000, 801):
        assert_updates(load_problem(problem), choose)


def assert_updates(task: Task, choose: int) -> None:
    """Hold what symmetries are said to be against the reference, in an e-state some actions away."""
    space = StateSpace(task, symmetry=True)
    state = space.model(walk(space, 3, choose)[-1]).state
    for symmetry in space.symmetries:
        exchange = images(task, symmetry)
        image = rename_estate(state, exchange, task.agents)
        assert all(reference.subgoals(task, image)) == all(reference.subgoals(task, state))
        partner = {a: b for pair in symmetry.actions for a, b in (pair, pair[::-1])}
        for number, action in enumerate(task.actions):
            other = task.actions[partner.get(number, number)]
            assert reference.applicable(task, state, action) == reference.applicable(task, image, other)
            if reference.applicable(task, state, action):
                left = rename_estate(reference.apply(task, state, action), exchange, task.agents)
                right = reference.apply(task, image, other)
                assert reference.canonical(left, task.fluents) == reference.canonical(right, task.fluents)


@pytest.mark.parametrize("children", [2, 5, 6, 7, 8, 9, 10])
def test_one_muddy_and_one_clean_child_are_asked(children: int) -> None:
    """2^n worlds: every width of model that the core has code for."""
    muddy = children // 2
    space = StateSpace(muddy_children(children, muddy), symmetry=True)
    assert len(space.symmetries) == children * (children - 1) // 2
    assert space.expand([0]).action.tolist() == [0, muddy]
    assert space.representatives([0]).tolist() == [[0] * muddy + [muddy] * (children - muddy)]
    assert space.applicable([0]).all(), "nothing else changes"
    asked = space.successor(0, children - 1)
    rest = [muddy] * (children - muddy - 1)
    assert space.representatives([asked]).tolist() == [[0] * muddy + rest + [children - 1]]


def test_what_an_e_state_tells_apart_is_tried() -> None:
    task = load_problem("epistemic_gossip")
    space = StateSpace(task, symmetry=True)
    names = [action.name for action in task.actions]

    def tried(state: int) -> list[str]:
        return [names[action] for action in space.expand([state]).action.tolist()]

    assert tried(0) == ["tell_a_b"]
    told = space.successor(0, names.index("tell_a_b"))
    assert tried(told) == ["tell_a_c", "tell_b_a", "tell_b_c", "tell_c_a", "tell_c_b"], "all three know something else"


def test_without_the_option_or_a_symmetry_everything_is_tried() -> None:
    task = load_problem("epistemic_gossip")
    plain = StateSpace(task)
    assert plain.symmetries == []
    assert plain.representatives([0, 0]).tolist() == [[0, 1, 2, 3, 4, 5]] * 2
    assert plain.expand([0]).action.tolist() == [0, 1, 2, 3, 4, 5]
    for secret in ("sa", "sb", "sc"):
        one_sided = StateSpace(replace(task, goal=(believes("a", fluent("sb")), fluent(secret))), symmetry=True)
        assert one_sided.symmetries == []
        assert one_sided.expand([0]).action.tolist() == [0, 1, 2, 3, 4, 5]


def test_words_and_endings_of_words_are_exchanged() -> None:
    gossip = load_problem("epistemic_gossip")  # the secrets are sa, sb and sc
    assert exchanged_agents(gossip) == {("a", "b"), ("a", "c"), ("b", "c")}
    assert images(gossip, symmetries(gossip)[0]) == {"a": "b", "b": "a", "sa": "sb", "sb": "sa"}
    assert len(symmetries(muddy_children(11, 3, "c{}", "dirty_c{}"))) == 55
    assert len(symmetries(muddy_children(11, 3, "c{}", "dirtyc{}"))) == 55
    assert len(symmetries(muddy_children(11, 3, "c{}", "dirty{}"))) == 55, "c1 is not a part of c10"
    assert symmetries(muddy_children(3, 1, "c{}", "{}dirty")) == [], "names propose"


def changed(task: Task, name: str, change: Callable[[Action], Action]) -> Task:
    return replace(task, actions=tuple(change(one) if one.name == name else one for one in task.actions))


def without_effects(action: Action) -> Action:
    return replace(action, events=tuple(replace(event, effects=()) for event in action.events))


def with_relations_of_the_blind(action: Action) -> Action:
    return replace(action, relations=dict.fromkeys(action.relations, action.relations["oblivious"]))


@pytest.mark.parametrize(
    "change",
    [
        without_effects,
        with_relations_of_the_blind,
        lambda action: replace(action, applicability=not_(action.applicability)),
        lambda action: replace(action, designated=(1,)),
        lambda action: replace(action, observability=(action.observability[0],) * 3),
        lambda action: replace(
            action, events=tuple(replace(event, precondition=fluent("tail")) for event in action.events)
        ),
    ],
)
def test_one_action_that_differs_in_one_part_is_no_image(change: Callable[[Action], Action]) -> None:
    coin = load_problem("coin_in_the_box/pl_5")
    assert exchanged_agents(coin) == {("a", "b"), ("a", "c"), ("b", "c")}
    assert exchanged_agents(changed(coin, "open_a", change)) == {("b", "c")}


def test_the_goal_has_to_be_symmetric_and_the_initial_e_state_need_not() -> None:
    coin = load_problem("coin_in_the_box/pl_5")
    told = replace(coin, goal=(believes("c", fluent("tail")), not_(believes("a", fluent("tail")))))
    assert exchanged_agents(told) == set()
    assert exchanged_agents(replace(told, goal=told.goal[:1])) == {("a", "b")}
    space = StateSpace(coin)
    names = [action.name for action in coin.actions]
    later = replace(coin, initial=space.model(space.successor(0, names.index("signal_a_b"))).state)
    assert exchanged_agents(later) == exchanged_agents(coin)


def test_the_order_of_what_has_none_does_not_count() -> None:
    coin = load_problem("coin_in_the_box/pl_5")
    p, q = fluent("has_key_a"), fluent("has_key_b")
    for goal in ((and_(p, q),), (or_(p, not_(q)), or_(q, not_(p))), (p, q), (believes("a", p), believes("b", q))):
        assert exchanged_agents(replace(coin, goal=goal)) == {("a", "b")}
    effects = (Effect("looking_a", True), Effect("looking_b", True))
    both = Action("x", p, (Event("e", q, effects),), (0,), {"x": (frozenset({0}),)}, (((TRUE, "x"),),) * 3)
    mirrored = replace(both, name="y", applicability=q, events=(Event("e", p, effects),))
    assert exchanged_agents(replace(coin, structure=None, actions=(*coin.actions, both, mirrored))) == {("a", "b")}


def test_actions_that_are_alike_are_matched_one_to_one() -> None:
    coin = load_problem("coin_in_the_box/pl_5")
    again = [replace(action, name=f"{action.name}_again") for action in coin.actions if action.name == "open_a"]
    assert exchanged_agents(replace(coin, structure=None, actions=(*coin.actions, *again))) == {("b", "c")}
    task = replace(
        coin, structure=None, actions=(*coin.actions, *(replace(one, name=f"{one.name}_again") for one in coin.actions))
    )
    for symmetry in symmetries(task):
        assert len({action for pair in symmetry.actions for action in pair}) == 2 * len(symmetry.actions)
    assert exchanged_agents(task) == exchanged_agents(coin)
