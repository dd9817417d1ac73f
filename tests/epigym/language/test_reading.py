"""A text in mA* tells how it is to be read, and every reader obeys."""

import json
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import gymnasium as gym
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import search
from epigym.__main__ import main
from epigym.errors import ProblemWarning, UsageError
from epigym.language import SEMANTICS, Reading, ground_json, load, parse_mastar, save
from search import competition
from tests.helpers.epddl_texts import LIBRARY
from tests.helpers.tasks import COIN

pytestmark = pytest.mark.filterwarnings("ignore:.*used but not declared:epigym.errors.ProblemWarning")
HATS = """
(define (domain hats)
(:predicates (red ?i - agent) (said) (:fact speaks ?i - agent))
(:event unsure :parameters (?i - agent) :precondition (and (speaks ?i) (<Kw. ?i> (red ?i))) :effects {effects})
(:action unsure :parameters (?i - agent) :action-type (public (unsure ?i)) :observability-conditions (default Full)))
(define (problem two) (:domain hats) (:agents ann bob) (:facts-init (speaks ann))
(:init (:and (red ann) (red bob) (not (said)) ([C. All] (not (said))) ([C. All] (or (red ann) (red bob)))
  ([C. All] ([Kw. ann] (red bob))) ([C. All] ([Kw. bob] (red ann)))))
(:goal {goal}))
"""
"""Each of two agents sees the other's hat only; at least one of the hats is red, both are; ann may say
that she is unsure."""
PUBLIC = LIBRARY.replace("(define (action-type-library lib)", "(define (action-type-library kinds)")
LEARNS, SAYS = "([bob] (red bob))", "(and (said) (not ([bob] (red bob))))"


def write_hats(folder: Path, effects: str, goal: str) -> Path:
    """Write the hats in EPDDL and convert them to mA*."""
    (folder / "hats.epddl").write_text(PUBLIC + HATS.format(effects=effects, goal=goal))
    out = folder / "hats.txt"
    assert main(["convert", f"{folder}/hats.epddl", f"out={out}"]) == 0
    return out


@pytest.mark.parametrize(("effects", "goal", "plan"), [("()", LEARNS, ["unsure_ann"]), ("(said)", SAYS, None)])
def test_a_converted_file_keeps_its_meaning(effects: str, goal: str, plan: list[str] | None, tmp_path: Path) -> None:
    out = write_hats(tmp_path, effects, goal)
    for path in (tmp_path / "hats.epddl", out):
        found = search.plan(path)
        assert found.status == ("solved" if plan else "unsolvable")
        assert (None if found.plan is None else [*found.plan]) == plan


def test_every_reader_obeys_the_file(tmp_path: Path) -> None:
    out = write_hats(tmp_path, "()", LEARNS)
    (tmp_path / "plan.json").write_text('["unsure_ann"]')
    assert main(["validate", f"problem={out}", f"plan={tmp_path}/plan.json"]) == 0
    words = ["agents=[bfs]", f"folder={tmp_path}/results", "parallel=1", "time_limit=60"]
    assert main(["evaluate", f"problems=[{out}]", *words]) == 0
    assert "solved" in (tmp_path / "results" / "results.csv").read_text()
    with pytest.raises(SystemExit):
        competition.main([str(out), str(tmp_path / "found.json")])
    assert json.loads((tmp_path / "found.json").read_text()) == ["unsure_ann"]
    env = gym.make("epi/Problem-v0", path=str(out))
    env.reset()
    names = env.get_wrapper_attr("action_names")
    assert env.step(names.index("unsure_ann"))[2]


def test_a_setting_that_contradicts_the_file_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = write_hats(tmp_path, "()", LEARNS)
    capsys.readouterr()
    for semantics in ("default", "efp"):
        assert main(["solve", f"problem={out}", f"semantics={semantics}"]) == 64
        message = (
            f"error: {out} is to be read with semantics=update_model, as its first line says: leave out semantics="
        )
        assert message + semantics in " ".join(capsys.readouterr().err.split())
    assert load(out) == load(out, Reading("update_model"))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("% To be read with semantics=update.", "unknown semantics 'update': did you mean 'update_model'"),
        ("% To be read with semantic=efp.", "unknown setting 'semantic': did you mean 'semantics'"),
        ("% To be read with determines=all.", "unknown determines 'all'"),
    ],
)
def test_a_reading_that_does_not_exist_is_refused(line: str, message: str) -> None:
    with pytest.raises(UsageError, match=f"coin.txt is to be read with .*, as its first line says: .*{message}"):
        parse_mastar(f"{line}\n{COIN}", file="coin.txt")


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        (f"% To be read with semantics=update_model.\n{COIN}", Reading("update_model")),
        (f"% Of 2026.\r\n\r\n% To be read with semantics=update_model.\r\n{COIN}", Reading("update_model")),
        (f"% To be read with care.\n{COIN}", Reading()),
        (f"{COIN}\n% To be read with semantics=update_model.\n", Reading()),
    ],
)
def test_the_comments_before_the_first_statement_count(text: str, reading: Reading) -> None:
    assert parse_mastar(text) == parse_mastar(COIN, reading)
    assert parse_mastar(COIN) != parse_mastar(COIN, Reading("update_model"))


SENSES = """
fluent p, q, r; action look, tell, set; agent a, b;
look determines p, {sign}q; executable look if {first}; set causes r if {second}; executable set if {second};
{verb}; {watch};
a observes look; a observes set; b observes set;
initially p, q, -r; initially C([a,b], p | q); initially C([a,b], -r);
goal {goal};
"""
CONDITIONS = ("p", "p | q", "-r", "B(a, p) | B(a, -p)", "-B(a, q)", "B(b, p) | -r")
GOALS = ("B(a, p)", "B(a, q), -B(b, q)", "B(b, B(a, p))", "r, B(b, p)", "B(b, p | r)", "-r, B(b, r)", "B(b, q)")
UNSURE = ("(<Kw. ?i> (red ?i))", "([Kw. ?i] (red ?i))", "([?i] (red bob))", "(not ([ann] (red ann)))")
HATS_GOALS = (LEARNS, SAYS, "([ann] ([bob] (red bob)))", "(and (said) ([ann] (red ann)))", "([C. All] (red bob))")


@st.composite
def sensing_texts(draw: st.DrawFn) -> tuple[str, Reading]:
    """A random problem in mA* and its reading."""
    parts = {"first": CONDITIONS, "second": CONDITIONS, "goal": GOALS, "sign": ("", "-")}
    parts["verb"] = ("tell announces p", "tell announces p, q")
    parts["watch"] = ("b observes tell", "b aware_of look")
    text = SENSES.format(**{name: draw(st.sampled_from(values)) for name, values in parts.items()})
    return text, Reading(draw(st.sampled_from(SEMANTICS)), draw(st.sampled_from(["formula", "literals"])))


@st.composite
def problems(draw: st.DrawFn) -> tuple[str, str, Reading]:
    """A random problem as a file name, its text and its reading."""
    language = draw(st.sampled_from(["mA*", "EPDDL", "JSON"]))
    if language == "EPDDL":
        text = HATS.format(effects=draw(st.sampled_from(["()", "(said)"])), goal=draw(st.sampled_from(HATS_GOALS)))
        return "drawn.epddl", PUBLIC + text.replace(UNSURE[0], draw(st.sampled_from(UNSURE))), Reading()
    text, reading = draw(sensing_texts())
    if language == "mA*":
        return "drawn.txt", text, reading
    specification = ground_json.make_specification(parse_mastar(text, reading))
    return "drawn.json", json.dumps(ground_json.to_json(specification, compact=True)), Reading()


@settings(max_examples=40)
@given(problems())
def test_a_converted_problem_has_the_same_plans(problem: tuple[str, str, Reading]) -> None:
    name, text, reading = problem
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", ProblemWarning)
        (Path(folder) / name).write_text(text)
        task = load(Path(folder) / name, reading)
        save(task, out := Path(folder) / "out.txt")
        same = load(out)
    first, second = (search.plan(one, agent="bfs") for one in (task, same))
    assert first.status == second.status
    assert first.plan is None or len(first.plan) == len(second.plan or ())
