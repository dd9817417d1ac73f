"""How a problem file is read, where its language has several readings."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Literal, get_args

from epigym.errors import UsageError
from epigym.names import unknown

Semantics = Literal["default", "efp", "update_model"]
SEMANTICS: tuple[Semantics, ...] = get_args(Semantics)
Determines = Literal["formula", "literals"]


@dataclass(frozen=True, slots=True)
class Reading:
    """How a problem file is read.

    Attributes:
        semantics: of mA*: `default`; `efp`, where a false announcement acts like sensing, and fluents that the
            `initially` statements leave open are false in the actual world; or `update_model`, where observers also
            learn that the action was executable.
        determines: what the observers of an mA* action learn that determines several literals: with `formula` whether
            all of them hold, with `literals` whether each one holds. None is `formula`, with a warning.
        domain_file: the domain of an EPDDL problem, if it is not in the problem's file.
        libraries: the action-type libraries of an EPDDL problem; one name is a list of one.
        plank_compat: whether to read EPDDL as its official toolkit does, see `epigym.language.epddl`.

    Raises:
        UsageError: when `semantics` or `determines` has another value.
    """

    semantics: Semantics = "default"
    determines: Determines | None = None
    domain_file: str | None = field(default=None, metadata={"exists": True})
    libraries: tuple[str, ...] = ()
    plank_compat: bool = False

    def __post_init__(self) -> None:
        """Check the values, and take one library for a list of one."""
        if self.semantics not in SEMANTICS:
            raise UsageError(unknown("semantics", self.semantics, SEMANTICS))
        if self.determines is not None and self.determines not in get_args(Determines):
            raise UsageError(unknown("determines", self.determines, get_args(Determines)))
        libraries = (self.libraries,) if isinstance(self.libraries, str) else tuple(self.libraries)
        object.__setattr__(self, "libraries", libraries)

    def describe(self) -> str:
        """The settings of mA* that differ from their defaults, as on the command line."""
        given = {"semantics": self.semantics, "determines": self.determines}
        return " ".join(f"{name}={value}" for name, value in given.items() if value not in ("default", None))


READING = tuple(entry.name for entry in fields(Reading))
"""The names of its attributes, which are settings of commands."""
