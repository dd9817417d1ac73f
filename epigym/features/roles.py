"""The roles of fluents, and of agents with fluents, in actions and in the goal.

A role is a text such as `needed B+`: what happens with a formula (`needed`), the modalities above the fluent in it
(`B`), and the fluent's sign (`+`). The role of an agent also has the depth of its modality: `needed 1 of B+`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from epigym.task.formula import TRUE, Formula, Op
from epigym.task.task import Action

LETTERS = {Op.BELIEVES: "B", Op.EVERYBODY: "E", Op.COMMON: "C", Op.ACTUALLY: ""}
"""The modalities as they stand in texts."""
_LONGEST = 3  # modalities of a path that are distinguished


class Use(NamedTuple):
    """An occurrence of a fluent in a formula.

    Attributes:
        fluent: its name.
        path: the modalities above it, with `!` where negated, then its sign; `|` where some disjunction is above.
        groups: the agents of each modality, the outermost first.
    """

    fluent: str
    path: str
    groups: tuple[tuple[str, ...], ...]


@cache
def find_uses(formula: Formula) -> frozenset[Use]:
    """The occurrences of fluents in a formula."""
    return frozenset(_walk(formula.negation_normal_form(), "", (), False))


def _walk(node: Formula, path: str, groups: tuple[tuple[str, ...], ...], either: bool) -> Iterator[Use]:
    inner = node.unnegated
    sign = "!" if node.op is Op.NOT else ""
    if inner.op is Op.FLUENT:
        yield Use(inner.name, ("|" if either else "") + path + ("-" if sign else "+"), groups)
    elif inner.op in LETTERS:
        longer = path + sign + LETTERS[inner.op] if len(groups) < _LONGEST else path
        below = groups if inner.op is Op.ACTUALLY else (*groups, inner.agents)
        yield from _walk(inner.children[0], longer, below, either)
    else:
        for child in inner.children:
            yield from _walk(child, path, groups, either or inner.op is Op.OR)


@dataclass(slots=True)
class Roles:
    """The roles of fluents, and of pairs of an agent and a fluent."""

    fluent: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    pair: defaultdict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))

    def add(self, role: str, formula: Formula) -> None:
        """Add the roles that a formula with a role of its own gives to its fluents and agents."""
        for use in find_uses(formula):
            self.fluent[use.fluent].add(f"{role} {use.path}")
            for depth, group in enumerate(use.groups[:_LONGEST], start=1):
                for agent in group:
                    self.pair[agent, use.fluent].add(f"{role} {depth} of {use.path}")

    @classmethod
    def of_goal(cls, goal: Iterable[Formula]) -> Roles:
        """The roles in the subgoals."""
        roles = cls()
        for subgoal in goal:
            roles.add("goal", subgoal)
        return roles

    @classmethod
    def of_actions(cls, actions: Iterable[Action]) -> Roles:
        """The roles in actions; equal formulas in equal places are read once."""
        roles = cls()
        read: set[tuple[str, Formula]] = set()

        def add(role: str, formula: Formula) -> None:
            if formula is not TRUE and (role, formula) not in read:
                read.add((role, formula))
                roles.add(role, formula)

        for action in actions:
            add("needed", action.applicability)
            told = "sensed" if len(action.designated) > 1 else "needed"
            for number, event in enumerate(action.events):
                happens = number in action.designated
                add(told if happens else "imagined", event.precondition)
                for effect in event.effects:
                    changed = ("added" if effect.value else "deleted") + ("" if effect.condition is TRUE else " if")
                    roles.fluent[effect.fluent].add(changed if happens else f"imagined {changed}")
                    add("decides", effect.condition)
            for conditions in action.observability:
                for condition, _ in conditions:
                    add("observed", condition)
        return roles
