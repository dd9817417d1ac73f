"""Where the project lies, and whether its packages are the ones that are imported."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from epigym.errors import EpigymError

PLACE = Path(__file__).resolve().parents[1]
"""The folder of `epigym`, beside which `conf`, `domains`, `learn` and `search` lie."""


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
