"""`KripkeModel`: one e-state for people to read, question and draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from epigym import _core
from epigym.errors import TaskError
from epigym.names import unknown
from epigym.task.formula import Formula
from epigym.task.packing import FormulaPacker, pack_model
from epigym.task.task import EState

if TYPE_CHECKING:
    import networkx


_PRINTED: Final = 40  # worlds, and names or worlds in one list


def _list_first(things: Sequence[object]) -> str:
    """Things in braces, as many as are printed."""
    return "{" + ", ".join([*map(str, things[:_PRINTED]), *(["…"] if len(things) > _PRINTED else [])]) + "}"


@dataclass(frozen=True, slots=True)
class KripkeModel:
    """An e-state together with the names it is about.

    Worlds are numbered from 0; models that come from a `StateSpace` are contracted and numbered in canonical
    order, so two of them from one task are equal iff the e-states are bisimilar.

    Attributes:
        fluents: names, in declared order.
        agents: names, in declared order.
        state: worlds, relations and designated worlds.

    Raises:
        TaskError: when the e-state does not fit the names.
    """

    fluents: tuple[str, ...]
    agents: tuple[str, ...]
    state: EState

    def __post_init__(self) -> None:
        """Check that the e-state speaks of these fluents and agents."""
        if len(self.state.successors) != len(self.agents):
            raise TaskError(f"the e-state has {len(self.state.successors)} relations for {len(self.agents)} agents")
        undeclared = frozenset().union(*self.state.valuations) - frozenset(self.fluents)
        if undeclared:
            raise TaskError(f"undeclared fluents in the e-state: {sorted(undeclared)}")

    @property
    def worlds(self) -> range:
        """The worlds."""
        return range(len(self.state.valuations))

    @property
    def designated(self) -> tuple[int, ...]:
        """The designated worlds, ascending; one in most tasks."""
        return self.state.designated

    def true_fluents(self, world: int) -> tuple[str, ...]:
        """The fluents true at `world`, in declared order."""
        valuation = self.state.valuations[world]
        return tuple(name for name in self.fluents if name in valuation)

    def successors(self, agent: str, world: int) -> tuple[int, ...]:
        """The worlds that `agent` considers possible at `world`, ascending.

        Raises:
            TaskError: when there is no such agent.
        """
        if agent not in self.agents:
            raise TaskError(unknown("agent", agent, self.agents))
        return tuple(sorted(self.state.successors[self.agents.index(agent)][world]))

    def perspective(self, agent: str) -> KripkeModel:
        """The e-state as `agent` sees it: the worlds it considers possible at some designated world are designated.

        `agent` believes a formula without `actually` iff the formula holds in its perspective.

        Raises:
            TaskError: when there is no such agent, or it considers no world possible and so believes everything.
        """
        seen = {world for actual in self.designated for world in self.successors(agent, actual)}
        if not seen:
            raise TaskError(f"agent {agent!r} considers no world possible: it believes everything")
        return replace(self, state=replace(self.state, designated=tuple(sorted(seen))))

    def holds(self, formula: Formula | str) -> bool:
        """Whether `formula` holds at every designated world.

        Args:
            formula: a formula, or its mA* text such as `B(ann, -B(bob, tail))`.

        Raises:
            ParseError: when the text is not a formula over the model's fluents and agents.
            TaskError: when the formula names a fluent or an agent that the model does not have.
        """
        if isinstance(formula, str):
            from epigym.language import parse_formula

            formula = parse_formula(formula, fluents=self.fluents, agents=self.agents)
        packer = FormulaPacker(self.fluents, self.agents)
        number = packer(formula)
        return _core.holds(pack_model(self.fluents, self.state), packer.lists(), number)

    def to_networkx(self) -> networkx.MultiDiGraph:
        """The model as a graph.

        Returns:
            A graph whose nodes are the worlds, with attributes `fluents` (the true ones, a tuple) and
            `designated` (bool), and whose edges carry the attribute `agent`, which is also their key.
        """
        import networkx

        graph = networkx.MultiDiGraph()
        for world in self.worlds:
            graph.add_node(world, fluents=self.true_fluents(world), designated=world in self.designated)
        for agent, rows in zip(self.agents, self.state.successors, strict=True):
            for world, successors in enumerate(rows):
                graph.add_edges_from((world, target, agent, {"agent": agent}) for target in sorted(successors))
        return graph

    def __repr__(self) -> str:
        """The size of the model; `print(model)` shows the worlds too."""
        return (
            f"<KripkeModel of {len(self.worlds)} worlds, {len(self.agents)} agents, "
            f"{len(self.fluents)} fluents, designated {list(self.designated)}>"
        )

    def __str__(self) -> str:
        """The size, and a line for each of the first worlds: `*` if designated, true fluents, successors by agent."""
        more = len(self.worlds) - _PRINTED
        lines = [repr(self), *map(self._line, self.worlds[:_PRINTED]), *([f"… {more} more worlds"] if more > 0 else [])]
        return "\n".join(lines)

    def _line(self, world: int) -> str:
        mark = "*" if world in self.designated else " "
        rows = [f"{agent} → {_list_first(self.successors(agent, world))}" for agent in self.agents]
        return f"{mark} {world}: {_list_first(self.true_fluents(world))}; {', '.join(rows)}"

    def _repr_svg_(self) -> str:
        """The picture that notebooks show."""
        from epigym.drawing import render_svg

        return render_svg(self)
