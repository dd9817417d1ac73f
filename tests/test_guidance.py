"""What docs/guidance.md says of its two problems is computed here again and compared, number by number."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from omegaconf import OmegaConf

from epigym import StateSpace, Task
from epigym.features.relaxation import Relaxation
from epigym.language import parse_mastar
from epigym.problem import domain_problem
from epigym.space.traversal import breadth_first
from epigym.task.formula import Formula, believes, fluent, literal, not_
from search.agents import make_agent, run_agent
from search.agents.limits import Limits
from search.agents.result import SearchResult, SearchStatus
from search.heuristics import make_heuristic
from search.planning.configuration import Configuration
from search.planning.planner import find_plan
from tests.helpers.benchmark_files import ROOT
from tests.helpers.recorder import Recorder
from tests.helpers.structures import follow
from tests.oracles import relaxation as twin

TEXT = (ROOT / "docs" / "guidance.md").read_text(encoding="utf-8")
WORDS = " ".join(TEXT.split())
PROBLEMS = re.findall(r"```text\n(.*?)```", TEXT, flags=re.DOTALL)
FILES = re.findall(r"`(docs/mastar/\w+\.txt)`", TEXT)
IMPOSTOR, BOXES = map(parse_mastar, PROBLEMS)
S = fluent("s")
DECEIVED = domain_problem("gossip/gos_06_imp_deceived")


def tables() -> list[list[list[str]]]:
    """The rows of every table below its head, without the marks of code."""
    found = re.findall(r"^\|[^\n]*\n\| -[^\n]*\n((?:\|[^\n]*\n)+)", TEXT, flags=re.MULTILINE)
    return [
        [[cell.strip().replace("`", "") for cell in row.strip("|").split(" | ")] for row in table.splitlines()]
        for table in found
    ]


FACTS, WAY, TRAP, SEARCHES, COMPETITION, AGENTS, COMPONENTS, *_ = tables()  # the last ones are measured


def number(value: float) -> str:
    return "∞" if value == np.inf else f"{value:g}"


def after(space: StateSpace, names: Iterable[str]) -> int:
    """The e-state that actions lead to."""
    return follow(space, names)[-1]


def row(space: StateSpace, names: Sequence[str]) -> list[str]:
    """What the document's tables say of an e-state on the way."""
    state = after(space, names)
    relaxed = Relaxation(space)([state])
    still_open = make_heuristic("goal_count", space).score(np.array([state], dtype=np.int32))
    preferred = [space.task.actions[action].name for action in relaxed.preferred.tolist()]
    numbers = map(number, (still_open[0], relaxed.h_add[0], relaxed.h_ff[0]))
    return [", ".join(names) or "–", *numbers, ", ".join(preferred) or "–"]


def cost(task: Task, fact: Formula, names: Iterable[str] = ()) -> float:
    """What a fact costs after some actions."""
    space = StateSpace(replace(task, goal=(fact,)))
    return float(Relaxation(space)([after(space, names)]).h_add[0])


def search(space: StateSpace, configuration: str) -> SearchResult:
    agent, _, heuristic = configuration.partition("/")
    return run_agent(make_agent(agent), space, make_heuristic(heuristic, space) if heuristic else None)


@pytest.fixture(scope="module")
def whole() -> StateSpace:
    """All e-states of the impostor's problem."""
    space = StateSpace(IMPOSTOR)
    assert sum(wave.expanded for wave in breadth_first(space)) == len(space)
    return space


@pytest.fixture(scope="module")
def dead(whole: StateSpace) -> frozenset[int]:
    """The e-states from which no goal can be reached."""
    source, _, target, _ = whole.expand(np.arange(len(whole), dtype=np.int32))
    alive = whole.is_goal(np.arange(len(whole), dtype=np.int32))
    for _ in range(len(whole)):
        alive[source[alive[target]]] = True
    return frozenset(np.flatnonzero(~alive).tolist())


def test_the_files_hold_what_is_shown() -> None:
    assert [(ROOT / name).read_text(encoding="utf-8") for name in dict.fromkeys(FILES)] == PROBLEMS


def test_searching_at_once_closes_a_subgoal_and_preparing_opens_one() -> None:
    space = StateSpace(IMPOSTOR)
    assert f"{row(space, [])[1]} of the {len(IMPOSTOR.goal)} subgoals are unsatisfied at first." in WORDS
    step = space.expand([space.initial])
    names = [IMPOSTOR.actions[action].name for action in step.action.tolist()]
    opened = dict(zip(names, make_heuristic("goal_count", space).score(step.target).tolist(), strict=True))
    assert opened == {"equip_b": 4, "equip_c": 4, "search": 2}


def test_facts_and_operators() -> None:
    relaxation = twin.Relaxation(IMPOSTOR)
    rows = []
    for fact in relaxation.facts:
        if "c" in fact.agents or "c" in str(fact):
            continue
        supporters = [
            (IMPOSTOR.actions[supporter.operator.action].name, str(supporter.requirement))
            for supporter in relaxation.supporters(fact)
        ]
        rows += [[str(fact), number(cost(IMPOSTOR, fact)), *pair] for pair in supporters or [("–", "–")]]
    assert sorted(rows) == sorted(FACTS)
    swapped = {str(fact).translate(str.maketrans("bc", "cb")) for fact in relaxation.facts}
    assert swapped == set(map(str, relaxation.facts))  # those about c are like those about b


def test_the_sum_over_the_subgoals_and_the_relaxed_plan() -> None:
    costs = [cost(IMPOSTOR, subgoal) for subgoal in IMPOSTOR.goal]
    space = StateSpace(IMPOSTOR)
    relaxed = Relaxation(space)([space.initial])
    assert f"{' + '.join(map(number, costs))} = {number(relaxed.h_add[0])}." in WORDS
    plan = twin.Relaxation(IMPOSTOR).relaxed_plan(IMPOSTOR.initial)
    names = {IMPOSTOR.actions[action].name for action in plan}
    assert names == {"search", "equip_b", "equip_c"}
    assert f"It has {len(names)} actions: `h_ff` = {number(relaxed.h_ff[0])}." in WORDS


@pytest.mark.parametrize("shown", [*WAY, *TRAP], ids=lambda shown: shown[0])
def test_along_the_plan_and_in_the_trap(shown: list[str]) -> None:
    names = [] if shown[0] == "–" else shown[0].split(", ")
    assert row(StateSpace(IMPOSTOR), names) == shown


def test_the_way_and_the_trap() -> None:
    said = f"requires it, `B(d, B(c, s))` costs {number(cost(IMPOSTOR, believes('d', believes('c', S)), ['search']))}."
    assert said in WORDS
    assert cost(IMPOSTOR, not_(believes("d", S)), ["search"]) == np.inf
    worn = [cost(IMPOSTOR, literal("ear_b", value), names) for names in ([], ["equip_b"]) for value in (True, False)]
    assert worn == [1, 0, 0, 1]
    plan = search(StateSpace(IMPOSTOR), "hfs_preferred/h_add").plan
    assert [shown[0] for shown in WAY] == ["–", *(", ".join(plan[:length]) for length in range(1, 6))]


@pytest.mark.parametrize("shown", SEARCHES, ids=lambda shown: shown[0])
def test_searches(shown: list[str], whole: StateSpace, dead: frozenset[int]) -> None:
    space = Recorder(IMPOSTOR)
    result = search(space, shown[0])
    same = {whole.model(state).state: state for state in range(len(whole))}
    entered = dead & {same[space.model(state).state] for state in space.expanded[: result.expanded]}
    assert len(set(space.expanded[: result.expanded])) == result.expanded
    assert [result.expanded, len(entered), result.generated, result.plan_length] == list(map(int, shown[1:]))


def test_dead_ends_are_those_of_infinite_cost(whole: StateSpace, dead: frozenset[int]) -> None:
    infinite = np.flatnonzero(np.isinf(Relaxation(whole)(np.arange(len(whole))).h_add))
    assert set(infinite.tolist()) == dead
    assert f"The space has {len(whole)} e-states. {len(dead)} of them are dead ends" in WORDS


@pytest.mark.parametrize("shown", COMPETITION, ids=lambda shown: shown[0])
def test_the_deceived_impostor_of_the_competition(shown: list[str]) -> None:
    result = find_plan(DECEIVED, Configuration.of(*shown[0].split("/")))
    assert [result.expanded, result.plan_length] == list(map(int, shown[1:]))
    assert f"problem with {len(DECEIVED.agents)} agents has a plan of {result.plan_length} actions" in WORDS


def test_counting_does_not_solve_it() -> None:
    limit = re.search(r"the goal count finds no plan within ([\d,]+) e-states", WORDS)
    space = StateSpace(DECEIVED)
    for name in ("goal_count", "split_goal_count"):
        counting = make_heuristic(name, space)
        result = run_agent(make_agent("hfs"), space, counting, Limits(max_expanded=int(limit[1].replace(",", ""))))
        assert result.status is SearchStatus.EXPANSION_LIMIT


def test_boxes() -> None:
    space = StateSpace(BOXES)
    initial = np.array([space.initial], dtype=np.int32)
    assert np.isinf(Relaxation(space)(initial).h_add[0])
    assert search(space, "bfs").plan == ("open_right",)
    found = make_heuristic("h_add", space).evaluate(initial, np.array([-1]), np.array([-1]))
    assert "equal `split_goal_count` (1 here) and prefer no action" in WORDS
    assert found.scores.tolist() == make_heuristic("split_goal_count", space).score(initial).tolist() == [1]
    assert len(found.preferred) == 0


def test_the_default_agents() -> None:
    for name, *_ in AGENTS:
        for configuration in name.split(" with ")[0].split(", "):
            agent, _, heuristic = configuration.partition("/")
            settings = OmegaConf.from_dotlist(re.findall(r"agent\.(\w+=\w+)", name))
            Configuration.of({"name": agent, **settings}, heuristic or None)
    found = []
    _, _, *choices = Configuration.of("interleaved").choices
    components = Configuration.of("interleaved").agent["components"]
    for agent, heuristic, component in zip(choices[::2], choices[1::2], components, strict=True):
        names = [choice["name"] for choice in (agent, heuristic) if choice]
        boost = f", boost {agent['boost']}" if "boost" in agent else ""
        after = f", after {component['after']:,} of work" if "after" in component else ""
        found.append(["/".join(names) + boost + after, f"{component['share']:g}"])
    assert [row[:2] for row in COMPONENTS] == found
    boosts = [one["agent"]["boost"] for one in components if "boost" in one["agent"]]
    alone = Configuration.of("lazy", "h_ff").agent["boost"]
    assert [f"`agent.boost` turns in a row ({alone}; in the default search {boost})" in WORDS for boost in boosts] == [
        True
    ] * 2
