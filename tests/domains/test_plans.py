"""Plans of the domains' problems that are known: from the literature, by construction, or how long the shortest is."""

from typing import Any

import pytest

from epigym.reference.semantics import validate
from epigym.space.space import StateSpace
from search.agents import run_agent
from search.agents.breadth_first import BreadthFirst
from search.agents.result import SearchStatus
from tests.helpers.domain_problems import read, shortest_plan
from tests.helpers.marks import slow_but

PLANS = {
    "active_muddy_child/amc_03_02_clean": "ask_c2 ask_c3",
    "blocks_world/bw_05": (
        "unstack_b4_b2 put_down_b4 unstack_b2_b5 put_down_b2 pick_up_b1 stack_b1_b2 pick_up_b4 stack_b4_b1 pick_up_b5 "
        "stack_b5_b4 pick_up_b3 stack_b3_b5"
    ),
    "blocks_world/bw_3_03_2": (
        "focus_b_a focus_c_c tell_block_a_c_b2_b1 unstack_a_b2_b1 put_down_a_b2_t1 pick_up_a_b1_t1 stack_a_b1_b2 "
        "pick_up_a_b3_t1 give_a_b_b3 focus_b_b put_down_b_b3_t2"
    ),
    "blocks_world/bw_3_04_2": "",
    "blocks_world/bw_4_05_2": "focus_d_a unstack_a_b3_b1 stack_a_b3_b4",
    "blocks_world/bw_3_3_2_clumsy": (
        "focus_b_a pick_up_a_b3_t1 give_a_c_b3 focus_a_c focus_b_c focus_c_c clumsy_stack_c_b3_b2_t2"
    ),
    "cloud_scheduling/cloud_01_len03": "observe_completion_task1 validate_task1 report_task1_tenant1",
    "consecutive_numbers/cn_2_05": "doubt_b_a_n1 doubt_a_b_n2 doubt_b_a_n3",
    "gossip/g_gos_03_imp_deceived": "lie_impostor_a give_earpiece_detective_a catch_detective_impostor",
    "gossip/gos_04_imp_deceived": (
        "lie_impostor_a lie_impostor_b give_earpiece_detective_a give_earpiece_detective_b catch_detective_impostor"
    ),
    "room_messages/sc_03_04": "read_a read_b read_c",
    "room_messages/sc_04_05": "read_a read_b read_c read_d",
    "search_and_rescue/sar_01_n1_nofire": (
        "move_d1_l1_l2 move_a1_l1_l2 look_for_victim_d1_l2 report_victim_d1_l2 rescue_a1_l2"
    ),
}
"""Plans without an action in vain at their end; those of the Blocks World were found by a published planner."""

ONE_TASK = {"tasks": 1, "owners": ["tenant1"]}
AGAIN = ["(failed task1)", "(rescheduled task1)"]
ROOMS = {"agents": 2, "rooms": 10, "sense": 3, "informed": "b"}
TWO_PLACES = {"locations": 2, "starts": ["l1", "l1", "l1"], "victim": "l2"}
MISSED = ["B(b, sa)", "-B(c, sa)", "at_b_3"]
THIRD = {"goals": ["([c] ([Kw. b] (secret a)))"]}
LENGTHS: list[tuple[str, dict[str, Any], int | None]] = [
    *(("active_muddy_child", {"muddy": ["c1", "c2", "c3", "c4"][:count]}, count - 1) for count in (2, 3, 4)),
    # All checks, all reports and the assembly; the depth of beliefs does not matter.
    *(("assembly_line", {"agents": n, "parts": m, "clear_start": True}, n * n * m + 1) for n, m in ((2, 1), (2, 2))),
    *(("assembly_line", {"agents": 3, "depth": depth}, 10) for depth in (2, "common")),
    ("blocks_world/bw_05", {}, 12),
    *((f"cloud_scheduling/cloud_0{n}_len{length:02}", {}, length) for n, length in enumerate((3, 4, 6, 9, 10), 1)),
    *(("cloud_scheduling", {**ONE_TASK, "stages": [stage]}, length)
      for stage, length in {"new": 6, "failed": 5, "scheduled": 4, "executing": 3}.items()),
    # A task is scheduled again once only, and nobody but reporter and owner notices a report.
    ("cloud_scheduling", {**ONE_TASK, "stages": ["failed"], "goals": AGAIN}, 3),
    ("cloud_scheduling", {**ONE_TASK, "stages": ["failed"], "goals": [*AGAIN, "(scheduled task1)"]}, None),
    ("cloud_scheduling", {**ONE_TASK, "goals": ["([tenant2] (completed task1))"]}, None),
    ("cloud_scheduling", {**ONE_TASK, "goals": ["([observer] ([tenant1] (completed task1)))"]}, None),
    # The first agent opens and peeks; signals bring in the others; a shout makes it common knowledge.
    *(("coin_in_the_box", {"agents": 4, "goal": goal}, n) for goal, n in {"first": 2, "last": 3, "common": 6}.items()),
    ("coin_in_the_box", {"keys": (), "goal": "first"}, None),
    ("coin_in_the_box", {"keys": (), "unlocked_for": "a", "goal": "first"}, 2),
    ("coin_in_the_box", {"keys": "b", "goal": "first"}, 2),  # b opens, a looks on and peeks
    # To the room, look, tell.
    *(("collaboration_communication", {"rooms": 6, "boxes": 1, "places": [room]}, room) for room in (4, 5, 6)),
    # Two agents exclude all numbers but the neighbours.
    *(("consecutive_numbers", {"agents": 2, "highest": highest, "zero": "ba"[n % 2], "numbers": {"b": n}}, highest - 2)
      for highest in (3, 6) for n in range(1, highest)),
    *((f"consecutive_numbers/{name}", {}, length)
      for name, length in {"cn_2_15": 8, "cn_3_10": 4, "cn_3_05": None, "cn_4_10": None}.items()),
    # The highest number must not be held.
    ("consecutive_numbers", {"agents": 3, "highest": 5, "numbers": {"a": 3, "b": 4, "c": 5}}, None),
    ("consecutive_numbers", {"agents": 3, "highest": 6, "numbers": {"a": 3, "b": 4, "c": 5}}, 2),
    # By telling n (n - 1) calls spread all secrets, by calling 2 n - 2; more about knowledge takes more calls.
    *(("epistemic_gossip", {"agents": agents}, agents * (agents - 1)) for agents in (2, 3)),
    *(("epistemic_gossip", {"agents": agents, "protocol": "call"}, 2 * agents - 2) for agents in (2, 3)),
    *(("epistemic_gossip", {"agents": 2, "depth": depth}, 2) for depth in (1, 2, 7)),
    ("epistemic_gossip", {"agents": 3, "depth": 2}, None),
    ("epistemic_gossip", {"agents": 3, "protocol": "call", "depth": 2}, 5),
    *(("gossip", {"kind": kind, **parameters}, length) for kind in ("basic", "private") for parameters, length in (
        ({"agents": 2}, 2),
        ({"agents": 3}, 6),
        ({"agents": 3, "shared": ["ac", "ca", "cb"]}, 3),
        ({"agents": 3, "goal": "single"}, 2),
        ({"agents": 4, "goal": "single", "learner": "b", "shared": ["bd", "ab"]}, 2),
    )),
    # Only calls that are noticed tell a third one who knows.
    ("gossip", {"kind": "basic", **THIRD}, 1),
    ("gossip", {"kind": "private", **THIRD}, None),
    *(("gossip", {"agents": agents, "kind": "deceived"}, agents - 2) for agents in (3, 4, 5)),
    *((f"grapevine/3_pl_{level}", {}, level) for level in range(2, 8)),
    ("grapevine", {"rooms": 3, "goals": MISSED}, 4),  # both one step on, the secret, b one more
    ("grapevine", {"rooms": 2, "goals": MISSED[:2]}, 2),  # c leaves, and a speaks
    ("grapevine", {"noticed": False, "goals": ["at_a_2", "B(b, at_a_1)"]}, 1),
    ("grapevine", {"noticed": True, "goals": ["at_a_2", "B(b, at_a_2)"]}, 1),
    *((f"room_messages/sc_{agents:02}_{agents + 1:02}", {}, agents) for agents in (3, 4)),
    ("room_messages", {"agents": 2, "rooms": 2, "places": [2, 2], "informed": "a"}, 2),  # nothing to read on the right
    *((f"search_and_rescue/sar_{name}", {}, n) for name, n in (("01_n1_nofire", 5), ("02_n2_nofire", 7))),
    ("search_and_rescue/sar_03_n1_fire", {}, 7),
    ("search_and_rescue", {**TWO_PLACES, "fires": ["l2"]}, 9),
    ("search_and_rescue", {"unknown": True, "locations": 2}, None),
    *(("search_and_rescue", {"locations": 4, "shape": shape, "starts": ["l1"] * 3, "goals": ["(at d1 l4)"]}, steps)
      for shape, steps in {"line": 3, "ring": 1, "star": 1}.items()),
    # To room 3, sense, to the room next to the hearer, shout.
    *(("selective_communication", {**ROOMS, "positions": [place]}, place) for place in (6, 8, 10)),
]  # fmt: skip
LARGE: list[tuple[str, dict[str, Any], int | None]] = [
    ("blocks_world/bw_4_05_2", {}, 3),
    ("epistemic_gossip", {"agents": 4}, 12),
    ("epistemic_gossip", {"agents": 4, "protocol": "call"}, 6),
]
"""Those whose search takes more than 0.1 s."""

SOLVABLE: list[tuple[str, list[dict[str, Any]]]] = [
    ("active_muddy_child", [{"children": 3}, {"children": 3, "certain": False}, {"children": 3, "wise": "c3"}]),
    ("blocks_world", [
        {},
        {"tier": "several", "blocks": 3, "agents": 2, "worlds": 3, "wanted": 2},
        {"tier": "clumsy", "blocks": 3, "agents": 2},
    ]),
    ("cloud_scheduling", [{}, {"tasks": 1, "tenants": 1}, {"tenants": 3, "confirmed": True, "private": False}]),
    ("consecutive_numbers", [
        {"agents": agents, "highest": highest} for agents, highest in ((2, 3), (2, 8), (3, 4), (3, 7), (4, 7), (5, 9))
    ]),
    ("gossip", [
        *({"agents": 2}, {"agents": 3}, {"agents": 3, "goal": "single"}),
        {"agents": 3, "kind": "private", "goal": "single"},
        {"agents": 3, "kind": "deceived", "goal": "impostor"},
        {"agents": 4, "kind": "deceived"},
    ]),
    ("room_messages", [{}, {"rooms": 3, "excluded": "b"}, {"rooms": 2, "depth": 3}, {"misjudged": True}]),
    ("search_and_rescue", [
        {}, {"goal": "find", "drones": 2}, {"locations": 4, "shape": "star", "goal": "find"}, {"noticed": False},
    ]),
]  # fmt: skip
"""Domains whose sampled problems have plans, with parameters."""


@pytest.mark.parametrize("name", PLANS)
def test_a_known_plan_reaches_the_goal(name: str) -> None:
    task, plan = read(name), PLANS[name].split()
    assert validate(task, plan).valid
    assert not plan or not validate(task, plan[:-1]).valid


@pytest.mark.parametrize(
    "known", [pytest.param(LENGTHS, id="small"), pytest.param(LARGE, id="large", marks=pytest.mark.slow)]
)
def test_the_shortest_plan_is_as_long_as_known(known: list[tuple[str, dict[str, Any], int | None]]) -> None:
    wrong = []
    for name, parameters, length in known:
        plan = shortest_plan(read(name, **parameters))
        found = None if plan is None else len(plan)
        if found != length:
            wrong.append((name, parameters, found, length))
    assert wrong == []


@pytest.mark.parametrize("seeds", slow_but([1, 4], 1))
@pytest.mark.parametrize(("domain", "parameters"), [(domain, one) for domain, rows in SOLVABLE for one in rows])
def test_drawn_problems_have_plans_and_goals_that_do_not_hold_at_first(
    domain: str, parameters: dict[str, Any], seeds: int
) -> None:
    for seed in range(seeds):
        space = StateSpace(read(domain, **parameters, seed=seed))
        assert not space.is_goal([0])[0]
        result = run_agent(BreadthFirst(), space)
        assert result.status is SearchStatus.SOLVED
        assert validate(space.task, result.plan or ()).valid
