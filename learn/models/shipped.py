"""Models that come with epigym, for each domain and general ones, and model files."""

from __future__ import annotations

from pathlib import Path
from typing import Final, TypeAlias

from epigym.errors import CheckpointError, MissingError
from epigym.io.files import is_file
from learn.models.gine.model import KIND, NetworkModel, read_network
from learn.models.linear.model import LinearModel, read_model, read_schema

_HERE = Path(__file__).parent
LINEAR: Final = _HERE / "linear" / "shipped"
"""The folder of the linear models that come with epigym, `<domain>.json` and `general.json`."""
NETWORKS: Final = _HERE / "gine" / "shipped"
"""The folder of the networks that come with epigym, with the same names."""
NETWORKS_FIRST: Final = frozenset({"cloud_scheduling", "gossip", "room_messages"})
"""Names of the networks that solve more validation problems than the linear models, or as many in less time."""
GENERAL: Final = "general"

Model: TypeAlias = LinearModel | NetworkModel


def find_model(file: str | None, domain: str, schema: frozenset[int]) -> tuple[str, Model]:
    """Find the model for a task; return its path and the model.

    Without a file, the model of the task's domain is used if the task's predicates and actions occur in its training;
    otherwise the first model of another domain with these predicates and actions, as files may use other names of
    domains; otherwise the general model. It is a linear model unless its name is in `NETWORKS_FIRST`.

    Args:
        file: path of the model, in which `{domain}` stands for the domain; None for a model that comes with epigym.
        domain: name of the task's domain.
        schema: colours of the task's predicates and action schemas, see `FeatureTypes.schema`.

    Raises:
        MissingError: when there is no such file.
        CheckpointError: when it cannot be read.
    """
    if file is not None:
        path = Path(file.replace("{domain}", domain))
        is_file(path)  # an error for a pipe, whose name has no suffix
        if path.suffix != ".json":
            raise CheckpointError(f"{path}: expected a model.json of learn.train; the heuristic 'gnn' reads others")
        return str(path), load_model(path)
    models = {path.stem: path for path in LINEAR.glob("*.json")}
    models |= {path.stem: path for path in NETWORKS.glob("*.json") if path.stem in NETWORKS_FIRST}
    path = models.pop(GENERAL, LINEAR / f"{GENERAL}.json")
    for name in sorted(models, key=lambda name: (name != domain, name)):
        if schema <= read_schema(models[name]):
            path = models[name]
            break
    return str(path), load_model(path)


def load_model(path: Path) -> Model:
    """Load the model of a file, a `model.json` of `learn.train`.

    Raises:
        MissingError: when there is no such file.
        CheckpointError: when it cannot be read.
    """
    if not is_file(path):
        raise MissingError(f"there is no model {path}: make one with `python -m learn.train domain=…`")
    return read_network(path) if _kind(path) == KIND else read_model(path)


def _kind(path: Path) -> str:
    """The kind of model that a file declares; empty for linear models and unreadable files."""
    with path.open(encoding="utf-8", errors="replace") as file:
        head = [next(file, "") for _ in range(4)]
    return KIND if any(line.strip() == f'"kind": "{KIND}",' for line in head) else ""
