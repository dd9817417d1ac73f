"""`learned`, the value of a linear model or of a network without PyTorch, and `gnn`, that of any trained network."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from epigym.config.values import AtLeast, Count
from epigym.features.types import FeatureTypes
from epigym.space.space import StateSpace
from learn.models.gine.model import FusedScorer, NetworkModel
from learn.models.linear.model import LinearScorer
from learn.models.runs import find_checkpoint
from learn.models.scoring import Device, Scorer, open_scorer
from learn.models.shipped import LINEAR, NETWORKS, find_model
from search.heuristics.belief_relaxation import RelaxedPlan
from search.heuristics.heuristic import Heuristic

_FIRST = 64  # successors of the initial e-state whose feature types are compared with the model's


class _ModelHeuristic(Heuristic):
    """Base of both: the value of a model; one that corrects the relaxation prefers the actions of the relaxed plan."""

    prefers = True  # until the file is read
    _scorer: Scorer | RelaxedPlan

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """float64[k]: the value of each of `ids` (int32[k])."""
        return self._scorer.score(ids)

    def steps(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """float64[k]: values, float64[k], converted to steps."""
        return self._scorer.steps(scores)


class Learned(_ModelHeuristic):
    """Scores e-states with a linear model or a network; needs neither PyTorch nor a GPU.

    A model that corrects the relaxation prefers the actions of the relaxed plan.

    Args:
        space: the state space of the e-states.
        checkpoint: a `model.json` of `learn.train`; `{domain}` in it stands for the task's domain. None takes the model
            of epigym for the task's domain, or else the general one.
        least_known: a share; if the model knows a smaller share of the feature types of the first successors, `h_ff`
            replaces it: such a model would only decide between e-states of equal cost.

    Raises:
        MissingError: when there is no such file.
        CheckpointError: when the file cannot be read.
        LimitError: when the task does not fit the encoding of a network.
    """

    name = "learned"

    def __init__(
        self, space: StateSpace, checkpoint: str | None = None, least_known: Annotated[float, AtLeast(0)] = 0.0
    ) -> None:
        types = FeatureTypes(space.task)
        self.checkpoint, model = find_model(checkpoint, space.task.domain, types.schema)
        scorer: LinearScorer | FusedScorer = (
            FusedScorer(model, space) if isinstance(model, NetworkModel) else LinearScorer(space, model, types)
        )
        self._scorer = scorer
        if least_known and scorer.rate_known(np.unique(space.expand([space.initial]).target)[:_FIRST]) < least_known:
            self.checkpoint, self._scorer = "", RelaxedPlan(space)
        self.relaxation = self._scorer.relaxation
        self.prefers = self._scorer is not scorer or self.relaxation is not None


class Gnn(_ModelHeuristic):
    """Scores e-states with a trained network, one batch per call.

    A network that corrects the relaxation prefers the actions of the relaxed plan.

    Args:
        space: the state space of the e-states.
        checkpoint: a file of `learn.train` or `learn.export` (`.onnx`, without PyTorch); `{domain}` in it stands for
            the task's domain. None takes the newest good network trained on that domain.
        threads: CPU threads; one is fastest for small batches.
        device: `cpu`, `cuda`, or `auto`: a GPU, if there is one, for networks that only PyTorch evaluates.

    Raises:
        MissingError: when there is no such file or run.
        CheckpointError: when the file cannot be read.
        LimitError: when the task does not fit the encoding that the network was trained with.
    """

    name = "gnn"

    def __init__(
        self, space: StateSpace, checkpoint: str | None = None, threads: Count = 1, device: Device = "auto"
    ) -> None:
        self.checkpoint = find_checkpoint(checkpoint, space.task.domain)
        self._scorer = open_scorer(self.checkpoint, space, threads, device)
        self.relaxation = self._scorer.relaxation
        self.prefers = self.relaxation is not None


def list_shipped_models() -> list[Path]:
    """The default checkpoints of `learned`, for all domains."""
    return sorted(path for folder in (LINEAR, NETWORKS) for path in folder.glob("*.json"))
