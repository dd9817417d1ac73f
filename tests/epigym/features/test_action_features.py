"""Features of actions: those of a plain twin, without names, with texts that say what they are."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from epigym.features.action_features import ActionFeatures
from epigym.features.counts import FeatureRows
from epigym.features.types import FeatureTypes, short
from epigym.problem import load_problem
from epigym.space.space import StateSpace
from epigym.space.traversal import random_walk
from epigym.task.task import Task
from tests.helpers import strategies
from tests.helpers.renamed import renamed
from tests.helpers.tasks import coin
from tests.oracles.action_features import action_features

PROBLEMS = (
    "coin_in_the_box/pl_5",
    "grapevine/3_pl_4",
    "active_muddy_child",
    "assembly_line/b5_pl_5",
    "gossip/g_gos_03_single_private",
    "blocks_world",
    "consecutive_numbers",
    "search_and_rescue",
)


def sets(rows: FeatureRows) -> list[set[int]]:
    parts = np.split(rows.colour, rows.ptr[1:-1])
    assert all(len(set(part.tolist())) == len(part) and (np.diff(part) > 0).all() for part in parts)
    assert set(rows.value.tolist()) <= {1.0}
    return [set(part.tolist()) for part in parts]


def all_of(space: StateSpace, ids: list[int]) -> tuple[list[int], list[int]]:
    """All actions in each of some e-states, applicable or not, in no particular order."""
    pairs = [(state, action) for action in range(len(space.task.actions)) for state in ids]
    return [state for state, _ in pairs], [action for _, action in pairs]


def check_twin(task: Task, ids: list[int], space: StateSpace) -> None:
    types = FeatureTypes(task)
    states, actions = all_of(space, ids)
    found = sets(ActionFeatures(space, types)(states, actions))
    for state, action, own in zip(states, actions, found, strict=True):
        assert own == action_features(task, types, space.model(state).state, action)


@settings(max_examples=100)
@given(strategies.tasks() | strategies.tasks(agents=("c", "a", "b"), max_designated=3))
def test_features_are_those_of_the_twin_in_random_tasks(task: Task) -> None:
    check_twin(task, [0], StateSpace(task))


@pytest.mark.parametrize("problem", PROBLEMS)
def test_features_are_those_of_the_twin_in_problems_of_the_domains(problem: str) -> None:
    task = load_problem(problem)
    space = StateSpace(task)
    ids = random_walk(space, np.random.default_rng(0), steps=4)[0][::2]
    some = replace(task, actions=task.actions[:8], structure=None)
    for one in (task, some):
        own = StateSpace(one)
        check_twin(one, [own.intern(space.model(state).state) for state in ids[: 1 if one is task else 3]], own)


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("seed", range(2))
def test_names_and_orders_do_not_matter(problem: str, seed: int) -> None:
    task = load_problem(problem)
    other, names = renamed(task, seed)
    place = {action.name: number for number, action in enumerate(other.actions)}
    spaces = StateSpace(task), StateSpace(other)
    actions = list(range(len(task.actions)))
    same = [place[names[action.name]] for action in task.actions]
    made = [ActionFeatures(space, FeatureTypes(space.task)) for space in spaces]
    states = [0, 0]
    for action in (-1, *random_walk(spaces[0], np.random.default_rng(seed), steps=3)[1]):
        if action >= 0:
            states = [
                space.successor(s, step) for space, s, step in zip(spaces, states, (action, same[action]), strict=True)
            ]
        one, two = (
            features([state] * len(own), own)
            for features, state, own in zip(made, states, (actions, same), strict=True)
        )
        assert [array.tolist() for array in one] == [array.tolist() for array in two]
        texts = [features.texts(set(one.colour.tolist())) for features in made]
        assert texts[0] == texts[1]
        assert texts[0].keys() == set(one.colour.tolist())
        assert not any("z" in text for text in texts[1].values())


def lines(task: Task, state: int, action: str, space: StateSpace) -> set[str]:
    """The texts of an action's features, by fine types only, with what they mention looked up."""
    features = ActionFeatures(space, FeatureTypes(task))
    number = [one.name for one in task.actions].index(action)
    rows = features([state], [number])
    found = features.texts(set(rows.colour.tolist()))
    known = {short(colour): text for colour, text in features.definitions.items()}
    for text in found.values():
        assert all(digits in known for digits in re.findall(r"\b[0-9a-f]{8}\b", text))
    short_names = {digits: text.partition("(")[0] for digits, text in known.items()}
    return {
        re.sub(r"\b[0-9a-f]{8}\b", lambda match: short_names[match[0]], text)
        for text in found.values()
        if not text.startswith("any")
    }


def test_the_coin_by_hand() -> None:
    """Look senses how the coin lies: a sees it, b sees that a looks; then shout tells both."""
    task = coin()
    space = StateSpace(task)
    opened = space.successor(0, 0)
    seen = space.successor(opened, 1)
    look = {
        "action action",
        "action action senses + fluent: is true",
        "action action senses - fluent: is true",
        "action action senses + belief: is true, unsure, the agent sees what happens",
        "action action senses - belief: is true, unsure, the agent sees what happens",
        "action action senses + belief: is true, unsure, the agent sees that it happens",
        "action action senses - belief: is true, unsure, the agent sees that it happens",
        "action action senses + subformula: holds",
        "action action senses - subformula: holds",
        "action action senses + part: does not hold, the agent sees what happens",
        "action action senses - part: does not hold, the agent sees what happens",
        "action action senses + part: does not hold, the agent sees that it happens",
        "action action senses - part: does not hold, the agent sees that it happens",
    }
    found = lines(task, opened, "look", space)
    assert {line for line in found if "senses" in line} | {"action action"} == look
    shout = lines(task, seen, "shout", space)
    assert "action action tells + belief: is true, held true, the agent sees what happens" in shout
    assert "action action tells + belief: is true, unsure, the agent sees what happens" in shout
    assert not any("misses" in line or "senses" in line for line in shout)


def test_what_an_agent_sees_depends_on_where_it_is() -> None:
    task = load_problem("grapevine/3_pl_4")
    space, names = StateSpace(task), [action.name for action in task.actions]
    features = ActionFeatures(space, FeatureTypes(task))
    share = next(name for name in names if name.startswith("share"))
    moves = [number for number, name in enumerate(names) if not name.startswith("share")]
    can = space.applicable([0])[0]
    after = [space.successor(0, move) for move in moves if can[move]]
    rows = sets(features([0, *after], [names.index(share)] * (1 + len(after))))
    assert any(own != rows[0] for own in rows[1:])


def test_the_batch_does_not_matter() -> None:
    space = StateSpace(load_problem("coin_in_the_box/pl_5"))
    space.expand(space.expand([0]).target)
    states, actions = all_of(space, [4, 0, 2])
    features = ActionFeatures(space, FeatureTypes(space.task))
    together = sets(features(states, actions))
    alone = [sets(features([state], [action]))[0] for state, action in zip(states, actions, strict=True)]
    assert together == alone
    assert len(set(map(frozenset, together))) > 20


def test_a_task_without_actions_has_no_rows() -> None:
    task = replace(coin(), actions=())
    rows = ActionFeatures(StateSpace(task), FeatureTypes(task))([], [])
    assert [array.tolist() for array in rows] == [[0], [], []]
