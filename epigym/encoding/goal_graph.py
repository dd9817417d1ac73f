"""The goal part of the graphs with identifiers: nodes, edges and their numbers, see `epigym.encoding.encoder`."""

from __future__ import annotations

from dataclasses import dataclass, field

from epigym.errors import LimitError
from epigym.task.formula import Formula, Op
from epigym.task.task import Task

MAX_LABEL = 255
"""Largest edge label: labels reach the network as `label / 255`."""

EPSILON, GOAL_ROOT, FIRST_AGENT = 1, 2, 3
GOAL_LABEL, DESIGNATED_LABEL, FIRST_AGENT_LABEL = 1, 2, 3

_KINDS = (Op.NOT, Op.AND, Op.OR, Op.BELIEVES, Op.EVERYBODY, Op.COMMON, Op.TRUE, Op.FALSE, Op.ACTUALLY)


@dataclass(frozen=True, slots=True)
class GoalGraph:
    """The goal part of a task's graphs, before identifiers become bits.

    Attributes:
        nodes: identifiers of the nodes, ascending; node 0 is epsilon.
        edges: (source, target, label) of every edge, nodes named by identifier.
        first_free: the first identifier that no goal-side node of the task has.
    """

    nodes: tuple[int, ...]
    edges: tuple[tuple[int, int, int], ...]
    first_free: int


def goal_graph(task: Task) -> GoalGraph:
    """The goal part of the graphs of `task`.

    Raises:
        LimitError: when the agents and subgoals need more than 255 edge labels.
    """
    last_label = FIRST_AGENT_LABEL + len(task.agents) + len(task.goal) - 1
    if last_label > MAX_LABEL:
        raise LimitError(
            f"the graph of {task.name!r} needs {last_label} edge labels ({len(task.agents)} agents and "
            f"{len(task.goal)} subgoals), at most {MAX_LABEL} fit: state fewer subgoals, or use a search without graphs"
        )
    builder = _GoalBuilder(task)
    builder.connect(EPSILON, GOAL_ROOT, GOAL_LABEL)
    for index, subgoal in enumerate(task.goal):
        builder.add_subgoal(subgoal.negation_normal_form(), FIRST_AGENT_LABEL + len(task.agents) + index)
    nodes = sorted({EPSILON, GOAL_ROOT}.union(*((source, target) for source, target, _ in builder.edges)))
    return GoalGraph(tuple(nodes), tuple(builder.edges), builder.next_identifier)


@dataclass(slots=True)
class _GoalBuilder:
    """Builds the goal graph depth first."""

    task: Task
    edges: list[tuple[int, int, int]] = field(default_factory=list)
    next_identifier: int = 0
    _agents: dict[str, int] = field(default_factory=dict)
    _literals: dict[tuple[str, bool], int] = field(default_factory=dict)
    _kinds: dict[Op, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        count = len(self.task.agents)
        self._agents = {agent: FIRST_AGENT + index for index, agent in enumerate(self.task.agents)}
        self._kinds = {kind: FIRST_AGENT + count + index for index, kind in enumerate(_KINDS)}
        first_literal = FIRST_AGENT + count + len(_KINDS)
        for index, name in enumerate(self.task.fluents):
            self._literals[name, True] = first_literal + 2 * index
            self._literals[name, False] = first_literal + 2 * index + 1
        self.next_identifier = first_literal + 2 * len(self.task.fluents)

    def connect(self, source: int, target: int, label: int) -> None:
        self.edges.append((source, target, label))

    def add_subgoal(self, subgoal: Formula, label: int) -> None:
        """Hang a formula in negation normal form below the goal root; equal subformulas become one node."""
        shared: dict[Formula, int] = {}

        def visit(parent: int, formula: Formula) -> None:
            known = shared.get(formula) or self._literal(formula)
            if known is not None:
                self.connect(parent, known, label)
                return
            node = shared[formula] = self.next_identifier
            self.next_identifier += 1
            self.connect(parent, node, label)
            self.connect(node, self._kinds[formula.op], label)
            for agent in formula.agents:
                self.connect(node, self._agents[agent], label)
                self.connect(self._agents[agent], node, label)
            for child in formula.children:
                visit(node, child)

        visit(GOAL_ROOT, subgoal)

    def _literal(self, formula: Formula) -> int | None:
        atom = formula.unnegated
        return self._literals[atom.name, atom is formula] if atom.op is Op.FLUENT else None
