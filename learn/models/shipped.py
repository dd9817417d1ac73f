"""Models that come with epigym: for each domain and for all domains, a linear model and a network."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from epigym.io.files import read_json
from learn.models.files import read_values
from learn.models.model import GENERAL, read_schema

SHIPPED: Final = Path(__file__).parent / "shipped"
"""Their folder: `<kind>/<domain>.safetensors`, and `choice.json`, the kind that is the default for each domain."""


def find_shipped(domain: str, schema: frozenset[int]) -> Path:
    """Find the model for a task, see `learn.models.open_model`.

    Args:
        domain: name of the task's domain.
        schema: colours of the task's predicates and action schemas, see `FeatureTypes.schema`.
    """
    defaults = read_defaults()
    general = defaults.pop(GENERAL)
    for name in sorted(defaults, key=lambda name: (name != domain, name)):
        if schema <= read_schema(read_values(defaults[name])):
            return defaults[name]
    return general


def read_defaults() -> dict[str, Path]:
    """The default model of each domain, and the general one."""
    return {name: locate_shipped(kind, name) for name, kind in read_json(SHIPPED / "choice.json").items()}


def locate_shipped(kind: str, domain: str) -> Path:
    """The file of a model."""
    return SHIPPED / kind / f"{domain}.safetensors"


def list_shipped() -> list[Path]:
    """All files of the models, with the choice of the defaults."""
    return sorted([*SHIPPED.glob("*.json"), *SHIPPED.glob("*/*.safetensors")])
