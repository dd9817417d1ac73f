"""Training of graph networks from distributions: batches of pairs, the Lightning module, and the choices by search.

The network corrects a base heuristic, which is chosen before training. As with linear models no loss decides which
epoch is the best, but greedy search: how many validation problems, larger than those to learn from, it solves within a
limit of nodes, then how few it expands.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from lightning import LightningDataModule, LightningModule, seed_everything
from lightning.pytorch.utilities.types import OptimizerLRScheduler
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import mse_loss, softplus
from torch.optim.lr_scheduler import LambdaLR
from torch.optim.swa_utils import get_ema_multi_avg_fn
from torch.utils.data import DataLoader, Dataset

from epigym.encoding.relational import GraphMaker, side_by_side, vocabulary_of
from epigym.errors import CheckpointError, EpigymError
from epigym.features.types import FeatureTypes
from epigym.space.space import StateSpace
from learn.data.pairs import Pairs
from learn.models.checkpoints import read
from learn.models.gine.relational import (
    KIND,
    VERSION,
    GraphTensors,
    RelationalNetwork,
    RelationalScorer,
    restore,
    tensors,
)
from learn.models.linear.model import Base, BaseHeuristic
from learn.models.runs import CHECKPOINTS
from learn.training.drawing import all_pairs, drawn, validating
from learn.training.linear.fit import Loss, target_of
from learn.training.loaders import shuffled, whole_batches
from learn.training.options import RelationalOptions, Training
from learn.training.report.pictures import draw_search_curves
from learn.training.resuming import History, begin, row_of
from learn.training.selection import Problems, Scores, ValidationResult, validate_by_search
from learn.training.trainer import describe_end, fit, make_trainer, write_settings

logger = logging.getLogger(__name__)

_RUN = 64  # pairs of a problem that stay together, as they share e-states
_BASES: tuple[Base, ...] = ("h_ff", "h_add")
_UNIT_RATE = 0.05  # how fast the unit of a ranking follows the pairs of a step


class PairBatch(NamedTuple):
    """k e-states and p pairs of them, maybe of several problems.

    Attributes:
        graphs: of the e-states.
        base: float32[k], their base heuristic in steps.
        target: float32[k], actions to the nearest goal; what has none is farther than all others of its problem.
        better: int64[p], of each pair the e-state that is preferred.
        worse: int64[p], the other.
        weight: float32[p], of each pair, together 1.
    """

    graphs: GraphTensors
    base: Tensor
    target: Tensor
    better: Tensor
    worse: Tensor
    weight: Tensor


class PairRuns(Dataset[PairBatch]):
    """The pairs of some problems in runs of a problem's pairs, fetched as whole batches.

    Graphs are made when they are fetched: that takes a tenth of the time of a step, and no memory.

    Args:
        problems: the pairs.
        types: of the problems' tasks.
        vocabulary: uint64[v], the colours of the types that are known.
        base: the heuristic to correct.
    """

    def __init__(
        self, problems: Sequence[Pairs], types: Sequence[FeatureTypes], vocabulary: NDArray[np.uint64], base: Base
    ) -> None:
        self._problems = problems
        self._makers = [GraphMaker(pairs.space, own, vocabulary) for pairs, own in zip(problems, types, strict=True)]
        self._bases = [BaseHeuristic(pairs.space, base)(pairs.ids) for pairs in problems]
        self._targets = [target_of(pairs.distance) for pairs in problems]
        self._runs = [
            (number, slice(start, start + _RUN))
            for number, pairs in enumerate(problems)
            for start in range(0, len(pairs.better), _RUN)
        ]

    def __len__(self) -> int:
        """Number of runs."""
        return len(self._runs)

    def __getitem__(self, index: int) -> PairBatch:
        """A batch of one run."""
        return self.__getitems__([index])

    def __getitems__(self, indices: Sequence[int]) -> PairBatch:
        """One batch of the runs `indices`; the data loader calls it with all indices of a batch."""
        graphs, bases, targets, better, worse, weights = [], [], [], [], [], []
        first = 0
        for number, run in (self._runs[index] for index in indices):
            pairs = self._problems[number]
            used, places = np.unique([pairs.better[run], pairs.worse[run]], return_inverse=True)
            graphs.append(self._makers[number](pairs.ids[used]))
            bases.append(self._bases[number][used])
            targets.append(self._targets[number][used])
            places = places.reshape(2, -1) + first
            better.append(places[0])
            worse.append(places[1])
            weights.append(pairs.weight[run])
            first += len(used)
        weight = np.concatenate(weights)
        return PairBatch(
            graphs=tensors(side_by_side(graphs)),
            base=torch.from_numpy(np.concatenate(bases)).float(),
            target=torch.from_numpy(np.concatenate(targets)).float(),
            better=torch.from_numpy(np.concatenate(better)),
            worse=torch.from_numpy(np.concatenate(worse)),
            weight=torch.from_numpy(weight / weight.sum()).float(),
        )

    def mean_target(self) -> float:
        """The mean of the distances to learn, each problem counting the same."""
        return float(np.mean([target.mean() for target in self._targets]))


class PairData(LightningDataModule):
    """Training batches of pairs in random order, and all validation problems by their numbers as one batch.

    Args:
        pairs: to learn from.
        batch_size: about so many pairs in a batch.
        validation: number of validation problems.
        seed: of the order of the batches.
    """

    def __init__(self, pairs: PairRuns, batch_size: int, validation: int, seed: int) -> None:
        super().__init__()
        self._seed = seed
        self._pairs = pairs
        self._runs = max(1, batch_size // _RUN)
        self._validation = validation

    def train_dataloader(self) -> DataLoader[PairBatch]:
        """Batches of pairs."""
        return whole_batches(self._pairs, self._runs, sampler=shuffled(self._pairs, self.trainer, self._seed))

    def val_dataloader(self) -> DataLoader[Any]:
        """int64[validation]: the numbers of the validation problems, all in every process of a distributed run."""
        problems: Any = [torch.arange(self._validation)]
        return DataLoader(problems, batch_size=None, generator=torch.Generator())


class RelationalModule(LightningModule):
    """The network with its loss and optimizer, the moving average of its weights, and the search that validates it.

    The average, `regressor`, is what is validated, saved under the name that checkpoints are read by, and scored with.
    All hyper-parameters are plain values, so a checkpoint loads with `weights_only=True` and holds everything that is
    needed to score an e-state.

    Args:
        vocabulary: the colours of the types that are known, ascending.
        network: `width`, `layers` and `type_dropout` of `RelationalNetwork`.
        base: the heuristic that the network corrects.
        loss: `ranking` is the logistic loss of pairs, `regression` the squared error of distances.
        lr: the largest learning rate.
        weight_decay: of AdamW.
        averaging: decay of the exponential moving average of the weights.
        domains: that the training problems belong to.
        problems: to validate by, with the types of their tasks.
        nodes: most expansions for each of them.
        kind: of the model.
        version: of these hyper-parameters.
    """

    def __init__(
        self,
        *,
        vocabulary: Sequence[int],
        network: dict[str, Any],
        base: Base,
        loss: Loss,
        lr: float,
        weight_decay: float,
        averaging: float,
        domains: Sequence[str],
        problems: Problems,
        nodes: int,
        kind: str = KIND,
        version: int = VERSION,
    ) -> None:
        super().__init__()
        self.save_hyperparameters(ignore=["problems"], logger=False)
        self.network = RelationalNetwork(len(vocabulary), **network)
        self.regressor = deepcopy(self.network).requires_grad_(False)
        self.base: Base = base
        self.loss = loss
        self._average = get_ema_multi_avg_fn(averaging)  # type: ignore[no-untyped-call]
        self._vocabulary = np.array(vocabulary, dtype=np.uint64)
        self._problems = problems
        self._nodes = nodes
        self._best: tuple[int, int] | None = None

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Add how well the best epoch searched, beyond which no other is searched with."""
        checkpoint["best"] = self._best

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Go on with it."""
        self._best = checkpoint["best"]

    def training_step(self, batch: PairBatch, index: int) -> Tensor:
        """The loss of base and correction; without a base, half of the pairs of a ranking become one step apart."""
        score = batch.base + self.network(batch.graphs)
        if self.loss == "ranking":
            margin = score[batch.worse] - score[batch.better]
            loss = batch.weight @ softplus(-margin)
            if self.base == "none":
                self.network.unit.lerp_(margin.detach().abs().median(), _UNIT_RATE)
        else:
            loss = mse_loss(score, batch.target)
        self.log("train/loss", loss, on_step=False, on_epoch=True, batch_size=batch.graphs.size, sync_dist=True)
        return loss

    def on_train_batch_end(self, *_: Any) -> None:
        """Move the average towards the weights."""
        average, weights = (list(one.state_dict().values()) for one in (self.regressor, self.network))
        self._average(average, weights, None)

    def validation_step(self, numbers: Tensor, index: int) -> None:
        """Search greedily on validation problems, int64[k], until it is clear that an earlier epoch did better."""

        def scores(space: Any, types: FeatureTypes) -> Any:
            return RelationalScorer(space, self.regressor, self._vocabulary, self.base, types).score

        problems = [self._problems[number] for number in numbers.tolist()]
        found = validate_by_search(problems, self._nodes, scores, bound=self._best)
        self._best = min(self._best or found.score, found.score)
        missed, expanded = found.score
        metrics = {
            "val/solved": found.solved,
            "val/expanded": expanded,
            "val/stopped": found.stopped,
            "val/score": missed + expanded / (1 + self._nodes * len(problems)),
        }
        self.log_dict({name: float(value) for name, value in metrics.items()}, batch_size=1, sync_dist=True)

    def configure_optimizers(self) -> OptimizerLRScheduler:
        """AdamW; the learning rate rises over a tenth of the steps and falls towards zero.

        Raises:
            EpigymError: when there is no last step.
        """
        if self.trainer.estimated_stepping_batches == math.inf:
            raise EpigymError("model=relational needs an end: set trainer.max_epochs or trainer.max_steps")
        steps = int(self.trainer.estimated_stepping_batches)
        rise = max(1, steps // 10)
        rates = {name: self.hparams[name] for name in ("lr", "weight_decay")}
        optimizer = torch.optim.AdamW(self.network.parameters(), **rates)
        scheduler = LambdaLR(optimizer, lambda step: min((step + 1) / rise, (steps - step) / (steps - rise + 1)))
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "interval": "step"}}


def choose_base(problems: Problems, nodes: int) -> Base:
    """The base heuristic with which greedy search solves most problems, then expands fewest e-states.

    Args:
        problems: the validation problems.
        nodes: most expansions for each.
    """
    found: dict[Base, ValidationResult] = {}
    bound = None
    for base in _BASES:

        def costs(space: StateSpace, _: FeatureTypes, base: Base = base) -> Scores:
            return BaseHeuristic(space, base)

        found[base] = validate_by_search(problems, nodes, costs, bound)
        bound = min(found[base].score, bound or found[base].score)
        shown = ", stopped" if found[base].stopped else ""
        logger.info("%s alone: %d solved, %d expanded%s", base, found[base].solved, found[base].expanded, shown)
    return min(found, key=lambda base: found[base].score)


def train_relational(settings: Training, options: RelationalOptions, domains: Sequence[str]) -> list[dict[str, Any]]:
    """Train on the distributions of some domains and write everything into the folder of the run.

    Args:
        settings: of the training.
        options: of the model, see `conf/model/relational.yaml`.
        domains: their problems are learned from together.

    Returns:
        The curve: a row for each epoch that was validated, the one that was kept marked as the best; nothing in the
        helping processes of a distributed run.

    Raises:
        EpigymError: when a setting is wrong, no problem can be learned from, or training ends before it is validated.
        KeyboardInterrupt: when it was interrupted; the message says how to go on.
    """
    run_dir = settings.run_dir
    checkpoint = begin(settings)
    history = History(run_dir / "metrics.csv")
    shown = "{val/solved:.0f} solved, {val/expanded:.0f} expanded"
    trainer = make_trainer(settings, history, monitor="val/score", shown=shown)
    tasks = drawn(domains, "train", options.draws, settings.seed)
    validation = validating(domains, options.validation, settings.seed)
    problems = all_pairs(tasks, options.expansions, settings.seed)
    types = [FeatureTypes(pairs.space.task) for pairs in problems]
    vocabulary = vocabulary_of(types)
    base = options.base
    if base == "best":
        base = choose_base(validation, options.nodes) if checkpoint is None else restore(read(checkpoint)).base
    seed_everything(settings.seed, workers=True, verbose=False)
    module = RelationalModule(
        vocabulary=vocabulary.tolist(),
        network={"width": options.width, "layers": options.layers, "type_dropout": options.type_dropout},
        base=base,
        loss=options.loss,
        lr=options.lr,
        weight_decay=options.weight_decay,
        averaging=options.averaging,
        domains=list(domains),
        problems=validation,
        nodes=options.nodes,
    )
    if checkpoint is not None:
        _require_same(checkpoint, module)
    pairs = PairRuns(problems, types, vocabulary, base)
    if options.loss == "regression" and base == "none":
        for network in (module.network, module.regressor):
            torch.nn.init.constant_(network.last.bias, pairs.mean_target())
    logger.info("%d problems, %s pairs", len(problems), f"{sum(len(one.better) for one in problems):,}")
    data = PairData(pairs, options.batch_size, len(validation), settings.seed)
    write_settings(trainer, settings)
    fit(trainer, module, data, run_dir, checkpoint)
    if not trainer.is_global_zero:
        return []
    best = run_dir / CHECKPOINTS / "best.ckpt"
    if not best.exists():
        raise EpigymError(
            f"training ended after {trainer.current_epoch} epochs, before the first validation: give it more, or "
            "validate earlier with trainer.check_val_every_n_epoch"
        )
    logger.info("%s", describe_end(trainer, int(history.rows[-1]["epoch"]) + 1, "search on the validation problems"))
    row = row_of(best, history)
    draw_search_curves(history.rows, row, len(validation), run_dir / "curves.png")
    return _curve(history.rows, row)


def _curve(history: Sequence[dict[str, float]], best: dict[str, float]) -> list[dict[str, Any]]:
    """What a table says of the epochs that were validated."""
    rows = [row for row in history if "val/score" in row]
    return [
        {
            "epoch": int(row["epoch"]) + 1,
            "loss": row["train/loss"],
            "solved": int(row["val/solved"]),
            "expanded": int(row["val/expanded"]),
            "seconds": int(row["seconds"]),
            "kept": "best" if row["step"] == best["step"] else "stopped" if row["val/stopped"] else "",
        }
        for row in rows
    ]


def _require_same(path: Path, module: RelationalModule) -> None:
    """See that training can go on from a checkpoint."""
    known = restore(read(path))
    try:
        module.regressor.load_state_dict(known.network.state_dict())
        is_same = (known.vocabulary.tolist(), known.base) == (module.hparams["vocabulary"], module.base)
    except RuntimeError:
        is_same = False
    if not is_same:
        raise CheckpointError(f"{path} is of another network, or of other problems, than this training")
