"""What is special in single domains: who notices what, what parameters change, and which policies there are."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import domains
from domains import DOMAINS, DomainError
from domains.writing import mastar
from epigym import StateSpace, TaskError
from epigym.envs.domain_env import DomainEnv
from epigym.problem import domain_problem
from epigym.reference.semantics import validate
from epigym.space.traversal import breadth_first
from tests.helpers.domain_problems import read, shortest_plan
from tests.helpers.epddl_files import Case, competition_cases
from tests.helpers.episodes import check_episodes, find_strong
from tests.helpers.equivalence import assert_same_task

SEVERAL: dict[str, Any] = {"tier": "several", "blocks": 3}
CLUMSY: dict[str, Any] = {"tier": "clumsy", "blocks": 3}


@pytest.mark.parametrize(
    ("domain", "parameters", "message"),
    [
        ("active_muddy_child", {"muddy": []}, "muddy needs at least 1"),
        ("assembly_line", {"agents": 3, "parts": 7}, "more than 1048576 worlds with agents=3, parts=7: lower agents"),
        ("blocks_world", {"start": ["b1, b2, b3, b4"] * 2}, "start must give one arrangement, got"),
        ("blocks_world", {"start": "b1 b2"}, "start must name each of b1, b2, b3, b4 once, got 'b1 b2'"),
        ("blocks_world", {**SEVERAL, "start": "b1 b2 b3"}, "start must be towers on 2 tables, such as 'b1 | b2'"),
        ("blocks_world", {**SEVERAL, "start": ["b1 | x"]}, "unknown block in start 'x'"),
        ("blocks_world", {**SEVERAL, "places": ["1"]}, "places must list one text for each of 3 agents, got ['1']"),
        ("blocks_world", {**SEVERAL, "zones": ["b1 |"]}, "zones must list one text for each of 2 worlds"),
        ("blocks_world", {"target": "b1 b1"}, "target must name blocks, each of them once, got 'b1 b1'"),
        ("blocks_world", {**SEVERAL, "start": "b1 | b2 b3", "target": "b1 |"}, "start and target leave nothing to do"),
        ("blocks_world", {**SEVERAL, "deceived": "a"}, "unknown name in deceived 'a'"),
        ("blocks_world", {**CLUMSY, "deceived": "c"}, "unknown name in deceived 'c'"),
        ("blocks_world", {**CLUMSY, "clumsy": 0}, "clumsy must be a whole number from 1 to 2, got 0"),
        ("blocks_world", {**CLUMSY, "onlookers": 2}, "onlookers must be a whole number from 0 to 1, got 2"),
        ("collaboration_communication", {"places": [1, 2]}, "places must list one of 1, 3 for each of b1, b2, got [1"),
        ("collaboration_communication", {"places": [True, 3]}, "places must list one of 1, 3 for each of b1, b2"),
        ("room_messages", {"places": [1.0, 2.0, 3.0]}, "places must list one of 1, 2, 3"),
        ("collaboration_communication", {"checks": "room", "boxes": 3}, "checks='room' takes one box for each of 2"),
        ("consecutive_numbers", {"agents": 4, "highest": 4}, "highest must be a whole number, at least 5, got 4"),
        ("consecutive_numbers", {"numbers": {"a": 7}}, "the number of a in numbers must be a whole number from 0 to 6"),
        ("consecutive_numbers", {"numbers": {"a": 4}}, "numbers gives a a number that only b may hold: 4"),
        ("consecutive_numbers", {"numbers": {"a": 0, "b": 4}}, "numbers leaves no 3 agents with consecutive numbers"),
        ("gossip", {"agents": 2, "kind": "deceived"}, "agents must be a whole number, at least 3, got 2"),
        ("gossip", {"goal": "impostor"}, "unknown goal 'impostor': expected one of 'all', 'single'"),
        ("gossip", {"kind": "deceived", "goal": "single"}, "unknown goal 'single'"),
        ("gossip", {"shared": ["aa"]}, "shared must be a list of pairs of two agents, got ['aa']"),
        ("gossip", {"kind": "deceived", "shared": [("a", "detective")]}, "unknown owner of a secret in shared"),
        ("room_messages", {"informed": "ab", "excluded": "b"}, "unknown name in informed 'b'"),
        ("room_messages", {"excluded": "abc"}, "number of excluded agents must be a whole number from 0 to 2, got 3"),
        ("search_and_rescue", {"locations": 20, "fires": [f"l{n}" for n in range(1, 18)]}, "more than 1048576 worlds"),
        ("blocks_world", {**SEVERAL, "worlds": 13}, "worlds must be a whole number from 1 to 12, got 13"),
        (
            "blocks_world",
            {**SEVERAL, "blocks": 9, "worlds": 1025},
            "more than 1048576 pairs of worlds with worlds=1025",
        ),
        (
            "grapevine",
            {"agents": 9, "rooms": 300},
            "more than 262144 statements with agents=9, rooms=300: lower agents or",
        ),
        ("selective_communication", {"depth": 101}, "more than 100 levels of a formula with depth=101: lower depth"),
        ("search_and_rescue", {"unknown": True, "victim": "l1"}, "victim cannot be given"),
        ("selective_communication", {"end": 2, "start": 3}, "start must be a whole number from 1 to 2, got 3"),
        ("selective_communication", {"positions": [1]}, "positions must list the rooms of the 2 agents other than a"),
        ("selective_communication", {"hears": ["a"]}, "hears must list the hearers in each of the 4 rooms, got ['a']"),
    ],
)
def test_what_does_not_fit_together_is_refused(domain: str, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(DomainError) as caught:
        domains.write(domain, **parameters)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("domain", "parameters", "worlds"),
    [
        ("active_muddy_child", {"children": 4}, 15),
        ("assembly_line", {"clear_start": False}, 16),
        ("assembly_line", {"clear_start": True}, 4),
        ("collaboration_communication", {"boxes": 3, "rooms": 5}, 4**3),
        ("collaboration_communication", {"boxes": 2, "rooms": 14}, 13**2),
        ("collaboration_communication", {"boxes": 1, "rooms": 100}, 99),
        *(("consecutive_numbers", {"agents": n, "highest": k}, k + 2 - n) for n, k in ((2, 3), (2, 7), (3, 6), (5, 9))),
        *(("search_and_rescue", {"locations": n, "fires": fires}, (n + 1) * 2 ** len(fires))
          for n, fires in ((2, []), (4, ["l2"]), (5, ["l1", "l4"]))),
    ],
)  # fmt: skip
def test_initial_worlds_are_what_is_not_known(domain: str, parameters: dict[str, Any], worlds: int) -> None:
    assert len(read(domain, **parameters).initial.valuations) == worlds


def test_agents_after_the_letters_are_numbered() -> None:
    assert read("selective_communication", agents=27).agents[-4:] == ("y", "z", "agent26", "agent27")
    assert read("room_messages", agents=27, rooms=2).agents[-3:] == ("y", "z", "agent27")


def test_seeds_leave_what_is_given() -> None:
    muddy = read("active_muddy_child", muddy=["c2", "c4"], seed=3)
    assert muddy.initial == read("active_muddy_child", muddy=["c2", "c4"]).initial
    sampled = read("gossip", agents=4, goal="single", learner="b", shared=["bc"], seed=2)
    assert sampled.goal == read("gossip", agents=4, goal="single", learner="b").goal
    assert sampled.initial == read("gossip", agents=4, shared=["bc"]).initial


# Grapevine and Cloud Scheduling.


def test_options_decide_the_goals() -> None:
    assert set(map(str, read("grapevine", learn="").goal)) == {"at_a_1", "at_b_1", "at_c_1"}

    def goals(**options: bool) -> set[str]:
        return set(map(str, read("cloud_scheduling", tasks=1, owners=["tenant1"], **options).goal))

    assert goals() - goals(private=False) == {"-B(tenant2, completed_task1)"}
    assert goals(confirmed=True) - goals() == {"B(reporter, B(tenant1, completed_task1))"}


# The Blocks World.


def test_goals_and_starts_of_blocks_world() -> None:
    task = domain_problem("blocks_world", blocks=3, start="b1 b3, b2", target="b2 b3")
    told = {"on_table_b1", "on_b3_b1", "on_table_b2", "clear_b3", "clear_b2", "arm_empty"}
    assert set(task.initial.valuations[0]) == told
    assert {str(goal) for goal in task.goal} == {"on_table_b2", "on_b3_b2"}
    start = ["b1 b2 | b3", "b1 | b3 b2"]
    task = domain_problem("blocks_world", **SEVERAL, start=start, zones=start)
    able = [{fluent for fluent in valuation if fluent.startswith("can_move")} for valuation in task.initial.valuations]
    assert able == [
        {"can_move_a_b1", "can_move_a_b2", "can_move_b_b3", "can_move_c_b1", "can_move_c_b2"},
        {"can_move_a_b1", "can_move_b_b3", "can_move_b_b2", "can_move_c_b1"},
    ]


@pytest.mark.parametrize(
    ("parameters", "goal"),
    [
        ({**SEVERAL, "deceived": ""}, {"C([a,b,c], on_b2_b3)"}),
        ({**SEVERAL, "deceived": "b"}, {"on_b2_b3", "B(b, on_b2_b1)", "B(c, on_b2_b3)"}),
        ({**SEVERAL, "deceived": "bc"}, {"on_b2_b3", "B(b, on_b2_b1)", "B(c, on_b2_b1)"}),
        ({**SEVERAL, "deceived": "c", "ignorant": "c"}, {"on_b2_b3", "B(b, on_b2_b3)", "-B(c, on_b2_b3)"}),
        (
            {**CLUMSY, "deceived": "b"},
            {"(on_b2_b3 | on_table_b2_t2)", "B(b, on_b2_b1)", "B(c, (on_b2_b3 | on_table_b2_t2))"},
        ),
    ],
)
def test_who_is_not_deceived_learns_of_the_new_place(parameters: dict[str, Any], goal: set[str]) -> None:
    wanted = 3 if parameters["tier"] == "several" else 1
    task = domain_problem("blocks_world", **parameters, start="b1 b2 | b3", target="| b3 b2", wanted=wanted)
    assert {str(subgoal) for subgoal in task.goal} == goal


def test_every_actor_is_an_agent_and_a_single_robot_is_not_named() -> None:
    actors = DOMAINS["blocks_world"].actors
    single = domain_problem("blocks_world", tier="single").structure
    assert set(single.actors) == {None}
    for tier in ("several", "clumsy"):
        task = domain_problem("blocks_world", tier=tier)
        used = {schema: action for schema in actors for action in task.actions if action.name.startswith(f"{schema}_")}
        assert len(used) == 7
        for schema, action in used.items():
            assert action.name.removeprefix(f"{schema}_").split("_")[actors[schema]] in task.agents


# Room Messages.


@pytest.mark.reference
@pytest.mark.parametrize(
    "case",
    [case for case in competition_cases() if case.problem.stem in ("sc-03-04", "sc-04-05")],
    ids=lambda case: case.name,
)
def test_odd_problems_are_as_published_but_for_a_relation(case: Case) -> None:
    theirs = case.ground().task
    first, second, *others = theirs.initial.successors
    assert second == (frozenset(), frozenset())
    mended = replace(theirs, initial=replace(theirs.initial, successors=(first, first, *others)))
    ours = read(f"room_messages/{case.problem.stem.replace('-', '_')}")
    assert_same_task(ours, mended, most_expanded=100, most_worlds=2_000_000)


@pytest.mark.parametrize(("misjudged", "reach"), [(False, 1), (True, 3)])
def test_how_far_a_message_is_heard(misjudged: bool, reach: int) -> None:
    # Both are together when the one reads, so that the other knows of it; then it walks away to the right.
    for steps in range(6):
        goals = ["([b] (message))", f"(at b r{steps + 1})"]
        task = read("room_messages", agents=2, rooms=6, places=[1, 1], misjudged=misjudged, goals=goals)
        assert validate(task, ["read_a", *["right_b"] * steps, "tell_a"]).valid == (steps <= reach)


def test_who_is_close_in_room_messages() -> None:
    space = StateSpace(read("room_messages", agents=2, rooms=4, places=[1, 2]))
    number = {action.name: index for index, action in enumerate(space.task.actions)}
    with pytest.raises(TaskError, match="'tell_a' is not applicable"):
        space.successor(space.successor(space.initial, number["read_a"]), number["tell_a"])
    for both_ways in (False, True):
        task = read("room_messages", agents=2, places=[2, 1], both_ways=both_ways)
        assert all("close_a_b" in valuation for valuation in task.initial.valuations)
        assert all(("close_b_a" in valuation) == both_ways for valuation in task.initial.valuations)
    task = read("room_messages", agents=4, informed="acd", excluded="b", depth=2)
    told = ["B(a, B(c, message))", "B(c, B(d, message))", "B(d, B(a, message))", "-B(b, message)"]
    assert list(map(str, task.goal)) == told


# Selective Communication.


def test_a_shout_is_heard_in_the_same_and_adjacent_rooms() -> None:
    text = domains.write("selective_communication", agents=2, rooms=6, positions=[4])
    assert [room for room in range(1, 7) if f"b observes shout_{room};" in text] == [3, 4, 5]


def test_useless_actions_without_effect_multiply_successors_only() -> None:
    def explore(name: str, **others: Any) -> StateSpace:
        space = StateSpace(read(name, agents=4, rooms=6, sense=3, goals=["B(a, -q)"], **others))
        list(breadth_first(space))
        return space

    plain = explore("selective_communication")
    enriched = explore("selective_communication_enriched", useless=2)
    assert len(enriched) == len(plain) < len(explore("selective_communication_enriched", toggles=True))
    every = np.arange(len(plain), dtype=np.int32)
    assert len(enriched.expand(every).target) > 3 * len(plain.expand(every).target)


# Policies: of muddy children whoever is muddy, and of rescuers wherever the victim is.


@pytest.mark.parametrize(("noticed", "inconsistent"), [(True, ()), (False, ("f1", "a1"))])
def test_a_report_is_incredible_when_nobody_noticed_the_search(noticed: bool, inconsistent: tuple[str, ...]) -> None:
    starts = ["l1", "l1", "l1"]
    task = read("search_and_rescue", locations=2, starts=starts, victim="l2", fires=[], noticed=noticed, goal="find")
    found = validate(task, ["move_d1_l1_l2", "look_for_victim_d1_l2", "report_victim_d1_l2"])
    assert found.valid
    assert found.inconsistent_agents == inconsistent


def test_a_known_fire_is_looked_for_reported_and_put_out() -> None:
    task = read("search_and_rescue", locations=2, starts=["l1", "l1", "l1"], victim="l2", fires=["l2"])
    fire = ["look_for_fire_d1_l2", "report_fire_d1_l2", "extinguish_f1_l2"]
    plan = shortest_plan(task) or []
    assert [step for step in plan if step in fire] == fire
    assert plan[-1] == "rescue_a1_l2"


@pytest.mark.parametrize(
    ("domain", "parameters", "designated", "outcomes"),
    [
        ("active_muddy_child", {"children": 4, "certain": False, "muddy": []}, 15, {"knows", "wonders"}),
        *(("search_and_rescue", {"unknown": True, **parameters}, places, {"sees_victim", "sees_nobody"})
          for parameters, places in (
              ({"locations": 2}, 2),
              ({"fires": []}, 3),
              ({"shape": "star", "fires": ["l2"]}, 3),
              ({"goal": "find", "starts": ["l1", "l2", "l3"]}, 3),
          )),
        pytest.param(
            "search_and_rescue",
            {"unknown": True, "locations": 4, "shape": "ring", "drones": 2, "goal": "find"},
            4, {"sees_victim", "sees_nobody"}, marks=pytest.mark.slow,
        ),
    ],
)  # fmt: skip
def test_policies_of_all_cases(domain: str, parameters: dict[str, Any], designated: int, outcomes: set[str]) -> None:
    task = read(domain, **parameters)
    assert len(task.initial.designated) == designated
    policy = find_strong(task)
    assert policy.leaves > 1
    assert outcomes <= check_episodes(policy, 20)


def test_policies_reach_random_goals() -> None:
    env = DomainEnv("search_and_rescue", locations=2, unknown=True, nature="sampled", random_goals=True)
    for seed in range(5):
        env.reset(seed=seed)
        policy = find_strong(env)
        while not env.is_goal():
            env.step(np.int64(env.action_names.index(policy.act(env.model()))))
        assert policy.depth


@pytest.mark.parametrize(
    ("formula", "negation"),
    [
        ("p", "-p"),
        ("B(a, p)", "-B(a, p)"),
        ("-p", "-(-p)"),
        ("p, r", "-(p, r)"),
        ("(p | r)", "-((p | r))"),
        ("B(a, p), B(b, p)", "-(B(a, p), B(b, p))"),
    ],
)
def test_negation_covers_the_whole_formula(formula: str, negation: str) -> None:
    assert mastar.not_(formula) == negation
