"""Departures of the official toolkit `plank` (commit 802df67) from the intended meaning of EPDDL."""

from __future__ import annotations

import warnings

from epigym.errors import ProblemWarning
from epigym.language.epddl.terms import Symbol


class RequirementWarning(ProblemWarning):
    """A requirement is missing from, or useless in, a file's `:requirements`."""


class ReadingWarning(ProblemWarning):
    """The meaning of a file is doubtful: the official toolkit reads it differently, or it contradicts itself."""


# Departures that change the meaning of accepted files.
_DEPARTURES = {
    "arguments": "ignores the arguments of events and takes the action's variables of the same name",
    "inertia": "lets an atom become false when only (when c (atom)) mentions it and c is false",
    "else-if": "gives every else-if branch the conditions of other branches",
    "basic effects": "ignores the effects of actions of type basic",
    "no parameters": "drops actions without parameters",
    "group diamond": "reads a diamond over a group as the conjunction of the agents' diamonds",
    "untyped": "lets untyped quantified variables range over agents too (not reproduced by plank_compat)",
}


class Readings:
    """Collects the constructs of a specification that the toolkit reads differently.

    Attributes:
        plank_compat: whether to reproduce the toolkit's reading.
    """

    def __init__(self, plank_compat: bool) -> None:
        self.plank_compat = plank_compat
        self._places: dict[str, Symbol] = {}

    def note(self, departure: str, place: Symbol) -> None:
        """Record the first place of a departure."""
        self._places.setdefault(departure, place)

    def warn(self) -> None:
        """Warn once about all recorded departures, except with `plank_compat`."""
        if self._places and not self.plank_compat:
            clauses = [f"{_DEPARTURES[departure]} ({place.location})" for departure, place in self._places.items()]
            message = f"the official toolkit {'; it '.join(clauses)}; plank_compat=True gives its reading"
            warnings.warn(message, ReadingWarning, stacklevel=2)
