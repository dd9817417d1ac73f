"""The reference against cases computed by hand, and the laws that contraction must obey."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epigym.errors import TaskError
from epigym.reference import semantics as reference
from epigym.task.formula import (
    TRUE,
    Formula,
    actually,
    and_,
    believes,
    common,
    considers_possible,
    everybody,
    fluent,
    not_,
    or_,
)
from epigym.task.task import Action, Effect, EState, Event, Task
from tests.helpers import strategies

AGENTS = ("a", "b")
P, Q = fluent("p"), fluent("q")
ALWAYS = ((TRUE, "full"),)


def model(worlds: str, *rows: str, designated: tuple[int, ...] = (0,)) -> EState:
    """Worlds as `p,pq,-`; a row per agent as `01,1,-`: the successors of each world, `-` for nothing."""
    return EState(
        valuations=tuple(frozenset(world) - {"-"} for world in worlds.split(",")),
        successors=tuple(tuple(frozenset(map(int, row.strip("-"))) for row in agent.split(",")) for agent in rows),
        designated=designated,
    )


def task_of(initial: EState, *actions: Action, goal: tuple[Formula, ...] = (P,)) -> Task:
    return Task("t", ("p", "q"), AGENTS[: len(initial.successors)], actions, initial, goal)


def event_model(
    *events: Event, designated: tuple[int, ...] = (0,), applicability: Formula = TRUE, **relations: str
) -> Action:
    """An action that agent a observes as `full` and agent b as `other` (`full` if there is no such relation)."""
    rows = {
        kind: tuple(frozenset(map(int, row.strip("-"))) for row in text.split(",")) for kind, text in relations.items()
    }
    other = "other" if "other" in rows else "full"
    return Action("act", applicability, events, designated, rows, (ALWAYS, ((TRUE, other),)))


def applied(initial: EState, action: Action) -> EState:
    observability = action.observability[: len(initial.successors)]
    action = Action(
        action.name, action.applicability, action.events, action.designated, action.relations, observability
    )
    return reference.apply(task_of(initial, action), initial, action)


def same(left: EState, right: EState) -> bool:
    return reference.canonical(left, ("p", "q")) == reference.canonical(right, ("p", "q"))


# Two worlds p and -, 0 -a-> 1, 1 -a-> nothing; b goes 0 -> 0 and 1 -> 0.
FRAME = model("p,-", "1,-", "0,0")


@pytest.mark.parametrize(
    ("formula", "truth"),
    [
        (P, {0}),
        (not_(P), {1}),
        (and_(P, Q), set()),
        (or_(P, not_(Q)), {0, 1}),
        (believes("a", P), {1}),  # world 0 sees only 1, world 1 sees nothing
        (believes("a", not_(P)), {0, 1}),
        (believes("b", P), {0, 1}),
        (considers_possible("a", not_(P)), {0}),
        (considers_possible("a", TRUE), {0}),
        (everybody(AGENTS, P), {1}),
        (everybody(AGENTS, or_(P, not_(P))), {0, 1}),
        (not_(everybody(AGENTS, not_(P))), {0, 1}),
        (common(["a"], P), {1}),
        (common(["a"], not_(P)), {0, 1}),  # does not include the world itself
        (common(["b"], P), {0, 1}),
        (common(AGENTS, P), set()),
        (common(AGENTS, not_(P)), set()),
        (actually(P), {0, 1}),
        (actually(not_(P)), set()),
        (believes("b", actually(P)), {0, 1}),
    ],
    ids=str,
)
def test_truth_by_hand(formula: Formula, truth: set[int]) -> None:
    assert reference.Evaluation(AGENTS, FRAME).truth(formula) == truth
    assert reference.holds(FRAME, AGENTS, formula) == (0 in truth)


def test_beliefs_by_hand() -> None:
    chain = model("-,p,-,p", "1,-,3,-", "-,2,-,-")  # 0 -a-> 1 -b-> 2 -a-> 3
    evaluation = reference.Evaluation(AGENTS, chain)
    assert evaluation.truth(common(["a"], P)) == {0, 1, 2, 3}
    assert evaluation.truth(common(AGENTS, P)) == {2, 3}
    assert evaluation.truth(everybody(AGENTS, P)) == {0, 2, 3}
    two = model("p,-", "0,1", designated=(0, 1))
    for formula in (P, not_(P), actually(P), believes("a", P)):
        assert not reference.holds(two, ["a"], formula)
    assert reference.holds(two, ["a"], or_(P, not_(P)))
    assert reference.Evaluation(["a"], two).truth(actually(or_(P, not_(P)))) == {0, 1}
    assert reference.subgoals(COIN, COIN.initial) == (True, False, True)


def test_updates_by_hand() -> None:
    sense = event_model(Event("yes", P), Event("no", not_(P)), designated=(0, 1), full="0,1", other="01,01")
    unsure = model("p,-", "01,01", "01,01")
    assert same(applied(unsure, sense), model("p,-", "0,1", "01,01"))
    # Sensing of p by a while b notices nothing: b keeps considering the old two worlds (1 and 2) only.
    sense = event_model(
        Event("yes", P), Event("no", not_(P)), Event("nothing"), designated=(0, 1), full="0,1,2", other="2,2,2"
    )
    after = applied(model("p,-", "01,01", "01,01"), sense)
    assert same(after, model("p,p,-", "0,12,12", "12,12,12"))
    for effects in ((Effect("p", True), Effect("p", False)), (Effect("p", False), Effect("p", True))):
        assert applied(model("-", "0"), event_model(Event("e", TRUE, effects), full="0")) == model("p", "0")
    swap = (Effect("p", True, Q), Effect("p", False, not_(Q)), Effect("q", True, P), Effect("q", False, not_(P)))
    after = applied(model("p,q", "01,01"), event_model(Event("swap", TRUE, swap), full="0"))
    assert same(after, model("q,p", "01,01"))
    # Worlds 0 and 1 differ in nothing but what agent a believes there.
    known = (Effect("q", True, believes("a", P)),)
    after = applied(model("p,p,-", "0,2,2", "01,01,2"), event_model(Event("e", TRUE, known), full="0"))
    assert same(after, model("pq,p,-", "0,2,2", "01,01,2"))
    told = (Effect("q", True, actually(P)),)
    after = applied(model("p,-", "01,01"), event_model(Event("e", TRUE, told), full="0"))
    assert same(after, model("pq,q", "01,01"))


def test_inconsistent_beliefs_by_hand() -> None:
    after = applied(model("p", "0", "0"), event_model(Event("e"), full="0", other="-"))
    assert after == model("p", "0", "-")
    assert reference.find_inconsistent_beliefs(after) == (False, True)
    assert reference.holds(after, AGENTS, believes("b", and_(P, not_(P))))
    mistaken = model("p,-", "1,1")
    assert reference.find_inconsistent_beliefs(applied(mistaken, event_model(Event("p", P), full="0"))) == (True,)


@pytest.mark.parametrize(
    ("applicability", "preconditions", "designated_worlds", "expected"),
    [
        (P, [TRUE], (0,), True),
        (P, [TRUE], (0, 1), False),
        (or_(P, not_(P)), [TRUE], (0, 1), True),
        (TRUE, [P], (0,), True),
        (TRUE, [P], (1,), False),
        (TRUE, [P], (0, 1), False),  # nothing can happen at world 1
        (TRUE, [P, not_(P)], (0, 1), True),
    ],
)
def test_applicable(
    applicability: Formula, preconditions: list[Formula], designated_worlds: tuple[int, ...], expected: bool
) -> None:
    events = [Event(str(k), condition) for k, condition in enumerate(preconditions)]
    rows = ",".join(str(k) for k in range(len(events)))
    action = event_model(*events, designated=tuple(range(len(events))), applicability=applicability, full=rows)
    estate = model("p,-", "0,1", "0,1", designated=designated_worlds)
    task = task_of(estate, action)
    assert reference.applicable(task, estate, action) is expected
    assert reference.applicable_actions(task, estate) == (expected,)
    if not expected:
        with pytest.raises(TaskError, match="'act' is not applicable"):
            reference.apply(task, estate, action)


def watched(*conditions: tuple[Formula, str]) -> Action:
    relations = {"full": (frozenset({0}),), "other": (frozenset[int](),)}
    return Action("look", TRUE, (Event("e"),), (0,), relations, (ALWAYS, conditions))


def test_designated_worlds_that_disagree_on_observability_are_an_error() -> None:
    estate = model("p,-", "0,1", "0,1", designated=(0, 1))
    action = watched((P, "full"), (TRUE, "other"))
    task = task_of(estate, action)
    assert reference.applicable(task, estate, action)
    with pytest.raises(TaskError, match=r"'look'.*agent 'b'.*full or other"):
        reference.apply(task, estate, action)


@given(strategies.tasks(max_worlds=3))
def test_local_types_matter_only_where_observability_has_conditions(task: Task) -> None:
    for action in task.actions:
        kinds = [conditions[-1][1] for conditions in action.observability]
        same = replace(action, observability=tuple(((TRUE, kind),) for kind in kinds))
        if reference.applicable(task, task.initial, same):
            found = reference.apply_with_local_types(task, task.initial, same)
            expected = reference.apply(task, task.initial, same)
            assert reference.canonical(found, task.fluents) == reference.canonical(expected, task.fluents)
        else:
            with pytest.raises(TaskError, match="is not applicable"):
                reference.apply_with_local_types(task, task.initial, same)


def test_contraction_by_hand() -> None:
    # Worlds 0 and 2 are bisimilar, 3 is not reachable, 1 and 4 differ only in what they lead to.
    big = model("p,q,p,q,q", "14,0,41,3,-")
    assert same(big, model("p,q,q", "12,0,-"))
    assert len(reference.contract(big).valuations) == 3
    # By valuation: - (world 2) before q (world 0) before p (world 1); fluents compare in declared order.
    form = reference.canonical(model("q,p,-", "12,-,0", designated=(0, 1)), ("p", "q"))
    assert form == (((False, False), (False, True), (True, False)), (((1,), (0, 2), ()),), (1, 2))


@given(strategies.estates(), st.integers(0, 99))
def test_canonical_form_ignores_the_order_of_worlds(estate: EState, seed: int) -> None:
    renumbered = strategies.renumber(estate, seed)
    assert reference.canonical(renumbered, strategies.FLUENTS) == reference.canonical(estate, strategies.FLUENTS)


@given(strategies.estates(), strategies.formulas())
def test_contraction_preserves_truth(estate: EState, formula: Formula) -> None:
    contracted = reference.contract(estate)
    assert len(contracted.valuations) <= len(estate.valuations)
    agents = strategies.AGENTS
    assert reference.holds(contracted, agents, formula) == reference.holds(estate, agents, formula)
    assert reference.find_inconsistent_beliefs(contracted) == reference.find_inconsistent_beliefs(estate)


@given(strategies.estates(max_worlds=4), strategies.estates(max_worlds=4))
def test_different_canonical_forms_are_told_apart_by_a_formula(left: EState, right: EState) -> None:
    fluents, agents = strategies.FLUENTS, strategies.AGENTS
    formulas = [strategies.characteristic(estate, fluents, agents, rounds=8) for estate in (left, right)]
    told_apart = any(reference.holds(left, agents, one) != reference.holds(right, agents, one) for one in formulas)
    assert told_apart == (reference.canonical(left, fluents) != reference.canonical(right, fluents))


COIN = Task(
    "coin",
    ("p", "q"),
    ("a",),
    (
        Action("open", Q, (Event("e", TRUE, (Effect("q", False),)),), (0,), {"full": (frozenset({0}),)}, (ALWAYS,)),
        Action("trust", TRUE, (Event("e", not_(P)),), (0,), {"full": (frozenset({0}),)}, (ALWAYS,)),
        Action("lose", and_(not_(Q), P), (Event("e"),), (0,), {"full": (frozenset(),)}, (ALWAYS,)),
    ),
    model("pq", "0"),
    (P, not_(Q), believes("a", Q)),
)


@pytest.mark.parametrize(
    ("plan", "step", "reason"),
    [
        (["open", "lose"], None, ""),
        (["open", "opn"], 2, r"step 2: .* 'opn': did you mean 'open'\?"),
        (["lose"], 1, "step 1: action 'lose' .*: -q"),
        (["open", "open"], 2, "step 2: action 'open' .*: q"),
        (["trust"], 1, "step 1: action 'trust' .*: no designated event .* needs -p"),
        (["open"], None, r"the plan ends .*: B\(a, q\)"),
        ([], None, "the plan ends .*: -q"),
    ],
)
def test_validate_says_where_and_why_a_plan_fails(plan: list[str], step: int | None, reason: str) -> None:
    verdict = reference.validate(COIN, plan)
    assert (verdict.valid, verdict.step) == (not reason, step)
    assert re.fullmatch(reason, verdict.reason)
    assert verdict.inconsistent_agents == (("a",) if plan == ["open", "lose"] else ())
