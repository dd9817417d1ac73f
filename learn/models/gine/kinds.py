"""The kinds of networks that come with epigym, and what their settings may be."""

from __future__ import annotations

from typing import Annotated

from epigym.config.values import AtLeast, Below

GINE, PAPER = "gine", "paper"
"""The kinds of the networks of epigym."""
CLASSES = {GINE: "learn.models.gine.network.GineNetwork", PAPER: "learn.models.gine.paper.PaperNetwork"}
"""Their classes."""
Margin = Annotated[float, AtLeast(0), Below(0.5)]
"""Of the outputs of the paper's network from 0 and 1."""
