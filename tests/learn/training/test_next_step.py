"""The training that a verdict suggests: settings that change one thing, and that are accepted."""

import pytest

from learn.train import Train
from learn.training.report.next_step import suggest_step
from learn.training.verdict import HELD_OUT, LARGER, Verdict
from tests.helpers.commands import compose
from tests.learn.test_verdict import tier_of

WORSE = {"network": (2,) * 9, "untrained": (1,) * 9}
FILE = "problem=coin_in_the_box/pl_3"


def suggest(*given: str, gain: bool = False, domain: str = "gossip", name: str = LARGER) -> tuple[str, ...] | None:
    tier = tier_of(name, **({"network": (1,) * 9, "untrained": (2,) * 9} if gain else WORSE), domain=domain)
    found = suggest_step(compose(Train, "train", *given), Verdict("hfs", "none", (tier,)), given)
    if found is None:
        return None
    compose(Train, "train", *found.overrides)  # which checks them
    return found.overrides


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["encoding=hash"], ["encoding=relational", "domain=gossip", "expert.problems=80"]),
        (["encoding=map", "experiment=paper", "domain=gossip"],
         ["domain=gossip", "encoding=relational", "expert.problems=80"]),
        (["encoding=relational", "domain=gossip"], ["encoding=relational", "domain=gossip", "expert.problems=80"]),
        (["encoding=relational", "objective=distance", "seed=3"],
         ["encoding=relational", "seed=3", "expert.problems=80"]),
        (["encoding=relational", "expert.problems=40", "run_dir=x"],
         ["encoding=relational", "expert.problems=40", "expert.growth=0.5"]),
        (["encoding=relational", "expert.problems=40", "expert.growth=0.5"],
         ["encoding=relational", "expert.problems=40", "expert.growth=0.5", "base=h_ff"]),
    ],
)  # fmt: skip
def test_what_is_suggested(given: list[str], expected: list[str]) -> None:
    assert suggest(*given) == tuple(expected)


def test_files_have_no_expert() -> None:
    assert suggest("encoding=hash", FILE, domain="", name=HELD_OUT) == (FILE, "encoding=relational")
    found = suggest("encoding=relational", FILE, domain="", name=HELD_OUT)
    assert found == ("encoding=relational", FILE, "data.instances=240")


def test_nothing_is_suggested_after_a_gain() -> None:
    assert suggest("encoding=relational", gain=True) is None
