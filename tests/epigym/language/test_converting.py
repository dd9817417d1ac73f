"""Tasks written as ground JSON or mA* and read back are equal; what mA* cannot express is refused with a reason."""

import dataclasses
import json
import random
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domains.registry import DOMAINS
from epigym.__main__ import main
from epigym.encoding.encoder import ENCODINGS, make_encoder, make_encoding
from epigym.errors import EpigymError, LimitError, ProblemWarning, TaskError
from epigym.features.types import FeatureTypes
from epigym.language import SEMANTICS, Format, Reading, Semantics, ground_json, load, parse_mastar, save
from epigym.language.ground_json import move_to_preconditions
from epigym.language.mastar import theory
from epigym.language.mastar.event_models import ActionDescription
from epigym.language.mastar.recogniser import Recogniser
from epigym.language.mastar.writing import write_mastar
from epigym.language.reading import OF_MASTAR, Determines
from epigym.problem import domain_problem, load_problem
from epigym.space.space import StateSpace
from epigym.task.formula import TRUE, Formula, Op, actually, and_, believes, fluent, not_, or_
from epigym.task.packing import pack_task
from epigym.task.task import Action, Effect, EState, Event, Task
from tests.helpers import strategies
from tests.helpers.benchmark_files import BENCHMARKS
from tests.helpers.equivalence import assert_read_back
from tests.helpers.strategies import AGENTS, FLUENTS, partition, tasks
from tests.helpers.tasks import COIN, coin

PROBLEMS = [
    "active_muddy_child",
    "coin_in_the_box",
    "collaboration_communication",
    "gossip",
    "grapevine",
    "room_messages",
    "grapevine/3_pl_4",
]
ODD = """
fluent at(ä,1), rows, modality; action go(ä,2), worlds; agent ä, relations;
executable go(ä,2) if B(ä, at(ä,1)); go(ä,2) causes -at(ä,1), modality; worlds determines rows;
ä observes go(ä,2); ä observes worlds if at(ä,1); relations aware_of worlds;
initially at(ä,1), -modality, rows, C([ä,relations], at(ä,1)), C([ä,relations], -modality);
goal B(ä, modality), -B(relations, B(ä, rows));
"""


def write_and_read(task: Task, compact: bool) -> Task:
    """Write a task as JSON and read it back."""
    content = ground_json.to_json(ground_json.make_specification(task), compact=compact)
    return ground_json.from_json(json.loads(json.dumps(content)))


@given(tasks(max_worlds=3))
def test_the_compact_layout_loses_nothing(task: Task) -> None:
    again = write_and_read(task, compact=True)
    assert (again.fluents, again.agents, again.initial) == (task.fluents, task.agents, task.initial)
    for action, other in zip(task.actions, again.actions, strict=True):
        assert (other.designated, dict(other.relations)) == (action.designated, dict(action.relations))
    assert_read_back(task, again, most=8)


@pytest.mark.parametrize("name", ["/".join([name, *domain.train[:1]]) for name, domain in DOMAINS.items()])
def test_the_compact_layout_keeps_names_structure_types_and_graphs(name: str) -> None:
    """Effects of an event may come in another order, which means nothing."""
    task = load_problem(name)
    again = write_and_read(task, compact=True)
    assert pack_task(again) == pack_task(task)
    names = ("name", "domain", "instance", "fluents", "agents", "structure")
    assert all(getattr(again, part) == getattr(task, part) for part in names)
    types, found = FeatureTypes(task), FeatureTypes(again)
    assert (found.schema, found.definitions) == (types.schema, types.definitions)
    spaces = [StateSpace(one) for one in (task, again)]
    ids = np.unique(np.append(spaces[0].expand([0]).target, 0))
    spaces[1].expand([0])
    for encoding in ENCODINGS:
        graphs, same = (make_encoder(space, make_encoding(encoding)).graphs(ids) for space in spaces)
        assert all(map(np.array_equal, graphs, same))


@given(tasks(max_worlds=3))
def test_the_official_layout_loses_nothing_that_it_can_express(task: Task) -> None:
    refusal = ""
    try:
        again = write_and_read(task, compact=False)
    except TaskError as error:
        refusal = str(error)
    if refusal:
        assert re.match(r"EPDDL has no counterpart of actually\(.*: format=compact has one", refusal)
        assert any(node.op is Op.ACTUALLY for formula in task.formulas() for node in formula.subformulas())
    else:  # conditions without effect on an agent's type are left out
        assert_read_back(task, again, most=8)


@pytest.mark.parametrize("form", ["json", "compact"])
def test_problems_of_domains_come_back_with_their_names(form: Format, tmp_path: Path) -> None:
    for name in PROBLEMS:
        task = load_problem(name)
        save(task, tmp_path / "new" / "task.json", form)
        again = load(tmp_path / "new" / "task.json")
        if form == "compact":
            assert (again.name, again.domain, again.instance) == (task.name, task.domain, task.instance)
        assert f"{again.domain}/{again.instance or again.name}" == (name if "/" in name else f"{name}/{name}")
        assert_read_back(task, again, most=30)
    save(parse_mastar(ODD), tmp_path / "odd.json", form)
    assert_read_back(parse_mastar(ODD), load(tmp_path / "odd.json"))


def test_names_are_distinct() -> None:
    task = parse_mastar(COIN.replace("tail", "true"))
    with pytest.raises(TaskError, match="the atom 'true' would be read as the constant: rename it"):
        ground_json.to_json(ground_json.make_specification(task))
    sees = {"x": (frozenset([2]),) * 3}
    action = Action("act", TRUE, (Event("e"), Event("e'"), Event("e")), (2,), sees, (((TRUE, "x"),),))
    task = Task("t", (), ("a",), (action,), EState((frozenset(),), ((frozenset([0]),),), (0,)), ())
    [found] = write_and_read(task, compact=True).actions
    assert [event.name for event in found.events] == ["e", "e'", "e''"]
    assert (found.designated, found.relations) == ((2,), sees)


def test_rows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    task = coin()
    rows = ground_json.to_json(ground_json.make_specification(task), compact=True)["initial-state"]["rows"]
    assert rows == {agent: {"successors": [[0, 1]], "row": [0, 0]} for agent in "ab"}
    monkeypatch.setattr(ground_json, "MAX_PAIRS", 7)
    with pytest.raises(EpigymError, match="all 8 pairs of the relations, more than 7: format=compact lists rows"):
        write_and_read(coin(), compact=False)
    assert write_and_read(coin(), compact=True).initial == coin().initial
    save(coin(), tmp_path / "coin.json", "compact")
    first, second = load(tmp_path / "coin.json").initial.successors[0]
    assert first is second


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"a": {"successors": [[0, 1]], "row": [0, 0]}}, "missing or unknown 'b'"),
        ({"b": {"successors": [[0, 1]], "row": [0, 1]}}, "missing or unknown 1"),
        ({"b": {"successors": [[0, 1]], "row": [0, -1]}}, "missing or unknown -1"),
        ({"b": {"successors": [[0, 2]], "row": [0, 0]}}, "missing or unknown 2"),
        ({"b": {"successors": [["w0"]], "row": [0, 0]}}, "missing or unknown 'w0'"),
        ({"b": {"successors": [[0, 1]], "row": [0]}}, "an agent has successors for 1 of 2 worlds"),
        ({"b": [[0], [1]]}, "not the layout"),
    ],
)
def test_rows_that_are_wrong(rows: Any, message: str, tmp_path: Path) -> None:
    content = ground_json.to_json(ground_json.make_specification(coin()), compact=True)
    good = {"a": {"successors": [[0, 1]], "row": [0, 0]}}
    content["initial-state"]["rows"] = rows if "a" in rows else good | rows
    (tmp_path / "coin.json").write_text(json.dumps(content))
    with pytest.raises(EpigymError, match=f"coin.json: .*{message}"):
        load(tmp_path / "coin.json")


def test_copies_of_events_require_the_applicability_formula() -> None:
    p, q = fluent("p"), fluent("q")
    action = Action("act", q, (Event("e", p), Event("f")), (0,), {"x": (frozenset([0]), frozenset([0, 1]))}, ())
    plain = move_to_preconditions(action)
    assert [event.precondition for event in plain.events] == [p, TRUE, and_(q, p)]
    assert (plain.applicability, plain.designated) == (TRUE, (2,))
    assert plain.relations == {"x": (frozenset([0]), frozenset([0, 1]), frozenset([0]))}
    asked = Action("act", q, (Event("e", and_(p, q)), Event("f")), (0,), action.relations, ())
    assert move_to_preconditions(asked).events == asked.events


@pytest.mark.parametrize("words", [[], ["format=json"], ["format=compact"]])
def test_the_command_writes_files(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "task.json"
    assert main(["convert", "grapevine", "agents=4", f"out={out}", *words]) == 0
    assert capsys.readouterr().out == f"written to {out}\n"
    assert ("rows" in json.loads(out.read_text())["initial-state"]) == ("format=compact" in words)
    assert_read_back(domain_problem("grapevine", agents=4), load_problem(str(out)), most=20)


def test_the_reading_of_the_text_is_written(tmp_path: Path) -> None:
    (tmp_path / "coin.txt").write_text(COIN)
    for semantics in ("default", "update_model"):
        assert main(["convert", f"{tmp_path}/coin.txt", f"semantics={semantics}", f"out={tmp_path}/coin.json"]) == 0
        assert_read_back(parse_mastar(COIN, Reading(semantics)), load(tmp_path / "coin.json"))


P, Q, R = map(fluent, "pqr")
UPDATE_MODEL = {
    *("blocks_world", "cloud_scheduling", "consecutive_numbers", "gossip", "room_messages", "search_and_rescue")
}
FILES = sorted(min(folder.glob("*.txt")) for folder in (BENCHMARKS / "mastar").glob("*/Test"))


def again(task: Task) -> Task:
    """Write a task in mA* and read it back without settings: the text tells how."""
    text, _ = write_mastar(task)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProblemWarning)
        return parse_mastar(text)


@st.composite
def descriptions(draw: st.DrawFn, name: str) -> ActionDescription:
    """Random descriptions of actions in mA*."""
    condition = st.just(TRUE) | strategies.formulas(1, with_actually=False).filter(lambda found: found.op > Op.FALSE)
    effect = st.builds(Effect, st.sampled_from(FLUENTS), st.booleans(), condition)
    whom = st.dictionaries(st.sampled_from(AGENTS), condition)
    verb = draw(st.sampled_from(["causes", "determines", "announces"]))
    return ActionDescription(
        name=name,
        verb=verb,
        executable=draw(condition),
        effects=tuple(draw(st.lists(effect, min_size=verb != "causes", max_size=3))),
        observers=draw(whom),
        aware={} if verb == "causes" else draw(whom),
    )


@st.composite
def knowing(draw: st.DrawFn) -> EState:
    """Random e-states with different valuations of worlds and equivalence relations."""
    truth = sorted(draw(st.sets(st.integers(0, 7), min_size=1)))
    rng = random.Random(draw(st.integers(0, 10**6)))
    return EState(
        valuations=tuple(frozenset(name for k, name in enumerate(FLUENTS) if world >> k & 1) for world in truth),
        successors=tuple(partition(rng, len(truth)) for _ in AGENTS),
        designated=(draw(st.integers(0, len(truth) - 1)),),
    )


def with_actions(*actions: Action, **changes: Any) -> Task:
    """A task with given actions and two agents that know p, q and r."""
    initial = EState((frozenset(FLUENTS),), ((frozenset([0]),),) * 2, (0,))
    return dataclasses.replace(Task("t", FLUENTS, AGENTS, actions, initial, (P,)), **changes)


@settings(max_examples=40)
@given(st.data(), st.sampled_from(SEMANTICS), st.sampled_from(["formula", "literals"]))
def test_actions_in_words_of_ma_star_are_recognised(
    data: st.DataObject, semantics: Semantics, determines: Determines
) -> None:
    action = data.draw(descriptions("act")).build_action(AGENTS, Reading(semantics, determines))
    is_needed = semantics == "update_model" or determines == "literals"  # efp tells conjunctions by announcements only
    reading = Reading(semantics if is_needed else "default", determines)
    recogniser = Recogniser(AGENTS, "p")
    found = recogniser.describe(action, reading)
    assert recogniser.matches(found.build_action(AGENTS, reading), action)
    assert_read_back(with_actions(action), again(with_actions(action)), most=4)


@settings(max_examples=40)
@given(knowing(), strategies.formulas(2, with_actually=False))
def test_initial_estates_of_agents_who_know_what_they_believe_come_back(initial: EState, goal: Formula) -> None:
    assert_read_back(*(task := with_actions(initial=initial, goal=(goal,)), again(task)))


@settings(max_examples=40)
@given(
    strategies.tasks(max_worlds=2, max_designated=1) | st.randoms(use_true_random=False).map(strategies.telling_task)
)
def test_any_task_is_read_back_or_refused_with_a_reason(task: Task) -> None:
    try:
        other = again(task)
    except TaskError as error:
        refusal = str(error)
        assert re.fullmatch(r"mA\* can(not)? express .*: format=compact writes it as JSON", refusal)
    else:
        assert_read_back(task, other, most=8)


@pytest.mark.parametrize("name", DOMAINS)
def test_problems_of_domains_come_back(name: str) -> None:
    task = load_problem(name)
    if name == "active_muddy_child":  # children say whether they know
        with pytest.raises(TaskError, match=r"mA\* cannot express action 'ask_c1': .* by literals"):
            write_mastar(task)
    else:
        assert write_mastar(task)[1] == Reading("update_model" if name in UPDATE_MODEL else "default")
        assert_read_back(task, again(task))


@pytest.mark.reference
@pytest.mark.parametrize("semantics", SEMANTICS)
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_published_problems_come_back(file: Path, semantics: Semantics) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProblemWarning)
        task = load(file, Reading(semantics))
    assert_read_back(task, again(task))


def test_a_text_by_hand() -> None:
    text = """\
fluent p, q, r;
action do;
agent a, b;

executable do if (q, -p);
do causes p if B(a, q);
do causes -r;
a observes do;
b observes do if -q;

initially (-p, q, -r);
initially C([a,b], (-p | -q));
initially C([a,b], -r);
initially C([a,b], (B(a, p) | B(a, -p)));

goal B(b, p);
"""
    written, reading = write_mastar(parse_mastar(text))
    assert reading == Reading("default")
    assert sorted(written.splitlines()) == sorted(text.splitlines())


def test_constants_are_expressed_by_a_fluent() -> None:
    never = believes("a", and_(P, not_(P)))
    actions = (Action("act", not_(TRUE), (Event("e"),), (0,), {"x": (frozenset([0]),)}, (((TRUE, "x"),),) * 2),)
    task = again(with_actions(*actions, goal=(believes("a", not_(TRUE)),)))
    assert task.goal == (never,)
    assert task.actions[0].applicability is and_(P, not_(P))
    assert again(with_actions(goal=())).goal == (or_(P, not_(P)),)


def look(name: str, semantics: Semantics, determines: Determines) -> Action:
    """Agent a senses p and q, where r."""
    description = ActionDescription(name, "determines", R, (Effect("p", True), Effect("q", True)), {"a": TRUE}, {})
    return description.build_action(AGENTS, Reading(semantics, determines))


EVERYBODY = (((TRUE, "x"),),) * 2
SEES = {"x": tuple(frozenset([event]) for event in range(5))}
FIVE = Action("five", TRUE, tuple(Event(f"e{k}", P if k else Q) for k in range(5)), (0, 1, 2, 3, 4), SEES, EVERYBODY)
BOTH = {"x": (frozenset([0, 1]),) * 2}
EITHER = Action("either", TRUE, (Event("e", or_(P, Q)), Event("f", not_(or_(P, Q)))), (0,), BOTH, EVERYBODY)
NOTHING = ActionDescription("nothing", "determines", TRUE, (), {"a": TRUE}, {}).build_action(AGENTS, Reading())
SUSPECT = {"x": (frozenset([0, 1]), frozenset([1]))}
TWICE = Action("twice", P, (Event("e", P, (Effect("q", True),)),), (0,), {"x": (frozenset([0]),)}, EVERYBODY)
ONCE = Action("once", P, (Event("e", TRUE, (Effect("q", True),)),), (0,), {"x": (frozenset([0]),)}, EVERYBODY)
ONLY_TRUE = ActionDescription("tell", "announces", TRUE, (Effect("p", True),), {"a": TRUE}, {}).build_action(
    AGENTS, Reading()
)
BLIND = EState((frozenset(["p"]),), ((frozenset[int](),), (frozenset([0]),)), (0,))
WRONG = EState((frozenset(["p"]), frozenset()), ((frozenset([0, 1]), frozenset([1])), (frozenset([0, 1]),) * 2), (0,))
TWO = EState((frozenset(["p"]), frozenset()), ((frozenset([0, 1]),) * 2,) * 2, (0, 1))
KNOWN = EState(  # a wonders whether b knows that p
    (frozenset(["p"]), frozenset(["p"]), frozenset()),
    ((frozenset([0, 1, 2]),) * 3, (frozenset([0]), frozenset([1, 2]), frozenset([1, 2]))),
    (0,),
)


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (with_actions(FIVE), "action 'five': it has 5 events, actions of mA* have at most 3"),
        (with_actions(EITHER), "action 'either': mA* cannot express its effects, or the formula"),
        (with_actions(NOTHING), "action 'nothing': mA* cannot express its effects, or the formula"),
        (
            with_actions(dataclasses.replace(FIVE, events=FIVE.events[:2], designated=(0,), relations=SUSPECT)),
            "action 'five': its relations are not those of an",
        ),
        (
            with_actions(dataclasses.replace(ONCE, applicability=actually(P))),
            "action 'once': it has no counterpart of act",
        ),
        (
            with_actions(ONCE, TWICE),
            "action 'twice' with semantics=update_model only, and action 'once' only with semantics=default",
        ),
        (
            with_actions(look("each", "update_model", "literals"), look("all", "update_model", "formula")),
            "action 'each' with determines=literals only, and action 'all' only with determines=formula",
        ),
        (
            with_actions(look("each", "default", "literals"), look("all", "default", "formula"), ONLY_TRUE),
            "can express actions 'each', 'all', 'tell' with different readings only",
        ),
        (with_actions(goal=(actually(P),)), "the goal: it has no counterpart of actually(p)"),
        (with_actions(initial=BLIND), "the initial e-state: agent 'a' has a false belief in some world"),
        (with_actions(initial=WRONG), "the initial e-state: agent 'a' does not know its own beliefs"),
        (with_actions(initial=TWO), "the initial e-state: it has 2 designated worlds, mA* allows one"),
        (with_actions(initial=KNOWN), "the initial e-state: some of its worlds differ only in beliefs"),
        (
            with_actions(dataclasses.replace(ONCE, name="turn-on")),
            "mA* cannot express the action name 'turn-on': rename it",
        ),
        (with_actions(dataclasses.replace(ONCE, name="goal")), "the task: in 'action goal;' unexpected 'goal'"),
        (Task("t", (), AGENTS, (), EState((frozenset(),), BLIND.successors, (0,)), ()), "a task without fluents"),
    ],
)
def test_tasks_that_ma_star_cannot_express_are_refused(task: Task, message: str, tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=re.escape(message)) as refused:
        save(task, tmp_path / "task.txt")
    assert str(refused.value).endswith("format=compact writes it as JSON")
    assert "\n" not in str(refused.value)
    assert not list(tmp_path.iterdir())


def test_a_theory_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theory, "MAX_LITERALS", 5)
    either = EState((frozenset(["p"]), frozenset(["q", "r"])), ((frozenset([0, 1]),) * 2,) * 2, (0,))
    with pytest.raises(LimitError, match=r"the initial e-state: .* more than 5 literals: format=com"):
        write_mastar(with_actions(initial=either))


SENSING = """
fluent p, q, r; action look, tell; agent a, b;
look determines p, -q; look determines r if B(a, p); executable look if p | q; a observes look; b aware_of look if p;
{}
initially p, q, -r; initially C([a,b], p | q); goal B(a, p);
"""


@pytest.mark.parametrize(
    ("reading", "statement", "needed"),
    [
        (Reading(determines="literals"), "tell announces q, r; b observes tell;", "determines=literals"),
        (Reading(determines="formula"), "", "determines=formula"),
        (Reading("update_model", "literals"), "", "semantics=update_model determines=literals"),
        (Reading("efp", "literals"), "", "determines=literals"),
        (Reading("efp", "literals"), "tell announces q, r; b observes tell;", "semantics=efp determines=literals"),
        (Reading("efp", "formula"), "tell announces q, r; b observes tell;", "determines=formula"),
    ],
)
def test_the_reading_of_several_literals_is_written(
    reading: Reading, statement: str, needed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "sensing.txt").write_text(SENSING.format(statement))
    words = [f"{name}={getattr(reading, name) or 'null'}" for name in OF_MASTAR] + [f"out={tmp_path}/again.txt"]
    assert main(["convert", f"{tmp_path}/sensing.txt", *words]) == 0
    assert (
        capsys.readouterr().out
        == f"written to {tmp_path}/again.txt, to be read with {needed}, as its first line says\n"
    )
    assert (tmp_path / "again.txt").read_text().startswith(f"% To be read with {needed}.\n")
    task = load(tmp_path / "sensing.txt", reading)
    written = write_mastar(task)[1]
    assert written.describe() == needed
    assert_read_back(task, load(tmp_path / "again.txt", written))
    save(task, tmp_path / "again.json", "compact")
    assert_read_back(task, load(tmp_path / "again.json"))


def test_the_command_prints_how_to_read_its_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "gossip.txt"
    assert main(["convert", "gossip", f"out={out}"]) == 0
    assert (
        capsys.readouterr().out == f"written to {out}, to be read with semantics=update_model, as its first line says\n"
    )
    assert out.read_text().startswith("% To be read with semantics=update_model.\n")
    assert_read_back(load_problem("gossip"), load(out, Reading("update_model")))
    assert main(["convert", "grapevine", "format=mastar", f"out={out}"]) == 0
    assert capsys.readouterr().out == f"written to {out}\n"
    assert_read_back(load_problem("grapevine"), load(out), most=10)


def test_the_command_names_the_format_that_keeps_what_ma_star_needs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, out = tmp_path / "first.json", tmp_path / "coin.txt"
    for form, code in (("json", 65), ("compact", 0)):
        assert main(["convert", "coin_in_the_box", f"out={first}", f"format={form}"]) == 0
        assert main(["convert", str(first), f"out={out}"]) == code
    refusal = capsys.readouterr().err
    assert refusal.endswith(f"if {first} was made of a problem in mA*, make it with format=compact, which keeps that\n")
