"""The settings of a training, checked without PyTorch."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass, field, fields
from glob import glob
from pathlib import Path
from typing import Annotated, Any, Literal

from hydra.core.config_store import ConfigStore
from omegaconf import OmegaConf

from epigym.config.values import UNSET, AtLeast, Count
from epigym.errors import UsageError
from learn.data.sources import SourceOptions
from learn.models.files import MODEL_FILE
from learn.models.gine.model import CLASSES, PAPER

RUN_FILE = "run.json"
"""The record of a run, written into its folder when it is finished."""
CHECKPOINTS, LAST = "checkpoints", "last"
"""The subfolder of a run with Lightning's checkpoints, and the name of the one of the last epoch."""
GPU_FILES = ("/dev/nvidia*", "/dev/nvhost*", "/dev/nvmap", "/dev/kfd", "/dev/dxg")
"""Device files of GPUs on Linux: NVIDIA, NVIDIA boards, AMD, and the Windows subsystem."""
ENCODING = {"makes": "epigym.encoding.encoder:make_encoding"}
"""Metadata of settings that choose an encoding."""
_CLASS = {"check": "epigym.config.targets:check"}


def require_gpu(accelerator: str) -> None:
    """Reject a GPU if there is certainly none; otherwise Lightning checks the accelerator.

    Raises:
        UsageError: when the accelerator is a GPU, and Linux has no device file of one.
    """
    if accelerator in ("gpu", "cuda") and sys.platform == "linux" and not any(map(glob, GPU_FILES)):
        raise UsageError(f"this machine has no GPU for {accelerator!r}: give trainer=auto or trainer=cpu")


@dataclass(frozen=True, kw_only=True)
class TrainerOptions:
    """The options of `lightning.Trainer` without callbacks and loggers; only given options are passed on."""

    accelerator: str = field(default=UNSET, metadata={"check": "learn.training.options:require_gpu"})
    strategy: str = UNSET
    devices: int | str | list[int] = UNSET
    num_nodes: int = field(default=UNSET, metadata={"minimum": 1})
    precision: int | str | None = UNSET
    fast_dev_run: bool | int = UNSET
    max_epochs: int | None = field(default=UNSET, metadata={"minimum": -1})
    min_epochs: int | None = field(default=UNSET, metadata={"minimum": 0})
    max_steps: int = field(default=UNSET, metadata={"minimum": -1})
    min_steps: int | None = field(default=UNSET, metadata={"minimum": 0})
    max_time: str | dict[str, int] | None = UNSET
    limit_train_batches: int | float | None = field(default=UNSET, metadata={"minimum": 0})
    limit_val_batches: int | float | None = field(default=UNSET, metadata={"minimum": 0})
    limit_test_batches: int | float | None = field(default=UNSET, metadata={"minimum": 0})
    limit_predict_batches: int | float | None = field(default=UNSET, metadata={"minimum": 0})
    overfit_batches: int | float = field(default=UNSET, metadata={"minimum": 0})
    val_check_interval: int | float | str | dict[str, int] | None = UNSET
    check_val_every_n_epoch: int | None = field(default=UNSET, metadata={"minimum": 1})
    num_sanity_val_steps: int | None = UNSET
    log_every_n_steps: int | None = field(default=UNSET, metadata={"minimum": 0})
    enable_checkpointing: bool | None = UNSET
    enable_progress_bar: bool | None = UNSET
    enable_model_summary: bool | None = UNSET
    accumulate_grad_batches: int = field(default=UNSET, metadata={"minimum": 1})
    gradient_clip_val: int | float | None = field(default=UNSET, metadata={"minimum": 0})
    gradient_clip_algorithm: str | None = UNSET
    deterministic: bool | str | None = UNSET
    benchmark: bool | None = UNSET
    inference_mode: bool = UNSET
    use_distributed_sampler: bool = UNSET
    profiler: str | None = UNSET
    detect_anomaly: bool = UNSET
    barebones: bool = UNSET
    plugins: Any = UNSET
    sync_batchnorm: bool = UNSET
    reload_dataloaders_every_n_epochs: int = field(default=UNSET, metadata={"minimum": 0})
    default_root_dir: str | None = UNSET
    enable_autolog_hparams: bool = UNSET
    model_registry: str | None = UNSET


# Below the files of `conf/trainer`, so every option can be set on the command line.
ConfigStore.instance().store("options", {entry.name: UNSET for entry in fields(TrainerOptions)}, group="trainer")


@dataclass(frozen=True, kw_only=True)
class NetworkOptions:
    """The arguments of `GineNetwork`."""

    width: Count = UNSET
    layers: Count = UNSET
    type_dropout: float = field(default=UNSET, metadata={"minimum": 0, "maximum": 1})


@dataclass(frozen=True, kw_only=True)
class PaperOptions:
    """The arguments of `PaperNetwork`."""

    node_size: Count = UNSET
    edge_size: Count = UNSET
    hidden_size: Count = UNSET
    head_size: Count = UNSET
    blocks: Annotated[int, AtLeast(0)] = UNSET
    dropout: float = field(default=UNSET, metadata={"minimum": 0, "maximum": 1})
    max_distance: Count = UNSET
    margin: float = field(default=UNSET, metadata={"minimum": 0, "maximum": 0.5})


@dataclass(frozen=True, kw_only=True)
class OptimizerOptions:
    """The arguments of `torch.optim.AdamW`."""

    lr: Annotated[float, AtLeast(0)] = UNSET
    betas: list[float] = UNSET
    eps: Annotated[float, AtLeast(0)] = UNSET
    weight_decay: Annotated[float, AtLeast(0)] = UNSET
    amsgrad: bool = UNSET
    maximize: bool = UNSET
    foreach: bool | None = UNSET
    capturable: bool = UNSET
    differentiable: bool = UNSET
    fused: bool | None = UNSET

    def __post_init__(self) -> None:
        """Check the betas."""
        if self.betas != UNSET and not (len(self.betas) == 2 and all(0 <= beta < 1 for beta in self.betas)):
            raise UsageError(f"betas={self.betas}: expected two numbers from 0 to below 1")


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """Network, optimizer, schedule and averaging of the weights, see `conf/training/model`."""

    network: dict[str, Any] = field(metadata={**_CLASS, "own": {None: NetworkOptions, CLASSES[PAPER]: PaperOptions}})
    optimizer: dict[str, Any] = field(metadata={**_CLASS, "own": {None: OptimizerOptions}})
    schedule: Literal["constant", "cosine", "linear"]
    averaging: float = field(metadata={"minimum": 0, "maximum": 1})


@dataclass(frozen=True, kw_only=True)
class RankingOptions:
    """The logistic loss of pairs, see `conf/objective`."""

    name: Literal["ranking"]


@dataclass(frozen=True, kw_only=True)
class DistanceOptions:
    """The squared error of distances as shares of `max_distance` steps."""

    name: Literal["distance"]
    max_distance: Count
    max_class_share: float = field(metadata={"minimum": 0, "maximum": 1})


@dataclass(frozen=True, kw_only=True)
class SearchValidation:
    """Greedy search on problems, see `conf/validation`."""

    by: Literal["search"]
    problems: int = field(metadata={"minimum": 1})
    nodes: int = field(metadata={"minimum": 1})


@dataclass(frozen=True, kw_only=True)
class LossValidation:
    """The loss of a share of the samples."""

    by: Literal["loss"]
    share: float = field(metadata={"minimum": 0, "maximum": 1})


@dataclass(frozen=True, kw_only=True)
class Training(SourceOptions):
    """A training, see `conf/train.yaml`."""

    run_dir: Path = field(metadata={"written": "folder"})
    encoding: dict[str, Any] = field(metadata=ENCODING)
    objective: RankingOptions | DistanceOptions
    base: Literal["none", "h_ff", "h_add", "best"]
    validation: SearchValidation | LossValidation
    model: ModelOptions
    trainer: TrainerOptions
    batch_size: Count
    seed: int = field(metadata={"minimum": 0, "maximum": 2**32 - 1})  # NumPy's seeds
    ckpt_path: str | None = field(metadata={"exists": True})
    resume: bool
    patience: int = field(metadata={"minimum": 1})
    callbacks: list[dict[str, Any]] = field(metadata=_CLASS)
    loggers: list[dict[str, Any]] = field(metadata=_CLASS)

    def __post_init__(self) -> None:
        """Reject a folder with another training, and combinations of settings that do not fit."""
        last = self.run_dir / CHECKPOINTS / f"{LAST}.ckpt"
        goes_on = self.resume or (self.ckpt_path is not None and Path(self.ckpt_path).resolve() == last.resolve())
        if not goes_on and any(path.exists() for path in (last, self.run_dir / RUN_FILE, self.run_dir / MODEL_FILE)):
            remedy = "go on with resume=true, or name another"
            raise UsageError(f"run_dir={self.run_dir}: there is a training: {remedy}")
        if isinstance(self.validation, LossValidation):
            if self.base == "best":
                raise UsageError("base=best is chosen by search: give base=none, h_ff or h_add, or validation=search")
            if isinstance(self.objective, RankingOptions):
                raise UsageError("validation=loss measures distances: give objective=distance, or validation=search")


def collect_given(options: Any) -> dict[str, Any]:
    """The options of an instance of one of these classes that are set, by name."""
    values = {entry.name: getattr(options, entry.name) for entry in fields(options)}
    return {name: value for name, value in values.items() if value != UNSET}


def as_yaml(training: Training) -> str:
    """All settings of a training as text."""

    def plain(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        return {name: str(value) if isinstance(value, Path) else value for name, value in pairs if value != UNSET}

    return OmegaConf.to_yaml(OmegaConf.create(asdict(training, dict_factory=plain)))
