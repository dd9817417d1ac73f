"""Where the project lies, whether its packages are the ones that are imported, and what its extras install."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from epigym.errors import EpigymError, MissingError

PLACE = Path(__file__).resolve().parents[2]
"""The folder of `epigym`, beside which `conf`, `domains`, `learn` and `search` lie."""

EXTRAS = {
    "pettingzoo": "agents",
    "matplotlib": "draw",
    "pygraphviz": "draw",
    "onnx": "export",
    "onnxruntime": "export",
    "onnxscript": "export",
    "jinja2": "learn",
    "lightning": "learn",
    "safetensors": "learn",
    "scipy": "learn",
    "tensorboard": "learn",
    "torch": "learn",
    "torch_geometric": "learn",
    "torchmetrics": "learn",
    "minari": "offline",
    "sb3_contrib": "rl",
    "stable_baselines3": "rl",
    "hydra_joblib_launcher": "sweep",
    "hydra_submitit_launcher": "sweep",
    "submitit": "sweep",
    "flask": "web",
    "werkzeug": "web",
}
"""Packages that are not needed everywhere, with the extra of `pyproject.toml` that installs each."""


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
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        raise MissingError(needs(package)) from None


def needs(package: str) -> str:
    """What is said when a package of `EXTRAS` is not installed."""
    return f"needs {package.replace('_', '-')}: pip install 'epigym[{EXTRAS[package]}]'"
