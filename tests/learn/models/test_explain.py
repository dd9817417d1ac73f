import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from epigym import StateSpace, load_problem
from epigym.errors import MissingError, ModelError, UsageError
from epigym.features.types import FeatureTypes
from learn.explain import Explain, explain
from learn.models.base import Base
from learn.models.linear.explaining import Explanation, explain_linear
from learn.models.linear.model import LinearModel, LinearScorer, Observed, Representation
from tests.helpers import tasks
from tests.helpers.commands import compose
from tests.helpers.structures import follow

PROBLEM = "coin_in_the_box/pl_5"
PLAN = ("open_a", "peek_a")


def make_model(base: Base, iterations: int = 1, *, worlds: bool = True) -> tuple[LinearModel, StateSpace, FeatureTypes]:
    """A model that knows every second feature of the initial e-state and one that does not occur."""
    space = StateSpace(load_problem(PROBLEM))
    types, representation = FeatureTypes(space.task), Representation(iterations, worlds, base)
    own = Observed(space, representation, types).features(np.array([0], dtype=np.int32)).colour[::2]
    rng = np.random.default_rng(1)
    model = LinearModel(
        domain="coin_in_the_box",
        representation=representation,
        colours=np.union1d(own, np.array([7], dtype=np.uint64)),
        weights=rng.normal(size=len(own) + 1),
        seen=rng.integers(1, 99, size=len(own) + 1),
        base_weight=0.75,
        constant=-0.5,
    )
    return model, space, types


@pytest.mark.parametrize("base", ["none", "h_ff", "h_add"])
@pytest.mark.parametrize("plan", [(), PLAN])
def test_the_parts_add_up_to_the_score(base: Base, plan: tuple[str, ...]) -> None:
    model, space, types = make_model(base)
    state = follow(space, plan)[-1]
    found = explain_linear(space, model, state, types)
    [expected] = LinearScorer(space, model, types).score(np.array([state], dtype=np.int32))
    assert found.score == pytest.approx(expected)
    assert found.features + 0.75 * found.base - 0.5 == pytest.approx(expected)
    assert (found.base > 0) == (base != "none")
    sizes = [abs(part.contribution) for part in found.parts]
    assert sizes == sorted(sizes, reverse=True)
    weights = dict(zip(model.colours.tolist(), zip(model.weights, model.seen, strict=True), strict=True))
    for part in found.parts:
        assert (part.weight, part.seen) == weights.get(part.colour, (0, 0))
        assert part.contribution == part.weight * part.value
        assert found.definitions[part.colour]
    assert found.known == len({part.colour for part in found.parts} & weights.keys()) < len(found.parts)


def test_what_is_listed(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, space, types = make_model("none")
    none = np.array([], dtype=np.uint64)
    empty = replace(
        model, colours=none, weights=none.astype(np.float64), seen=none.astype(np.int64), base_weight=0.0, constant=2
    )
    found = explain_linear(space, empty, 0, types)
    assert (found.score, found.features, found.known) == (2, 0, 0)
    every = run_explain(capsys, f"problem={PROBLEM}", f"model={file}", "top=100").features
    some = run_explain(capsys, f"problem={PROBLEM}", f"model='{file.parent}/{{domain}}.safetensors'", "top=3")
    assert "at the start" in some.lines[0]
    assert some.features == every[:3]
    assert "contribution" not in " ".join(run_explain(capsys, f"problem={PROBLEM}", f"model={file}", "top=0").lines)


class Printed:
    """What the command says."""

    def __init__(self, text: str) -> None:
        self.lines = text.splitlines()
        self.numbers = {title: float(self.line(title).split()[0]) for title in ("score", "features", "constant")}

    def line(self, word: str) -> str:
        [found] = [line for line in self.lines if re.match(rf" +-?[\d.]+  {word}", line)]
        return found

    @property
    def labels(self) -> set[str]:
        """The labels that lines explain."""
        return set(re.findall(r"(?:^  |\] = )([a-z]+ \d+) = ", "\n".join(self.lines), flags=re.MULTILINE))

    @property
    def features(self) -> list[list[str]]:
        """The rows of the table."""
        start = next(place for place, line in enumerate(self.lines) if line.split()[:1] == ["contribution"])
        table = self.lines[start + 1 :]
        return [line.split(maxsplit=4) for line in table[: table.index("") if "" in table else None]]


def run_explain(capsys: pytest.CaptureFixture[str], *overrides: str) -> Printed:
    explain(compose(Explain, "explain", *overrides))
    return Printed(capsys.readouterr().out)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    make_model("h_ff")[0].write(tmp_path / "coin_in_the_box.safetensors")
    return tmp_path / "coin_in_the_box.safetensors"


def test_what_is_printed(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, space, types = make_model("h_ff")
    state = follow(space, PLAN)[-1]
    [expected] = LinearScorer(space, model, types).score(np.array([state], dtype=np.int32))
    found: Explanation = explain_linear(space, model, state, types)
    said = run_explain(capsys, f"problem={PROBLEM}", f"model={file}", "after=[open_a,peek_a]", "top=100")
    assert said.lines[0] == f"{PROBLEM} after open_a, peek_a, by {file} (wl1+worlds+h_ff)"
    relaxation = float(said.line("relaxation").split()[0])
    numbers = said.numbers
    assert numbers["score"] == pytest.approx(expected, abs=1e-4)
    assert numbers["features"] + relaxation + numbers["constant"] == pytest.approx(expected, abs=2e-4)
    assert f"h_ff {found.base:g}, weight 0.7500" in said.line("relaxation")
    rows = said.features
    assert len(rows) == found.known
    assert sum(float(row[0]) for row in rows) == pytest.approx(numbers["features"], abs=1e-4 * len(rows))
    for row, part in zip(rows, found.parts, strict=False):
        assert [float(cell) for cell in row[:4]] == pytest.approx(part[1:], rel=1e-3, abs=1e-4)
        here, _, general = row[4].partition("] = ")
        assert stands_for(general, str(found.definitions[part.colour]), said.labels)
        shown = here.strip("[]").split("; ")
        assert shown[:5] == list(found.names[part.colour])[:5]
        assert shown[5:] == ([f"{len(found.names[part.colour]) - 5} more"] if len(found.names[part.colour]) > 5 else [])
    text = "\n".join(said.lines)
    assert not re.search(r"\b[0-9a-f]{8}\b", text)  # words, not hashes
    assert set(re.findall(LABEL, "\n".join(line.partition(" = ")[2] for line in said.lines))) == said.labels
    assert len({*said.labels}) > 3


LABEL = r"\b(?!round|events|goal|needed|or|of)[a-z]+ \d+(?=[\[\],;:.(){} ]|$)"


def stands_for(text: str, definition: str, labels: set[str]) -> bool:
    """Whether a text is a definition with a label in place of each hash."""
    pattern = "|".join(map(re.escape, labels))
    parts = map(re.escape, re.split(r"(?:(?<=round . of )\w+ )?\b[0-9a-f]{8}\b", definition))
    return re.fullmatch(rf"(?:(?:{pattern}) = )?" + rf"(?:\w+ )?(?:{pattern})".join(parts), text) is not None


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ("[open_a,peek]", "after, step 2: unknown action 'peek': did you mean 'peek_"),
        ("[peek_a]", r"after, step 1: action 'peek_a' .*: B\(a, "),
        (
            "[shout_tail_a]",
            r"after, step 1: action 'shout_tail_a' .*: B\(a, ",
        ),
    ],
)
def test_a_wrong_action_is_named(file: Path, plan: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        explain(compose(Explain, "explain", f"problem={PROBLEM}", f"model={file}", f"after={plan}"))


def test_inconsistent_beliefs_are_refused_if_required(tmp_path: Path, file: Path) -> None:
    (tmp_path / "deluded.txt").write_text(tasks.DELUDED)
    settings = [f"problem={tmp_path / 'deluded.txt'}", f"model={file}", "after=[flip,shout]"]
    explain(compose(Explain, "explain", *settings))
    with pytest.raises(UsageError, match="after, step 2: agent 'b' believes everything"):
        explain(compose(Explain, "explain", *settings, "consistent_beliefs=true"))


def test_a_wrong_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match="no model gone"):
        explain(compose(Explain, "explain", f"problem={PROBLEM}", "model=gone"))
    (tmp_path / "wrong").write_text("{}")
    with pytest.raises(ModelError, match="wrong is no model of learn"):
        explain(compose(Explain, "explain", f"problem={PROBLEM}", f"model={tmp_path / 'wrong'}"))
