"""`base=best`: one network with each base heuristic, of which the better is kept."""

from pathlib import Path
from typing import Any

import pytest

from learn.models import open_model
from learn.train import Train
from learn.training import fitting
from learn.training.options import RUN_FILE, Training
from learn.training.problems import TrainingProblems
from learn.training.report.report import write_record
from tests.helpers.commands import compose
from tests.helpers.runs import SEARCHED, Fit

BEST = (*SEARCHED, "base=best")


@pytest.mark.parametrize(
    ("h_ff", "h_add", "chosen"),
    [((3, 50), (3, 40), "h_add"), ((3, 40), (3, 50), "h_add"), ((3, 50), (2, 40), "h_ff"), ((2, 40), (3, 50), "h_add")],
)
def test_the_better_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, h_ff: tuple[int, int], h_add: tuple[int, int], chosen: str
) -> None:
    ends = {"h_ff": h_ff, "h_add": h_add}

    def train(settings: Training, _: TrainingProblems) -> dict[str, float]:
        solved, expanded = map(float, ends[settings.base])
        metrics = {"val/problems": 4.0, "val/solved": solved, "val/expanded": expanded}
        metrics |= {f"{settings.base}/solved": 2.0, f"{settings.base}/expanded": 50.0}
        write_record({"base": settings.base, "metrics": metrics}, settings.run_dir / RUN_FILE)
        return metrics

    monkeypatch.setattr(fitting, "train", train)
    settings = compose(Train, "train", f"run_dir={tmp_path / 'run'}", *BEST)
    metrics = fitting.train_best(settings, TrainingProblems(settings, settings.source))
    assert (metrics["val/solved"], metrics["val/expanded"]) == ends[chosen]
    assert metrics.keys() >= {"h_ff/solved", "h_add/expanded", "other/solved"}
    assert [path.name for path in (tmp_path / "run").iterdir()] == [RUN_FILE]
    assert f'"base": "{chosen}"' in (tmp_path / "run" / RUN_FILE).read_text()


def test_a_run_is_that_of_the_better_base_alone(fit: Fit, tmp_path: Path) -> None:
    found = {base: fit(*SEARCHED, f"base={base}", run=base) for base in ("h_ff", "h_add")}
    metrics = fit(*BEST)
    chosen = max(found, key=lambda base: (found[base]["val/solved"], base == "h_add"))
    assert without_times(metrics) == without_times(found[chosen])
    kept: Any = open_model(tmp_path / "run")
    assert kept.base == chosen
    files = {
        path.relative_to(tmp_path / chosen) for path in (tmp_path / chosen).rglob("*.*") if "tfevents" not in path.name
    }
    assert files <= {path.relative_to(tmp_path / "run") for path in (tmp_path / "run").rglob("*.*")}


def test_an_interrupted_run_goes_on_where_it_stopped(fit: Fit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, trained, train = fit(*BEST, run="whole"), list[str](), fitting.train

    def interrupt(settings: Any, source: TrainingProblems) -> dict[str, float]:
        if settings.base == "h_ff" and not settings.resume:
            raise KeyboardInterrupt
        trained.append(settings.base)
        return train(settings, source)

    monkeypatch.setattr(fitting, "train", interrupt)
    with pytest.raises(KeyboardInterrupt, match=rf"^go on with resume=true run_dir={tmp_path / 'run'}$"):
        fit(*BEST)
    assert without_times(fit(*BEST, "resume=true")) == without_times(whole)
    assert trained == ["h_add", "h_ff"]


def without_times(metrics: dict[str, float]) -> dict[str, float]:
    """Metrics that do not differ from run to run."""
    return {name: value for name, value in metrics.items() if "seconds" not in name and "waiting" not in name}
