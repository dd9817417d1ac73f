"""`gnn`: the value of a trained network, by default of the newest one that was trained on the domain."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from epigym.config.values import Count
from epigym.space.space import StateSpace
from learn.models.runs import chosen, finished_runs, newest
from learn.models.scoring import Device, open_scorer
from search.heuristics.heuristic import Heuristic


class Gnn(Heuristic):
    """Scores e-states with a trained network, all of one call in one batch.

    Where the network corrects the relaxation, the preferred actions are those of the relaxed plan.

    Args:
        space: where the e-states live.
        checkpoint: a file of `learn.train`, or one of `learn.export` (`.onnx`, without PyTorch), in which `{domain}`
            stands for the task's domain; None takes the newest good network trained on that domain.
        threads: of the processor; the batches are small, where one is fastest.
        device: `cpu`, `cuda`, or `auto`: a GPU for networks that only PyTorch evaluates, where there is one.

    Raises:
        MissingError: when there is no such file or run.
        CheckpointError: when the file cannot be read.
        LimitError: when the task does not fit the encoding that the network was trained with.
    """

    name = "gnn"
    prefers = True  # as far as is known before its file is read

    def __init__(
        self, space: StateSpace, checkpoint: str | None = None, threads: Count = 1, device: Device = "auto"
    ) -> None:
        self.checkpoint = chosen(checkpoint, space.task.domain)
        self._scorer = open_scorer(self.checkpoint, space, threads, device)
        self.relaxation = self._scorer.relaxation
        self.prefers = self.relaxation is not None

    def score(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """float64[k]: the value of each of `ids` (int32[k])."""
        return self._scorer.score(ids)

    def steps(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """float64[k]: the steps that values, float64[k], mean."""
        return self._scorer.steps(scores)


def require_checkpoint(checkpoint: str | None, domain: str | None) -> None:
    """See that `gnn` with this setting will find a file for a task of a domain; None is a domain not known yet.

    Raises:
        MissingError: when it will not.
    """
    if domain is not None or (checkpoint is not None and "{domain}" not in checkpoint):
        chosen(checkpoint, domain or "")
    elif checkpoint is None and not list_good_checkpoints(None):
        newest("")  # raises the error: there is none for any domain


def list_good_checkpoints(domain: str | None) -> list[Path]:
    """What `gnn` takes for a domain when no checkpoint is named; what it may take where the domain is not known."""
    good = [run for run in finished_runs() if run.is_good]
    if domain is None:
        return [run.checkpoint for run in good]
    return [run.checkpoint for run in good if domain in run.domains][-1:]
