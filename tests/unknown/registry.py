"""The problems of the unknown domains: tests only, nothing is trained, tuned or chosen on them.

A module of `tests/unknown/domains` has three names: `SIZES` maps sizes, or versions and sizes, to parameters, `write`
gives the EPDDL text for them, and `construct_plan` a linear plan that is known by construction, or None.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from epigym.language import parse_epddl
from epigym.task.task import Task
from tests.unknown import domains

DOMAINS = tuple(module.name for module in iter_modules(domains.__path__))
VERSIONS = ("linear", "sensing")
"""One initial designated world, or several of them and actions with open outcomes."""
SIZES = ("small", "medium", "large")


@dataclass(frozen=True)
class Problem:
    """One problem, by its domain, version and size."""

    domain: str
    version: str
    size: str

    @property
    def name(self) -> str:
        """Such as `hats/linear/small`."""
        return f"{self.domain}/{self.version}/{self.size}"

    @property
    def parameters(self) -> dict[str, Any]:
        """The size, which may depend on the version."""
        sizes = self._module.SIZES
        found: dict[str, Any] = sizes.get(self.version, sizes)[self.size]
        return found

    def write(self) -> str:
        """Library, domain and problem in EPDDL."""
        text: str = self._module.write(self.version == "sensing", **self.parameters)
        return text

    def read(self) -> Task:
        """The ground task; a warning about the text is an error."""
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return parse_epddl(self.write(), file=self.name)

    def construct_plan(self) -> Sequence[str] | None:
        """A linear plan that is known by construction, or None."""
        plan: list[str] | None = self._module.construct_plan(self.version == "sensing", **self.parameters)
        return plan

    @property
    def _module(self) -> Any:
        return import_module(f"{domains.__name__}.{self.domain}")


PROBLEMS = tuple(Problem(domain, version, size) for domain in DOMAINS for version in VERSIONS for size in SIZES)
