"""What `learn.assess` says of a checkpoint: errors in steps, after its calibration."""

from pathlib import Path

import numpy as np
import pytest

from epigym.problem import Reading
from learn.data.explorers import ExplorerSettings
from learn.data.pairs import make_rollout
from learn.models.base import Base, BaseHeuristic
from learn.models.calibration import Calibration
from learn.models.checkpoints import write
from learn.training.report.assessment import assess
from tests.helpers.trained import SMALL, content_of, random_trained

PROBLEM = "coin_in_the_box/pl_3"
EXPLORER = ExplorerSettings("exhaustive")


@pytest.mark.parametrize(("encoding", "base"), [("hash", "none"), ("relational", "h_ff")])
@pytest.mark.parametrize("steps", [Calibration(), Calibration([-1.0, 1.0], [0.0, 9.0])])
def test_values_are_calibrated_to_steps(encoding: str, base: Base, steps: Calibration, tmp_path: Path) -> None:
    """A network that adds 0.5 to its base."""
    trained = random_trained(SMALL, encoding, base=base, steps=steps)
    trained.network.start_at(0.5)  # type: ignore[operator]
    write(content_of(trained, SMALL), tmp_path / "own.ckpt")
    [row] = assess([PROBLEM], Reading(), EXPLORER, str(tmp_path / "own.ckpt"), tmp_path)
    states = make_rollout(PROBLEM, EXPLORER)
    predicted = steps(0.5 + BaseHeuristic(states.space, base)(states.ids))
    assert row["MAE"] == pytest.approx(np.abs(predicted - states.distance).mean(), rel=1e-5)
    assert (row["problem"], row["samples"], row["steps"]) == (PROBLEM, len(states.ids), states.distance.max())
    holds = states.space.query(states.space.task.goal)(states.ids)
    assert row["SUB MAE"] == pytest.approx(np.abs((~holds).sum(axis=1) - states.distance).mean(), rel=1e-5)
    assert {path.name for path in tmp_path.glob("*.png")} == {
        f"coin_in_the_box_pl_3_{name}.png" for name in ("errors", "predictions")
    }
