"""The base class of trained models."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self, get_args

from epigym.errors import ModelError, UsageError
from epigym.features.types import FeatureTypes
from epigym.io.files import AnyPath
from epigym.space.space import StateSpace
from learn.models.base import Base
from learn.models.calibration import Calibration
from learn.models.files import REMEDY, Content, write_content
from learn.models.scoring import Device, Scorer

GENERAL = "general"
"""The domain of models of several domains."""


@dataclass(frozen=True, kw_only=True)
class Model(ABC):
    """A trained model.

    Attributes:
        path: its file; empty if it has none.
        kind: `linear`, `gine`, `paper`, or the class of another network, as `module.Class`.
        domain: training domain; `general` for several.
        schema: colours of the predicates and action schemas in training.
        steps: calibration of its values to steps.
        card: description of the training and its validation.
    """

    path: str = ""
    kind: str
    domain: str
    schema: frozenset[int] = frozenset()
    steps: Calibration = field(default_factory=Calibration)
    card: Mapping[str, Any] = field(default_factory=dict)

    @abstractmethod
    def make_scorer(
        self, space: StateSpace, device: Device = "auto", threads: int = 1, *, types: FeatureTypes | None = None
    ) -> Scorer:
        """Bind the model to a state space.

        Args:
            space: the state space.
            device: `cpu`, `cuda`, or `auto`, which uses a GPU if there is one for networks that only PyTorch evaluates.
            threads: number of threads of PyTorch; one is fastest for small batches.
            types: types of the space's task, if they are known.

        Raises:
            LimitError: when the task does not fit the encoding of a network.
            MissingError: when PyTorch is needed and not installed.
            ModelError: when the weights of a network do not fit it.
            UsageError: when there is no such device, or a class that the model names cannot be imported.
        """

    @abstractmethod
    def _pack(self) -> Content:
        """The content of a file, without the attributes of this class."""

    @classmethod
    @abstractmethod
    def _unpack(cls, content: Content, **common: Any) -> Self:
        """The model of a content of `_pack`, given the attributes of this class."""

    def write(self, path: AnyPath) -> None:
        """Write the model; errors as `write_content`."""
        own = self._pack()
        common = {
            "kind": self.kind,
            "domain": self.domain,
            "schema": sorted(f"{colour:016x}" for colour in self.schema),
            "calibration": [list(self.steps.values), list(self.steps.steps)],
            "card": dict(self.card),
        }
        write_content(Content({**common, **own.values}, own.tensors), path)

    @classmethod
    def of(cls, content: Content, path: AnyPath) -> Self:
        """The model of the content of a file.

        Raises:
            ModelError: when it describes no such model.
        """
        values = content.values
        try:
            if values["base"] not in get_args(Base):
                raise ValueError(f"base is {values['base']!r}, expected one of {', '.join(get_args(Base))}")
            return cls._unpack(
                content,
                path=str(path),
                kind=values["kind"],
                domain=values["domain"],
                schema=read_schema(values),
                steps=Calibration(*values["calibration"]),
                card=dict(values["card"]),
            )
        except UsageError as error:
            reason = str(error)
        except Exception as error:  # a file may hold anything
            reason = f"{type(error).__name__}: {error}".partition("\n")[0]
        raise ModelError(f"{path}: no model of kind {values['kind']!r}: {reason}: {REMEDY}")


def read_schema(values: Mapping[str, Any]) -> frozenset[int]:
    """The schema among the values of a file, see `Model`."""
    return frozenset(int(colour, 16) for colour in values["schema"])
