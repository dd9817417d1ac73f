"""Trained models: networks and linear models, their files, and scoring.

>>> from learn.models import open_model
>>> scorer = open_model("outputs/train/grapevine").make_scorer(space)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from learn.models.opening import open_model

__all__ = ["open_model"]


def __getattr__(name: str) -> Any:
    """Import `open_model` when it is used first."""
    if name not in __all__:
        raise AttributeError(f"module 'learn.models' has no attribute {name!r}")
    from learn.models import opening

    return getattr(opening, name)
