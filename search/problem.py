"""The problem that a configuration names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from omegaconf.errors import MissingMandatoryValue

from epigym.problem import load_problem
from epigym.task import Task


def configured_task(values: Mapping[str, Any]) -> Task:
    """The task of the values `problem` or `spec`, with those that say how to read it.

    Args:
        values: the arguments of `epigym.problem.load_problem` by name, among other values.

    Raises:
        MissingMandatoryValue: when neither a problem nor a specification is named.
        EpigymError: when the problem is wrong, or the values do not go together.
    """
    if values["problem"] is None and values["spec"] is None:
        raise MissingMandatoryValue("Missing mandatory value: problem (or spec)")
    return load_problem(
        values["problem"],
        values["semantics"],
        domain_file=values["domain_file"],
        libraries=values["libraries"],
        spec=values["spec"],
        plank_compat=values["plank_compat"],
    )
