"""`gnn`: the value of a trained network, by default of the newest one trained on the domain."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from epigym.config.values import Count
from epigym.space.space import StateSpace
from learn.models.runs import find_checkpoint, find_newest_checkpoint, list_finished_runs
from learn.models.scoring import Device, open_scorer
from search.heuristics.heuristic import Heuristic


class Gnn(Heuristic):
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
    prefers = True  # until the file is read

    def __init__(
        self, space: StateSpace, checkpoint: str | None = None, threads: Count = 1, device: Device = "auto"
    ) -> None:
        self.checkpoint = find_checkpoint(checkpoint, space.task.domain)
        self._scorer = open_scorer(self.checkpoint, space, threads, device)
        self.relaxation = self._scorer.relaxation
        self.prefers = self.relaxation is not None

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """float64[k]: the value of each of `ids` (int32[k])."""
        return self._scorer.score(ids)

    def steps(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """float64[k]: values, float64[k], converted to steps."""
        return self._scorer.steps(scores)


def require_checkpoint(checkpoint: str | None, domain: str | None) -> None:
    """Check that `gnn` with this setting finds a file for a task of a domain; None if the domain is not known yet.

    Raises:
        MissingError: when there is no such file.
    """
    if domain is not None or (checkpoint is not None and "{domain}" not in checkpoint):
        find_checkpoint(checkpoint, domain or "")
    elif checkpoint is None and not list_good_checkpoints(None):
        find_newest_checkpoint("")  # raises the error: there is none for any domain


def list_good_checkpoints(domain: str | None) -> list[Path]:
    """The default checkpoint of `gnn` for a domain; the candidates when the domain is not known."""
    good = [run for run in list_finished_runs() if run.is_good]
    if domain is None:
        return [run.checkpoint for run in good]
    return [run.checkpoint for run in good if domain in run.domains][-1:]
