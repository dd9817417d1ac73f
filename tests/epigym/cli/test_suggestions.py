"""Unknown settings: the options that have them, their names elsewhere, and names of other commands for them."""

import pytest

from domains.names import did_you_mean
from epigym.cli.convert import Convert
from epigym.cli.settings import Settings
from epigym.cli.suggestions import unknown_setting
from learn.export import Export
from learn.rollouts import Rollouts
from learn.sample import Sample
from learn.train import Train
from search.evaluate import Evaluate
from search.report import Report
from search.solve import Solve

DATA = {"data": {"split": "train", "seed": 42, "expansions": 40}}


@pytest.mark.parametrize(
    ("settings", "key", "expected"),
    [
        (Rollouts, "data.instances", "it belongs to data=sampled: choose that, too"),
        (Rollouts, "data.instnces", "did you mean 'data.instances' with data=sampled?"),
        (Rollouts, "instances", "did you mean 'data.instances' with data=sampled?"),
        (Rollouts, "data.sed", "did you mean 'data.seed'?"),
        (Rollouts, "data.qwerty", "expected one of 'data.expansions', 'data.seed', 'data.split'"),
        (Train, "data.goals", "it belongs to data=sampled: choose that, too"),
        (Train, "batch_sise", "expected one of 'data'"),  # of experiments, which belong to no group of theirs
        (Evaluate, "suite.foldr", "did you mean 'suite.folder' with suite=epddl?"),
        (Evaluate, "run_dir", "did you mean 'folder'?"),
        (Export, "out", "did you mean 'path'?"),
        (Sample, "path", "did you mean 'run_dir'?"),
        (Report, "out", "did you mean 'run_dir' or 'folder'?"),
        (Convert, "folder", "did you mean 'out'?"),
        (Solve, "output", "did you mean 'policy_file' or 'plan_file' or 'run_dir'?"),
        (Rollouts, "folder", "did you mean 'run_dir' or 'outputs'?"),
    ],
)
def test_the_setting_that_is_meant_is_suggested(settings: type[Settings], key: str, expected: str) -> None:
    values = DATA if settings in (Rollouts, Train) else {}
    assert unknown_setting(key, values, settings) == f"unknown setting {key!r}: {expected}"


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("BFS", ["bfs", "bfws", "hfs"], "did you mean 'bfs'?"),
        ("Alpah", ["ALPHA", "beta"], "did you mean 'ALPHA'?"),
        ("data.instances", ["data.seed", "data.split", "data.expansions"], ""),
        ("data.instances", ["seed", "metadata.instance"], "did you mean 'metadata.instance'?"),
        ("RIGHT", ["go_right_a", "go_left_a"], "did you mean 'go_right_a'?"),
    ],
)
def test_names_are_close_by_their_letters(name: str, known: list[str], expected: str) -> None:
    """Neither by case nor by a prefix that all of them have."""
    assert did_you_mean(name, known) == expected
