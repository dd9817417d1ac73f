"""What each domain promises beyond the published problems."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import domains
from domains.writing import mastar
from epigym.language import parse_mastar
from epigym.space.space import StateSpace


def breadth_first(problem: str, **parameters: object) -> tuple[int | None, StateSpace]:
    """The length of a shortest plan, None when there is none."""
    space = StateSpace(parse_mastar(domains.text(problem, **parameters)))
    layer, depth = np.zeros(1, dtype=np.int32), 0
    if space.is_goal([0])[0]:
        return 0, space
    while len(layer):
        depth += 1
        step = space.expand(layer, stop_at_goal=True)
        if len(step.target) and space.is_goal(step.target[-1:])[0]:
            return depth, space
        layer = step.target[step.is_new]
    return None, space


def plan_length(problem: str, **parameters: object) -> int | None:
    return breadth_first(problem, **parameters)[0]


def test_text_is_the_same_in_every_process() -> None:
    names = [f"{domain.name}/{name}" for domain in domains.DOMAINS.values() for name in domain.instances]
    script = (
        "import domains, hashlib\n"
        "digest = hashlib.sha256()\n"
        "for domain in domains.DOMAINS.values():\n"
        "    for name in domain.instances:\n"
        "        digest.update(domains.text(f'{domain.name}/{name}').encode())\n"
        "print(digest.hexdigest())"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", script], env={"PYTHONHASHSEED": seed}, check=True, capture_output=True, text=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(names) > 100
    assert len(runs) == 1


def test_assembly_line_needs_every_check_every_report_and_the_assembly() -> None:
    for agents, parts in ((2, 1), (2, 2), (3, 1)):
        assert plan_length("assembly_line", agents=agents, parts=parts, clear_start=True) == agents**2 * parts + 1


def test_assembly_line_depth_changes_neither_plan_nor_space() -> None:
    found = {len(breadth_first("assembly_line", agents=3, depth=depth)[1]) for depth in (2, 3, 7, "common")}
    assert len(found) == 1
    assert plan_length("assembly_line", agents=3, depth="common") == 10


def test_clear_start_makes_the_initial_uncertainty_a_quarter() -> None:
    worlds = [
        len(parse_mastar(domains.text("assembly_line", clear_start=clear)).initial.valuations)
        for clear in (0 > 1, True)
    ]
    assert worlds == [16, 4]


@pytest.mark.parametrize(("goal", "length"), [("first", 2), ("last", 3), ("common", 6)])
def test_coin_in_the_box_goals_grow_with_the_agents(goal: str, length: int) -> None:
    # Four agents: the first opens and peeks; signals bring in the others; a shout makes it common knowledge.
    assert plan_length("coin_in_the_box", agents=4, goal=goal) == length


def test_coin_in_the_box_needs_a_key_somewhere() -> None:
    assert plan_length("coin_in_the_box", keys=(), goal="first") is None
    assert plan_length("coin_in_the_box", keys=(), unlocked_for="a", goal="first") == 2
    assert plan_length("coin_in_the_box", keys="b", goal="first") == 2  # b opens, a looks on and peeks


def test_collaboration_starts_with_every_box_anywhere_but_in_room_two() -> None:
    task = parse_mastar(domains.text("collaboration_communication", boxes=3, rooms=5))
    assert len(task.initial.valuations) == 4**3
    assert all("at_b1_2" not in valuation for valuation in task.initial.valuations)


def test_collaboration_plan_grows_with_the_way_to_the_box() -> None:
    # To the room, look, tell: the box is 2, 3 and 4 rooms away from the start.
    for room in (4, 5, 6):
        assert plan_length("collaboration_communication", rooms=6, boxes=1, places=[room]) == (room - 2) + 2


def test_grapevine_with_more_rooms_keeps_secrets_in_the_room() -> None:
    goals = ["B(b, sa)", "-B(c, sa)", "at_b_3"]
    assert plan_length("grapevine", rooms=3, goals=goals) == 4  # both one step on, the secret, b one more
    assert plan_length("grapevine", rooms=2, goals=goals[:2]) == 2  # c leaves, and a speaks


def test_grapevine_unnoticed_steps_leave_everybody_believing_the_old_place() -> None:
    assert plan_length("grapevine", noticed=False, goals=["at_a_2", "B(b, at_a_1)"]) == 1
    assert plan_length("grapevine", noticed=True, goals=["at_a_2", "B(b, at_a_2)"]) == 1


def test_grapevine_level_goals_grow_in_depth() -> None:
    lengths = [plan_length(f"grapevine/3_pl_{level}") for level in range(2, 8)]
    assert lengths == [2, 3, 4, 5, 6, 7]


def test_gossip_by_telling_passes_every_secret_to_everybody_else() -> None:
    for agents in (2, 3, 4):
        assert plan_length("epistemic_gossip", agents=agents) == agents * (agents - 1)


def test_gossip_by_calling_needs_fewer_calls_than_by_telling() -> None:
    # One way: 2n - 2 calls spread n secrets to everybody.
    for agents in (2, 3, 4):
        assert plan_length("epistemic_gossip", agents=agents, protocol="call") == 2 * agents - 2


def test_gossip_depth() -> None:
    for depth in (1, 2, 7):  # among two, every call makes common knowledge
        assert plan_length("epistemic_gossip", agents=2, depth=depth) == 2
    assert plan_length("epistemic_gossip", agents=3, depth=2) is None
    shallow = plan_length("epistemic_gossip", agents=3, protocol="call")
    deep = plan_length("epistemic_gossip", agents=3, protocol="call", depth=2)
    assert shallow is not None
    assert deep is not None
    assert deep > shallow


def test_selective_communication_is_heard_in_the_same_and_adjacent_rooms() -> None:
    task = domains.text("selective_communication", agents=2, rooms=6, positions=[4])
    heard = [room for room in range(1, 7) if f"b observes shout_{room};" in task]
    assert heard == [3, 4, 5]


def test_selective_communication_plan_is_walk_sense_walk_shout() -> None:
    for place in (6, 8, 10):  # to room 3, sense, to the room next to the hearer, shout
        length = plan_length("selective_communication", agents=2, rooms=10, sense=3, positions=[place], informed="b")
        assert length == 2 + 1 + (place - 1 - 3) + 1


def test_useless_actions_without_effect_multiply_successors_only() -> None:
    parameters = {"agents": 4, "rooms": 6, "sense": 3, "goals": ["B(a, -q)"]}
    _, plain = breadth_first("selective_communication", **parameters)
    _, enriched = breadth_first("selective_communication_enriched", **parameters, useless=2)
    _, toggling = breadth_first("selective_communication_enriched", **parameters, toggles=True)
    assert len(enriched) == len(plain) < len(toggling)
    every = np.arange(len(plain), dtype=np.int32)
    assert len(enriched.expand(every).target) > 3 * len(plain.expand(every).target)


@pytest.mark.parametrize(
    ("formula", "negation"),
    [
        ("p", "-p"),
        ("B(a, p)", "-B(a, p)"),
        ("-p", "-(-p)"),
        ("p, r", "-(p, r)"),
        ("(p | r)", "-((p | r))"),
        ("B(a, p), B(b, p)", "-(B(a, p), B(b, p))"),
        ("B(a, p) | B(b, p)", "-(B(a, p) | B(b, p))"),
    ],
)
def test_negation_covers_the_whole_formula(formula: str, negation: str) -> None:
    assert mastar.not_(formula) == negation


def test_lines_stay_short_enough_to_read() -> None:
    for domain in domains.DOMAINS.values():
        longest, comment = (100, "% ") if domain.language == "mA*" else (120, ";; ")
        for name, parameters in domain.instances.items():
            lines = domain.text(parameters).splitlines()
            assert max(map(len, lines)) <= longest, name
            assert lines[0].startswith(comment)
