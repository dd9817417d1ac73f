"""The relaxation agrees, value for value, with the twin that is written from the specification alone."""

import random
import warnings
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epigym import StateSpace, load_problem
from epigym.errors import ProblemWarning, TaskError
from epigym.features.relaxation import Relaxation
from epigym.reference import semantics as reference
from epigym.task.formula import (
    FALSE,
    TRUE,
    Formula,
    Op,
    actually,
    and_,
    believes,
    common,
    conjuncts,
    everybody,
    fluent,
    literal,
    not_,
    or_,
)
from epigym.task.task import Action, Effect, EState, Event, Task
from tests.helpers import strategies
from tests.helpers.benchmark_files import load_published_task, table
from tests.helpers.epddl_files import competition_cases, toolkit_cases
from tests.oracles import relaxation as twin

P, Q, R = map(fluent, "pqr")
SMALL = 25  # worlds of an e-state and actions of a problem that the twin relaxes within seconds


def assert_agreement(task: Task, steps: int, seed: int) -> None:
    """Compare along a random walk."""
    space, slow = StateSpace(task), twin.Relaxation(task)
    fast = Relaxation(space)
    rng, state = random.Random(seed), space.initial
    for _ in range(steps):
        relaxed, estate = fast([state]), space.model(state).state
        assert relaxed.h_add[0] == slow.h_add(estate)
        assert relaxed.h_ff[0] == slow.h_ff(estate)
        guidance = slow.at(estate)
        assert relaxed.unreached[0] == guidance.unreached
        assert relaxed.actions[0] == len({supporter.operator.action for supporter in guidance.reaching.values()})
        assert relaxed.preferred.tolist() == sorted(slow.list_preferred(estate))
        assert {fast.facts[fact] for fact in fast.find_added_facts(state).tolist()} == set(slow.added(estate))
        try:
            targets = space.expand([state]).target.tolist()
        except TaskError:  # designated worlds disagree
            return
        if not targets:
            return
        state = rng.choice(targets)


RANDOM = given(strategies.tasks() | strategies.tasks(agents=("c", "a", "b")), st.integers(0, 99))


@pytest.mark.slow
@settings(max_examples=300)
@RANDOM
def test_on_more_random_tasks(task: Task, seed: int) -> None:
    assert_agreement(task, 3, seed)


@settings(max_examples=150)
@RANDOM
def test_on_random_tasks(task: Task, seed: int) -> None:
    assert_agreement(task, 3, seed)


@settings(max_examples=100)
@given(st.integers(0, 1 << 32))
def test_where_one_of_several_events_happens(seed: int) -> None:
    assert_agreement(strategies.sensing_task(random.Random(seed)), 3, seed)


@given(strategies.tasks())
def test_subgoals_with_the_same_conjuncts_in_normal_form_count_once(task: Task) -> None:
    normal = map(twin.normal_form, task.goal)
    again = [and_(*reversed(conjuncts(subgoal))) for subgoal in normal]
    repeating = replace(task, goal=(*task.goal, *again))
    assert repr(Relaxation(StateSpace(repeating))([0])) == repr(Relaxation(StateSpace(task))([0]))
    assert_agreement(repeating, 2, 0)


@pytest.mark.parametrize(
    "problem",
    [
        "coin_in_the_box/pl_6",
        "grapevine/3_pl_4",
        "collaboration_communication/2_2_3_pl_4",
        "assembly_line/b5_pl_5",
        "selective_communication/4_2_pl_5",
        "epistemic_gossip/scaling_01",
    ],
)
def test_on_problems_of_the_domains(problem: str) -> None:
    assert_agreement(load_problem(problem), 3, 0)


PUBLISHED = [row for row in table("expected_mastar") if int(row["n_actions"]) <= SMALL]


@pytest.mark.reference
@pytest.mark.parametrize("row", PUBLISHED, ids=lambda row: row["instance"])
def test_on_published_problems(row: dict[str, str]) -> None:
    assert_agreement(load_published_task(row), 1, 0)


@pytest.mark.slow
@pytest.mark.reference
def test_on_epddl_problems() -> None:
    compared = 0
    for case in [*toolkit_cases(), *competition_cases()]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ProblemWarning)
            task = case.ground().task
        if len(task.actions) <= SMALL and len(task.initial.valuations) <= SMALL:
            assert_agreement(task, 2, 0)
            compared += 1
    assert compared == 49


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        (not_(and_(P, not_(Q))), or_(not_(P), Q)),
        (believes("a", and_(P, Q)), and_(believes("a", P), believes("a", Q))),
        (not_(believes("a", and_(P, Q))), or_(not_(believes("a", P)), not_(believes("a", Q)))),
        (
            believes("a", believes("b", and_(P, Q))),
            and_(believes("a", believes("b", P)), believes("a", believes("b", Q))),
        ),
        (everybody("ab", P), and_(believes("a", P), believes("b", P))),
        (not_(everybody("ab", P)), or_(not_(believes("a", P)), not_(believes("b", P)))),
        (common("ab", and_(P, Q)), and_(common("ab", P), common("ab", Q))),
        (believes("a", actually(P)), P),
        (not_(believes("a", believes("b", not_(actually(or_(P, Q)))))), or_(P, Q)),
        (common("ab", actually(P)), P),
        (believes("a", and_(actually(P), Q)), and_(P, believes("a", Q))),
        (believes("a", or_(not_(actually(P)), Q)), believes("a", or_(not_(P), Q))),
        (not_(actually(and_(P, believes("a", Q)))), or_(not_(P), not_(believes("a", Q)))),
        (believes("a", or_(and_(P, Q), actually(and_(P, Q)))), and_(believes("a", P), believes("a", Q))),
        (believes("a", believes("b", not_(actually(believes("a", P))))), not_(believes("a", P))),
        (believes("a", or_(actually(P), Q)), believes("a", or_(P, Q))),
        (actually(or_(not_(actually(P)), Q)), or_(not_(P), Q)),
        (believes("a", TRUE), TRUE),
        (FALSE, FALSE),
    ],
)
def test_normal_forms(formula: Formula, expected: Formula) -> None:
    assert normal_form(formula) is expected


@given(strategies.formulas(3, agents=("b", "a")))
def test_normal_forms_of_random_formulas(formula: Formula) -> None:
    normal = normal_form(formula)
    assert normal is twin.normal_form(formula)
    for node in normal.subformulas():
        assert node.op is not Op.EVERYBODY
        if node.op in (Op.NOT, Op.BELIEVES, Op.COMMON):
            assert node.children[0].op not in ((Op.AND, Op.OR) if node.op is Op.NOT else (Op.AND,))


def normal_form(formula: Formula) -> Formula:
    """What the first fact of a task with this subgoal stands for."""
    everywhere = (frozenset({0}),)
    initial = EState((frozenset(),), (everywhere, everywhere), (0,))
    return Relaxation(StateSpace(Task("t", ("p", "q", "r"), ("b", "a"), (), initial, (formula,)))).facts[0]


def public(name: str, *effects: Effect, if_: Formula = TRUE) -> Action:
    """What agent a, the only one, sees happen."""
    return Action(name, if_, (Event("e", TRUE, effects),), (0,), {"full": (frozenset({0}),)}, (((TRUE, "full"),),))


def test_of_effects_on_one_fluent_the_first_is_taken() -> None:
    q_or_r = (Effect("p", True, Q), Effect("p", True, R))
    actions = (
        public("wait", if_=R),  # names r before q is named
        public("make_r", Effect("r", True)),
        public("make_q", Effect("q", True)),
        public("make_p", *q_or_r),
    )
    task = Task("t", ("p", "q", "r"), ("a",), actions, EState((frozenset(),), ((frozenset({0}),),), (0,)), (P,))
    relaxation = Relaxation(StateSpace(task))
    assert {relaxation.facts[fact] for fact in relaxation.find_added_facts(0).tolist()} == {P, Q}
    assert_agreement(task, 3, 0)


@pytest.mark.parametrize("steps", [3, 45])
@pytest.mark.parametrize(
    ("lowest", "believer"),
    [(P, ""), (actually(P), ""), (P, "a"), (believes("a", P), "a")],
    ids=["facts", "actually", "belief", "nested belief"],
)
def test_formulas_with_shared_parts(steps: int, lowest: Formula, believer: str) -> None:
    """As a tree the larger one has more than 2^45 parts."""
    tower = lowest
    for _ in range(steps):
        tower = and_(or_(tower, Q), or_(tower, R))
    actions = public("make_p", Effect("p", True)), public("make_q_and_r", Effect("q", True), Effect("r", True))
    initial = EState((frozenset(),), ((frozenset({0}),),), (0,))
    goal = believes(believer, tower) if believer else tower
    task = Task("t", ("p", "q", "r"), ("a",), actions, initial, (goal,))
    relaxation = Relaxation(StateSpace(task))
    assert relaxation([0]).h_add.tolist() == [2]
    assert relaxation.landmarks(0).is_goal.tolist() == [True, True]
    if steps == 3:
        assert_agreement(task, 3, 0)


def test_an_event_that_cannot_happen_guarantees_nothing() -> None:
    """Its precondition is no literal; only who believes nothing but that event comes to believe that it happened."""
    relations = {"misled": (frozenset({1}), frozenset({1}))}
    events = (Event("e", TRUE), Event("never", FALSE))
    action = Action("mislead", TRUE, events, (0,), relations, (((TRUE, "misled"),),))
    initial = EState((frozenset(),), ((frozenset({0}),),), (0,))
    task = Task("t", ("p",), ("a",), (action,), initial, (believes("a", FALSE),))
    assert Relaxation(StateSpace(task))([0]).h_add[0] == np.inf
    assert_agreement(task, 1, 0)


FRAMES = ["any", "equivalences", "introspective"]
LITERALS = [literal(name, value) for name in strategies.FLUENTS for value in (True, False)]
CHAINS = [
    believes(first, believes(second, third))
    for first, second in product(strategies.AGENTS, repeat=2)
    for third in [*LITERALS, *(believes(agent, known) for agent in strategies.AGENTS for known in LITERALS)]
]
"""Beliefs about beliefs that start and end alike, of which the core tests parts once for all."""


@given(st.integers(0, 1 << 32), st.sampled_from([3, 5, 70, 130]), st.sampled_from(FRAMES))
def test_nested_beliefs_that_share_their_parts(seed: int, worlds: int, relations: str) -> None:
    estate = strategies.random_estate(random.Random(seed), worlds, strategies.FLUENTS, strategies.AGENTS, relations)
    task = Task("t", strategies.FLUENTS, strategies.AGENTS, (), estate, tuple(CHAINS))
    evaluation = reference.Evaluation(task.agents, estate)
    expected = [subgoal for subgoal in task.goal if not evaluation.holds(subgoal)]
    assert Relaxation(StateSpace(task))([0]).unreached[0] == len(expected)
    for subgoal in expected[:5]:
        assert Relaxation(StateSpace(replace(task, goal=(subgoal, *task.goal[:5])))).is_uninformative(0)


@pytest.mark.parametrize("problem", ["blocks_world", "coin_in_the_box/pl_5", "room_messages"])
def test_neither_batches_nor_the_order_of_e_states_matter(problem: str) -> None:
    """Costs are found in one of two ways, which depends on the e-states before."""
    task = load_problem(problem)

    def relaxed(*steps: int) -> tuple[str, list[list[int]]]:
        space = StateSpace(task)
        for state in range(20):
            space.expand([state])
        relaxation, ids = Relaxation(space), range(len(space))
        for state in (state for step in steps for state in ids[::step]):
            relaxation([state])
        return repr([array.tolist() for array in relaxation(ids)]), [
            relaxation.find_added_facts(state).tolist() for state in ids
        ]

    assert relaxed() == relaxed(1) == relaxed(-1)


@pytest.mark.parametrize(("steps", "cost"), [(1, 3), (8, 2**9 - 1), (20, 2**21 - 1), (63, np.inf)])
def test_costs_may_double_with_every_step(steps: int, cost: float) -> None:
    """Each step needs two things that each cost one more than those of the step before together."""
    names = [f"{kind}{k}" for k in range(steps) for kind in "pq"]
    pairs = [(TRUE, TRUE), *((fluent(f"p{k}"), fluent(f"q{k}")) for k in range(steps))]
    actions = [public(f"make_{name}", Effect(name, True), if_=and_(*pairs[int(name[1:])])) for name in names]
    actions.append(public("finish", Effect("goal", True), if_=and_(*pairs[-1])))
    initial = EState((frozenset(),), ((frozenset({0}),),), (0,))
    task = Task("t", (*names, "goal"), ("a",), tuple(actions), initial, (fluent("goal"),))
    relaxed = Relaxation(StateSpace(task))([0])
    assert relaxed.h_add[0] == cost
    assert relaxed.h_ff[0] == (np.inf if cost == np.inf else len(actions))


def test_of_exponentially_many_ways_to_add_a_formula_some_count() -> None:
    """Two agents' nested beliefs about events that may each be another: without a limit it is not built in a minute."""
    rows = (
        (frozenset({0}), frozenset({0, 1}), frozenset({2})),
        (frozenset({0, 2}), frozenset({0, 1}), frozenset({0, 1, 2})),
    )
    events = (
        Event("unlike", or_(not_(P), not_(Q))),
        Event("clear", Q, (Effect("q", False, or_(not_(Q), not_(P))),)),
        Event("fall", TRUE, (Effect("q", False, P), Effect("p", False))),
    )
    observability = (((TRUE, "calm"),), ((not_(P), "calm"), (TRUE, "lost")))
    vague = Action("vague", TRUE, events, (1, 2), {"calm": rows[0], "lost": rows[1]}, observability)
    events = (
        Event("wait", P),
        Event("raise", Q, (Effect("p", False, believes("a", Q)), Effect("q", True))),
        Event("end", believes("b", not_(Q)), (Effect("p", False), Effect("q", False, common("ab", not_(Q))))),
    )
    rows = ((frozenset({1}), frozenset({1}), frozenset({2})),)
    plain = Action("plain", TRUE, events, (2,), {"calm": rows[0]}, (((TRUE, "calm"),),) * 2)
    goal = (believes("a", common("ab", Q)), not_(P), not_(believes("b", not_(believes("a", not_(Q))))))
    initial = EState((frozenset("pq"),), ((frozenset({0}),),) * 2, (0,))
    relaxation = Relaxation(StateSpace(Task("t", ("p", "q"), ("a", "b"), (vague, plain), initial, goal)))
    assert 1000 < relaxation.size < 100_000


def test_every_e_state_is_relaxed_once_in_a_space() -> None:
    space = StateSpace(load_problem("grapevine/3_pl_4"))
    targets = [state for state in space.expand([0]).target.tolist() if state != 0]
    one, other = Relaxation(space), Relaxation(space)
    assert one.evaluated == other.evaluated == 0
    found, count = one(targets), len(set(targets))
    assert one.evaluated == other.evaluated == count
    assert repr(other(targets)) == repr(found)
    assert one.evaluated == count
    # Relaxed facts are computed by each call, which leaves the rest to be remembered.
    added = one.find_added_facts(0).tolist()
    assert one([0]).h_add[0] > 0 < len(added)
    assert one.evaluated == count + 1
    assert other.find_added_facts(0).tolist() == added
    assert other.evaluated == count + 2


def test_its_size_is_its_nodes_and_edges() -> None:
    initial = EState((frozenset(),), ((frozenset({0}),),), (0,))

    def size(*actions: Action, goal: Formula = P) -> int:
        return Relaxation(StateSpace(Task("t", ("p", "q"), ("a",), actions, initial, (goal,)))).size

    assert size() == 1  # p
    assert size(public("make_p", Effect("p", True))) == 3  # what the action requires, nothing, lets it add p
    assert size(public("make_p", Effect("p", True), if_=Q)) == 3  # q lets it add p
    assert size(goal=and_(P, Q)) == 5  # a conjunction and its parts
