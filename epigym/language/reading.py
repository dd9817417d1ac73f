"""How a problem file is read, where its language has several readings."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields, replace
from typing import Literal, Self, get_args

from epigym.errors import UsageError
from epigym.names import unknown

Semantics = Literal["default", "efp", "update_model"]
SEMANTICS: tuple[Semantics, ...] = get_args(Semantics)
Determines = Literal["formula", "literals"]
_COMMENTS = re.compile(r"(?:\s*%[^\n]*\n?)*")
_LINE = re.compile(r"^\s*% To be read with (\w+=\w+(?: \w+=\w+)*)\.[ \t\r]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Reading:
    """How a problem file is read.

    Attributes:
        semantics: of mA*: `default`; `efp`, where a false announcement acts like sensing, and fluents that the
            `initially` statements leave open are false in the actual world; or `update_model`, where observers also
            learn that the action was executable. None is what the file says (`settle`), else `default`.
        determines: what the observers of an mA* action learn that determines several literals: with `formula` whether
            all of them hold, with `literals` whether each one holds. None is what the file says, else `formula`, with a
            warning.
        domain_file: the domain of an EPDDL problem, if it is not in the problem's file.
        libraries: the action-type libraries of an EPDDL problem; one name is a list of one.
        plank_compat: whether to read EPDDL as its official toolkit does, see `epigym.language.epddl`.

    Raises:
        UsageError: when `semantics` or `determines` has another value.
    """

    semantics: Semantics | None = None
    determines: Determines | None = None
    domain_file: str | None = field(default=None, metadata={"exists": True})
    libraries: tuple[str, ...] = ()
    plank_compat: bool = False

    def __post_init__(self) -> None:
        """Check the values, and take one library for a list of one."""
        if self.semantics is not None and self.semantics not in SEMANTICS:
            raise UsageError(unknown("semantics", self.semantics, SEMANTICS))
        if self.determines is not None and self.determines not in get_args(Determines):
            raise UsageError(unknown("determines", self.determines, get_args(Determines)))
        libraries = (self.libraries,) if isinstance(self.libraries, str) else tuple(self.libraries)
        object.__setattr__(self, "libraries", libraries)

    def describe(self) -> str:
        """The settings of mA* that differ from their defaults, as on the command line."""
        given = {name: getattr(self, name) for name in OF_MASTAR}
        return " ".join(f"{name}={value}" for name, value in given.items() if value not in ("default", None))

    def state(self) -> str:
        """The comment in mA* that tells the settings that differ from their defaults; empty if there are none."""
        needed = self.describe()
        return f"% To be read with {needed}." if needed else ""

    def settle(self, text: str, file: str) -> Self:
        """The reading of a text in mA*, whose first comments may tell settings as `state` writes them.

        Raises:
            UsageError: when the text tells an unknown setting or value, or another value than this reading gives.
        """
        lines = _LINE.findall(_COMMENTS.match(text)[0])  # type: ignore[index]  # it matches the empty text
        told = dict(word.split("=") for line in lines for word in line.split())
        where = f"{file} is to be read with {' '.join(lines)}, as its first line says"
        for name, value in told.items():
            if name not in OF_MASTAR:
                raise UsageError(f"{where}: {unknown('setting', name, OF_MASTAR)}")
            if (given := getattr(self, name)) not in (None, value):
                raise UsageError(f"{where}: leave out {name}={given}")
        try:
            return replace(self, **told)
        except UsageError as error:
            raise UsageError(f"{where}: {error}") from None


OF_MASTAR = ("semantics", "determines")
"""The names of the attributes that a text in mA* may tell itself."""
READING = tuple(entry.name for entry in fields(Reading))
"""The names of its attributes, which are settings of commands."""
