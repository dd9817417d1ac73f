"""Writing a task as ground JSON and reading it back loses only names of events and the structure."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from epigym.__main__ import main
from epigym.errors import EpigymError, TaskError
from epigym.language import Format, ground_json, load, parse_mastar, save
from epigym.language.ground_json import move_to_preconditions
from epigym.problem import domain_problem, load_problem
from epigym.task.formula import TRUE, Op, and_, fluent
from epigym.task.task import Action, EState, Event, Task
from tests.helpers.equivalence import assert_read_back
from tests.helpers.strategies import tasks
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
        assert f"{again.domain}/{again.instance}" == (name if "/" in name else f"{name}/{name}")
        assert_read_back(task, again, most=30)
    save(parse_mastar(ODD), tmp_path / "odd.json", form)
    assert_read_back(parse_mastar(ODD), load(tmp_path / "odd.json"))


def test_a_name_that_means_a_constant_is_refused() -> None:
    task = parse_mastar(COIN.replace("tail", "true"))
    with pytest.raises(TaskError, match="the atom 'true' would be read as the constant: rename it"):
        ground_json.to_json(ground_json.make_specification(task))


def test_rows_by_hand() -> None:
    task = coin()
    rows = ground_json.to_json(ground_json.make_specification(task), compact=True)["initial-state"]["rows"]
    assert rows == {agent: {"successors": [[0, 1]], "row": [0, 0]} for agent in "ab"}


def test_rows_are_written_where_pairs_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ground_json, "MAX_PAIRS", 7)
    with pytest.raises(EpigymError, match="all 8 pairs of the relations, more than 7: format=compact lists rows"):
        write_and_read(coin(), compact=False)
    assert write_and_read(coin(), compact=True).initial == coin().initial


def test_worlds_that_share_a_row_share_it_when_read(tmp_path: Path) -> None:
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


def test_events_of_one_name_get_different_names() -> None:
    sees = {"x": (frozenset([2]),) * 3}
    action = Action("act", TRUE, (Event("e"), Event("e'"), Event("e")), (2,), sees, (((TRUE, "x"),),))
    task = Task("t", (), ("a",), (action,), EState((frozenset(),), ((frozenset([0]),),), (0,)), ())
    [found] = write_and_read(task, compact=True).actions
    assert [event.name for event in found.events] == ["e", "e'", "e''"]
    assert (found.designated, found.relations) == ((2,), sees)


@pytest.mark.parametrize("words", [[], ["format=json"], ["format=compact"]])
def test_the_command_writes_files_that_all_commands_read(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "task.json"
    assert main(["convert", "grapevine", "agents=4", f"out={out}", *words]) == 0
    assert capsys.readouterr().out == f"written to {out}\n"
    assert ("rows" in json.loads(out.read_text())["initial-state"]) == ("format=compact" in words)
    assert_read_back(domain_problem("grapevine", agents=4), load_problem(str(out)), most=20)


def test_the_reading_of_the_text_is_written(tmp_path: Path) -> None:
    (tmp_path / "coin.txt").write_text(COIN)
    for semantics in ("default", "update_model"):
        assert main(["convert", f"{tmp_path}/coin.txt", f"semantics={semantics}", f"out={tmp_path}/coin.json"]) == 0
        assert_read_back(parse_mastar(COIN, semantics=semantics), load(tmp_path / "coin.json"))
