"""Problems made of a user's own files: goals that can be reached, parts that differ, equal seeds, one-line errors."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import domains
from epigym import EpigymError, Task
from epigym.language import parse_mastar
from epigym.problem import find_problems, load_problem
from epigym.space.signature import signature
from epigym.task.formula import TRUE, Formula, and_, believes, common, fluent, not_, or_
from learn.data.distribution import MIN_DISTANCE
from learn.data.explorers import ExplorerSettings, explore
from learn.data.files import GoalLanguage, sample_files, split_by_size
from learn.data.making import make_rollout
from search.agents import run_agent
from search.agents.breadth_first import BreadthFirst
from search.agents.limits import Limits
from search.agents.result import SearchStatus
from tests.helpers.marks import slow_but
from tests.helpers.own_domains import write_museum
from tests.helpers.tasks import coin, hopeless, trivial

FILES = {
    "c1.epddl": domains.write("room_messages", agents=2, rooms=4, seed=0),
    "c2.epddl": domains.write("room_messages", agents=2, rooms=5, seed=1),
    "c3.epddl": domains.write("room_messages", agents=3, rooms=3, seed=2),
    "c4.epddl": domains.write("room_messages", agents=3, rooms=4, seed=3),
    "m1.txt": write_museum(rooms=6, guards=1, artefacts=1, seed=0),
    "m2.txt": write_museum(rooms=6, guards=1, artefacts=2, seed=0),
    "m3.txt": write_museum(rooms=6, guards=2, artefacts=2, seed=0),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files, in a folder."""
    made = tmp_path_factory.mktemp("mine")
    for name, text in FILES.items():
        (made / name).write_text(text)
    return made


def read(folder: Path, pattern: str) -> list[Task]:
    return [load_problem(name) for name in find_problems([str(folder / pattern)])]


def shortest(task: Task, most: int = 20_000) -> int | None:
    """The length of a shortest plan; None when none is found."""
    result = run_agent(BreadthFirst(), task, limits=Limits(max_expanded=most))
    return result.plan_length if result.status is SearchStatus.SOLVED else None


def marks(tasks: Sequence[Task]) -> list[str]:
    return [signature(task) for task in tasks]


@pytest.mark.parametrize("pattern", ["c*.epddl", "m*.txt"])
def test_what_is_learned_from_has_pairs_with_the_distance_of_a_shortest_plan(folder: Path, pattern: str) -> None:
    tasks = read(folder, pattern)
    learned, _ = sample_files(tasks, instances=20, validation=4, seed=0)
    assert 20 <= len(learned) <= 22
    given = {task.name for task in tasks}
    assert sum(task.name in given for task in learned) == len(tasks) - 1
    for task in learned:
        pairs = make_rollout(task, ExplorerSettings("exhaustive", max_visited=20_000), 20)
        distance = int(pairs.distance[pairs.ids == pairs.space.initial][0])
        assert distance == shortest(task)
        assert distance >= (1 if task.name in given else MIN_DISTANCE)


@pytest.mark.parametrize(
    "pattern", slow_but(["c*.epddl", "m*.txt", "c4.epddl", "m1.txt", "m[13].txt"], "c*.epddl", "m1.txt")
)
def test_no_two_problems_are_the_same_up_to_names(folder: Path, pattern: str) -> None:
    learned, validating = sample_files(read(folder, pattern), instances=12, validation=12, seed=0)
    found = marks([*learned, *validating])
    assert len(set(found)) == len(found) >= 20


@pytest.mark.parametrize("pattern", ["c*.epddl", "m*.txt"])
def test_the_largest_validates_with_its_own_goal_and_sampled_ones(folder: Path, pattern: str) -> None:
    tasks = read(folder, pattern)
    smaller, [largest] = split_by_size(tasks)
    learned, validating = sample_files(tasks, instances=6, validation=10, seed=0)
    assert validating[0] == largest
    assert len(validating) == 10
    for task in validating:
        assert replace(task, goal=(), name="") == replace(largest, goal=(), name="")
    for task in validating[1:]:
        assert (shortest(task, 2_000) or MIN_DISTANCE) >= MIN_DISTANCE
    without_goals = [replace(task, goal=(), name="") for task in smaller]
    assert all(replace(task, goal=(), name="") in without_goals for task in learned)


def test_without_validation_all_problems_are_learned_from(folder: Path) -> None:
    for pattern in ("m*.txt", "m1.txt"):
        tasks = read(folder, pattern)
        learned, validating = sample_files(tasks, instances=8, validation=0, seed=0)
        assert validating == []
        assert {task.fluents for task in learned} == {task.fluents for task in tasks}
        assert len(learned) == 8


def test_of_a_single_problem_every_second_goal_validates(folder: Path) -> None:
    tasks = read(folder, "m1.txt")
    learned, validating = sample_files(tasks, instances=10, validation=4, seed=0)
    assert (len(learned), len(validating)) == (10, 4)
    assert learned[0] == tasks[0]
    assert all(task.goal != tasks[0].goal for task in validating)
    assert split_by_size(tasks) == (tasks, tasks)


def test_an_own_goal_that_holds_at_the_start_is_in_neither_part() -> None:
    learned, validating = sample_files([trivial()], instances=5, validation=5, seed=0)
    assert learned
    assert trivial().goal not in [task.goal for task in [*learned, *validating]]


def test_a_goal_that_is_learned_from_does_not_validate_under_another_name(tmp_path: Path) -> None:
    for name in ("one.txt", "two.txt"):
        (tmp_path / name).write_text(FILES["m1.txt"])
    learned, validating = sample_files(read(tmp_path, "*"), instances=5, validation=5, seed=0)
    assert learned[0].name == "one"
    assert not set(marks(learned)) & set(marks(validating))
    assert [task.name for task in validating if "sampled goal" not in task.name] == []


@pytest.mark.parametrize("pattern", ["c*.epddl", "m*.txt"])
def test_of_what_is_too_large_the_goals_are_in_sight(folder: Path, pattern: str) -> None:
    tasks = read(folder, pattern)
    most = 150
    learned, _ = sample_files(tasks, instances=12, validation=1, seed=0, max_states=most)
    partial = 0
    for task in learned:
        explorer = ExplorerSettings("exhaustive", max_visited=most)
        partial += not explore(task, explorer).complete
        pairs = make_rollout(task, explorer, 20)
        assert pairs.distance[pairs.ids == pairs.space.initial].tolist() == [shortest(task)]
    assert partial >= 4


def test_equal_seeds_sample_equal_goals_wherever_the_files_are(folder: Path, tmp_path: Path) -> None:
    def goals(place: Path, seed: int) -> list[list[tuple[Formula, ...]]]:
        parts = sample_files(read(place, "m*.txt"), instances=8, validation=8, seed=seed)
        return [[task.goal for task in part] for part in parts]

    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    assert goals(folder, 1) == goals(tmp_path, 1)
    for one, other in zip(goals(folder, 1), goals(folder, 2), strict=True):
        assert one[0] == other[0] or one != other
        assert one != other


def test_the_largest_quarter_validates_at_least_one() -> None:
    small, large, more = coin(), read_museum(6, 1, 1), read_museum(6, 2, 1)
    assert split_by_size([more, small, large]) == ([small, large], [more])
    assert split_by_size([large, small]) == ([small], [large])
    many = [replace(small, name=str(number)) for number in range(8)]
    assert split_by_size(many) == (many[:6], many[6:])


def read_museum(rooms: int, guards: int, artefacts: int) -> Task:
    return parse_mastar(write_museum(rooms=rooms, guards=guards, artefacts=artefacts, seed=0))


def test_the_vocabulary_of_the_coin_by_hand() -> None:
    """It is tail that goals believe, looking changes nothing, and the goals nest beliefs."""
    task = coin()
    language = GoalLanguage.of([task])
    assert language == GoalLanguage(frozenset({"tail"}), 2)
    tail, opened = fluent("tail"), fluent("open")
    expected = {opened, tail}
    for agent, other in (("a", "b"), ("b", "a")):
        knows, others = (or_(believes(one, tail), believes(one, not_(tail))) for one in (agent, other))
        expected |= {believes(agent, tail), believes(agent, not_(tail)), knows}
        expected |= {believes(agent, believes(other, tail)), believes(agent, others)}
    found = language.vocabulary(task)
    assert set(found) == expected | {not_(one) for one in expected}
    assert len(set(found)) == len(found)


def test_beliefs_and_nested_beliefs_are_sampled_where_the_goals_of_any_file_have_them() -> None:
    museum = read_museum(6, 2, 1)
    name = museum.fluents[-1]
    guard, other = museum.agents
    literal = replace(museum, goal=(fluent(name),))
    nested = replace(museum, goal=(believes(guard, believes(other, fluent(name))),))
    plain = GoalLanguage.of([literal]).vocabulary(literal)
    assert max(formula.depth for formula in plain) == 0
    assert set(plain) == {part for one in museum.fluents for part in (fluent(one), not_(fluent(one)))}
    assert max(formula.depth for formula in GoalLanguage.of([museum]).vocabulary(museum)) == 1
    found = GoalLanguage.of([literal, nested]).vocabulary(literal)
    assert max(formula.depth for formula in found) == 2
    # Beliefs are about all artefacts and rooms, not about where guards are.
    assert believes(other, fluent("in(x1,0)")) in found
    assert believes(other, fluent("at(g1,0)")) not in found


def test_a_vocabulary_is_small_and_has_the_parts_of_the_own_goal() -> None:
    task = read_museum(20, 6, 3)
    deep = common(task.agents, and_(fluent("in(x1,3)"), fluent("in(x2,5)")))
    task = replace(task, goal=(*task.goal, deep, believes("g1", believes("g2", fluent("in(x1,0)")))))
    found = GoalLanguage.of([task]).vocabulary(task)
    assert len(found) <= 3 * 400 + 50
    assert set(task.goal) - {deep} <= set(found)
    assert common(task.agents, fluent("in(x1,3)")) in found
    assert found == GoalLanguage.of([task]).vocabulary(task)


def still() -> Task:
    """A larger task without actions, whose goal holds at the start."""
    task = read_museum(6, 2, 1)
    return replace(task, name="still", actions=(), structure=None, goal=(TRUE,))


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ([], "no problem to learn from: name files with problem="),
        ([hopeless(), read_museum(8, 4, 3)], "nothing to learn from: none of 1 problems has a goal 3 or more actions"),
        ([coin(), still()], "nothing to validate on: no walk in still reaches another goal; add larger problems"),
    ],
)
def test_errors_are_one_line_with_a_remedy(tasks: list[Task], message: str) -> None:
    with pytest.raises(EpigymError) as caught:
        sample_files(tasks, instances=5, validation=5, seed=0)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
