"""`learned`, the value of a trained model."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from glob import escape, glob
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epigym.config.values import Count, Share
from epigym.errors import ModelError
from epigym.features.types import FeatureTypes
from epigym.space.space import StateSpace
from learn.models.files import read_values
from learn.models.gine.kinds import GINE
from learn.models.gine.model import NetworkModel
from learn.models.linear.model import LINEAR
from learn.models.model import GENERAL, Model
from learn.models.opening import locate_model, open_for
from learn.models.scoring import Device, Scorer
from learn.models.shipped import list_shipped
from search.heuristics.belief_relaxation import RelaxedPlan
from search.heuristics.heuristic import Heuristic

_KNOWN = 0.5
_FIRST = 64  # successors of the initial e-state whose feature types are compared with the model's


class Learned(Heuristic):
    """Scores e-states with a trained model: a linear model or a network.

    Linear models and networks of `model=gine` need neither PyTorch nor a GPU. A model that corrects the relaxation
    prefers the actions of the relaxed plan.

    Args:
        space: the state space of the e-states.
        model: the folder of a run of `learn.train` or its `model.safetensors`; `{domain}` in it stands for the task's
            domain. None takes the model of epigym for the task's domain, or else the general one.
        least_known: a share; if the model knows a smaller share of the feature types of the first successors, `h_ff`
            replaces it: such a model would only decide between e-states of equal cost.
        device: `cpu`, `cuda`, or `auto`: a GPU, if there is one, for networks that only PyTorch evaluates.
        threads: CPU threads of PyTorch; one is fastest for small batches.

    Raises:
        LimitError: when the task does not fit the encoding of a network.
        MissingError: when there is no such file, or PyTorch is needed and not installed.
        ModelError: when the file cannot be read.
        UsageError: when there is no such device, or a class that the model names cannot be imported.
    """

    name = "learned"
    prefers = True  # until the file is read

    def __init__(
        self,
        space: StateSpace,
        model: str | None = None,
        least_known: Share = 0.0,
        device: Device = "auto",
        threads: Count = 1,
    ) -> None:
        types = FeatureTypes(space.task) if model is None else None
        opened = open_for(model, space.task, types)
        scorer = opened.make_scorer(space, device, threads, types=types)
        self.model = opened.path
        self.note = "" if model is None else _note_transfer(opened, scorer, space)
        self._scorer: Scorer | RelaxedPlan = scorer
        if least_known and scorer.rate_known(_first_successors(space)) < least_known:
            self.model, self._scorer, self.is_uninformative = "", RelaxedPlan(space), True
        self.relaxation = self._scorer.relaxation
        self.prefers = self._scorer is not scorer or self.relaxation is not None

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """float64[k]: the value of each of `ids` (int32[k])."""
        return self._scorer.score(ids)

    def steps(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """float64[k]: values, float64[k], converted to steps."""
        return self._scorer.steps(scores)


def _note_transfer(model: Model, scorer: Scorer, space: StateSpace) -> str:
    """That a model is of other domains than the problem, with what it knows; empty if it is of the problem's domain.

    Where the domain of either is unknown, a model that knows half of the initial e-state or more is taken for one of
    the problem's domain.
    """
    trained = model.card.get("domains") or sorted({model.domain} - {"", GENERAL})
    here = space.task.domain
    if here in trained:
        return ""
    known = scorer.rate_known(np.array([space.initial], dtype=np.int32))
    if not (here and trained) and known >= _KNOWN:
        return ""
    encoding = model.encoding.get("name") if isinstance(model, NetworkModel) else "relational"
    inputs = "types" if encoding == "relational" else "identifiers"
    notes = [f"its model is of {' and '.join(trained) or 'unknown domains'}, not of {here or 'this problem'}"]
    notes += [f"it knows {known:.0%} of the {inputs} in the initial e-state"]
    notes += ["its bits stand for other facts"] if encoding == "bitmask" else []
    return ", ".join(notes)


def _first_successors(space: StateSpace) -> NDArray[np.int32]:
    """int32[k]: distinct successors of the initial e-state; `np.unique` would import masked arrays for these few."""
    return np.array(sorted({*space.expand([space.initial]).target.tolist()})[:_FIRST], dtype=np.int32)


def list_models(choice: Mapping[str, Any], domain: str | None) -> list[Path]:
    """The files that a heuristic may read for a problem of a domain; empty unless it is `learned`.

    Args:
        choice: name and settings of the heuristic.
        domain: of the problem; None for any domain, which gives the existing files only.
    """
    if choice.get("name") != Learned.name:
        return []
    model = choice.get("model")
    if model is None:
        return list_shipped()
    if domain is not None or "{domain}" not in model:
        return [locate_model(model.replace("{domain}", domain or ""))]
    found = map(locate_model, glob(escape(model).replace("{domain}", "*")))
    return sorted(path for path in found if path.is_file())


def require_models(choice: Mapping[str, Any], domain: str) -> None:
    """Raise a ModelError if a model that a heuristic names cannot be read; arguments as `list_models`."""
    for path in list_models(choice, domain):
        read_values(path)


def needs_pytorch(choice: Mapping[str, Any], domain: str | None) -> bool:
    """Whether a heuristic evaluates a network by PyTorch; arguments as `list_models`."""
    if choice.get("name") == Learned.name and choice.get("model") is None:
        return choice.get("device") == "cuda"
    kinds = set()
    for path in list_models(choice, domain):
        with suppress(ModelError):  # which the search raises, too
            kinds.add(read_values(path)["kind"])
    return bool(kinds - ({LINEAR} if choice.get("device") == "cuda" else {LINEAR, GINE}))
