"""Dataset aggregation: between the phases of a training the expert corrects the best network so far."""

from __future__ import annotations

import logging
from typing import Any

from lightning import Callback, LightningModule, Trainer

from learn.data.dataset import DataSet
from learn.training.data_module import RolloutData
from learn.training.expert.data import locate_corrections, make_corrections
from learn.training.options import Training
from learn.training.resuming import History

logger = logging.getLogger(__name__)


class Aggregation(Callback):
    """Adds a data set of corrections after each phase but the last; phases have equal numbers of epochs.

    Args:
        settings: of the training.
        history: has the best network.
    """

    def __init__(self, settings: Training, history: History) -> None:
        self._settings, self._history = settings, history
        self._keys: list[str] = []  # of the data sets, empty where nothing was corrected

    def state_dict(self) -> dict[str, Any]:
        """The keys of the data sets."""
        return {"keys": self._keys}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore them."""
        self._keys = list(state_dict["keys"])

    def on_fit_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Open the data sets of a training that is resumed."""
        for key in filter(None, self._keys):
            _get_data(trainer).add_corrections(DataSet(locate_corrections(self._settings, key)))

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Ask the expert at the end of a phase."""
        most, number = self._settings.expert.aggregation, len(self._keys) + 1
        assert trainer.max_epochs is not None
        ends = number * (trainer.max_epochs // (1 + most))
        if number > most or trainer.current_epoch + 1 != ends:
            return
        assert self._history.best is not None
        data = _get_data(trainer)
        logger.info("aggregation %d of %d: the expert corrects the network", number, most)
        parent, validating = data.list_keys()[-1], [task for task, _ in data.problems]
        made = make_corrections(self._settings, data.data, parent, number, self._history.best.model, validating)
        self._keys.append(made.key if made else "")
        if made is not None:
            data.add_corrections(made)
        pairs = sum(row.counts["pairs"] for row in made.rows) if made else 0
        logger.info("aggregation %d of %d: %s pairs of %d problems", number, most, f"{pairs:,}", len(made or ()))


def _get_data(trainer: Trainer) -> RolloutData:
    untyped: Any = trainer
    data: RolloutData = untyped.datamodule
    return data
