"""Errors go from one process to another: they can be pickled and copied."""

import copy
import inspect
import multiprocessing
import pickle
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

from domains.checks import DomainError
from epigym.errors import EpigymError, ParseError
from epigym.problem import load_problem
from tests.helpers.benchmark_files import ROOT
from tests.helpers.imports import PACKAGES, name_of

_MODULES = [
    name_of(path.relative_to(ROOT))
    for package in PACKAGES
    for path in sorted((ROOT / package).rglob("*.py"))
    if re.search(r"(?m)^class \w+Error\b", path.read_text(encoding="utf-8"))
]
CLASSES = [
    kind
    for module in map(import_module, _MODULES)
    for kind in vars(module).values()
    if isinstance(kind, type) and issubclass(kind, Exception) and kind.__module__ == module.__name__
]
COPIES: list[Callable[[Exception], Exception]] = [
    lambda error: pickle.loads(pickle.dumps(error)),
    copy.copy,
    copy.deepcopy,
]


def make(kind: type[Exception]) -> Exception:
    """An error with a text or a number for every argument of its constructor."""
    if "__init__" not in vars(kind):
        return kind("what is wrong, and the remedy")
    parameters = inspect.signature(kind).parameters.values()
    return kind(**{one.name: 3 if one.annotation == "int" else f"some {one.name}" for one in parameters})


def test_every_error_is_tried() -> None:
    assert {ParseError, DomainError} <= set(CLASSES)
    assert {kind for base in (EpigymError, DomainError) for kind in list_subclasses(base)} <= set(CLASSES)


def list_subclasses(kind: type[Exception]) -> list[type[Exception]]:
    """The imported subclasses of our packages, at all depths."""
    below = [one for child in kind.__subclasses__() for one in (child, *list_subclasses(child))]
    return [one for one in below if one.__module__.partition(".")[0] in PACKAGES]


@pytest.mark.parametrize("duplicate", COPIES)
@pytest.mark.parametrize("kind", CLASSES)
def test_a_copy_of_an_error_says_the_same(kind: type[Exception], duplicate: Callable[[Exception], Exception]) -> None:
    error = make(kind)
    error.add_note("a note")
    found = duplicate(error)
    assert (type(found), str(found), found.args, vars(found)) == (kind, str(error), error.args, vars(error))


def test_a_pool_of_processes_raises_the_error_of_a_problem(tmp_path: Path) -> None:
    bad = tmp_path / "bad.txt"
    bad.write_text("rubbish (\n")
    with multiprocessing.get_context("spawn").Pool(1) as pool, pytest.raises(ParseError) as caught:
        pool.map_async(load_problem, [str(bad)]).get(timeout=60)
    with pytest.raises(ParseError) as direct:
        load_problem(str(bad))
    assert str(caught.value) == str(direct.value)
