"""Whether a job is one of a sweep."""

from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode


def is_sweep() -> bool:
    """Whether this is a job of a sweep."""
    return HydraConfig.initialized() and HydraConfig.get().mode is RunMode.MULTIRUN


def is_sampled() -> bool:
    """Whether this is a job of a sweeper that samples settings by the results of other jobs, such as Optuna."""
    return is_sweep() and HydraConfig.get().runtime.choices["hydra/sweeper"] != "basic"
