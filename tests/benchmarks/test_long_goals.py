"""What learning from long goals is worth to greedy search; run by hand: `pytest tests/benchmarks/test_long_goals.py`.

The problems are validation problems of another seed than those that models are chosen by, with short goals and with
long ones. Models are read from `outputs/models/short` and `outputs/models/long`, where
`learn.train model=linear model.long_goals=false model.folder=outputs/models/short domain=…` and its like write them.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

import domains
from epigym.features.types import FeatureTypes
from epigym.space.space import StateSpace
from learn.training.sampling import sample_validation
from learn.training.validation import Scores, validate_by_search
from search.heuristics import make_heuristic

SEED, PROBLEMS, NODES = 7, 160, 1000
MODELS = {label: f"outputs/models/{label}/{{domain}}.json" for label in ("short", "long")}
HOW: dict[str, dict[str, Any]] = {
    "h_ff": {"name": "h_ff"},
    "h_add": {"name": "h_add"},
    **{label: {"name": "learned", "checkpoint": file} for label, file in MODELS.items()},
}


@pytest.mark.parametrize("domain", domains.DOMAINS)
def test_greedy_search(domain: str, lines: list[str]) -> None:
    if not all(Path(file.replace("{domain}", domain)).exists() for file in MODELS.values()):
        pytest.skip(f"python -m learn.train domain={domain} model=linear, see above")
    goals = [sample_validation([domain], PROBLEMS, SEED, long_goals=long_goals) for long_goals in (False, True)]
    lines.append(f"{domain}: {PROBLEMS} problems with short goals, {PROBLEMS} with long ones: solved, expanded")
    for label, how in HOW.items():
        short, long = (validate_by_search(problems, NODES, partial(_scores, how)) for problems in goals)
        lines.append(f"    {label:6s} {short.solved:3d} {short.expanded:7,d}   {long.solved:3d} {long.expanded:7,d}")


def _scores(how: dict[str, Any], space: StateSpace, types: FeatureTypes) -> Scores:
    return make_heuristic(space=space, **how).score
