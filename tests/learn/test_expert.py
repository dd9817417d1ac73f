"""What is learned from an expert: its plans, what it knows beside them, and where it corrects a network."""

from collections.abc import Callable, Iterator
from functools import cache
from itertools import count, islice, pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from epigym import StateSpace, load_problem
from epigym.problem import domain_problem
from learn.data.dataset import DataSet, write_data_set
from learn.data.distribution import sample_problems
from learn.data.labels import UNREACHABLE, Label
from learn.data.rollout import Tree, require_tree
from learn.training.batches import PairRuns, Turns
from learn.training.expert.collecting import STARTS, Scores, make_corrected_trees, make_expert_trees
from learn.training.expert.plans import CROSS, EARLIER, SIBLINGS, Answer, PlanTree, ask_expert
from learn.training.validation import find_states_along
from search.heuristics import make_heuristic
from tests.helpers.tasks import hopeless

PROBLEM = "collaboration_communication/2_2_3_pl_6"
SETTINGS = {"data": {"expansions": 0}, "explorer": {"consistent_beliefs": False}}


@cache
def known() -> tuple[StateSpace, Answer, list[int]]:
    """A problem, what the expert knows about its initial e-state, and the e-states of its plan."""
    space = StateSpace(load_problem(PROBLEM))
    answer = ask_expert(space, space.initial, 1000)
    assert answer.plan is not None
    return space, answer, find_states_along(space, answer.plan)


def pairs_of(tree: Tree, space: StateSpace) -> tuple[dict[int, int], list[tuple[int, int]]]:
    """The distance of each e-state of a tree, and its pairs, by ids of the space."""
    [goal] = tree.goals
    ours = [space.initial]
    for before, action in zip(tree.predecessor[1:].tolist(), tree.action[1:].tolist(), strict=True):
        ours.append(space.successor(ours[before], action))
    found = [(ours[better], ours[worse]) for better, worse in zip(goal.better, goal.worse, strict=True)]
    return dict(zip(ours, goal.distance.tolist(), strict=True)), found


def test_the_expert_finds_plans_that_no_action_can_be_left_out_of() -> None:
    space, answer, states = known()
    assert answer.plan is not None
    assert space.is_goal([states[-1]])[0]
    assert not space.is_goal(states[:-1]).any()
    assert not answer.is_dead
    assert 0 < answer.expanded <= 1000
    from_there = ask_expert(space, states[2], 1000)
    assert from_there.plan is not None
    assert space.is_goal([find_states_along(space, from_there.plan, states[2])[-1]])[0]


def test_the_expert_proves_that_there_is_no_plan_and_keeps_its_limit() -> None:
    dead = StateSpace(hopeless())
    assert ask_expert(dead, dead.initial, 1000) == Answer(None, ask_expert(dead, dead.initial, 1000).expanded, True)
    hard = StateSpace(domain_problem("grapevine", agents=5, rooms=5))
    limited = ask_expert(hard, hard.initial, 1)
    assert (limited.plan, limited.is_dead) == (None, False)
    assert limited.expanded <= 2


def test_pairs_along_a_plan() -> None:
    space, answer, states = known()
    assert answer.plan is not None
    tree = PlanTree(space, 0)
    assert tree.add_start(space.initial, answer) == states
    made = tree.make_tree(1.5)
    require_tree(made)
    distance, pairs = pairs_of(made, space)
    assert [distance[state] for state in states] == list(range(len(answer.plan), -1, -1))
    numbers = {action.name: place for place, action in enumerate(space.task.actions)}
    earlier: set[int] = set()
    rest, sizes = iter(pairs), []
    for place, (state, after) in enumerate(pairwise(states)):
        later = {numbers[name] for name in answer.plan[place + 1 :]}
        found = space.expand([state])
        reached = list(zip(found.action.tolist(), found.target.tolist(), strict=True))
        by_later = {target for action, target in reached if action in later}
        allowed = {target for _, target in reached} - by_later - set(states)
        group = [*iter(lambda: next(rest), (after, state)), (after, state)]
        worse = [other for _, other in group[:-1]]
        assert {better for better, _ in group} == {after}
        assert set(worse) <= allowed | earlier
        assert len(worse) == min(SIBLINGS, len(allowed)) + min(EARLIER, len(earlier))
        earlier |= set(worse[: min(SIBLINGS, len(allowed))])
        sizes += [len(group)] * len(group)
    assert next(rest, None) is None
    [goal] = made.goals
    assert goal.weight * np.array(sizes) == pytest.approx(1 / len(answer.plan))
    assert (goal.seconds, goal.counts["samples"], goal.counts["pairs"]) == (1.5, len(states), len(pairs))


def cross_pairs(answer: Answer, start: int, known_expanded: int = 100) -> tuple[int, list[int], list[tuple[int, int]]]:
    """What `answer` about an e-state beside a plan adds: the e-state, those of the plan, and the added pairs."""
    space, found, states = known()
    tree = PlanTree(space, 0)
    tree.add_start(space.initial, found._replace(expanded=known_expanded))
    _, before = pairs_of(tree.make_tree(0), space)
    tree.add_start(start, answer)
    _, after = pairs_of(tree.make_tree(0), space)
    return start, states, after[len(before) :]


def beside() -> int:
    """A successor of the initial e-state that is in the tree of its plan, but not on the plan."""
    space, answer, states = known()
    tree = PlanTree(space, 0)
    tree.add_start(space.initial, answer)
    _, pairs = pairs_of(tree.make_tree(0), space)
    return next(worse for _, worse in pairs if worse not in states)


@pytest.mark.parametrize(
    ("answer", "is_worse"),
    [
        (Answer(None, 5, True), True),  # proved dead: worse than all
        (Answer(None, 400, False), True),  # the others took a quarter of that
        (Answer(None, 399, False), False),
    ],
)
def test_an_e_state_without_a_plan_is_worse_only_where_that_is_known(answer: Answer, *, is_worse: bool) -> None:
    start, states, added = cross_pairs(answer, beside())
    if not is_worse:
        assert added == []
        return
    assert len(added) == min(CROSS, len(states))
    assert {worse for _, worse in added} == {start}
    assert {better for better, _ in added} <= set(states)


def test_an_e_state_with_a_plan_is_compared_where_distances_differ_enough() -> None:
    space, _, states = known()
    start = beside()
    answer = ask_expert(space, start, 1000)
    assert answer.plan is not None
    left = len(answer.plan)
    _, _, added = cross_pairs(answer, start)
    last = added[-CROSS:]
    distance = {state: len(states) - 1 - place for place, state in enumerate(states)}
    crossed = [pair for pair in last if start in pair and pair[1 - pair.index(start)] in distance]
    far = [state for state in states if abs(left - distance[state]) >= max(2, 0.15 * max(left, distance[state]))]
    on_plan = find_states_along(space, answer.plan, start)
    assert {pair[1 - pair.index(start)] for pair in crossed} <= {*far, *on_plan}
    for better, worse in crossed:
        if start == better and worse in far:
            assert left < distance[worse]
        elif better in far:
            assert distance[better] < left
    assert any(better in far or worse in far for better, worse in crossed)


def test_labels_of_starts() -> None:
    """The last answer about an e-state without a plan counts; a plan counts more."""
    space, answer, _ = known()
    tree = PlanTree(space, 0)
    tree.add_start(space.initial, answer)
    start = beside()
    for given, label in ((Answer(None, 5, True), Label.DEAD_END), (Answer(None, 5, False), Label.UNKNOWN)):
        tree.add_start(start, given)
        made = tree.make_tree(0)
        row = list(pairs_of(made, space)[0]).index(start)
        [goal] = made.goals
        assert (goal.label[row], goal.distance[row], goal.sample[row]) == (label, UNREACHABLE, False)
    found = ask_expert(space, start, 1000)
    assert found.plan is not None
    tree.add_start(start, found)
    made = tree.make_tree(0)
    [goal] = made.goals
    assert (goal.label[row], goal.distance[row]) == (Label.ALONG_PLAN, len(found.plan))


def spaces(count: int, seed: int = 0) -> list[StateSpace]:
    return [StateSpace(one.task) for one in islice(sample_problems("gossip", "validation", seed), count)]


def test_plans_become_a_data_set(tmp_path: Path) -> None:
    made = list(make_expert_trees([*spaces(2), StateSpace(hopeless())], 500, 0))
    assert len(made) == 2  # the expert does not solve the last one
    data = write_data_set(tmp_path / "key", made, settings=SETTINGS, parent="other")
    assert (data.key, data.parent, len(data)) == ("key", "other", 2)
    rollouts = DataSet(tmp_path / "key").rollouts("pairs")
    for tree, one in zip(made, rollouts, strict=True):
        assert len(one.better) == len(tree.goals[0].better) > 0
        assert one.distance[one.better] == pytest.approx(tree.goals[0].distance[tree.goals[0].better])


def bind(sign: float) -> Callable[[StateSpace], Scores]:
    """A heuristic, or for -1 its opposite."""

    def make(space: StateSpace) -> Scores:
        heuristic = make_heuristic("h_add", space)
        return lambda ids: sign * heuristic.score(ids)

    return make


def test_only_what_a_network_does_not_solve_is_corrected() -> None:
    assert list(make_corrected_trees(spaces(2), bind(1), 500, 0)) == []
    found = list(make_corrected_trees([*spaces(2), StateSpace(hopeless())], bind(-1), 500, 0))
    assert len(found) == 2
    for corrected, plain in zip(found, make_expert_trees(spaces(2), 500, 0), strict=True):
        require_tree(corrected)
        [goal], [alone] = corrected.goals, plain.goals
        assert len(goal.better) > len(alone.better)
        assert goal.counts["pairs"] == len(goal.better)


def test_the_expert_starts_where_the_search_of_the_network_went(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def ask(space: StateSpace, start: int, expansions: int) -> Answer:
        asked.append(start)
        return ask_expert(space, start, expansions)

    [space] = spaces(1)
    answer = ask_expert(space, space.initial, 500)
    assert answer.plan is not None
    plan = find_states_along(space, answer.plan, space.initial)
    monkeypatch.setattr("learn.training.expert.collecting.ask_expert", ask)
    list(make_corrected_trees([space], bind(-1), 500, 0))
    first, *starts = asked
    assert first == space.initial
    assert len(starts) == len(set(starts)) == STARTS
    assert not set(starts) & set(plan)


def test_batches_take_turns() -> None:
    runs = SimpleNamespace(sources=[range(10), range(10, 13)])
    order = Turns(cast(PairRuns, runs), 2, 7)
    assert len(order) == len(list(order)) == 10
    assert [item >= 10 for item in order] == [False, False, True, True] * 2 + [False, False]
    runs.sources += [range(13, 15), range(15, 16)]
    found = list(order)
    source = [0 if item < 10 else 1 if item < 13 else 2 for item in found]
    assert source == [0, 0, 1, 1, 2, 2, 1, 1, 0, 0]
    assert list(order) == found  # of the same epoch
    order.set_epoch(1)
    assert list(order) != found
    assert set(islice(cycle_of(order), 200)) == set(range(16))


def cycle_of(order: Turns) -> Iterator[int]:
    for epoch in count():
        order.set_epoch(epoch)
        yield from order
