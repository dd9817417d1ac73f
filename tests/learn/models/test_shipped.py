"""The models that come with epigym."""

from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
import yaml

from domains import DOMAINS
from epigym import StateSpace, load_problem
from epigym.config.packages import PLACE
from epigym.io.files import read_json, read_rows
from learn.models import open_model
from learn.models.model import GENERAL
from learn.models.shipped import SHIPPED, list_shipped, locate_shipped, read_defaults
from tests.benchmarks.networks import COLUMNS
from tests.tools.cards import make_card

SCORES = Path(__file__).parent / "shipped_scores.json"
ROWS = PLACE / "docs" / "results" / "networks_validation.csv.gz"
"""Of `python -m tests.benchmarks.networks set=validation guidance=linear,gine`."""
TESTS = PLACE / "docs" / "results" / "networks.csv.gz"
"""Of `python -m tests.benchmarks.networks`, and with `guidance=gine`."""
NAMES = sorted(read_defaults())
TRAINED = [name for name in NAMES if name != GENERAL]
"""The domains with models; a new one has none until it is trained on."""


@pytest.mark.parametrize("kind", ["linear", "gine"])
def test_each_domain_has_a_model_with_its_card(kind: str) -> None:
    for name in NAMES:
        model = open_model(locate_shipped(kind, name))
        assert (model.kind, model.domain) == (kind, name)
        assert {"domains", "seed", "validation"} <= model.card.keys()


def test_nothing_else_is_shipped_and_it_is_small() -> None:
    expected = [locate_shipped(kind, name) for kind in ("gine", "linear") for name in NAMES]
    cards = [SHIPPED / kind / "README.md" for kind in ("gine", "linear")]
    files = sorted(path for path in SHIPPED.rglob("*") if path.is_file())
    assert list_shipped() == [SHIPPED / "choice.json", *expected]
    assert files == sorted([*list_shipped(), *cards])
    assert sum(path.stat().st_size for path in files) < 3_000_000


@pytest.mark.parametrize("kind", ["linear", "gine"])
def test_cards_are_those_of_the_files_and_of_the_measured_rows(kind: str) -> None:
    """Of `python -m tests.tools.ship`; their metadata say of every domain how many test problems its model solves."""
    text = (SHIPPED / kind / "README.md").read_text(encoding="utf-8")
    assert text == make_card(kind)
    _empty, metadata, _card = text.split("---\n", 2)
    index = {entry["name"]: entry["results"] for entry in yaml.safe_load(metadata)["model-index"]}
    assert {f"{kind}/{name}" for name in TRAINED} <= index.keys()
    for name in TRAINED:
        [result] = index[f"{kind}/{name}"]
        rows = [row for row in read_rows(TESTS, COLUMNS) if (row["domain"], row["guidance"]) == (name, kind)]
        values = {metric["type"]: metric["value"] for metric in result["metrics"]}
        assert values == {key: sum(int(row[key]) for row in rows) for key in ("solved", "expanded")}


@pytest.mark.parametrize("domain", TRAINED)
def test_scores_are_those_of_the_models_that_were_measured(domain: str) -> None:
    """On e-states near the initial one, as the files of the measurements in the documents gave them."""
    space = StateSpace(load_problem(domain))
    first = np.unique(np.append(space.expand([space.initial]).target, space.initial))[:2]
    ids = np.unique(np.concatenate([first, space.expand(first).target]))[:6].astype(np.int32)
    expected = read_json(SCORES)[domain]
    assert expected.keys() == {f"{kind}/{name}" for kind in ("linear", "gine") for name in (domain, GENERAL)}
    for name, scores in expected.items():
        found = open_model(SHIPPED / f"{name}.safetensors").make_scorer(space).score(ids)
        np.testing.assert_allclose(found, scores, rtol=1e-6 if name.startswith("gine") else 1e-14, atol=0)


def test_there_are_models_of_domains_and_a_general_one() -> None:
    assert GENERAL in NAMES
    assert len(TRAINED) >= 14
    assert set(TRAINED) <= set(DOMAINS)


def test_networks_come_first_that_solve_more_validation_problems_or_as_many_in_less_time() -> None:
    solved: dict[tuple[str, str], int] = defaultdict(int)
    seconds: dict[tuple[str, str], float] = defaultdict(float)
    for row in read_rows(ROWS, COLUMNS):
        model = row["domain"], row["guidance"]
        solved[model] += int(row["solved"])
        seconds[model] -= float(row["cpu_seconds"])
    linear, network = ({name: (solved[name, kind], seconds[name, kind]) for name in TRAINED}
                       for kind in ("linear", "gine"))  # fmt: skip
    networks = {name for name, path in read_defaults().items() if path.parent.name == "gine"}
    assert {name for name in TRAINED if network[name] > linear[name]} == networks
