from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from epigym.errors import EpigymError
from learn.compare import COLUMNS, compare


def finish(folder: Path, domain: str, encoding: str, r2: float) -> None:
    folder.mkdir(parents=True)
    metrics = dict.fromkeys(COLUMNS.values(), 0.5) | {"val/r2": r2}
    metrics |= {"train/samples": 80.0, "val/samples": 20.0, "epochs": 7.0}
    record = {"domains": [domain], "problems": [], "encoding": encoding, "seed": 1, "seconds": 3.4, "metrics": metrics}
    (folder / "run.json").write_text(json.dumps(record))


def test_runs_become_rows_by_domain_and_encoding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    finish(tmp_path / "runs" / "0", "grapevine", "map", 0.25)
    finish(tmp_path / "runs" / "1", "grapevine", "hash", 0.75)
    finish(tmp_path / "runs" / "2", "assembly_line", "map", float("nan"))
    rows = compare(OmegaConf.create({"runs": str(tmp_path / "runs"), "run_dir": str(tmp_path / "out")}))
    assert [(row["trained on"], row["encoding"]) for row in rows] == [
        ("assembly_line", "map"),
        ("grapevine", "hash"),
        ("grapevine", "map"),
    ]
    assert rows[1]["R²"] == 0.75
    assert "grapevine" in capsys.readouterr().out
    with (tmp_path / "out" / "comparison.csv").open(newline="") as file:
        stored = list(csv.DictReader(file))
    assert [row["R²"] for row in stored] == ["nan", "0.75", "0.25"]
    assert stored[0].keys() >= {"MAE", "median MAE", "SUB MAE", "epochs", "samples", "waiting"}
    heading, marks, *lines = (tmp_path / "out" / "comparison.md").read_text().splitlines()
    assert heading.startswith("| trained on | encoding | seed |")
    assert marks.startswith("| --- | --- | --: |")
    assert lines[1].startswith("| grapevine | hash | 1 | 80 | 20 | 0.750 | 0.500 |")


def test_a_folder_without_runs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EpigymError, match="no finished run"):
        compare(OmegaConf.create({"runs": str(tmp_path), "run_dir": str(tmp_path)}))
