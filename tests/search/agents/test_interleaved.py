"""Interleaved searches: the order of turns, shared e-states, and results."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from epigym import StateSpace, Task, load_problem
from epigym.errors import MissingModelError, TaskError, UsageError
from epigym.task.formula import believes, fluent
from search.agents import make_agent, run_agent
from search.agents.agent import Agent, Steps
from search.agents.limits import Limits
from search.agents.result import SearchResult, SearchStatus
from search.agents.run import Counts, SearchRun
from search.heuristics.heuristic import Heuristic
from search.planning.configuration import Configuration
from search.planning.planner import find_plan
from tests.helpers.graph_space import GraphSpace
from tests.helpers.tasks import coin
from tests.oracles.symmetric import muddy_children

HERE = __name__
BLIND = "active_muddy_child/g_amc_05_03_muddy_s1517"
EASY = ["coin_in_the_box/pl_5", "grapevine/3_pl_3", "gossip", "collaboration_communication", BLIND]


def interleave(components: Sequence[dict[str, Any]]) -> Agent:
    return make_agent("interleaved", components=components, default_heuristic=None)


def search(task: Task, *components: dict[str, Any], **limits: Any) -> SearchResult:
    return run_agent(interleave(components), task, limits=Limits(**limits))


def counts(result: SearchResult) -> tuple[Any, ...]:
    return result.status, result.plan, result.expanded, result.generated, result.distinct


class Recording(Agent):
    """Breadth-first search of one e-state per turn, which records its turns."""

    turns: list[str]

    def __init__(self, mark: str) -> None:
        self.name = mark

    def search(self, run: SearchRun) -> Steps:
        queue = run.root.tolist()
        while queue:
            yield
            self.turns.append(self.name)
            queue += run.expand(np.array([queue.pop(0)], dtype=np.int32)).tolist()
            if run.goal is not None:
                return SearchStatus.SOLVED
        return SearchStatus.UNSOLVABLE


class Refusing(Recording):
    """Fails in its third turn."""

    def search(self, run: SearchRun) -> Steps:
        steps = super().search(run)
        for _ in range(3):
            yield next(steps)
        raise TaskError("designated worlds disagree")


class Unending(Heuristic):
    """A heuristic that is infinite everywhere."""

    is_uninformative = True

    def __init__(self, space: StateSpace) -> None:
        pass

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        return np.full(len(ids), np.inf)


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    monkeypatch.setattr(Recording, "turns", found, raising=False)
    return found


def recording(label: str, share: float, kind: str = "Recording", after: float = 0) -> dict[str, Any]:
    return {"share": share, "after": after, "agent": {"_target_": f"{HERE}.{kind}", "mark": label, "label": label}}


CHAIN = {state: [("a", state + 1)] for state in range(40)}


def search_graph(
    edges: dict[int, list[tuple[str, int]]], goals: list[int], *components: dict[str, Any]
) -> SearchResult:
    return run_agent(interleave(components), GraphSpace(edges, goals))


@pytest.mark.parametrize("name", EASY)
@pytest.mark.parametrize(
    ("agent", "heuristic"),
    [("bfs", None), ("lazy", "h_ff"), ("hfs_preferred", "h_add"), ("alternation", "goal_count"), ("hfs_star", "l_pg")],
)
def test_a_component_alone_is_the_agent(name: str, agent: str, heuristic: str | None) -> None:
    task = load_problem(name)
    alone = Configuration.of(agent, heuristic)
    space = StateSpace(task)
    expected = run_agent(alone.make_agent(), space, alone.make_heuristic(space), Limits(max_expanded=300))
    found = search(task, {"agent": agent, "heuristic": heuristic}, max_expanded=300)
    assert found.status is expected.status
    if agent != "bfs" or expected.status is SearchStatus.SOLVED:  # which expands several e-states at once
        assert counts(found) == counts(expected)
    assert found.optimal is expected.optimal


@pytest.mark.parametrize("name", EASY)
def test_the_deciding_component_finds_the_same_alone(name: str) -> None:
    """Other searches of the space change ids, but not the expansions of a component; equal searches end alike."""
    task = load_problem(name)
    settings = Configuration.of("interleaved").agent
    default = {"heuristic": settings["default_heuristic"]}
    components = [one if one["agent"] == "bfs" else default | one for one in settings["components"]]
    result = search(task, *components)
    winners = [one for one in components if label(one) == result.message]
    assert [search(task, one).plan for one in winners] == [result.plan]
    assert counts(search(task, *components)) == counts(result)


def label(component: dict[str, Any]) -> str:
    agent, heuristic = component["agent"], component.get("heuristic")
    names = [one if isinstance(one, str) else one["name"] for one in (agent, heuristic) if one]
    return f"decided by {'/'.join(names)}"


def test_turns_are_in_proportion_to_the_shares(turns: list[str]) -> None:
    search_graph(CHAIN, [], recording("one", 3), recording("two", 1), recording("three", 2))
    first = turns[:36]
    assert turns[0] == "one"  # of equals the first
    for label, share in (("one", 18), ("three", 12), ("two", 6)):
        assert abs(first.count(label) - share) <= 1


def test_a_component_joins_after_some_work_with_its_share(turns: list[str]) -> None:
    """A turn of the chain, which has one action, is 50 of work, and a little more for its successor."""
    search_graph(CHAIN, [], recording("early", 2), recording("late", 1, after=400))
    first = turns.index("late")
    assert first == 11  # ten turns, then of equals the first
    assert abs(turns[first : first + 12].count("late") - 4) <= 1  # it does not catch up
    turns.clear()
    search_graph(CHAIN, [], recording("fails", 1, "Refusing"), recording("late", 1, after=1e9))
    assert turns == ["fails", "fails", *["late"] * 41]


def test_equal_components_search_once() -> None:
    components = [{"agent": "hfs", "heuristic": "h_ff"}, {"agent": "hfs"}, {"agent": "bfs"}, {"agent": {"name": "bfs"}}]
    agent = make_agent("interleaved", components=components, default_heuristic="h_ff")
    assert agent.component_choices == [{"name": "hfs"}, {"name": "h_ff"}, {"name": "bfs"}, {}]


def test_the_default_without_its_model_has_no_other_search_in_its_place() -> None:
    default, without = (
        Configuration.of({"name": "interleaved", **settings}).make_agent().component_choices
        for settings in ({}, {"default_heuristic": "h_ff"})
    )
    learned = default.index({"name": "learned", "least_known": 0.15})
    assert default[: learned - 1] + default[learned + 1 :] == without


def test_a_model_that_knows_too_little_takes_no_part_while_others_do() -> None:
    unknowing = {"share": 100, "agent": "hfs", "heuristic": {"name": "learned", "least_known": 1.0}}
    task = coin()
    assert search(task, unknowing, {"agent": "bfs"}).message == "decided by bfs"
    assert search(task, unknowing).message == "decided by hfs/learned"  # by h_ff


def test_a_model_that_is_missing_is_noticed_before_the_search() -> None:
    late = {"after": 1e9, "agent": "hfs", "heuristic": {"name": "learned", "model": "gone"}}
    with pytest.raises(MissingModelError, match="gone"):
        search(coin(), late, {"agent": "bfs"})


def test_expansions_and_relaxations_are_shared() -> None:
    space = StateSpace(load_problem("coin_in_the_box/pl_5"))
    bfs = run_agent(make_agent("bfs"), space)
    before, worlds = space.generated
    assert worlds > before >= bfs.generated
    again = run_agent(interleave([{"agent": "bfs"}, {"agent": "dfs"}]), space)
    assert again.status is SearchStatus.SOLVED
    assert space.generated[0] - before < again.generated
    space = StateSpace(load_problem("grapevine/3_pl_4"))
    agent = Configuration.of("interleaved").make_agent()
    assert run_agent(agent, space).status is SearchStatus.SOLVED
    assert 0 < space.relaxed[0] <= len(space)


def test_counts_are_those_of_all_components() -> None:
    task = load_problem("coin_in_the_box/pl_5")
    result = search(task, {"agent": "bfs"}, {"agent": "idfs"}, max_expanded=7)
    assert (result.status, result.expanded) == (SearchStatus.EXPANSION_LIMIT, 7)
    space = StateSpace(task)
    again = interleave([{"agent": "bfs"}, {"agent": "idfs"}])
    assert run_agent(again, space, limits=Limits(max_expanded=7)).distinct == len(space) == result.distinct
    space, different = StateSpace(task), interleave([{"agent": "bfs"}, {"agent": "dfs"}])
    assert run_agent(different, space, limits=Limits(max_expanded=12)).distinct == len(space)
    told: list[Counts] = []
    agent = interleave([{"agent": "bfs"}])
    final = run_agent(agent, task, on_progress=told.append)
    assert told
    assert told[-1].expanded <= final.expanded


def test_a_component_that_fails_leaves_the_others_searching(turns: list[str]) -> None:
    result = search_graph(CHAIN, [30], recording("fails", 5, "Refusing"), recording("works", 1))
    assert (result.status, result.message) == (SearchStatus.SOLVED, "decided by works")
    assert turns.count("fails") == 2
    with pytest.raises(TaskError, match="designated worlds disagree"):
        search_graph(CHAIN, [30], recording("one", 1, "Refusing"), recording("other", 1, "Refusing"))


def test_a_heuristic_that_is_infinite_at_the_start_takes_no_part_while_others_do() -> None:
    useless = {"share": 100, "agent": "hfs", "heuristic": {"_target_": f"{HERE}.Unending"}}
    result = search(load_problem("coin_in_the_box/pl_5"), useless, {"agent": "bfs"})
    assert (result.status, result.message) == (SearchStatus.SOLVED, "decided by bfs")
    alone = search(coin(), useless)
    assert (alone.status, alone.message) == (SearchStatus.SOLVED, "decided by hfs/Unending")
    default = find_plan(load_problem(BLIND), Configuration.of("interleaved"))
    assert default.message in ("decided by alternation/learned", "decided by bfws/split_goal_count", "decided by bfs")


def test_components_that_need_a_heuristic_have_a_default_one() -> None:
    components = [{"agent": "bfs", "share": 1e-9}, {"agent": "hfs"}, {"agent": "hfs", "heuristic": "goal_count"}]
    configuration = Configuration.of({"name": "interleaved", "components": components, "default_heuristic": "h_add"})
    used = [{"name": name} for name in ("hfs", "h_add", "hfs", "goal_count")]
    assert configuration.choices == [configuration.agent, {}, {"name": "bfs"}, {}, *used]
    alone = make_agent("interleaved", components=[{"agent": "hfs"}], default_heuristic={"name": "h_add", "label": "x"})
    assert run_agent(alone, coin()).message == "decided by hfs/x"
    plain = interleave([{"agent": "hfs", "heuristic": "h_add"}])
    assert counts(run_agent(alone, coin())) == counts(run_agent(plain, coin()))


def test_components_have_labels() -> None:
    hfs = {"agent": {"name": "hfs", "label": "greedy"}, "heuristic": {"name": "l_pg", "label": "graph"}}
    configuration = Configuration.of({"name": "interleaved", "components": [hfs], "label": "crowd"})
    result = find_plan(coin(), configuration)
    assert (result.label, configuration.label) == ("crowd", "crowd")
    assert result.message == "decided by greedy/graph"


def test_a_search_that_lasts_uses_symmetries() -> None:
    task = muddy_children(7, 5)
    task = replace(task, goal=(believes(task.agents[0], fluent(task.fluents[0])),))
    short, long = StateSpace(load_problem("gossip")), StateSpace(task)
    agent = interleave([{"agent": "bfs"}])
    run_agent(agent, short)
    result, plain = run_agent(agent, long), run_agent(make_agent("bfs"), task)
    assert (short.symmetry, long.symmetry, bool(long.symmetries)) == (False, True, True)
    assert (result.status, result.plan_length) == (SearchStatus.SOLVED, plain.plan_length)
    assert result.generated < plain.generated


@pytest.mark.parametrize(
    ("components", "message"),
    [
        ("bfs", "agent 'interleaved': components=bfs: expected a mapping"),
        ([], "agent 'interleaved' needs components"),
        ([{"agent": "gone"}], "unknown agent 'gone'"),
        ([{"agnet": "bfs"}], "'agnet': did you mean 'agent'?"),
        ([{"heuristic": "l_pg"}], "a component of agent 'interleaved' needs the setting agent"),
        ([{"agent": "hfs"}], "agent 'hfs' needs a heuristic"),
        ([{"agent": "lazy", "heuristic": "goal_count"}], "agent 'lazy' needs a heuristic that prefers actions"),
        ([{"agent": "bfs", "heuristic": "h_ff"}], "agent 'bfs' takes no heuristic"),
        ([{"agent": {"name": "bfs", "symmetry": True}}], "unknown setting of agent 'bfs' 'symmetry'"),
        ([{"agent": {"name": "bfs", "threads": 2}}], "unknown setting of agent 'bfs' 'threads'"),
        ([{"agent": "bfs", "share": 0}], "share=0: expected more than 0"),
        ([{"agent": "bfs", "share": "much"}], "share=much: expected a number"),
        (
            [{"agent": {"name": "interleaved", "components": [{"agent": "bfs"}], "default_heuristic": None}}],
            "a component of agent 'interleaved': none is interleaved itself",
        ),
    ],
)
def test_invalid_components_are_refused(components: Any, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        Configuration.of({"name": "interleaved", "components": components, "default_heuristic": None})
    assert message in str(caught.value)
