"""The page to step through a plan: what it holds, that it needs nothing else, and the command that writes it."""

import json
import os
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import pytest

from epigym.__main__ import main
from epigym.drawing import format_dot
from epigym.drawing.page import render_page, render_policy_page, write_page
from epigym.drawing.steps import walk
from epigym.errors import UsageError
from epigym.language import Reading, parse_mastar
from epigym.problem import domain_problem, load_problem
from epigym.space.space import StateSpace
from epigym.task.formula import and_, believes, fluent
from epigym.task.task import Action, EState, Event, Task
from tests.helpers.benchmark_files import ROOT
from tests.helpers.episodes import find_strong
from tests.helpers.html import Page
from tests.helpers.muddy_robots import muddy_robots
from tests.helpers.tasks import COIN

SVG = "http://www.w3.org/2000/svg"
PLAN = ["lift", "look", "shout"]


@pytest.fixture(scope="module")
def coin() -> str:
    """The page of the only plan of three actions of the coin."""
    return render_page(StateSpace(parse_mastar(COIN)), PLAN)


def worlds(picture: str) -> dict[str, ElementTree.Element]:
    """The boxes of a picture by their titles."""
    boxes = [box for box in ElementTree.fromstring(picture).iter(f"{{{SVG}}}g") if "node" in box.get("class", "")]
    return {box[0].text or "": box for box in boxes}


def test_it_is_well_formed_and_needs_nothing_else(coin: str) -> None:
    elements = Page(coin).attributes
    assert set(re.findall(r"\w+://[^\s\"'\\]*", coin)) == {SVG}
    assert [one["href"] for one in elements if "href" in one] == ["data:,"]
    assert not [one for one in elements if {"src", "srcset", "action"} & one.keys()]
    assert "@import" not in coin
    assert "url(" not in coin
    assert "$" not in coin
    names = [one["id"] for one in elements if "id" in one]
    assert len(set(names)) == len(names)
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1", "tag": "meta"} in elements


def test_the_title_of_a_file_whose_name_is_not_utf_8() -> None:
    page = render_page(StateSpace(replace(parse_mastar(COIN), name=os.fsdecode(b"b\xe4d"))), [])
    assert "<title>b?d</title>" in page.encode().decode()


def test_the_script_and_the_controls(coin: str) -> None:
    names = {one["id"] for one in Page(coin).attributes if "id" in one}
    assert set(re.findall(r'\bat\("([\w-]+)"\)', coin)) <= names
    elements = Page(coin).attributes
    assert all(one.get("aria-label") for one in elements if one["tag"] in ("button", "input"))
    assert all(one.get("aria-label") for one in elements if one.get("tabindex") == "0")


def test_it_holds_every_step(coin: str) -> None:
    content = Page(coin).content
    steps = content["steps"]
    assert [step["action"] for step in steps] == [None, *PLAN]
    assert [step["witnesses"] for step in steps] == [[], ["saw", "saw"], ["saw", "noticed"], ["saw", "saw"]]
    assert (content["agents"], content["fluents"]) == (["a", "b"], ["open", "tail"])
    assert content["goal"] == ["B(b, tail)", "B(a, B(b, tail))"]
    assert [step["reached"] for step in steps] == [[False, False]] * 3 + [[True, True]]
    assert [step["view"]["standings"] for step in steps] == [["kk", "uu"], ["kk", "uu"], ["kk", "ku"], ["kk", "kk"]]
    assert [step["view"]["nested"][1]["standings"][1] for step in steps] == ["uu", "uu", "ku", "kk"]


def test_who_saw_an_action_is_decided_where_it_happens() -> None:
    task = parse_mastar(COIN.replace("b observes lift;", "b observes lift if -open;"))
    content = Page(render_page(StateSpace(task), ["lift"])).content
    assert content["steps"][1]["witnesses"] == ["saw", "saw"]  # though by then it is open


def test_a_goal_is_told_in_parts() -> None:
    task = parse_mastar(COIN)
    both = replace(task, goal=(and_(fluent("open"), believes("a", and_(fluent("open"), fluent("tail")))),))
    content = Page(render_page(StateSpace(both), ["lift", "look"])).content
    assert content["goal"] == ["open", "B(a, open)", "B(a, tail)"]
    assert [step["reached"] for step in content["steps"]] == [[False] * 3, [True, True, False], [True] * 3]


def test_pictures_tell_all_facts(coin: str) -> None:
    first, lifted, *_ = Page(coin).content["steps"]
    boxes = worlds(first["picture"])
    assert boxes.keys() == {"world 0: not open, not tail", "world 1, designated: tail, not open"}
    assert [box.get("class") for box in boxes.values()] == ["node", "node designated"]
    assert {(box.get("tabindex"), box.get("role")) for box in boxes.values()} == {("0", "img")}
    assert (first["changed"], lifted["changed"], lifted["worlds"]) == (0, 2, 2)
    assert ("changed" in first["picture"], "+ open" in lifted["picture"]) == (False, True)
    root = ElementTree.fromstring(Page(coin).content["steps"][0]["picture"])
    width = round(float(root.attrib["viewBox"].split()[2]))
    assert root.attrib["style"] == f"width:100%;min-width:{0.75 * width:.0f}px;max-width:{1.3 * width:.0f}px"
    assert not root.attrib.keys() & {"width", "height"}
    assert (first["everywhere"], lifted["everywhere"], lifted["thinned"]) == ([], ["open"], False)
    assert "world" not in re.sub("<title>.*?</title>", "", first["picture"])  # the page says how many, once


def test_views_are_nested_twice_where_there_is_little_to_tell() -> None:
    def depth(view: dict[str, list[dict[str, list[object]]]]) -> int:
        return 1 + depth(view["nested"][0]) if view["nested"] else 0  # type: ignore[arg-type]

    pages = [render_page(StateSpace(domain_problem("coin_in_the_box", agents=agents)), []) for agents in (3, 7)]
    assert [depth(Page(text).content["steps"][0]["view"]) for text in pages] == [2, 1]


def test_names_cannot_end_the_page_early() -> None:
    name = "</script><b>&$"
    estate = EState((frozenset({name}), frozenset()), ((frozenset({0, 1}),) * 2,), (0,))
    task = Task(
        name=name,
        fluents=(name,),
        agents=("a",),
        actions=(Action(name, fluent(name), (Event("e"),), (0,), {"k": (frozenset({0}),)}, (((and_(), "k"),),)),),
        initial=estate,
        goal=(fluent(name),),
    )
    text = render_page(StateSpace(task), [name])
    found = Page(text)
    assert not any(one["tag"] == "b" for one in found.attributes)
    content = found.content
    assert (content["fluents"], content["goal"], content["steps"][1]["action"]) == ([name], [name], name)
    assert f"world 1, designated: {name}" in worlds(content["steps"][0]["picture"])


def test_large_e_states_are_told_by_agent() -> None:
    plan = ["ask_c1", "ask_c2", "ask_c3"]
    text = render_page(StateSpace(load_problem("active_muddy_child/amc_09_09_muddy")), plan)
    steps = Page(text).content["steps"]
    assert [step["worlds"] for step in steps] == [511, 510, 508, 504]
    assert [step["picture"] for step in steps] == [None] * 4
    seen = steps[-1]["view"]["nested"]
    assert [view["worlds"] for view in seen] == [2] * 9
    assert [view["truth"] for view in seen] == ["1" * child + "v" + "1" * (8 - child) for child in range(9)]
    assert len(text) < 40_000


def test_a_picture_that_cannot_be_read_names_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.warns(UserWarning, match=r"^x\.dot: 511 worlds are too many to read in a picture: out=x\.html says"):
        assert main(["show", "active_muddy_child/amc_09_09_muddy", "out=x.dot"]) == 0


def test_a_plan_that_cannot_be_executed_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^step 2: action 'look' is not applicable"):
        write_page(StateSpace(parse_mastar(COIN.replace("lift causes open;", ""))), PLAN, tmp_path / "page.html")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["plan=plan.json", "after=lift,look,shout"])
def test_show_writes_or_draws(
    name: str, coin: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("coin.txt").write_text(COIN)
    Path("plan.json").write_text(json.dumps(PLAN))
    assert main(["show", "coin.txt", name, "out=plan.html"]) == 0
    assert "reached B(b, tail)" in capsys.readouterr().out  # the e-state at the end
    assert Path("plan.html").read_text(encoding="utf-8") == coin.replace("&lt;string&gt;", "coin")
    assert main(["show", "coin.txt", name, "out=plan.dot"]) == 0
    space = StateSpace(parse_mastar(COIN))
    assert Path("plan.dot").read_text(encoding="utf-8") == format_dot(space.model(walk(space, PLAN)[-1]))


def test_show_draws_a_saved_policy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    lamp, domain, library = (str(ROOT / "docs/epddl" / f"{name}.epddl") for name in ("lamp-1", "lamp", "kinds"))
    policy = find_strong(load_problem(lamp, Reading(domain_file=domain, libraries=(library,))))
    files = [lamp, f"domain_file={domain}", f"libraries=[{library}]"]
    for name in ("policy.json", "policy.tree.json", "page.html", "graph.dot"):
        policy.write(name)
    for word, out in (
        ("policy=policy.json", "page.html"),
        ("plan=policy.tree.json", "page.html"),
        ("plan=policy.json", "graph.dot"),
    ):
        assert main(["show", *files, word, f"out=x{Path(out).suffix}"]) == 0
        assert Path(f"x{Path(out).suffix}").read_text(encoding="utf-8") == Path(out).read_text(encoding="utf-8")
    assert main(["show", *files, "policy=policy.json"]) == 0
    assert Path("lamp-1.html").read_text(encoding="utf-8") == Path("page.html").read_text(encoding="utf-8")
    capsys.readouterr()
    for word, code, message in (
        ("out=x.png", 64, "out=x.png: a policy is drawn as a page (.html) or a graph (.dot)"),
        ("after=lift", 64, "after and policy both name actions: give one of them"),
        ("plan=lift", 64, "plan and policy both name actions: give one of them"),
    ):
        assert main(["show", *files, "policy=policy.json", word]) == code
        assert capsys.readouterr().err == f"error: {message}\n"
    Path("coin.txt").write_text(COIN)
    assert main(["show", "coin.txt", "policy=policy.json"]) == 65
    assert "policy.json: the policy is not valid: " in capsys.readouterr().err
    assert not Path("coin.html").exists()


def test_a_policy_holds_every_branch_once() -> None:
    policy = find_strong(muddy_robots(3))
    steps = Page(render_policy_page(StateSpace(policy.task, consistent_beliefs=True), policy.act)).content["steps"]
    followers = {step["action"]: [steps[number]["action"] for number in step["next"]] for step in steps}
    assert followers[None] == ["announce"]
    assert followers["announce"] == ["bell: yes", "bell: no"]
    assert {number for step in steps for number in step["next"]} == set(range(1, len(steps)))
    assert [all(step["reached"]) for step in steps] == [not step["next"] for step in steps]
    assert policy.leaves <= sum(not step["next"] for step in steps)
