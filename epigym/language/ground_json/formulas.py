"""Formulas in the JSON layout of the official EPDDL toolkit."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from epigym.errors import TaskError
from epigym.language.modalities import make_modal
from epigym.task.formula import FALSE, TRUE, Formula, Op, actually, and_, fluent, implies, not_, or_

CONSTANTS: Final = frozenset({"true", "false"})


def format_keys(place: Iterable[str]) -> str:
    """Format the keys that lead to a part of the layout, as in `['actions']['a']`."""
    return "".join(f"[{key!r}]" for key in place)


class FormulaWriter:
    """Converts formulas to JSON, each distinct formula once.

    Args:
        compact: whether the layout is the compact one, which has operators that EPDDL lacks: `actually`, and `E.box`
            for everybody of a group of one agent.
    """

    def __init__(self, *, compact: bool = False) -> None:
        self._compact = compact
        self._known: dict[Formula, Any] = {}
        self._sizes: dict[Formula, int] = {}

    def __call__(self, formula: Formula) -> dict[str, Any]:
        """Convert a formula to `{"formula": F}`. Raises TaskError for `actually` if the layout lacks it."""
        for node in formula.subformulas():
            if node not in self._known:
                self._known[node] = self._convert(node)
        return {"formula": self._known[formula]}

    def size(self, formula: Formula) -> int:
        """The number of nodes of the formula's tree."""
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
                is_single = self._compact and formula.op is Op.EVERYBODY and len(formula.agents) == 1
                name = "C.box" if formula.op is Op.COMMON else "E.box" if is_single else "box"
                return {"modality-name": name, "modality-index": list(formula.agents), "formula": parts[0]}
            case _ if self._compact:
                return {"modality-name": "actually", "formula": parts[0]}
            case _:
                raise TaskError(f"EPDDL has no counterpart of {formula}: format=compact has one")


class FormulaReader:
    """Reads formulas from JSON.

    Args:
        constants: values of the atoms that never change.
        plank_compat: whether a diamond over a group is the conjunction of the agents' diamonds, as in the
            toolkit, rather than the dual of the box.
    """

    def __init__(self, constants: Mapping[str, Formula], plank_compat: bool) -> None:
        self.plank_compat = plank_compat
        self._constants = {"true": TRUE, "false": FALSE, **constants}

    def __call__(self, content: Any, *place: str) -> Formula:
        """Read the formula from `{"formula": F}`, which the keys `place` lead to.

        Raises:
            ValueError: if the content has another form.
            KeyError: for an unknown connective or modality.
        """
        if not isinstance(content, dict) or "formula" not in content:
            raise ValueError(f'{format_keys(place)}: expected {{"formula": ...}}, found {reprlib.repr(content)}')
        return self._read(content["formula"])

    def _read(self, node: Any) -> Formula:
        if isinstance(node, str):
            return self._constants.get(node) or fluent(node)
        if node.get("modality-name") == "actually":
            return actually(self._read(node["formula"]))
        if "modality-name" in node:
            agents = tuple(dict.fromkeys(node["modality-index"]))
            kind, shape = _MODALITIES[node["modality-name"]]
            return make_modal(kind, shape == "box", agents, self._read(node["formula"]), one_by_one=self.plank_compat)
        if node["connective"] == "not":
            return not_(self._read(node["formula"]))
        parts = [self._read(part) for part in node["formulas"]]
        return _CONNECTIVES[node["connective"]](*parts)


_MODALITIES = {f"{kind}.{shape}".lstrip("."): (kind, shape) for kind in ("", "C", "Kw") for shape in ("box", "diamond")}
_MODALITIES["E.box"] = "E", "box"
_CONNECTIVES: dict[str, Callable[..., Formula]] = {"and": and_, "or": or_, "imply": implies}
