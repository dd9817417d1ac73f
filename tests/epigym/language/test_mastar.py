"""mA* problems become tasks according to the definition of the language."""

import re
import warnings
from itertools import product
from typing import get_args

import pytest
from hypothesis import given

from epigym import StateSpace
from epigym.errors import LimitError, ParseError, ProblemWarning
from epigym.language import SEMANTICS, Reading, Semantics, parse_formula, parse_mastar
from epigym.language.reading import Determines
from epigym.reference import semantics as reference
from epigym.task.formula import TRUE, Formula, actually, and_, believes, common, everybody, fluent, implies, not_, or_
from epigym.task.task import Action, Effect, EState, Event, Task
from tests.helpers import strategies
from tests.helpers.benchmark_files import load_published_task, table

P, Q, R = fluent("p"), fluent("q"), fluent("r")
HEAD = "fluent p, q, r; agent a, b, c; action act; goal p; initially p, -q, -r; initially C([a,b,c], p, -q, -r); "
OBSERVED = "a observes act; "
ALWAYS_OBLIVIOUS = ((TRUE, "oblivious"),)


def action_of(text: str, semantics: Semantics = "default") -> Action:
    return parse_mastar(HEAD + text, Reading(semantics, "formula")).actions[0]


def rows(*successors: str) -> tuple[frozenset[int], ...]:
    return tuple(frozenset(map(int, row)) for row in successors)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p", P),
        ("-p, q", and_(not_(P), Q)),
        ("-(p, q)", not_(and_(P, Q))),
        ("--p", P),
        ("p, q | r", or_(and_(P, Q), R)),
        ("p | q, r", or_(P, and_(Q, R))),
        ("p, (q | r)", and_(P, or_(Q, R))),
        ("-p | -q, -r", or_(not_(P), and_(not_(Q), not_(R)))),
        ("(-B(a,p), q)", and_(not_(believes("a", P)), Q)),
        ("B(a, p, q | r)", believes("a", or_(and_(P, Q), R))),
        ("B([a], p)", believes("a", P)),
        ("E([b, a], -p)", everybody(["a", "b"], not_(P))),
        ("E(a, p)", everybody(["a"], P)),
        ("C([a,b], B(b, p) | q)", common(["a", "b"], or_(believes("b", P), Q))),
        ("-C ( [ a ] , p ) % a comment\n , q", and_(not_(common(["a"], P)), Q)),
        ("at(a, 1)", fluent("at(a,1)")),
        ("B(a, at( b ,x))", believes("a", fluent("at(b,x)"))),
        ("1, -B, é_2", and_(fluent("1"), not_(fluent("B")), fluent("é_2"))),
    ],
)
def test_formulas(text: str, expected: Formula) -> None:
    fluents = ["p", "q", "r", "at(a,1)", "at(b,x)", "1", "B", "é_2"]
    assert parse_formula(text, fluents=fluents, agents=["a", "b"]) is expected


@given(strategies.formulas(with_actually=False))
def test_printed_formulas_are_read_back(formula: Formula) -> None:
    formula = formula.map_fluents(fluent)
    if "true" not in str(formula) and "false" not in str(formula):
        assert parse_formula(str(formula), fluents=strategies.FLUENTS, agents=strategies.AGENTS) is formula


WORDS = ("rescued-victim", "victim", "rescued", "at-x_l-1", "p-", "p", "goal", "if", "B", "B-1", "一", "é--x")


@given(strategies.formulas(fluents=WORDS, agents=("robot-1", "agent", "c"), with_actually=False))
def test_printed_formulas_over_names_of_other_languages_are_read_back(formula: Formula) -> None:
    if "true" not in str(formula) and "false" not in str(formula):
        assert parse_formula(str(formula), fluents=WORDS, agents=["robot-1", "agent", "c"]) is formula


def test_names_and_declarations() -> None:
    task = parse_mastar(
        """% everything may be declared in several statements, after its use, and be named by numbers
        goal at(a,1), B(2, open); goal (B(a, 7), -open);
        executable go( a , 1 ) if open;
        fluent open; fluent at(a,1), at( a, 2 );
        agent a; fluent 7; agent 2; action go(a,1), wait;
        initially at(a,1), -at(a,2), 7, -open;
        """,
        file="here/some.txt",
    )
    assert task.name == "some"
    assert task.fluents == ("open", "at(a,1)", "at(a,2)", "7")
    assert task.agents == ("a", "2")
    assert [action.name for action in task.actions] == ["go(a,1)", "wait"]
    assert task.goal == (
        fluent("at(a,1)"),
        believes("2", fluent("open")),
        believes("a", fluent("7")),
        not_(fluent("open")),
    )


def test_ontic_actions() -> None:
    text = """
        executable act if B(a, p); act causes q, -r if p; act causes p;
        executable act if p | q; a observes act; b observes act if q; b observes act if r;
    """
    psi = and_(believes("a", P), or_(P, Q))
    effects = (Effect("q", True, P), Effect("r", False, P), Effect("p", True))
    expected = Action(
        name="act",
        applicability=psi,
        events=(Event("sigma", TRUE, effects), Event("epsilon")),
        designated=(0,),
        relations={"full": rows("0", "1"), "oblivious": rows("1", "1")},
        observability=(((TRUE, "full"),), ((or_(Q, R), "full"), (TRUE, "oblivious")), ALWAYS_OBLIVIOUS),
    )
    assert action_of(text) == expected
    assert action_of(text, "efp") == expected
    assert action_of(text, "update_model").events == (Event("sigma", psi, effects), Event("epsilon"))


def test_an_action_without_statements_is_ontic_without_effects_and_observers() -> None:
    action = action_of("")
    assert action.applicability is TRUE
    assert action.events == (Event("sigma"), Event("epsilon"))
    assert action.designated == (0,)
    assert action.observability == (ALWAYS_OBLIVIOUS,) * 3


@pytest.mark.parametrize("verb", ["determines", "announces"])
@pytest.mark.parametrize("semantics", SEMANTICS)
def test_sensing_and_announcements(verb: str, semantics: Semantics) -> None:
    action = action_of(
        f"""
        act {verb} p, -q; act {verb} r if B(a, q);
        executable act if q; a observes act if p; b aware_of act if q; b observes act if r; c aware_of act;
        """,
        semantics,
    )
    psi = Q if semantics == "update_model" else TRUE
    phi = and_(P, not_(Q), implies(actually(believes("a", Q)), R))
    assert action == Action(
        name="act",
        applicability=Q,
        events=(Event("sigma", and_(psi, phi)), Event("tau", and_(psi, not_(phi))), Event("epsilon")),
        designated=(0,) if verb == "announces" and semantics != "efp" else (0, 1),
        relations={"full": rows("0", "1", "2"), "partial": rows("01", "01", "2"), "oblivious": rows("2", "2", "2")},
        observability=(
            ((P, "full"), (TRUE, "oblivious")),
            ((R, "full"), (Q, "partial"), (TRUE, "oblivious")),
            ((TRUE, "partial"),),
        ),
    )


COIN = """
    fluent tail, near; agent a, b; action peek, shout, lie;
    executable peek if near; peek determines tail; a observes peek; b aware_of peek;
    executable shout if near; shout announces tail; a observes shout; b observes shout;
    executable lie; lie announces -tail; b observes lie;
    initially tail, near; initially C([a,b], near); goal B(a, tail);
"""


def after(semantics: Semantics, *plan: str, text: str = COIN) -> tuple[Task, EState]:
    task = parse_mastar(text, Reading(semantics))
    estate = task.initial
    for name in plan:
        action = next(action for action in task.actions if action.name == name)
        estate = reference.apply(task, estate, action)
    return task, estate


def evaluate(task: Task, estate: EState, text: str) -> bool:
    return reference.holds(estate, task.agents, parse_formula(text, fluents=task.fluents, agents=task.agents))


@pytest.mark.parametrize("semantics", SEMANTICS)
def test_sensing_separates_full_from_partial_observers(semantics: Semantics) -> None:
    task, estate = after(semantics, "peek")
    assert evaluate(task, estate, "B(a, tail), -B(b, tail), -B(b, -tail), C([a,b], B(a, tail) | B(a, -tail))")


def test_only_efp_lets_a_false_announcement_happen_and_act_like_sensing() -> None:
    for semantics in SEMANTICS:
        task = parse_mastar(COIN, Reading(semantics))
        assert reference.applicable(task, task.initial, task.actions[2]) == (semantics == "efp")
    task, estate = after("efp", "lie")
    assert evaluate(task, estate, "B(b, tail), -B(a, tail), -B(a, B(b, tail))")


def test_the_update_model_reading() -> None:
    # b does not know whether a is near; a shouts, which requires that a is near.
    text = COIN.replace("initially C([a,b], near);", "initially C([a,b], B(a, near) | B(a, -near));")
    for semantics in SEMANTICS:
        task, estate = after(semantics, "shout", text=text)
        assert evaluate(task, estate, "B(b, tail)")
        assert evaluate(task, estate, "B(b, near)") == (semantics == "update_model")
        assert evaluate(task, estate, "B(a, near)")
    # a leaves unseen by b, so b wrongly thinks that only a is near; then a shouts "not near" from afar.
    text = """
        fluent near; agent a, b; action leave, shout; executable leave; leave causes -near; a observes leave;
        executable shout if -near; shout announces -near; a observes shout; b observes shout;
        initially near; initially C([a,b], near); goal B(b, -near);
    """
    moved = text.replace("shout announces -near", "shout causes near")
    for semantics in SEMANTICS:
        assert reference.find_inconsistent_beliefs(after(semantics, "leave", "shout", text=text)[1]) == (False, True)
        expected = (False, semantics == "update_model")
        assert reference.find_inconsistent_beliefs(after(semantics, "leave", "shout", text=moved)[1]) == expected


def test_conditional_sensing_announces_one_formula_fixed_by_the_designated_world() -> None:
    # q is false at the designated world: nothing is learned, not even in worlds where q holds.
    text = "fluent p, q; agent a; action look; look determines p if {}; a observes look; initially p, -q; goal p;"
    nothing = after("default", "look", text=text.format("q"))[1]
    assert len(nothing.valuations) == 4
    something = after("default", "look", text=text.format("-q"))[1]
    assert set(something.valuations) == {frozenset("p"), frozenset("pq")}


FOUR = """
    fluent p, q; agent a, b, c; action look, look_p, look_q; {}
    a observes look; b aware_of look; a observes look_p; b aware_of look_p; a observes look_q; b aware_of look_q;
    look_p determines p; look_q determines -q; initially p, -q; goal B(a, p);
"""
STATEMENTS = ("look determines p, -q;", "look determines p; look determines -q;")
FORMULA, LITERALS = (Reading(determines=value) for value in get_args(Determines))


def test_observers_learn_whether_a_conjunction_holds_or_each_literal() -> None:
    text = FOUR.format("look determines p, q;")
    learned = "B(b, (B(a, {0}) | B(a, -({0})))), -B(b, {0}), -B(b, -({0})), B(c, (-B(a, p), -B(a, -p)))"
    formula, literals = (parse_mastar(text, reading) for reading in (FORMULA, LITERALS))
    estate = reference.contract(reference.apply(formula, formula.initial, formula.actions[0]))
    assert evaluate(formula, estate, "B(a, -(p, q)), -B(a, p), -B(a, -q), -B(b, (B(a, p) | B(a, -p)))")
    assert evaluate(formula, estate, learned.format("p, q"))
    assert [len(estate.successors[0][world]) for world in estate.designated] == [3]
    estate = reference.contract(reference.apply(literals, literals.initial, literals.actions[0]))
    assert evaluate(literals, estate, "B(a, p), B(a, -q), B(b, (B(a, p) | B(a, -p)), (B(a, q) | B(a, -q)))")
    assert evaluate(literals, estate, learned.format("p"))
    assert evaluate(literals, estate, learned.format("q"))
    assert [len(estate.successors[0][world]) for world in estate.designated] == [1]


@pytest.mark.parametrize("semantics", SEMANTICS)
def test_literals_sensed_one_by_one_are_what_two_actions_sense(semantics: Semantics) -> None:
    task = parse_mastar(FOUR.format(STATEMENTS[0]), Reading(semantics, "literals"))
    look, *apart = task.actions
    estate = task.initial
    for action in apart:
        estate = reference.apply(task, estate, action)
    together = reference.apply(task, task.initial, look)
    assert reference.canonical(together, task.fluents) == reference.canonical(estate, task.fluents)
    task = parse_mastar(FOUR.format(STATEMENTS[0]), Reading(semantics, "formula"))
    together = reference.apply(task, task.initial, task.actions[0])
    assert reference.canonical(together, task.fluents) != reference.canonical(estate, task.fluents)


def test_an_action_that_senses_literals_has_an_event_for_each_combination() -> None:
    text = "act determines p, -q if r; act determines r; act determines -p; executable act if B(a, q); a observes act;"
    action = parse_mastar(HEAD + text, Reading("update_model", "literals")).actions[0]
    executable = believes("a", Q)
    told = implies(actually(or_(R, TRUE)), P), implies(actually(R), not_(Q)), R
    assert [event.precondition for event in action.events] == [
        *(
            and_(executable, *(one if truth else not_(one) for one, truth in zip(told, truths, strict=True)))
            for truths in product((True, False), repeat=3)
        ),
        TRUE,
    ]
    assert [event.name for event in action.events[:3]] == ["sigma_sigma_sigma", "sigma_sigma_tau", "sigma_tau_sigma"]
    assert action.designated == tuple(range(8))
    sensed = frozenset(range(8))
    assert action.relations == {
        "full": tuple(frozenset({event}) for event in range(9)),
        "partial": (*(sensed,) * 8, frozenset({8})),
        "oblivious": (frozenset({8}),) * 9,
    }


@pytest.mark.parametrize("text", ["act determines -p;", "act determines p if q; act determines p if r;"])
def test_a_single_literal_has_one_reading(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tasks = [parse_mastar(HEAD + OBSERVED + text, reading) for reading in (Reading(), FORMULA, LITERALS)]
    assert tasks[0] == tasks[1]
    names = [[event.name for event in task.actions[0].events] for task in tasks]
    assert names == [["sigma", "tau", "epsilon"]] * 3


@pytest.mark.parametrize("reading", [Reading(), FORMULA, LITERALS, Reading("efp"), Reading("update_model", "literals")])
def test_several_statements_sense_what_a_list_senses(reading: Reading) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProblemWarning)
        listed, stated = (parse_mastar(FOUR.format(text), reading) for text in STATEMENTS)
    assert listed == stated


@pytest.mark.parametrize(("text", "place"), [*zip(STATEMENTS, ("2:62", "2:81"), strict=True)])
def test_an_action_that_determines_several_literals_is_a_warning_unless_its_reading_is_chosen(
    text: str, place: str
) -> None:
    message = (
        f"<string>:{place}: action 'look' determines several literals: read with determines=formula, observers learn "
        "whether all of them hold; determines=literals lets them learn each one"
    )
    text = FOUR.format(text)
    with pytest.warns(ProblemWarning, match=f"^{re.escape(message)}$") as caught:
        task = parse_mastar(text)
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert parse_mastar(text, FORMULA) == task
        assert parse_mastar(text, LITERALS) != task
        parse_mastar(text.replace("determines", "announces"))


def test_opposite_literals_contradict_each_other_only_in_a_conjunction() -> None:
    text = HEAD + OBSERVED + "act determines p; act determines -p;"
    with pytest.warns(ProblemWarning, match="no world satisfies them"):
        parse_mastar(text, FORMULA)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        events = parse_mastar(text, LITERALS).actions[0].events
    assert [event.precondition for event in events] == [P, not_(P), TRUE]


def test_an_action_senses_five_literals_at_most_one_by_one() -> None:
    names = [f"f{k}" for k in range(6)]
    head = f"fluent {', '.join(names)}; agent a; action act;\n"
    tail = f"\na observes act; initially {', '.join(names)}; goal f0;"
    five = f"{head}act determines {', '.join(names[:5])};"
    task = parse_mastar(five + tail, LITERALS)
    assert len(task.actions[0].events) == 33
    space = StateSpace(task)
    assert space.model(space.successor(0, 0)).holds("B(a, (f0, f1, f2, f3, f4))")
    message = (
        "<string>:3:1: action 'act' determines 6 fluents, and determines=literals takes at most 5: one event for each "
        "combination of their values; split it into several actions"
    )
    six = f"{five}\nact determines f5;{tail}"
    with pytest.raises(LimitError, match=f"^{re.escape(message)}$"):
        parse_mastar(six, LITERALS)
    assert len(parse_mastar(six, FORMULA).actions[0].events) == 3


def initial_of(statements: str) -> EState:
    return parse_mastar("fluent p, q, r; agent a, b; goal p; initially p, q, r; " + statements).initial


OPEN = """fluent p, q, r; agent a; action look; look determines q; a observes look;
initially {}; initially C([a], p); goal B(a, -q);"""


@pytest.mark.parametrize(
    ("statement", "open_fluents"), [("p", "q, r"), ("p, r", "q"), ("-q", "r"), ("p | q", "q, r"), ("-q | -r", "q, r")]
)
def test_efp_makes_false_what_the_initial_statements_leave_open(statement: str, open_fluents: str) -> None:
    text = OPEN.format(statement)
    column = 14 if "," in statement else 11
    message = f"left open by the 'initially' statements, false under semantics=efp: {open_fluents}"
    with pytest.warns(ProblemWarning, match=f"^<string>:2:{column}: {re.escape(message)}$"):
        task = parse_mastar(text, Reading("efp"))
    stated = OPEN.format(", ".join(["p", "-q", "r" if "r" not in open_fluents else "-r"]))
    assert task == parse_mastar(stated, Reading("efp"))
    assert evaluate(task, reference.apply(task, task.initial, task.actions[0]), "B(a, -q), -B(a, r), -B(a, -r)")
    for semantics in ("default", "update_model"):
        with pytest.raises(ParseError, match=r"exactly one must; .* or semantics=efp makes them false"):
            parse_mastar(text, Reading(semantics))


def test_efp_refuses_an_open_actual_world_that_cannot_be_all_false() -> None:
    for text in (OPEN.format("q | r"), OPEN.format("p").replace("C([a], p)", "C([a], (q | r))")):
        with pytest.raises(ParseError, match=r"3 worlds .* left open: q, r; state them, they cannot all be false"):
            parse_mastar(text, Reading("efp"))


def test_the_initial_e_state_has_all_valuations_and_total_relations() -> None:
    estate = initial_of("")
    assert len(set(estate.valuations)) == len(estate.valuations) == 8
    assert estate.successors == ((frozenset(range(8)),) * 8,) * 2
    assert [estate.valuations[world] for world in estate.designated] == [{"p", "q", "r"}]


@pytest.mark.parametrize(
    ("statements", "valuations"),
    [
        ("initially C([a,b], p, -(-q));", ["pq", "pqr"]),
        ("initially -(-C([a,b], p)), (C([a,b], q) | --C([b,a], q));", ["pq", "pqr"]),
        ("initially C([b,a], B(a, p)); initially C([a,b], B(b, q | -r));", ["p", "pq", "pqr"]),
        ("initially C([a,b], (p, q, r) | (-p, -q, -r));", ["", "pqr"]),
        ("initially C([a,b], -p | q), C([a,b], p), C([a,b], -q | r);", ["pqr"]),
        ("initially C([a,b], -B(a, p), -B(a, -p)); initially C([a,b], q, r);", ["qr", "pqr"]),
        ("initially C([a,b], (-B(a, -(p, q)), -B(a, (p, q)), p, q));", ["pq", "pqr"]),
    ],
)
def test_common_knowledge_restricts_the_initial_worlds(statements: str, valuations: list[str]) -> None:
    estate = initial_of(statements)
    assert sorted(map(sorted, estate.valuations)) == sorted(map(sorted, valuations))
    assert all(row == frozenset(range(len(valuations))) for rows in estate.successors for row in rows)


def test_knowing_whether_removes_the_links_between_worlds_that_differ() -> None:
    estate = initial_of(
        """initially C([a,b], r); initially C([a,b], B(a, p) | B(a, -p));
        initially C([a,b], (B(b, -(p, q)) | B(b, (p, q))), (B(b, q) | B(b, -q)));"""
    )
    assert sorted(map(sorted, estate.valuations)) == [["p", "q", "r"], ["p", "r"], ["q", "r"], ["r"]]
    for world, valuation in enumerate(estate.valuations):
        same_p = {v for v, other in enumerate(estate.valuations) if ("p" in other) == ("p" in valuation)}
        same_q = {v for v, other in enumerate(estate.valuations) if ("q" in other) == ("q" in valuation)}
        both = {v for v in same_q if {"p", "q"} <= estate.valuations[v]}
        assert estate.successors[0][world] == same_p
        assert estate.successors[1][world] == (both if {"p", "q"} <= valuation else same_q - both)
    assert len({id(row) for row in estate.successors[0]}) == 2  # rows are shared


@pytest.mark.reference
@pytest.mark.parametrize("row", table("expected_mastar"), ids=lambda row: row["instance"])
def test_published_problems_have_known_sizes(row: dict[str, str]) -> None:
    task = load_published_task(row)
    sizes = (len(task.fluents), len(task.agents), len(task.actions), len(task.initial.valuations))
    assert sizes == tuple(int(row[column]) for column in ("n_fluents", "n_agents", "n_actions", "init_worlds"))


def test_the_instance_is_the_name_of_the_file_without_its_kind() -> None:
    task = parse_mastar(HEAD, file="problems/coin.box.txt")
    assert (task.name, task.domain, task.instance) == ("coin.box", "", "coin.box")
