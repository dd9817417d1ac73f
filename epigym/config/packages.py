"""Where the project lies, whether its packages are the ones that are imported, and which extra installs a package."""

from __future__ import annotations

import gc
import json
import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

from epigym.errors import EpigymError, MissingError

PLACE = Path(__file__).resolve().parents[2]
"""The folder of `epigym`, beside which `conf`, `domains`, `learn` and `search` lie."""
_import_seconds = 0.0


def check_place(*names: str) -> None:
    """Refuse packages of others that hide ours.

    Args:
        names: of packages beside `epigym`.

    Raises:
        EpigymError: naming the path of such a package and the remedy.
    """
    for name in names:
        spec = find_spec(name)
        if spec is not None and spec.origin is not None and Path(spec.origin).resolve().parent != PLACE / name:
            raise EpigymError(
                f"{Path(spec.origin).parent} hides the package {name!r} of epigym, which lies in {PLACE}: "
                "rename it, or start from another folder"
            )


@contextmanager
def extras() -> Iterator[None]:
    """Say how to install a package of an extra that an import in this block, or in a function so decorated, misses.

    Raises:
        MissingError: naming the package and the extra.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        explained = missing((error.name or "").partition(".")[0])
        if explained is None:
            raise
        raise explained from None


@contextmanager
def slow_imports() -> Iterator[None]:
    """Import packages that take seconds in this block; `count_import_seconds` counts its time.

    Garbage collection stops meanwhile, as imports leave no garbage.
    """
    global _import_seconds
    start, collects = perf_counter(), gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
        _import_seconds += perf_counter() - start


def count_import_seconds() -> float:
    """The seconds that this process has spent in `slow_imports`."""
    return _import_seconds


def missing(package: str) -> MissingError | None:
    """The error for a package that is not installed, by the name of its module; None where no extra installs it."""
    from importlib.metadata import distribution  # takes longer to import than this package

    name, installed = package.replace("_", "-"), distribution("epigym")
    found = (re.fullmatch(rf"{re.escape(name)}\W.*extra == \"(\w+)\"", one) for one in installed.requires or ())
    extra = next((one[1] for one in found if one), None)
    if extra is None:
        return None
    source = json.loads(installed.read_text("direct_url.json") or "{}")
    return MissingError(f"needs {name}: {_format_install(extra, source)}")


def _format_install(extra: str, source: Mapping[str, Any]) -> str:
    """The command that installs an extra.

    Args:
        extra: its name.
        source: `direct_url.json` of the installation (PEP 610), empty for one from an index.
    """
    if source.get("dir_info", {}).get("editable"):
        place = "." if Path.cwd() == PLACE else PLACE
        return f"pip install -e {shlex.quote(f'{place}[{extra}]')}"
    origin = f" @ {source['url']}" if source else ""
    return f"pip install {shlex.quote(f'epigym[{extra}]{origin}')}"
