"""Axes of figures, drawn by Matplotlib."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import Locator, LogLocator, MaxNLocator, NullFormatter

_LEAST = 3
_FEW = 1.7  # most decades with three ticks each


def use_log_scale(axes: Axes, which: str) -> None:
    """Scale axes logarithmically, with at least three ticks and at most about eight, in decimals without exponents.

    Args:
        axes: after everything has been drawn on them.
        which: `x`, `y` or both.
    """
    for name in which:
        axis = getattr(axes, f"{name}axis")
        if not 0 < axis.get_data_interval()[1] < math.inf:  # nothing that can be drawn
            continue
        getattr(axes, f"set_{name}scale")("log")
        low, high = axis.get_view_interval()
        if math.isclose(low, high, rel_tol=1e-6):  # a single value, which Matplotlib gives room in large figures only
            low, high = low / 10, high * 10
            getattr(axes, f"set_{name}lim")(low, high)
        decades = math.log10(high / low)
        subs = (1, 2, 5) if decades < _FEW else (1, 3) if decades < 2 * _FEW else (1,)
        locator: Locator = LogLocator(subs=subs)
        if sum(low <= tick <= high for tick in locator.tick_values(low, high)) < _LEAST:
            locator = MaxNLocator(nbins=5, min_n_ticks=_LEAST)
        axis.set_major_locator(locator)
        axis.set_major_formatter(lambda number, _: format_decimal(number))
        axis.set_minor_formatter(NullFormatter())


def format_decimal(number: float) -> str:
    """Format a number with six significant digits at most and no exponent."""
    return np.format_float_positional(number, precision=6, fractional=False, trim="-")
