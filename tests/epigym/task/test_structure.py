"""Schemas, arguments and types behind the names of a task."""

from dataclasses import replace

import pytest

import domains
from epigym import StateSpace, Task, TaskError
from epigym.language import parse_epddl, parse_mastar
from epigym.problem import domain_problem
from epigym.task.structure import Lifted, Structure, actors, from_parentheses, from_words

MASTAR = """
fluent at(a,1), at(a,2), q; action go(a,1,2), wait; agent a, b;
executable go(a,1,2) if at(a,1); go(a,1,2) causes at(a,2), -at(a,1); a observes go(a,1,2);
wait announces q; a observes wait;
initially at(a,1), -at(a,2), q; initially C([a,b], at(a,1)); goal at(a,2);
"""
EPDDL = """
(define (domain rooms)
    (:requirements :typing :facts :ontic-actions)
    (:types robot - agent place - object hall - place)
    (:predicates (at ?r - robot ?p - place) (:fact door ?p ?q - place))
    (:event e :parameters (?r - robot ?p ?q - place)
        :precondition (and (at ?r ?p) (door ?p ?q)) :effects (:and (at ?r ?q) (not (at ?r ?p))))
    (:action go :parameters (?r - robot ?p ?q - place) :action-type (basic (e ?r ?p ?q))))
(define (problem small) (:domain rooms)
    (:requirements :typing :facts :finitary-S5-theories)
    (:objects h - hall k - place)
    (:agents r - robot b)
    (:facts-init (door h k))
    (:init (:and (at r h) (not (at r k)) ([C. All] (and (at r h) (not (at r k))))))
    (:goal (at r k)))
"""


def test_names_in_parentheses_are_told_apart() -> None:
    structure = parse_mastar(MASTAR).structure
    assert structure.fluents == (Lifted("at", ("a", "1")), Lifted("at", ("a", "2")), Lifted("q"))
    assert structure.actions == (Lifted("go", ("a", "1", "2")), Lifted("wait"))
    assert structure.types == {"a": ("agent",), "b": ("agent",), "1": ("object",), "2": ("object",)}
    assert structure.facts == ()
    assert structure.actors == ()
    assert from_parentheses(["at_a"], ["go_a"], ["a"]) is None


@pytest.mark.filterwarnings("ignore")
def test_epddl_tells_types_arguments_and_static_facts() -> None:
    structure = parse_epddl(EPDDL).structure
    assert structure.fluents == (Lifted("at", ("r", "h")), Lifted("at", ("r", "k")))
    assert structure.actions == (Lifted("go", ("r", "h", "k")),)
    assert structure.facts == (Lifted("door", ("h", "k")),)
    assert structure.types == {
        "h": ("hall", "place", "object", "entity"),
        "k": ("place", "object", "entity"),
        "r": ("robot", "agent", "entity"),
        "b": ("agent", "entity"),
    }


def test_arguments_and_actors() -> None:
    structure = from_words(
        ["at_a_1", "sb", "has_key_a", "a"], ["share_a_sb_1", "b_check_x_2"], ["a", "b"],
        {"1": "room", "2": "room", "x": "box"}, {"sb": ("secret", "b")},
    )  # fmt: skip
    lifted = (Lifted("at", ("a", "1")), Lifted("secret", ("b",)), Lifted("has_key", ("a",)), Lifted("a"))
    assert structure.fluents == lifted
    assert structure.actions == (Lifted("share_secret", ("a", "b", "1")), Lifted("check", ("b", "x", "2")))
    assert structure.types["x"] == ("box", "object")
    actions = [Lifted("tell", ("a", "b")), Lifted("give", ("x", "b")), Lifted("rain")]
    assert actors(actions, {"tell": 0, "give": 1}, ["a", "b"]) == ("a", "b", None)
    assert actors(actions, {"tell": 0, "give": 0}, ["a", "b"]) == ("a", None, None)  # x is none


@pytest.mark.parametrize("name", domains.DOMAINS)
def test_every_domain_tells_its_structure(name: str) -> None:
    task = domain_problem(name)
    structure = task.structure
    by_symbol: dict[str, set[tuple[str, ...]]] = {}
    for kind, lifted in (("fluent", structure.fluents), ("action", structure.actions)):
        assert len(set(lifted)) == len(lifted), "two names are told to be the same"
        for one in lifted:
            types = tuple(structure.types[argument][0] for argument in one.arguments)
            by_symbol.setdefault(f"{kind} {one.symbol}", set()).add(types)
    assert all(len({len(types) for types in found}) == 1 for found in by_symbol.values()), by_symbol
    assert set(task.agents) == {name for name, types in structure.types.items() if "agent" in types}
    places = domains.DOMAINS[name].actors
    for action, actor in zip(structure.actions, structure.actors, strict=True):
        place = places.get(action.symbol)
        named = None if place is None else action.arguments[place]
        assert actor == (named if named in task.agents else None)


def test_structure_is_no_part_of_the_identity() -> None:
    task = domain_problem("grapevine/3_pl_4")
    bare = replace(task, structure=None)
    assert task == bare
    assert hash(task.initial) == hash(bare.initial)
    ids = StateSpace(task).expand([0]).target.tolist()
    assert ids == StateSpace(bare).expand([0]).target.tolist()


def test_structure_that_does_not_fit_is_refused() -> None:
    def with_structure(structure: Structure) -> Task:
        return replace(task, structure=structure)

    task = domain_problem("active_muddy_child")
    structure = task.structure
    with pytest.raises(TaskError, match=r"^the structure tells of 3 fluents, the task has 4$"):
        with_structure(replace(structure, fluents=structure.fluents[1:]))
    with pytest.raises(TaskError, match=r"^the structure names an actor 'x' who is no agent of the task$"):
        with_structure(replace(structure, actors=("x",) * len(task.actions)))
    with pytest.raises(TaskError, match=r"^the object 'z' of 'muddy' has no type$"):
        replace(structure, fluents=(Lifted("muddy", ("z",)),))
