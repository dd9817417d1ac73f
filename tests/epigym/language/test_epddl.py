"""Declarations, facts, formulas, initial e-states and files of EPDDL, compared with grounding by hand."""

import json
import re
from pathlib import Path

import pytest

from epigym.errors import MissingError, ParseError, ProblemWarning, UsageError
from epigym.language import Reading, load
from epigym.language.epddl import load_epddl, load_spec, parse_epddl
from epigym.language.epddl.parser import parse
from epigym.language.epddl.syntax import DomainFile
from epigym.language.source import SourceText
from epigym.task.formula import (
    FALSE,
    TRUE,
    Formula,
    and_,
    believes,
    common,
    considers_possible,
    everybody,
    fluent,
    knows_whether,
    not_,
    or_,
)
from epigym.task.task import Action, Effect, EState, Event, Task
from tests.helpers.epddl_texts import LIBRARY, PUBLIC, domain_text, problem_text, specification, task

pytestmark = pytest.mark.filterwarnings("ignore::epigym.errors.ProblemWarning")

P, Q = fluent("p"), fluent("q")
RA, RB, RC = fluent("r_A"), fluent("r_B"), fluent("r_C")
FULL = ((TRUE, "Full"),)
BLIND = ((TRUE, "Blind"),)


def goal(text: str, **parts: str) -> Formula:
    return and_(*task(goal=text, **parts).goal)


def world(valuation: str, agents: int = 2) -> EState:
    return EState((frozenset(valuation.split()),), ((frozenset([0]),),) * agents, (0,))


def test_a_whole_task_by_hand() -> None:
    items = """
        (:event tell :parameters (?i - agent) :precondition (and (r ?i) (ok ?i)))
        (:event flip :effects (:and (when (p) (not (p))) (when (not (p)) (p))))
        (:action say :parameters (?i - agent | (ok ?i))
            :action-type (private (tell ?i) (nil))
            :observability-conditions (:and (?i Full) (default Blind)))
        (:action toggle :parameters () :action-type (public (flip)) :observability-conditions (default Full))
    """
    private = {"Full": (frozenset([0]), frozenset([1])), "Blind": (frozenset([1]), frozenset([1]))}
    assert task(
        items,
        facts="(ok B)",
        init=":worlds (w v) :relations (A (:forall (?x ?y - world) (?x ?y)) B (:and (w w) (v v)))"
        " :labels (w (:and (p) (r B)) v (p)) :designated (w)",
        goal="(and ([A] (r B)) (p))",
    ) == Task(
        name="prob",
        fluents=("p", "q", "r_A", "r_B"),
        agents=("A", "B"),
        actions=(
            Action("say_B", TRUE, (Event("tell", RB), Event("nil")), (0,), private, (BLIND, FULL)),
            Action(
                "toggle",
                TRUE,
                (Event("flip", TRUE, (Effect("p", True, not_(P)), Effect("p", False, P))),),
                (0,),
                {"Full": (frozenset([0]),)},
                (FULL, FULL),
            ),
        ),
        initial=EState(
            (frozenset({"p", "r_B"}), frozenset({"p"})),
            ((frozenset([0, 1]),) * 2, (frozenset([0]), frozenset([1]))),
            (0,),
        ),
        goal=(believes("A", RB), P),
        domain="d",
        instance="prob",
    )


# Lexical rules


def test_words() -> None:
    text = "(define (domain d) ; é ( :wrong\r\n(:predicates (p) (P) (left-room) (a_b-1)) )"

    assert [one.name for one in parse(SourceText("", text), DomainFile).predicates] == ["p", "P", "left-room", "a_b-1"]
    assert task(predicates="(:predicates (p) (s ?x-y -agent))").fluents == ("p", "s_A", "s_B")


# Types and entities


TYPES = """(:types box - object big - box bot - agent)
    (:constants K - bot c0 - big)
    (:predicates (p) (in ?x - box) (near ?x) (with ?x - (either big agent)) (any ?x - entity)
        (pair ?i - bot ?x - box))"""


def test_fluents_follow_declarations_and_entity_order() -> None:
    found = task(
        predicates=TYPES,
        agents="A",
        declared="(:objects b1 - big b2 b3 - box o)",
        init=":worlds (w) :relations (A (w w) K (w w)) :labels () :designated (w)",
    )
    assert found.agents == ("K", "A")
    boxes, objects = ["c0", "b1", "b2", "b3"], ["c0", "b1", "b2", "b3", "o"]
    assert found.fluents == (
        "p",
        *(f"in_{box}" for box in boxes),
        *(f"near_{name}" for name in objects),
        *(f"with_{name}" for name in ["K", "c0", "A", "b1"]),
        *(f"any_{name}" for name in ["K", "c0", "A", *objects[1:]]),
        *(f"pair_K_{box}" for box in boxes),
    )


def test_a_type_that_is_its_own_parent_is_a_child_of_object() -> None:
    def read(types: str) -> Task:
        predicates = "(:predicates (p) (on ?l - lamp))"
        return task(types, predicates=predicates, declared="(:objects l - lamp b - big s - small)")

    with pytest.warns(ProblemWarning) as caught:
        found = read("(:types lamp big small - lamp)")
    message = "d.epddl:4:9: type 'lamp' is its own parent: it is read as a child of 'object'"
    assert [str(warning.message) for warning in caught].count(message) == 1
    assert found == read("(:types lamp big small - lamp)".replace("lamp big", "lamp - object big"))
    assert "on_s" in found.fluents
    with pytest.raises(ParseError, match="type 'big' is declared twice"):
        task("(:types big - big big)")


def test_types() -> None:
    found = specification(
        "(:event e :effects (p)) (:action a :parameters (?x - ghost) :action-type (public (e))"
        " :observability-conditions (default Full))",
        predicates="(:types ghost) (:predicates (p) (seen ?x - ghost))",
    )
    assert (found.task.actions, found.atoms) == ((), ("p",))
    predicates = "(:types bot - agent) (:predicates (p) (r ?i - agent) (s ?b - bot))"
    assert goal("(forall (?b - bot) (and (r ?b) (s ?b)))", predicates=predicates, agents="A - bot B - bot C") == and_(
        RA, fluent("s_A"), RB, fluent("s_B")
    )
    assert goal("(forall (?x) (s ?x))", predicates="(:predicates (p) (s ?x))", declared="(:objects o)") is fluent("s_o")


# Facts


def test_facts() -> None:
    found = specification(facts="(ok A)", goal="(and (imply (ok A) (p)) (or (ok B) (q)))")
    assert found.task.fluents == ("p", "q", "r_A", "r_B")
    assert found.task.goal == (P, Q)
    assert (found.facts, found.atoms) == (("ok_A",), ("p", "q", "r_A", "r_B", "ok_A", "ok_B"))
    found = task("(:event e :effects (ok B))", facts="(ok A)", goal="(ok A)")
    assert found.fluents == ("p", "q", "r_A", "r_B", "ok_A", "ok_B")
    assert found.initial == world("ok_A")
    assert found.goal == (fluent("ok_A"),)
    init = ":worlds (w v) :relations () :labels (v (ok B)) :designated (w)"
    assert task(facts="(ok A)", init=init).initial.valuations == (frozenset({"ok_A"}), frozenset({"ok_A", "ok_B"}))
    found = task("(:event e :effects (not (ok A)))", facts="(ok A)", goal="(forall (?i - agent | (ok ?i)) (r ?i))")
    assert found.goal == (RA,)


# Formulas


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(true)", TRUE),
        ("(false)", FALSE),
        ("(= A A)", TRUE),
        ("(/= A A)", FALSE),
        ("(imply (p) (q))", or_(not_(P), Q)),
        ("(forall (?i - agent) (r ?i))", and_(RA, RB, RC)),
        ("(exists (?i ?j - agent | (/= ?i ?j)) (and (r ?i) (r ?j)))", or_(and_(RA, RB), and_(RA, RC), and_(RB, RA),
         and_(RB, RC), and_(RC, RA), and_(RC, RB))),
        ("(forall (?i - agent | (and (ok ?i) (or (= ?i A) (= ?i B)))) (r ?i))", and_(RA)),
        ("(forall (?i - agent | (imply (ok ?i) (not (= ?i A)))) (r ?i))", and_(RB, RC)),
        ("(forall (?i - agent | (exists (?j - agent | (/= ?i ?j)) (ok ?j))) (r ?i))", and_(RA, RB, RC)),
        ("(forall (?i - agent | (forall (?j - agent) (= ?i ?j))) (r ?i))", TRUE),
        ("(exists (?i - agent | (false)) (r ?i))", FALSE),
        ("(forall () (p))", P),
        ("([A] (p))", believes("A", P)),
        ("(<A> (p))", considers_possible("A", P)),
        ("([Kw. A] (p))", knows_whether("A", P)),
        ("(<Kw. A> (p))", not_(knows_whether("A", P))),
        ("([(A B)] (p))", everybody("AB", P)),
        ("(<(A B)> (p))", not_(everybody("AB", not_(P)))),
        ("([Kw. (A B)] (p))", and_(*(knows_whether(i, P) for i in "AB"))),
        ("(<Kw. (A B)> (p))", not_(and_(*(knows_whether(i, P) for i in "AB")))),
        ("([All] (p))", everybody("ABC", P)),
        ("([(:and (A) (B A))] (p))", everybody("AB", P)),
        ("([(:forall (?i - agent | (/= ?i A)) (?i))] (p))", everybody("BC", P)),
        ("([(:forall (?i | (= ?i C)) (?i))] (p))", believes("C", P)),
        ("([(:forall (?i - agent | (false)) (?i))] (p))", TRUE),
        ("([(A)] (p))", believes("A", P)),
        ("([C. All] (p))", common("ABC", P)),
        ("([C. (A B)] (p))", common("AB", P)),
        ("(<C. (A B)> (p))", not_(common("AB", not_(P)))),
        ("([C. (A)] (p))", common("A", P)),
        ("([team] (p))", everybody("AB", P)),
        ("([C. team] (p))", common("AB", P)),
        ("([none] (p))", TRUE),
        ("(<none> (p))", FALSE),
        ("(forall (?g - agent-group) ([?g] (p)))", and_(everybody("AB", P), believes("C", P))),
        ("(forall (?i - agent) ([?i] ([(A ?i)] (r ?i))))",
         and_(believes("A", believes("A", RA)), *(believes(i, everybody(f"A{i}", fluent(f"r_{i}"))) for i in "BC"))),
    ],
)  # fmt: skip
def test_formulas(text: str, expected: Formula) -> None:
    groups = "(:agent-groups (none ()) (team (A B)) (rest (:forall (?i - agent | (not (or (= ?i A) (= ?i B)))) (?i))))"
    assert goal(text, agents="A B C", facts="(ok A) (ok C)", declared=groups) is expected


def test_goals() -> None:
    found = task(goal="(and (p) (and (q) (forall (?i - agent) (r ?i))))) (:goal (not (q))")
    assert found.goal == (P, Q, RA, RB, not_(Q))
    assert task(goal="(true)").goal == ()


def test_explicit_models() -> None:
    init = """:worlds (w v u)
        :relations (B (:forall (?x ?y - world | (or (= ?x ?y) (and (/= ?x u) (/= ?y u)))) (?x ?y))
                    A (:and (w v) (:forall (?x - world | (/= ?x w)) (?x w))))
        :labels (v (:and (p) (:forall (?i - agent) (r ?i))) u (q) w ())
        :designated (u w)"""
    assert task(init=init).initial == EState(
        valuations=(frozenset(), frozenset({"p", "r_A", "r_B"}), frozenset({"q"})),
        successors=(
            (frozenset([1]), frozenset([0]), frozenset([0])),
            (frozenset([0, 1]), frozenset([0, 1]), frozenset([2])),
        ),
        designated=(0, 2),
    )
    init = ":worlds (w v) :relations (A (:forall (?x ?y - world) (?x ?y)) B ()) :labels () :designated (w)"
    first, second = task(init=init).initial.successors[0]
    assert first is second


def theory(*formulas: str, agents: str = "A B", predicates: str = "(:predicates (p) (q))", facts: str = "") -> EState:
    text = " ".join(formulas)
    return task(init=f"(:and {text})", agents=agents, predicates=predicates, goal="(true)", facts=facts).initial


def test_theories() -> None:
    everything = frozenset(range(4))
    assert theory("(p)") == EState(
        (frozenset(), frozenset({"q"}), frozenset({"p"}), frozenset({"p", "q"})),
        ((everything,) * 4, (everything,) * 4),
        (2, 3),
    )
    found = task(init="()", predicates="(:predicates (p))").initial
    assert (found.valuations, found.designated) == ((frozenset(), frozenset({"p"})), (0, 1))
    found = theory("([C. All] ([Kw. A] (and (p) (q))))", "([C. All] ([Kw. A] (or (p) (q))))")
    assert found.successors[0] == (frozenset([0]), frozenset([1, 2]), frozenset([1, 2]), frozenset([3]))
    assert found.successors[0][1] is found.successors[0][2]
    predicates = "(:predicates (p) (:fact ok ?i - agent)) (:event e :effects (not (ok A)))"
    found = theory("([C. All] (imply (ok A) (p)))", predicates=predicates, facts="(ok A)")
    assert found.valuations == (frozenset({"p", "ok_A"}),)
    found = task(init="()", predicates="(:predicates (:fact ok ?i - agent))", goal="(true)").initial
    assert found == EState((frozenset(),), ((frozenset([0]),),) * 2, (0,))


def test_common_knowledge_restricts_worlds_and_knowing_whether_cuts_relations() -> None:
    found = theory(
        "([C. All] (or (p) (q)))", "(p)", "(q)", "([C. All] ([Kw. A] (p)))", "([C. All] ([B] (imply (q) (p))))",
        "([C. All] (<Kw. B> (q)))",
    )  # fmt: skip
    assert found == EState((frozenset({"p"}), frozenset({"p", "q"})), ((frozenset([0, 1]),) * 2,) * 2, (1,))
    found = theory("([C. All] (or (p) (q)))", "(p)", "(q)", "(:forall (?i - agent) ([C. All] ([Kw. ?i] (p))))")
    assert found.successors == (((frozenset([0]), frozenset([1, 2]), frozenset([1, 2]))),) * 2
    assert found.designated == (2,)


def write(folder: Path) -> tuple[Path, Path, Path]:
    items = f"(:event e :effects (p)) (:action a :parameters () :action-type (public (e)) {PUBLIC})"
    texts = {"p.epddl": problem_text(), "d.epddl": domain_text(items), "l.epddl": LIBRARY}
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder / "p.epddl", folder / "d.epddl", folder / "l.epddl"


def test_a_single_library_need_not_be_in_a_list(tmp_path: Path) -> None:
    problem, domain, library = write(tmp_path)
    expected = load_epddl(problem, domain, [library])
    for libraries in (str(library), [str(library)]):
        reading = Reading(domain_file=str(domain), libraries=libraries)  # type: ignore[arg-type]
        assert load(problem, reading) == expected


def test_one_file_may_hold_everything(tmp_path: Path) -> None:
    problem, domain, library = write(tmp_path)
    expected = load_epddl(problem, domain, [library])
    texts = [path.read_text(encoding="utf-8") for path in (library, problem, domain)]
    (tmp_path / "whole.epddl").write_text("\n".join(texts), encoding="utf-8")
    assert load(tmp_path / "whole.epddl") == expected
    (tmp_path / "most.epddl").write_text("\n".join(texts[1:]), encoding="utf-8")
    assert load(tmp_path / "most.epddl", Reading(libraries=(str(library),))) == expected
    (tmp_path / "twice.epddl").write_text("\n".join([*texts, texts[2]]), encoding="utf-8")
    with pytest.raises(UsageError, match=r"twice.epddl: .* found 2 domains and 1 prob"):
        load(tmp_path / "twice.epddl")


def test_errors_in_one_file_name_its_lines() -> None:
    text = f"{LIBRARY}\n{domain_text('')}\n{problem_text(goal='(zz)')}"
    line = next(number for number, one in enumerate(text.splitlines(), start=1) if "(zz)" in one)
    with pytest.raises(ParseError) as caught:
        parse_epddl(text, file="whole.epddl")
    assert (caught.value.file, caught.value.line) == ("whole.epddl", line)


@pytest.mark.parametrize(("folder", "beside"), [("here", True), ("cwd/here", False)])
def test_paths_in_specifications(folder: str, beside: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problem, domain, library = write(tmp_path / folder)
    write(tmp_path / "cwd")[0].write_text("not EPDDL")
    place = "" if beside else "here/"
    content = {"domain": f"{place}d.epddl", "problem": f"{place}p.epddl", "action-type-libraries": [str(library)]}
    spec = tmp_path / (folder if beside else "") / "spec.json"
    spec.write_text(json.dumps(content), encoding="utf-8")
    monkeypatch.chdir(tmp_path / "cwd")
    assert load_spec(spec) == load_epddl(problem, domain, [library])


@pytest.mark.parametrize("name", ["none.epddl", "/dev/null", "."])
def test_specifications_name_files(name: str, tmp_path: Path) -> None:
    """Paths of devices, some of which never end, are refused."""
    spec = tmp_path / "spec.json"
    spec.write_text(json.dumps({"domain": name, "problem": name, "action-type-libraries": []}), encoding="utf-8")
    with pytest.raises(MissingError, match=rf"^{re.escape(str(spec))}: there is no such file as '{re.escape(name)}'$"):
        load_spec(spec)
