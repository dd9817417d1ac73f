"""The commands that assess and compare trained networks."""

import csv
import logging
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import learn.assess as command
from epigym import EpigymError, StateSpace, load_problem
from epigym.io.checksummed import write_checksummed
from learn.compare import Compare, compare
from learn.data.explorers import ExplorerSettings
from learn.data.making import make_rollout
from learn.data.rollout import Rollout
from learn.models import open_model
from learn.models.calibration import Calibration
from learn.training.report import assessment
from learn.training.report.comparison import COLUMNS, compare_runs
from tests.helpers.commands import compose
from tests.helpers.runs import PAPER, PROBLEM, SEARCHED, Fit, Stages

UNSOLVABLE = "selective_communication/10_8_pl_9"
TINY = "active_muddy_child/amc_03_02_clean"  # 8 e-states


@pytest.fixture(scope="module")
def rollout() -> Rollout:
    """All e-states of a problem, with their distances."""
    found = make_rollout(load_problem(PROBLEM), ExplorerSettings("exhaustive"), 1, "samples")
    assert found is not None
    return found


@pytest.fixture
def doubling(monkeypatch: pytest.MonkeyPatch, rollout: Rollout) -> None:
    """A network whose values are ten more than the true distance, and its steps twice the distance."""

    def double(space: StateSpace) -> Any:
        distance = dict(zip(rollout.ids.tolist(), rollout.distance.tolist(), strict=True))
        steps = Calibration((10.0, 20.0), (0.0, 20.0))
        values = {one: 10.0 + steps for one, steps in distance.items()}
        return SimpleNamespace(
            steps=steps, score=lambda ids: np.array([values[one] for one in ids.tolist()]), rate_known=lambda _: 0.75
        )

    monkeypatch.setattr(assessment, "open_for", lambda model, task: SimpleNamespace(make_scorer=double))


def run(folder: Path, *overrides: str) -> list[dict[str, str]]:
    """Assess in a folder; the rows of the table."""
    command.assess(compose(command.Assess, "assess", f"run_dir={folder / 'run'}", *overrides))
    with (folder / "run" / "assessment.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.usefixtures("doubling")
def test_errors_and_ranks_of_a_whole_problem(tmp_path: Path, rollout: Rollout, stages: Stages) -> None:
    (row,) = run(tmp_path, f"problem={PROBLEM}", "explorer=exhaustive")
    distance = rollout.distance
    goal = rollout.space.query(rollout.space.task.goal)
    goal_count = np.sum(~goal(rollout.ids), axis=1)
    assert row["problem"] == PROBLEM
    assert row["explored"] == "whole"
    assert stages["assessing"] == ["0 of 1 problems", "1 of 1 problems"]
    numbers = {name: float(value) for name, value in row.items() if name not in ("problem", "explored", "constant")}
    assert numbers["samples"] == len(distance)
    assert numbers["steps"] == distance.max()
    assert numbers["MAE"] == pytest.approx(distance.mean())
    assert numbers["goal count MAE"] == pytest.approx(np.abs(distance - goal_count).mean())
    assert numbers["R²"] == pytest.approx(1 - np.square(distance).sum() / np.square(distance - distance.mean()).sum())
    assert numbers["rank"] == pytest.approx(1)
    assert 0 < numbers["goal count rank"] < 1
    assert (row["constant"], numbers["unknown"]) == ("no", 0.25)
    name = PROBLEM.replace("/", "_")
    pictures = {path.name for path in (tmp_path / "run").glob("*.png")}
    assert pictures == {f"{name}_predictions.png", f"{name}_errors.png"}


@pytest.mark.usefixtures("doubling")
def test_problems_without_a_goal_are_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        row, other = run(tmp_path, f"problem=[{UNSOLVABLE},{PROBLEM}]", "explorer=exhaustive")
    assert row["problem"] == PROBLEM
    assert {name: value for name, value in other.items() if value} == {
        "problem": UNSOLVABLE, "explored": "no goal", "samples": "0"
    }  # fmt: skip
    assert f"{UNSOLVABLE} is left out: no goal of" in caplog.text
    with pytest.raises(EpigymError, match="no goal is among the explored e-states of any problem"):
        run(tmp_path, f"problem={UNSOLVABLE}", "explorer=exhaustive")


@pytest.mark.parametrize("limit", ["explorer.max_visited=200", "explorer.max_worlds=6000"])
def test_the_table_says_what_is_explored_in_part(tmp_path: Path, limit: str) -> None:
    rows = run(tmp_path, f"problem=[{PROBLEM},{TINY}]", limit, "explorer=exhaustive")
    assert {row["problem"]: row["explored"] for row in rows} == {PROBLEM: "part", TINY: "whole"}
    assert 0 < int(rows[0]["samples"]) < 225
    note = (tmp_path / "run" / "assessment.md").read_text().splitlines()[-1]
    assert note.startswith("explored in part: there are more e-states; the distances are those among the explored")


@pytest.mark.usefixtures("doubling")
def test_a_wrong_problem_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(EpigymError, match="nowhere"):
        run(tmp_path, f"problem=[{PROBLEM},grapevine/nowhere]", "explorer=exhaustive")


def test_wrong_problems() -> None:
    with pytest.raises(EpigymError, match="no problem is named"):
        command.assess(compose(command.Assess, "assess"))
    with pytest.raises(EpigymError, match="did you mean 'grapevine'"):
        command.assess(compose(command.Assess, "assess", "domain=grapevin"))


@pytest.mark.parametrize("overrides", [PAPER, (*SEARCHED, "encoding=relational", "base=h_ff")])
def test_a_trained_network_is_assessed(fit: Fit, tmp_path: Path, overrides: tuple[str, ...]) -> None:
    fit(*overrides, "trainer.max_epochs=2", run="trained")
    (row,) = run(tmp_path, f"problem={PROBLEM}", f"model={tmp_path}/trained", "explorer=exhaustive")
    assert float(row["samples"]) == 225
    assert np.isfinite([float(row["MAE"]), float(row["R²"])]).all()
    assert float(row["MAE"]) < 10
    assert row["constant"] == "no"
    assert 0 <= float(row["unknown"]) < 1


def test_an_assessment_on_what_was_learned_says_so(fit: Fit, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    fit(*PAPER, "trainer.max_epochs=1", run="trained")
    key = open_model(tmp_path / "trained").card["data"]["key"]
    run(tmp_path, f"data.folder=outputs/rollouts/{key}", f"model={tmp_path}/trained")
    assert "the model learned from these problems" in caplog.text
    caplog.clear()
    run(tmp_path, f"problem={PROBLEM}", f"model={tmp_path}/trained", "explorer=exhaustive")
    assert "the model learned from" not in caplog.text


def finish(folder: Path, domain: str, score: float, word: str = "", **others: Any) -> None:
    """Write the record of a run with a verdict."""
    folder.mkdir(parents=True)
    metrics = dict.fromkeys(COLUMNS.values(), 0.5) | {"val/score": score}
    metrics |= {"train/samples": 80.0, "val/samples": 20.0, "epochs": 7.0}
    record = {"domains": [domain], "encoding": "hash", "seed": 1, "seconds": 3.4, "stopped": "", "metrics": metrics}
    chosen = {"data": {"kind": "published"}, "objective": "distance", "base": "none"}
    found = {"p": 0.01, "ratio": 0.5, "interval": [0.25, 0.75]}
    comparisons = {} if word == "untrained" else {"untrained": found}
    verdict = {"word": word, "tiers": [{"comparisons": {}}, {"comparisons": comparisons}]} if word else None
    write_checksummed(folder / "run.json", record | chosen | {"verdict": verdict} | others)


def test_compared_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """By training problems, the best validation first; no verdict changes that."""
    monkeypatch.setenv("COLUMNS", "200")
    finish(tmp_path / "runs" / "0", "grapevine", 0.03, "gain")
    finish(tmp_path / "runs" / "1", "grapevine", 0.02, "untrained")
    finish(tmp_path / "runs" / "2", "assembly_line", 0.9)
    for name in ("0", "1"):
        given = f"[data=published, model.optimizer.lr=1e-{name}, run_dir={name}]"
        (tmp_path / "runs" / name / "overrides.yaml").write_text(given)
    (tmp_path / "runs" / "2" / "overrides.yaml").write_text("[data=published]")
    compare(Compare(run_dir=tmp_path / "out", debug=False, runs=tmp_path / "runs"))
    shown = capsys.readouterr().out
    assert re.search(r"0 +│ grapevine +│ model.optimizer.lr=1e-0 │ loss 0.03 +│ gain +│ 0.010 │ 0.500 │", shown)
    with (tmp_path / "out" / "comparison.csv").open(newline="") as file:
        stored = list(csv.DictReader(file))
    assert [(row["folder"], row["trained on"], row["validation"]) for row in stored] == [
        ("2", "assembly_line", "loss 0.9"),
        ("1", "grapevine", "loss 0.02"),
        ("0", "grapevine", "loss 0.03"),
    ]
    assert [row["differs"] for row in stored] == ["", "model.optimizer.lr=1e-1", "model.optimizer.lr=1e-0"]
    columns = ("verdict", "p", "ratio", "low", "high")
    assert [tuple(row[name] for name in columns) for row in stored] == [
        ("", "", "", "", ""), ("untrained", "", "", "", ""), ("gain", "0.01", "0.5", "0.25", "0.75"),
    ]  # fmt: skip
    assert stored[0].keys() >= {"MAE", "median MAE", "goal count MAE", "epochs", "samples", "waiting"}
    _, _, heading, *_ = (tmp_path / "out" / "comparison.md").read_text().splitlines()
    assert heading.startswith(
        "| folder | trained on | differs | validation | verdict | p | ratio | low | high | encoding |"
    )
    assert (tmp_path / "out" / "comparison.png").read_bytes().startswith(b"\x89PNG")


def test_without_a_ratio_there_is_no_picture(tmp_path: Path) -> None:
    finish(tmp_path / "runs" / "0", "grapevine", 0.5, "untrained")
    compare(Compare(run_dir=tmp_path / "out", debug=False, runs=tmp_path / "runs"))
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"comparison.csv", "comparison.md"}


def test_what_was_sampled_is_not_taken_for_what_is_published(tmp_path: Path) -> None:
    finish(tmp_path / "0", "grapevine", 0.5, data={"kind": "sampled", "data": {"instances": 60}})
    finish(tmp_path / "1", "grapevine", 0.5)
    assert [row["trained on"] for row in compare_runs(tmp_path)] == ["grapevine", "grapevine, 60 sampled"]


def test_runs_that_were_validated_by_search_are_rows_too(fit: Fit, tmp_path: Path) -> None:
    fit(*SEARCHED, "trainer.max_epochs=1", "base=h_ff", run="searched")
    (alone,) = compare_runs(tmp_path)
    assert alone.keys() >= {"objective", "base", "solved", "problems", "expanded"}
    assert not alone.keys() & {"MAE", "samples"}
    assert (alone["trained on"], alone["objective"], alone["base"]) == (
        "consecutive_numbers, 2 sampled", "ranking", "h_ff"
    )  # fmt: skip
    finish(tmp_path / "measured", "grapevine", 0.5)
    searched, measured = compare_runs(tmp_path)
    assert (searched["problems"], measured["samples"], measured["MAE"]) == (2, 80, 0.5)
    assert searched["validation"] == f"{searched['solved']} of 2, {searched['expanded']} expansions"
    assert searched["MAE"] == measured["solved"] == "", "not NaN, which an R² of equal distances is"


def test_a_damaged_record_is_named_and_skipped(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    finish(tmp_path / "0", "grapevine", 0.25)
    for number, damaged in enumerate(("{", "[]", "{}")):
        (tmp_path / f"damaged{number}").mkdir()
        (tmp_path / f"damaged{number}" / "run.json").write_text(damaged)
    assert [row["trained on"] for row in compare_runs(tmp_path)] == ["grapevine"]
    assert caplog.text.count("skipped the record of a run, damaged or of an earlier version") == 3
