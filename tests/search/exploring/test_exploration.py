"""What can be done where a path leads: actions, values, beliefs afterwards, the e-state in the eyes of agents."""

from collections.abc import Sequence
from math import inf

import numpy as np
import pytest
from numpy.typing import NDArray

from epigym import EState, KripkeModel, StateSpace, Task, load_problem
from epigym.drawing.steps import walk
from epigym.errors import TaskError, UsageError
from epigym.language import parse_mastar
from epigym.reference.semantics import validate
from epigym.task.formula import fluent
from search.exploring.exploration import Belief, BeliefChange, Exploration
from search.heuristics import Heuristic, make_heuristic
from search.planning.configuration import Configuration
from search.planning.planner import find_plan
from tests.helpers.policy_tasks import random_task
from tests.helpers.sensing import looking
from tests.helpers.tasks import COIN, DELUDED

PATHS = {
    "coin_in_the_box/pl_7": ["open_a", "peek_a", "signal_a_b"],
    "grapevine/3_pl_4": ["right_a", "share_a_sa_2", "right_b"],
}


def exploration(problem: str, heuristic: str = "goal_count") -> Exploration:
    return of_space(StateSpace(load_problem(problem)), heuristic)


def of_space(space: StateSpace, heuristic: str = "goal_count") -> Exploration:
    return Exploration(space, make_heuristic(heuristic, space))


def along(path: Sequence[str]) -> list[list[str]]:
    return [list(path[:step]) for step in range(len(path) + 1)]


def find_belief(model: KripkeModel, agent: str, fluent: str) -> Belief:
    """The same by the values at the worlds that the agent considers possible, for each designated world."""
    seen = [
        {fluent in model.true_fluents(other) for other in model.successors(agent, world)} for world in model.designated
    ]
    if len(values := set().union(*seen)) < 2:
        return {(): Belief.EVERYTHING, (True,): Belief.TRUE, (False,): Belief.FALSE}[tuple(values)]
    kinds = {len(one) for one in seen}
    return Belief.SURE if kinds <= {0, 1} else Belief.UNSURE if kinds == {2} else Belief.VARIES


@pytest.mark.parametrize(("problem", "path"), PATHS.items())
@pytest.mark.parametrize("name", ["h_ff", "learned", "split_goal_count"])
def test_values_are_those_of_the_heuristic(problem: str, path: list[str], name: str) -> None:
    found = exploration(problem, name)
    other = StateSpace(load_problem(problem))
    heuristic = make_heuristic(name, other)
    numbers = {action.name: number for number, action in enumerate(other.task.actions)}
    for part in along(path):
        state = walk(other, part)[-1]
        choices = found.list_choices(part)
        assert [one.name for one in choices] == [key for key, n in numbers.items() if other.applicable([state])[0, n]]
        targets = [other.successor(state, numbers[one.name]) for one in choices]
        values = [inf if one.value is None else one.value for one in choices]
        assert values == heuristic.score(np.array(targets, dtype=np.int32)).tolist()
        assert [one.is_same for one in choices] == [target == state for target in targets]


def test_goals_and_dead_ends_are_told() -> None:
    class Hopeless(Heuristic):
        def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
            return np.where(space.is_goal(ids), 0.0, np.inf)

    space = StateSpace(parse_mastar(COIN))
    choices = {one.name: one for one in Exploration(space, Hopeless()).list_choices(["lift", "look"])}
    assert (choices["shout"].is_goal, choices["shout"].value) == (True, 0)
    assert (choices["look"].is_goal, choices["look"].value) == (False, None)


def test_actions_that_are_forbidden_cannot_be_taken() -> None:
    for forbidden, names in ((False, ["flip", "shout"]), (True, ["flip"])):
        space = StateSpace(parse_mastar(DELUDED), consistent_beliefs=forbidden)
        assert [one.name for one in of_space(space).list_choices(["flip"])] == names


@pytest.mark.parametrize(("problem", "path"), PATHS.items())
def test_beliefs_are_what_holds(problem: str, path: list[str]) -> None:
    assert check_changes(exploration(problem), path)


def test_beliefs_at_several_designated_worlds_are_what_holds() -> None:
    kinds = set[Belief]()
    for seed in range(60):
        kinds |= check_changes(of_space(StateSpace(random_task(seed))), [])
    assert kinds == set(Belief)


def check_changes(found: Exploration, path: Sequence[str]) -> set[Belief]:
    """Compare what each action changes along a path; return the beliefs before and after."""
    kinds = set[Belief]()
    for part in along(path):
        for choice in found.list_choices(part):
            now, then = (found.space.model(state) for state in walk(found.space, [*part, choice.name])[-2:])
            expected = [
                BeliefChange(agent, fluent, before, after)
                for agent in now.agents
                for fluent in now.fluents
                if (before := find_belief(now, agent, fluent)) != (after := find_belief(then, agent, fluent))
            ]
            assert found.find_changes(part, choice.name) == expected
            kinds.update(belief for change in expected for belief in (change.now, change.afterwards))
    return kinds


@pytest.mark.parametrize(("problem", "path"), PATHS.items())
def test_a_perspective_is_what_the_agent_believes(problem: str, path: list[str]) -> None:
    found, space = exploration(problem), StateSpace(load_problem(problem))
    model = space.model(walk(space, path)[-1])
    assert len({len(found.take_perspective(path, [agent]).worlds) for agent in model.agents}) > 1
    for agent in model.agents:
        seen = found.take_perspective(path, [agent])
        for other in model.agents:
            nested = found.take_perspective(path, [agent, other])
            for fact in model.fluents:
                assert seen.holds(fact) == model.holds(f"B({agent}, {fact})")
                assert seen.holds(f"B({other}, {fact})") == model.holds(f"B({agent}, B({other}, {fact}))")
                assert nested.holds(fact) == seen.holds(f"B({other}, {fact})")


def test_perspectives_are_nested_in_the_order_of_the_agents() -> None:
    successors = (
        (frozenset({1}),) * 2,
        (frozenset({0}),) * 2,
    )  # each is sure of something else, and thinks so of others
    initial = EState((frozenset({"p"}), frozenset()), successors, (0,))
    found = of_space(StateSpace(Task("stubborn", ("p",), ("a", "b"), (), initial, (fluent("p"),))))
    assert found.take_perspective([], ["a", "b"]).holds("p")
    assert found.take_perspective([], ["b", "a"]).holds("-p")


def test_perspectives_that_do_not_exist() -> None:
    successors = ((frozenset({1}),) * 2, (frozenset({0}), frozenset[int]()))  # a believes that b believes everything
    initial = EState((frozenset({"p"}), frozenset()), successors, (0,))
    task = Task("deluded", ("p",), ("a", "b"), (), initial, (fluent("p"),))
    found = of_space(StateSpace(task, consistent_beliefs=True))
    assert found.take_perspective([], ["a"]).holds("B(b, p), B(b, -p)")
    assert len(found.space) == 1  # it is none of the problem's e-states
    with pytest.raises(TaskError, match="agent 'b' considers no world possible: it believes everything"):
        of_space(StateSpace(parse_mastar(DELUDED))).take_perspective(["flip", "shout"], ["b"])


@pytest.mark.parametrize(("problem", "path"), PATHS.items())
def test_the_rest_of_a_problem_is_solved_by_the_rest_of_a_plan(problem: str, path: list[str]) -> None:
    found = exploration(problem)
    rest = find_plan(found.make_task(path), Configuration.of("bfs")).plan
    assert validate(found.space.task, [*path, *rest]).valid


def test_steps_are_those_of_the_page_and_drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    found = exploration("coin_in_the_box/pl_7")
    steps = [*found.make_steps(["open_a", "peek_a"])]
    assert [step["action"] for step in steps] == [None, "open_a", "peek_a"]
    assert [step["worlds"] for step in steps] == [2, 4, 3]
    monkeypatch.setattr("epigym.drawing.page.render_svg", None)  # whoever draws now fails
    assert [*found.make_steps(["open_a", "peek_a"])] == steps
    assert [*found.make_steps(["open_a"])] == steps[:2]


@pytest.mark.parametrize(
    ("path", "message"),
    [(["open_a", "open_x"], "step 2: unknown action 'open_x': did you mean 'open_"), (["peek_a"], "step 1: ")],
)
def test_a_wrong_path_names_the_step(path: list[str], message: str) -> None:
    found = exploration("coin_in_the_box/pl_7")
    for ask in (
        lambda path: [*found.make_steps(path)],
        found.list_choices,
        found.make_task,
        lambda path: found.take_perspective(path, ["a"]),
    ):
        with pytest.raises(UsageError, match=message):
            ask(path)
    with pytest.raises(UsageError, match=message):
        found.find_changes(path[:-1], path[-1])


def test_outcomes_can_be_chosen_where_an_action_has_several() -> None:
    found = of_space(StateSpace(looking()))
    assert [(choice.name, choice.action, choice.is_goal) for choice in found.list_choices([])] == [
        ("look", "look", False),
        ("look: yes", "look", False),
        ("look: no", "look", False),
    ]
    assert [choice.name for choice in found.list_choices(["look: no"])] == ["look"]
    *_, last = found.make_steps(["look: yes"])
    assert last["action"] == "look: yes"
    assert last["witnesses"] == ("saw", "missed")
    assert found.find_changes([], "look: yes") == [BeliefChange("a", "p", Belief.UNSURE, Belief.TRUE)]
    assert found.find_changes([], "look") == [BeliefChange("a", "p", Belief.UNSURE, Belief.SURE)]


def test_where_designated_worlds_disagree_only_outcomes_can_be_chosen() -> None:
    found = of_space(StateSpace(looking((fluent("q"), "sees"))))
    names = [choice.name for choice in found.list_choices([])]
    assert names == ["look: yes (b sees)", "look: yes (b misses)", "look: no"]
