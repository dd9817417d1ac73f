"""The settings of a training, checked without PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, Literal

from hydra.core.config_store import ConfigStore
from omegaconf import OmegaConf

from epigym.config.sweeps import is_sweep
from epigym.config.targets import TARGET
from epigym.config.values import UNSET, Above, Amount, AtLeast, AtMost, Below, Count, Natural, Positive, Share
from epigym.errors import MissingError, UsageError
from learn.data.sources import SourceOptions
from learn.models.files import MODEL_FILE
from learn.models.gine.kinds import CLASSES, PAPER, Margin

RUN_FILE, OVERRIDES = "run.json", "overrides.yaml"
"""The record of a run, written into its folder when it is finished, and its settings of the command line."""
DIVERGED = "diverged"
"""How a training ended that diverged, in its record."""
CHECKPOINTS, LAST = "checkpoints", "last.ckpt"
"""The subfolder of a run with Lightning's checkpoints, and the file of the one of the last epoch."""
ENCODING = {"makes": "epigym.encoding.encoder:make_encoding"}
"""Metadata of settings that choose an encoding."""
_CLASS = {"check": "epigym.config.targets:check"}
_CLASSES = {"check": "epigym.config.targets:check_all"}


# The default `trainer` of conf/train.yaml: a mapping that is open for every option of lightning.Trainer.
_NODE = OmegaConf.create({"trainer": {}})
_NODE.trainer._set_flag("struct", False)
ConfigStore.instance().store("trainer", _NODE)


@dataclass(frozen=True, kw_only=True)
class NetworkOptions:
    """The arguments of `GineNetwork`."""

    width: Count = UNSET
    layers: Count = UNSET
    type_dropout: Share = UNSET


@dataclass(frozen=True, kw_only=True)
class PaperOptions:
    """The arguments of `PaperNetwork`."""

    node_size: Count = UNSET
    edge_size: Count = UNSET
    hidden_size: Count = UNSET
    head_size: Count = UNSET
    blocks: Natural = UNSET
    dropout: Share = UNSET
    max_distance: Count = UNSET
    margin: Margin = UNSET


@dataclass(frozen=True, kw_only=True)
class OptimizerOptions:
    """The arguments of `torch.optim.AdamW`."""

    lr: Positive = UNSET
    betas: list[Annotated[float, AtLeast(0), Below(1)]] = UNSET
    eps: Amount = UNSET
    weight_decay: Amount = UNSET
    amsgrad: bool = UNSET
    maximize: bool = UNSET
    foreach: bool | None = UNSET
    capturable: bool = UNSET
    differentiable: bool = UNSET
    fused: bool | None = UNSET

    def __post_init__(self) -> None:
        """Count the betas."""
        if self.betas != UNSET and len(self.betas) != 2:
            raise UsageError(f"betas={self.betas}: expected two numbers")


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """Network, optimizer, schedule and averaging of the weights, see `conf/training/model`."""

    network: dict[str, Any] = field(metadata={**_CLASS, "own": {None: NetworkOptions, CLASSES[PAPER]: PaperOptions}})
    optimizer: dict[str, Any] = field(metadata={**_CLASS, "own": {None: OptimizerOptions}})
    schedule: Literal["constant", "cosine", "linear"]
    averaging: Annotated[float, AtLeast(0), Below(1)]


@dataclass(frozen=True, kw_only=True)
class RankingOptions:
    """The logistic loss of pairs, see `conf/objective`."""

    name: Literal["ranking"]


@dataclass(frozen=True, kw_only=True)
class DistanceOptions:
    """The squared error of distances as shares of `max_distance` steps."""

    name: Literal["distance"]
    max_distance: Count
    max_class_share: Share


@dataclass(frozen=True, kw_only=True)
class SearchValidation:
    """Greedy search on problems, see `conf/validation`."""

    by: Literal["search"]
    problems: Count
    verdict: Natural
    nodes: Count


@dataclass(frozen=True, kw_only=True)
class LossValidation:
    """The loss of a share of the samples."""

    by: Literal["loss"]
    share: Annotated[float, Above(0), Below(1)]
    verdict: Natural
    nodes: Count


@dataclass(frozen=True, kw_only=True)
class ExpertOptions:
    """An expert from which a network also learns, see `conf/train.yaml`."""

    problems: Natural
    growth: Annotated[float, Above(0), AtMost(1)]
    aggregation: Natural
    expansions: Count

    def __post_init__(self) -> None:
        """Check that there are problems."""
        if self.aggregation and not self.problems:
            raise UsageError(f"aggregation={self.aggregation}: give problems of the expert, too, with expert.problems=")


@dataclass(frozen=True, kw_only=True)
class Training(SourceOptions):
    """A training, see `conf/train.yaml`."""

    run_dir: Path = field(metadata={"written": "folder"})
    encoding: dict[str, Any] = field(metadata=ENCODING)
    objective: RankingOptions | DistanceOptions
    base: Literal["none", "h_ff", "h_add"]
    validation: SearchValidation | LossValidation
    model: ModelOptions
    trainer: dict[str, Any]
    expert: ExpertOptions
    batch_size: Count
    seed: Annotated[int, AtLeast(0), AtMost(2**32 - 1)]  # NumPy's seeds
    ckpt_path: str | None
    callbacks: dict[str, dict[str, Any]] = field(default_factory=dict, metadata=_CLASSES)
    logger: dict[str, dict[str, Any]] = field(default_factory=dict, metadata=_CLASSES)

    @classmethod
    def find_unused(cls, values: Mapping[str, Any]) -> dict[str, str]:
        """Settings that are not used, see `SourceOptions`: those of an expert need its problems."""
        unused, expert = super().find_unused(values), values.get("expert")
        if isinstance(expert, Mapping) and not expert.get("problems"):
            reason = "there is no expert: give expert.problems= or leave it out"
            unused |= dict.fromkeys(("expert.growth", "expert.expansions"), reason)
        return unused

    def __post_init__(self) -> None:
        """Reject a folder with another training, and combinations of settings that do not fit."""
        checkpoint, path = self.checkpoint, self.run_dir / CHECKPOINTS / LAST
        if checkpoint is not None and not checkpoint.is_file():
            raise MissingError(f"ckpt_path={self.ckpt_path}: there is no file {checkpoint}")
        is_there = any(one.exists() for one in (path, self.run_dir / RUN_FILE, self.run_dir / MODEL_FILE))
        if is_there and (checkpoint is None or checkpoint.resolve() != path.resolve()):
            another = "name another hydra.sweep.dir=, where a study goes on, too" if is_sweep() else "name another"
            remedy = f"go on with ckpt_path=last, or {another}" if path.exists() else another
            raise UsageError(f"run_dir={self.run_dir}: there is a training: {remedy}")
        if isinstance(self.validation, LossValidation) and isinstance(self.objective, RankingOptions):
            raise UsageError("validation=distance measures distances: give objective=distance, or validation=ranking")
        is_ranking = isinstance(self.objective, RankingOptions)
        if self.model.network.get(TARGET) == CLASSES[PAPER] and (is_ranking or self.base != "none"):
            raise UsageError("model=paper predicts distances: give objective=distance base=none, or model=gine")
        if self.model.network.get(TARGET) == CLASSES[PAPER] and self.batch_size == 1:
            raise UsageError("batch_size=1: model=paper normalises batches: give at least 2")
        if self.expert.problems and not is_ranking:
            raise UsageError(
                "expert.problems: plans tell which e-states are better: give objective=ranking, or expert.problems=0"
            )

    @property
    def checkpoint(self) -> Path | None:
        """The checkpoint to go on from."""
        if self.ckpt_path is None:
            return None
        return self.run_dir / CHECKPOINTS / LAST if self.ckpt_path == "last" else Path(self.ckpt_path)


def as_yaml(training: Training) -> str:
    """All settings but the folder, as a configuration: `--config-dir <folder> --config-name config` repeats it.

    A run that was continued is repeated from its start.
    """

    def plain(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        return {name: str(value) if isinstance(value, Path) else value for name, value in pairs if value != UNSET}

    settings = asdict(training, dict_factory=plain)
    del settings["run_dir"]
    for entry in fields(training):
        if entry.metadata.get("flat"):
            settings |= settings.pop(entry.name)
    if training.ckpt_path == "last":
        settings["ckpt_path"] = None
    return OmegaConf.to_yaml(OmegaConf.create({"defaults": ["base", "_self_"], **settings}))
