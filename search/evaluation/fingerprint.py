"""A hash of all that the outcome of a search depends on."""

from __future__ import annotations

import functools
import glob
from collections.abc import Iterable, Iterator, Mapping
from importlib.util import find_spec
from inspect import getsourcefile
from pathlib import Path
from typing import Any

from epigym.config.targets import TARGET, find
from epigym.errors import UsageError
from epigym.io.checksummed import digest
from search.evaluation.suites import Problem
from search.heuristics.learned import list_models
from search.planning.configuration import Configuration

_SOURCES = {
    "epigym": (
        "*.py",
        *(f"{name}/**/*.py" for name in ("config", "encoding", "features", "language", "reference", "space", "task")),
    ),
    "search": ("heuristics/**/*.py", "agents/**/*.py", "planning/**/*.py", "processes/**/*.py"),
    "learn": ("models/**/*.py",),
}
"""The sources that a search may run, by package; the built core counts as well."""


def hash_dependencies(content: str, problem: Problem, configuration: Configuration, settings: Mapping[str, Any]) -> str:
    """The hash of the content of a problem, its reading, the configuration, its files, the settings and the program.

    Args:
        content: `problem.digest()`.
        problem: of the search.
        configuration: of the search; the content of the files that it names is hashed, too.
        settings: limits and other settings.

    Raises:
        UsageError: when an agent or heuristic is a class that cannot be imported.
    """
    domain = problem.instance_domain  # the domain name in a problem file does not count
    choices = configuration.choices
    return digest(
        {
            "problem": content,
            "reading": [problem.reading.semantics, problem.reading.determines, problem.reading.plank_compat],
            "choices": [{key: value for key, value in choice.items() if key != "label"} for choice in choices],
            "files": [_digest_files(sorted({*_find_files(choice, domain)})) for choice in choices],
            "settings": settings,
            "program": digest_program(),
        }
    )


def _find_files(choice: Mapping[str, Any], domain: str | None) -> Iterator[Path]:
    """The files that an agent or heuristic may read for a problem of a domain; None is any domain."""
    for value in choice.values():
        if isinstance(value, str):
            pattern = glob.escape(value).replace("{domain}", "*" if domain is None else glob.escape(domain))
            yield from filter(Path.is_file, map(Path, glob.glob(pattern)))
    yield from filter(Path.is_file, list_models(choice, domain))
    if isinstance(own := choice.get(TARGET), type):
        raise UsageError(
            f"{own.__name__} is a class of a script or of a function, whose changes records do not notice: "
            "move it to a module"
        )
    if own is not None:
        yield Path(str(getsourcefile(find(own))))


def _digest_files(files: Iterable[Path]) -> list[str]:
    return [digest(path.read_bytes()) for path in files]


@functools.cache
def digest_program() -> list[str]:
    """The digests of the program files, computed once."""
    return _digest_files(list_program_files())


def list_program_files() -> list[Path]:
    """The built core and the sources that a search may run."""
    return [_find_origin("epigym._core")] + [
        path
        for package, patterns in _SOURCES.items()
        for pattern in patterns
        for path in sorted(_find_origin(package).parent.glob(pattern))
    ]


def _find_origin(module: str) -> Path:
    spec = find_spec(module)
    assert spec is not None
    return Path(str(spec.origin))
