"""The models that come with epigym."""

from collections import defaultdict
from pathlib import Path

import pytest

from domains import DOMAINS
from epigym.config.packages import PLACE
from epigym.io.files import read_rows
from learn.models.shipped import GENERAL, LINEAR, NETWORKS, NETWORKS_FIRST, load_model
from tests.benchmarks.networks import COLUMNS

ROWS = PLACE / "docs" / "results" / "networks_validation.csv.gz"
"""Of `python -m tests.benchmarks.networks set=validation guidance=linear,network/42`."""
NAMES = sorted([*DOMAINS, GENERAL])


@pytest.mark.parametrize("folder", [LINEAR, NETWORKS], ids=["linear", "networks"])
def test_each_domain_has_a_model_with_its_card(folder: Path) -> None:
    assert sorted(path.stem for path in folder.glob("*.json")) == NAMES
    for path in folder.glob("*.json"):
        model = load_model(path)
        assert model.domain == path.stem
        assert {"domains", "seed", "validation"} <= model.card.keys()


def test_they_are_small() -> None:
    assert sum(path.stat().st_size for folder in (LINEAR, NETWORKS) for path in folder.glob("*.json")) < 3_000_000


def test_networks_come_first_that_solve_more_validation_problems_or_as_many_in_less_time() -> None:
    solved: dict[tuple[str, str], int] = defaultdict(int)
    seconds: dict[tuple[str, str], float] = defaultdict(float)
    for row in read_rows(ROWS, COLUMNS):
        model = row["domain"], row["guidance"]
        solved[model] += int(row["solved"])
        seconds[model] -= float(row["cpu_seconds"])
    linear, network = ({name: (solved[name, kind], seconds[name, kind]) for name in DOMAINS}
                       for kind in ("linear", "network/42"))  # fmt: skip
    assert {name for name in DOMAINS if network[name] > linear[name]} == NETWORKS_FIRST
