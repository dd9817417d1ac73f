"""Training the regressor with Lightning (paper, section 3.4 and Appendix B)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from lightning import LightningModule
from lightning.pytorch.utilities.types import OptimizerLRScheduler
from torch import Tensor
from torch.nn.functional import mse_loss
from torch.optim import Optimizer
from torch.optim.lr_scheduler import CosineAnnealingLR
from torchmetrics import Metric

from epigym.config.targets import make
from epigym.errors import EpigymError
from learn.models.checkpoints import HYPERPARAMETER_VERSION
from learn.models.gine.batches import Batch
from learn.models.gine.regressor import Regressor
from learn.models.gine.target import Target


class StepErrors(Metric):
    """Errors in steps: MAE, RMSE, R² and the share within half a step, over all samples of an epoch.

    Args:
        **settings: keyword arguments of `torchmetrics.Metric`.
    """

    full_state_update = False

    count: Tensor
    absolute: Tensor
    squared: Tensor
    total: Tensor
    total_squared: Tensor
    near: Tensor

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name in ("count", "absolute", "squared", "total", "total_squared", "near"):
            self.add_state(name, torch.zeros((), dtype=torch.float64), dist_reduce_fx="sum")

    def update(self, predicted: Tensor, true: Tensor) -> None:
        """Add samples: predicted and true distances in steps, float[k] each."""
        error, true = (predicted - true).double(), true.double()
        self.count += len(true)
        self.absolute += error.abs().sum()
        self.squared += error.square().sum()
        self.total += true.sum()
        self.total_squared += true.square().sum()
        self.near += (error.abs() <= 0.5).sum()

    def compute(self) -> dict[str, Tensor]:
        """The metrics by name; R² is not a number when all distances are equal."""
        spread = self.total_squared - self.total.square() / self.count
        return {
            "mae": self.absolute / self.count,
            "rmse": (self.squared / self.count).sqrt(),
            "r2": torch.where(spread > 1e-9 * self.count, 1 - self.squared / spread, torch.nan),
            "within_half": self.near / self.count,
        }


class DistanceModule(LightningModule):
    """The regressor with its loss, optimizer and metrics.

    All arguments are plain values, so a checkpoint loads with `weights_only=True` and holds everything that is
    needed to score an e-state.

    Args:
        encoding: keyword arguments of `epigym.encoding.encoder.Encoder`.
        network: keyword arguments of `Regressor`, less `width` and `margin`; or `_target_`, a class that is called
            and used like it (`forward_shared`, `start_at`), and its own.
        target: keyword arguments of `Target`.
        optimizer: keyword arguments of `torch.optim.AdamW`; or `_target_`, another class, and its own.
        schedule: `constant`, or `cosine` for a learning rate that falls to zero over the steps of the training.
        domains: domains that the training problems belong to.
        problems: names of the training problems, where these are published.
        semantics: the reading of mA* that they were read under.
        distribution: which problems of the domains were drawn (`draws`, `goals`, `seed`), where none are published.
        version: of these hyper-parameters.
    """

    def __init__(
        self,
        *,
        encoding: Mapping[str, Any],
        network: Mapping[str, Any],
        target: Mapping[str, Any],
        optimizer: Mapping[str, Any],
        schedule: str = "constant",
        domains: Sequence[str] = (),
        problems: Sequence[str] = (),
        semantics: str = "default",
        distribution: Mapping[str, int] | None = None,
        version: int = HYPERPARAMETER_VERSION,
    ) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.target = Target(**target)
        self.regressor = make(network, Regressor, encoding["width"], margin=self.target.beta)
        self.optimizer_settings = dict(optimizer)
        self.schedule = schedule
        self.errors = StepErrors()

    def training_step(self, batch: Batch, index: int) -> Tensor:
        """The mean squared error of the normalised distances."""
        loss = mse_loss(self.regressor.forward_shared(batch), self.target.normalise(batch.distance))
        self.log("train/loss", loss, on_step=False, on_epoch=True, batch_size=len(batch.distance), sync_dist=True)
        return loss

    def validation_step(self, batch: Batch, index: int) -> None:
        """Collect the validation metrics."""
        output = self.regressor.forward_shared(batch)
        loss = mse_loss(output, self.target.normalise(batch.distance))
        self.log("val/loss", loss, batch_size=len(batch.distance), sync_dist=True)
        self.errors.update(self.target.steps(output), batch.distance)

    def on_validation_epoch_end(self) -> None:
        """Log the errors in steps."""
        metrics = self.errors.compute()
        self.errors.reset()
        self.log_dict({f"val/{name}": value.float() for name, value in metrics.items()}, sync_dist=True)

    def make_optimizer(self) -> Optimizer:
        """The optimizer of all parameters."""
        return make(self.optimizer_settings, torch.optim.AdamW, self.parameters())  # type: ignore[no-any-return]

    def configure_optimizers(self) -> OptimizerLRScheduler:
        """The optimizer, with the schedule of its learning rate.

        Raises:
            EpigymError: when the learning rate shall fall over a training without an end.
        """
        optimizer = self.make_optimizer()
        if self.schedule == "constant":
            return optimizer
        steps = self.trainer.estimated_stepping_batches
        if steps == math.inf:
            raise EpigymError("model.schedule=cosine needs an end: set trainer.max_epochs or trainer.max_steps")
        scheduler = CosineAnnealingLR(optimizer, int(steps))
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "interval": "step"}}
