"""Formulas in the JSON layout of the official EPDDL toolkit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from epigym.errors import TaskError
from epigym.task.formula import (
    FALSE,
    TRUE,
    Formula,
    Op,
    actually,
    and_,
    believes,
    common,
    everybody,
    fluent,
    implies,
    not_,
    or_,
)

CONSTANTS: Final = frozenset({"true", "false"})


class FormulaWriter:
    """Formulas as JSON, each distinct one converted once.

    Args:
        with_actually: whether the layout has the operator `actually`, which EPDDL does not have.
    """

    def __init__(self, *, with_actually: bool = False) -> None:
        self._with_actually = with_actually
        self._known: dict[Formula, Any] = {}
        self._sizes: dict[Formula, int] = {}

    def __call__(self, formula: Formula) -> dict[str, Any]:
        """The formula as `{"formula": F}`. Raises TaskError for `actually` where the layout lacks it."""
        for node in formula.subformulas():
            if node not in self._known:
                self._known[node] = self._convert(node)
        return {"formula": self._known[formula]}

    def size(self, formula: Formula) -> int:
        """Number of nodes of the formula's tree."""
        for node in formula.subformulas():
            self._sizes[node] = 1 + sum(self._sizes[child] for child in node.children)
        return self._sizes[formula]

    def _convert(self, formula: Formula) -> Any:
        parts = [self._known[child] for child in formula.children]
        match formula.op:
            case Op.TRUE | Op.FALSE:
                return "true" if formula is TRUE else "false"
            case Op.FLUENT:
                return formula.name
            case Op.NOT:
                return {"connective": "not", "formula": parts[0]}
            case Op.AND | Op.OR:
                return {"connective": "and" if formula.op is Op.AND else "or", "formulas": parts}
            case Op.BELIEVES | Op.EVERYBODY | Op.COMMON:
                name = "C.box" if formula.op is Op.COMMON else "box"
                return {"modality-name": name, "modality-index": list(formula.agents), "formula": parts[0]}
            case _ if self._with_actually:
                return {"modality-name": "actually", "formula": parts[0]}
            case _:
                raise TaskError(f"EPDDL has no counterpart of {formula}: format=compact has one")


class FormulaReader:
    """Formulas from JSON.

    Args:
        constants: values of the atoms that never change.
        plank_compat: whether a diamond over a group is the conjunction of the agents' diamonds, as in the
            toolkit, and not the dual of the box.
    """

    def __init__(self, constants: Mapping[str, Formula], plank_compat: bool) -> None:
        self.plank_compat = plank_compat
        self._constants = {"true": TRUE, "false": FALSE, **constants}

    def __call__(self, content: Mapping[str, Any]) -> Formula:
        """The formula of `{"formula": F}`. Raises KeyError for an unknown connective or modality."""
        return self._read(content["formula"])

    def _read(self, node: Any) -> Formula:
        if isinstance(node, str):
            return self._constants.get(node) or fluent(node)
        if node.get("modality-name") == "actually":
            return actually(self._read(node["formula"]))
        if "modality-name" in node:
            agents = tuple(dict.fromkeys(node["modality-index"]))
            return self._modal(node["modality-name"], agents, self._read(node["formula"]))
        if node["connective"] == "not":
            return not_(self._read(node["formula"]))
        parts = [self._read(part) for part in node["formulas"]]
        return _CONNECTIVES[node["connective"]](*parts)

    def _modal(self, name: str, agents: tuple[str, ...], formula: Formula) -> Formula:
        kind, _, shape = name.rpartition(".")
        if shape not in ("box", "diamond") or kind not in ("", "C", "Kw"):
            raise KeyError(name)
        if shape == "diamond" and kind != "C" and self.plank_compat and len(agents) > 1:
            return and_(*(self._modal(name, (agent,), formula) for agent in agents))
        if kind == "Kw":
            known = and_(*(or_(believes(agent, formula), believes(agent, not_(formula))) for agent in agents))
            return known if shape == "box" else not_(known)
        inner = formula if shape == "box" else not_(formula)
        if kind == "C":
            box = common(agents, inner)
        else:
            box = believes(agents[0], inner) if len(agents) == 1 else everybody(agents, inner)
        return box if shape == "box" else not_(box)


_CONNECTIVES: dict[str, Callable[..., Formula]] = {"and": and_, "or": or_, "imply": implies}
