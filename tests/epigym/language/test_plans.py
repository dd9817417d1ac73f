"""Plans in the forms of other planners and validators."""

from pathlib import Path

import pytest

from epigym.__main__ import main
from epigym.errors import EpigymError
from epigym.language.plans import find_actions, read_steps
from tests.helpers.epddl_problem import write_problem

NAMES = ["lift_Ann", "look_Ann", "send_out(eve)", "go-to_a_1", "go_to_a-1"]


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("(lift ann)\n(look ann)\n", ["(lift ann)", "(look ann)"]),
        (
            "; plan of 2 actions\n\n0: (LIFT ANN) ; first\n1: (look ann)\n; cost = 2 (unit cost)\n",
            ["(LIFT ANN)", "(look ann)"],
        ),
        ("0.000: (lift ann) [1.000]\r\n1.001: (look ann)  [1.0]\r\n", ["(lift ann)", "(look ann)"]),
        ("lift_Ann\nsend_out(eve)", ["lift_Ann", "send_out(eve)"]),
        ('["lift_Ann", "(look ann)"]', ["lift_Ann", "(look ann)"]),
    ],
)
def test_plan_files(text: str, steps: list[str], tmp_path: Path) -> None:
    (tmp_path / "plan").write_text(text, newline="")
    assert read_steps(tmp_path / "plan") == steps


@pytest.mark.parametrize("text", ["", "; nothing\n", "(define (problem p)\n", '{"a": 1}', "[1]"])
def test_what_is_no_plan_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "plan").write_text(text)
    with pytest.raises(EpigymError, match="plan"):
        read_steps(tmp_path / "plan")


def test_steps_mean_the_actions_with_their_words() -> None:
    steps = ["lift_Ann", "lift ann", "(LOOK ANN)", "send-out eve", "send_out(eve)", "go-to_a_1", "fly", "look: yes"]
    expected = ["lift_Ann", "lift_Ann", "look_Ann", "send_out(eve)", "send_out(eve)", "go-to_a_1", "fly", "look: yes"]
    assert find_actions(steps, NAMES) == expected
    with pytest.raises(EpigymError, match="action 'go to a 1' may be 'go-to_a_1' or 'go_to_a-1': give its name"):
        find_actions(["go to a 1"], NAMES)


@pytest.mark.parametrize("plan", ["plan.txt", "(lift ann),(look Ann)"])
def test_commands_read_them(
    plan: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_problem(tmp_path)
    monkeypatch.chdir(tmp_path)
    Path("plan.txt").write_text("; found\n0.0: (LIFT Ann) [1]\n1.0: (look ann) [1]\n")
    assert main(["validate", "problem=coin-1.json", f"plan={plan}"]) == 0
    assert "valid: 2 actions reach the goal" in capsys.readouterr().out
    assert main(["show", "coin-1.json", f"plan={plan}", "out=page.html"]) == 0
    assert "lift_Ann" in Path("page.html").read_text()
    Path("wrong.txt").write_text("(look ann)\n(fly ann)\n")
    assert main(["validate", "problem=coin-1.json", "plan=wrong.txt"]) == 1
