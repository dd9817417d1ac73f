"""Path finding under destination uncertainty: agents go to places that only they know they have to go to.

Source: B. Nebel, T. Bolander, T. Engesser and R. Mattmüller, "Implicitly Coordinated Multi-Agent Path Finding under
Destination Uncertainty: Success Guarantees and Computational Complexity", Journal of Artificial Intelligence Research
64 (2019). Agents move on a graph, one at a time, from node to free node. Each knows its own destination, and of the
others only which ones are possible. An agent that has arrived says so, and stays.

Modelled: worlds say where agents have to go, and all moves are seen. All shall have arrived, so that everybody knows
all destinations.

Departures: a plan is made for all, agents do not have to find their parts of it by themselves. In the sensing version
destinations are open, and agents are asked at a possible destination whether they have arrived. No linear plan does
that, because arrived agents stay; going to the possible destinations in turn does.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from itertools import pairwise, product
from typing import Any

from tests.unknown.text import declare_spoken_type, state_count, write_problem

SIZES: dict[str, dict[str, Any]] = {
    "small": {"agents": 2, "rows": 2, "columns": 3},
    "medium": {"agents": 3, "rows": 3, "columns": 3},
    "large": {"agents": 5, "rows": 5, "columns": 5},
}


def write(sensing: bool, agents: int, rows: int, columns: int) -> str:
    """Agents start in the first row of a grid; each has two possible destinations, and has to go to the first.

    Args:
        sensing: whether destinations are open.
        agents: how many, at most as many as columns.
        rows: of the grid.
        columns: of the grid.
    """
    nodes, ends = _list_nodes(rows, columns), list_ends(agents, rows, columns)
    asked = "answer (arrives ?i ?v) (passes ?i ?v)" if sensing else "public (arrives ?i ?v)"
    return write_problem(
        "destinations",
        action_types=[declare_spoken_type(sensing), *([declare_spoken_type(False)] if sensing else [])],
        domain=f"""
        (:types node)
        (:predicates (at ?i - agent ?v - node) (end ?i - agent ?v - node) (arrived ?i - agent)
            (:fact linked ?v ?w - node) (:fact possible ?i - agent ?v - node))
        (:event moves :parameters (?i - agent ?v ?w - node)
            :precondition (and (at ?i ?v) (not (arrived ?i)) (forall (?j - agent) (not (at ?j ?w))))
            :effects (:and (at ?i ?w) (not (at ?i ?v))))
        (:event arrives :parameters (?i - agent ?v - node)
            :precondition (and (at ?i ?v) (end ?i ?v)) :effects (arrived ?i))
        (:event passes :parameters (?i - agent ?v - node) :precondition (and (at ?i ?v) (not (end ?i ?v))))
        (:action move :parameters (?i - agent ?v ?w - node | (linked ?v ?w))
            :action-type (public (moves ?i ?v ?w)) :observability-conditions (default Full))
        (:action {"ask" if sensing else "arrive"} :parameters (?i - agent ?v - node | (possible ?i ?v))
            :action-type ({asked}) :observability-conditions (default Full))
        """,
        objects={"node": nodes},
        agents={"agent": list(ends)},
        facts=[
            *(f"(linked {one} {other})" for one in nodes for other in _list_neighbours(one, rows, columns)),
            *(f"(possible {agent} {node})" for agent, own in ends.items() for node in own),
        ],
        init=[
            *(f"(end {agent} {own[0]})" for agent, own in ends.items() if not sensing),
            *(
                f"([C. All] {f'(at {agent} {node})' if node == start else f'(not (at {agent} {node}))'})"
                for agent, start in zip(ends, nodes, strict=False)
                for node in nodes
            ),
            "(:forall (?i - agent) ([C. All] (not (arrived ?i))))",
            "(:forall (?i - agent ?v - node | (not (possible ?i ?v))) ([C. All] (not (end ?i ?v))))",
            *(
                line
                for agent, own in ends.items()
                for line in state_count(1, [f"(end {agent} {node})" for node in own])
            ),
            "(:forall (?i - agent ?v - node) ([C. All] ([Kw. ?i] (end ?i ?v))))",
        ],
        goals=[
            "(forall (?i - agent) (arrived ?i))",
            "(forall (?i ?j - agent ?v - node | (possible ?j ?v)) ([Kw. ?i] (end ?j ?v)))",
        ],
    )


def list_ends(agents: int, rows: int, columns: int) -> dict[str, list[str]]:
    """By agent its possible destinations: from the last nodes on, each two."""
    back = _list_nodes(rows, columns)[::-1]
    return {agent: back[2 * index : 2 * index + 2] for index, agent in enumerate("abcde"[:agents])}


def _list_neighbours(node: str, rows: int, columns: int) -> list[str]:
    row, column = int(node[1]), int(node[2])
    around = ((row - 1, column), (row, column - 1), (row, column + 1), (row + 1, column))
    return [f"v{r}{c}" for r, c in around if 1 <= r <= rows and 1 <= c <= columns]


def construct_plan(sensing: bool, agents: int, rows: int, columns: int) -> list[str] | None:
    """One agent after the other takes a shortest way to its destination."""
    if sensing:
        return None
    first = {agent: own[:1] for agent, own in list_ends(agents, rows, columns).items()}
    return visit_ends(first, rows, columns, "arrive")


def visit_ends(stops: Mapping[str, Sequence[str]], rows: int, columns: int, word: str) -> list[str]:
    """Moves that take one agent after the other to its stops, with an action at each stop."""
    where = dict(zip(stops, _list_nodes(rows, columns), strict=False))
    plan = []
    for agent, ends in stops.items():
        for end in ends:
            way = _find_way(where[agent], end, {*where.values()}, rows, columns)
            plan += [f"move_{agent}_{one}_{other}" for one, other in pairwise(way)]
            plan.append(f"{word}_{agent}_{end}")
            where[agent] = end
    return plan


def _find_way(start: str, end: str, taken: set[str], rows: int, columns: int) -> list[str]:
    """A shortest way over free nodes."""
    ways = {start: [start]}
    queue = deque([start])
    while end not in ways:
        node = queue.popleft()
        for other in _list_neighbours(node, rows, columns):
            if other not in taken and other not in ways:
                ways[other] = [*ways[node], other]
                queue.append(other)
    return ways[end]


def _list_nodes(rows: int, columns: int) -> list[str]:
    return [f"v{row}{column}" for row, column in product(range(1, rows + 1), range(1, columns + 1))]
