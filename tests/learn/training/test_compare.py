import csv
from pathlib import Path

import numpy as np
import pytest

from epigym.io.checksummed import read_checksummed, write_checksummed
from learn.compare import Compare, compare
from learn.training.report.comparison import COLUMNS
from learn.training.report.comparison import compare as rows
from tests.helpers.runs import SEARCHED, Fit


def finish(folder: Path, domain: str, encoding: str, r2: float) -> None:
    folder.mkdir(parents=True)
    metrics = dict.fromkeys(COLUMNS.values(), 0.5) | {"val/r2": r2}
    metrics |= {"train/samples": 80.0, "val/samples": 20.0, "epochs": 7.0}
    record = {"domains": [domain], "problems": [], "encoding": encoding, "seed": 1, "seconds": 3.4, "metrics": metrics}
    chosen = {"data": {"kind": "published", "seed": 1}, "objective": "distance", "base": "none"}
    write_checksummed(folder / "run.json", record | chosen)


def test_runs_become_rows_by_domain_and_encoding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    finish(tmp_path / "runs" / "0", "grapevine", "map", 0.25)
    finish(tmp_path / "runs" / "1", "grapevine", "hash", 0.75)
    finish(tmp_path / "runs" / "2", "assembly_line", "map", float("nan"))
    compare(Compare(run_dir=tmp_path / "out", debug=False, runs=tmp_path / "runs"))
    assert "grapevine" in capsys.readouterr().out
    with (tmp_path / "out" / "comparison.csv").open(newline="") as file:
        stored = list(csv.DictReader(file))
    assert [(row["trained on"], row["encoding"]) for row in stored] == [
        ("assembly_line", "map"),
        ("grapevine", "hash"),
        ("grapevine", "map"),
    ]
    assert [row["R²"] for row in stored] == ["nan", "0.75", "0.25"]
    assert stored[0].keys() >= {"MAE", "median MAE", "SUB MAE", "epochs", "samples", "waiting"}
    _, _, heading, marks, *lines = (tmp_path / "out" / "comparison.md").read_text().splitlines()
    assert heading.startswith("| trained on | encoding | objective | base | seed |")
    assert marks.startswith("| --- | --- | --- | --- | ---: |")
    assert lines[1].startswith("| grapevine | hash | distance | none | 1 | 80 | 20 | 7 | 0.750 | 0.500 |")


def test_what_was_sampled_is_not_taken_for_what_is_published(tmp_path: Path) -> None:
    for name in ("0", "1"):
        finish(tmp_path / name, "grapevine", "hash", 0.5)
    record = read_checksummed(tmp_path / "0" / "run.json", "")
    write_checksummed(
        tmp_path / "0" / "run.json", record | {"data": {"kind": "sampled", "instances": 60, "goals": 4, "seed": 42}}
    )
    assert [row["trained on"] for row in rows(tmp_path)] == ["grapevine", "grapevine, 60 sampled"]


def test_runs_that_were_validated_by_search_are_rows_too(fit: Fit, tmp_path: Path) -> None:
    fit(*SEARCHED, "trainer.max_epochs=1", "base=h_ff", run="searched")
    (alone,) = rows(tmp_path)
    assert alone.keys() >= {"objective", "base", "solved", "problems", "expanded"}
    assert not alone.keys() & {"MAE", "samples"}
    assert (alone["trained on"], alone["objective"], alone["base"]) == (
        "consecutive_numbers, 2 sampled", "ranking", "h_ff"
    )  # fmt: skip
    finish(tmp_path / "measured", "grapevine", "hash", 0.5)
    searched, measured = rows(tmp_path)
    assert (searched["problems"], measured["samples"], measured["MAE"]) == (2, 80, 0.5)
    assert np.isnan([searched["MAE"], measured["solved"]]).all()


def test_a_damaged_record_is_named_and_skipped(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    finish(tmp_path / "0", "grapevine", "map", 0.25)
    for number, damaged in enumerate(("{", "[]", "{}")):
        (tmp_path / f"damaged{number}").mkdir()
        (tmp_path / f"damaged{number}" / "run.json").write_text(damaged)
    assert [row["trained on"] for row in rows(tmp_path)] == ["grapevine"]
    assert caplog.text.count("skipped the damaged record of a run") == 3
