"""The Lightning module: a network that corrects a base heuristic, its objective, optimizer and validation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from lightning import LightningModule
from lightning.pytorch.utilities.types import OptimizerLRScheduler
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import mse_loss, softplus
from torch.nn.parameter import is_lazy
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import Dataset
from torchmetrics import Metric

from epigym.config.targets import TARGET, make
from epigym.errors import EpigymError
from epigym.features.types import FeatureTypes
from epigym.space.space import StateSpace
from learn.models.base import Base, correct
from learn.models.gine.kinds import CLASSES, GINE
from learn.models.gine.model import NetworkModel
from learn.models.gine.network import make_network, save_network
from learn.models.model import GENERAL
from learn.training.batches import Batch
from learn.training.validation import Problems, Scores, validate_by_search

VERSION = 7
"""Version of the hyper-parameters in a checkpoint and of the graphs."""


class DivergedError(EpigymError):
    """Raised when a network's values are not numbers."""


class StepErrors(Metric):
    """Errors in steps over an epoch: MAE, RMSE, R² and the share of errors up to half a step.

    Args:
        **settings: keyword arguments of `torchmetrics.Metric`.
    """

    full_state_update = False
    sums: Tensor

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.add_state("sums", torch.zeros(6, dtype=torch.float64), dist_reduce_fx="sum")

    def update(self, predicted: Tensor, true: Tensor) -> None:
        """Add samples: predicted and true distances in steps, float[k] each."""
        error, true = (predicted - true).double(), true.double()
        columns = (torch.ones_like(true), error.abs(), error.square(), true, true.square(), error.abs() <= 0.5)
        self.sums += torch.stack([column.sum(dtype=torch.float64) for column in columns])

    def compute(self) -> dict[str, Tensor]:
        """The metrics by name; R² is NaN if all distances are equal."""
        count, absolute, squared, total, total_squared, near = self.sums
        spread = total_squared - total.square() / count
        return {
            "mae": absolute / count,
            "rmse": (squared / count).sqrt(),
            "r2": torch.where(spread > 1e-9 * count, 1 - squared / spread, torch.nan),
            "within_half": near / count,
        }


class GineModule(LightningModule):
    """A network with its objective, optimizer and validation.

    The value of an e-state is its base heuristic plus the correction by the network, in steps. All hyper-parameters are
    plain values, so a checkpoint loads with `weights_only=True`.

    Args:
        encoding: of the graphs, with its settings.
        types: ids of the types in the training data; empty if the encoding has none.
        network: settings of `GineNetwork`, or `_target_`, a class of networks, with its settings.
        objective: `ranking`, the logistic loss of pairs; or `distance`, the squared error of distances, as shares of
            `max_distance`.
        base: the base heuristic that the network corrects.
        optimizer: keyword arguments of `torch.optim.AdamW`, or `_target_`, another class, with its arguments.
        schedule: `constant`; `cosine` for a learning rate that falls to zero over the steps of the training; `linear`
            for one that rises over a tenth of them and then falls.
        domains: domains of the training problems.
        data: settings and key of the data set.
        validation: settings and seed of the validation; `nodes` is the limit of a search on each problem.
        cycles: number of cycles of the learning rate, one after the other.
        version: of these hyper-parameters.

    Attributes:
        validated: the network of the last validation as a model; search calibrates it.
    """

    validated: NetworkModel

    def __init__(
        self,
        *,
        encoding: Mapping[str, Any],
        types: Sequence[int],
        network: Mapping[str, Any],
        objective: Mapping[str, Any],
        base: Base,
        optimizer: Mapping[str, Any],
        schedule: str,
        domains: Sequence[str] = (),
        data: Mapping[str, Any],
        validation: Mapping[str, Any],
        cycles: int = 1,
        version: int = VERSION,
    ) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.network = make_network(network, encoding, types)
        self.base: Base = base
        self.errors = StepErrors()
        self._nodes: int = validation["nodes"]
        self._best: tuple[int, int] | None = None

    @property
    def _data(self) -> Any:
        """The `RolloutData` of the trainer."""
        trainer: Any = self.trainer
        return trainer.datamodule

    @property
    def _problems(self) -> Problems:
        return self._data.problems  # type: ignore[no-any-return]

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Add the best validation score, which bounds later validations."""
        checkpoint["best"] = self._best

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Restore it."""
        self._best = checkpoint["best"]

    @torch.no_grad()
    def initialize(self, batches: Dataset[Batch]) -> None:
        """Give lazy layers of the network their shapes, by the first of some batches."""
        if any(map(is_lazy, self.network.parameters())):
            self.network.eval()(batches[0].graphs)
            self.network.train()

    def training_step(self, batch: Batch, index: int) -> Tensor:
        """The loss of a batch."""
        loss = self._loss(batch, self._values(batch))
        self.log(
            "train/loss", loss, on_step=False, on_epoch=True, batch_size=len(batch.base), sync_dist=True, logger=False
        )
        return loss

    def _log(self, metrics: Mapping[str, Tensor], samples: int = 1) -> None:
        """Log metrics of a validation; `History` passes them to the loggers."""
        self.log_dict(dict(metrics), batch_size=samples, sync_dist=True, logger=False)

    def _values(self, batch: Batch) -> Tensor:
        correction: Tensor = self.network(batch.graphs)
        return correct(self.base, batch.base, correction.to(batch.base.dtype))

    def _loss(self, batch: Batch, values: Tensor) -> Tensor:
        if self.hparams["objective"]["name"] == "ranking":
            return batch.weight @ softplus(values[batch.better] - values[batch.worse])
        most = self.hparams["objective"]["max_distance"]
        return mse_loss(values / most, batch.distance.clamp(max=most) / most)

    def validation_step(self, batch: Batch | Tensor, index: int) -> None:
        """Measure errors on samples, or search the problems with numbers int64[k] with early stopping."""
        if isinstance(batch, Tensor):
            self._search(batch)
            return
        values = self._values(batch)
        self._require_numbers(values.double().numpy(force=True))
        loss = self._loss(batch, values)
        self._log({"val/loss": loss, "val/score": loss}, len(batch.base))
        self.errors.update(values, batch.distance)

    def on_validation_epoch_start(self) -> None:
        """Copy the network: after the validation its weights may no longer be the averaged ones."""
        self.validated = self.as_model()

    def on_validation_epoch_end(self) -> None:
        """Log the errors in steps."""
        if not self._problems:
            metrics = self.errors.compute()
            self.errors.reset()
            self._log({f"val/{name}": value.float() for name, value in metrics.items()})

    def _require_numbers(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The values; a network whose training diverged gives values that are not numbers.

        Raises:
            DivergedError: when one of them is not a number.
        """
        if np.isnan(values).any():
            raise DivergedError(
                f"the training diverged: after {self.global_step} steps the network's values are not numbers; lower "
                f"the learning rate, model.optimizer.lr={self.hparams['optimizer'].get('lr')}, or clip gradients with "
                "trainer.gradient_clip_val=1"
            )
        return values

    def _search(self, numbers: Tensor) -> None:
        """Run greedy search on problems, log its metrics, and calibrate on the plans found."""
        problems = [self._problems[number] for number in numbers.tolist()]

        def scores(space: StateSpace, types: FeatureTypes) -> Scores:
            scorer = self.validated.make_scorer(space, threads=torch.get_num_threads(), types=types)
            return lambda ids: self._require_numbers(scorer.score(ids))

        consistent_beliefs = self._data.data.consistent_beliefs
        found = validate_by_search(
            problems, self._nodes, scores, bound=self._best, consistent_beliefs=consistent_beliefs
        )
        if self._best is None or found.score < self._best:
            self._best = found.score
        self.validated = replace(self.validated, steps=found.calibrate())
        missed, expanded = found.score
        metrics = {
            "val/problems": len(problems),
            "val/solved": found.solved,
            "val/expanded": expanded,
            "val/stopped": found.stopped,
            "val/score": missed + expanded / (1 + self._nodes * len(problems)),
        }
        # 32 bits cannot resolve single nodes in the score of hundreds of problems.
        exact = {name: torch.tensor(value, dtype=torch.float64, device=self.device) for name, value in metrics.items()}
        self._log(exact)

    def as_model(self) -> NetworkModel:
        """The current network as a model, without calibration, schema and card."""
        settings, domains = dict(self.hparams["network"]), self.hparams["domains"]
        target = settings.pop(TARGET, None) or CLASSES[GINE]
        return NetworkModel(
            kind=next((kind for kind, name in CLASSES.items() if name == target), target),
            domain=domains[0] if len(domains) == 1 else GENERAL,
            settings=settings,
            encoding=dict(self.hparams["encoding"]),
            types=tuple(self.hparams["types"]),
            base=self.base,
            weights=save_network(self.network),
        )

    def configure_optimizers(self) -> OptimizerLRScheduler:
        """The optimizer, with the schedule of its learning rate.

        Raises:
            EpigymError: when the schedule needs the number of steps of a training without a limit.
        """
        optimizer: Optimizer = make(self.hparams["optimizer"], torch.optim.AdamW, self.network.parameters())
        schedule = self.hparams["schedule"]
        if schedule == "constant":
            return optimizer
        if self.trainer.estimated_stepping_batches == math.inf:
            raise EpigymError(f"model.schedule={schedule} needs an end: set trainer.max_epochs or trainer.max_steps")
        cycles: int = self.hparams["cycles"]
        steps = -(-int(self.trainer.estimated_stepping_batches) // cycles)
        rise = max(1, steps // 10)

        def share(count: int) -> float:
            step = count % steps
            if schedule == "cosine":
                return (1 + math.cos(math.pi * step / steps)) / 2
            return min((step + 1) / rise, (steps - step) / (steps - rise + 1))

        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": LambdaLR(optimizer, share), "interval": "step"}}
