"""Types of fluents, beliefs and subgoals: nothing in them depends on names, orders or, mostly, on sizes."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from hashlib import blake2b
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import domains
import epigym.features.types
from epigym.features.counts import RelationalFeatures
from epigym.features.types import FeatureTypes
from epigym.language import parse_mastar
from epigym.problem import domain_problem, load_problem
from epigym.space.signature import word
from epigym.task.formula import Formula, believes, common, fluent, not_, or_
from epigym.task.structure import Lifted, Structure
from epigym.task.task import Task
from tests.helpers import strategies
from tests.helpers.marks import slow_but
from tests.helpers.structures import add_structure, walk_by_other_names
from tests.helpers.tasks import COIN, coin, delusion
from tests.oracles.features import LEVELS

PROBLEMS = (
    "coin_in_the_box/pl_6",
    "grapevine/3_pl_4",
    "collaboration_communication/2_2_3_pl_4",
    "assembly_line/b5_pl_5",
    "selective_communication/4_2_pl_5",
    "gossip/g_gos_03_single_private",
    "blocks_world",
    "consecutive_numbers",  # with static facts
    "room_messages",
    "search_and_rescue",
)


def assert_alike(task: Task, seed: int, levels: tuple[tuple[int, bool], ...] = LEVELS) -> None:
    """The same walk by other names meets e-states with the same features."""
    spaces, states = walk_by_other_names(task, seed)
    types, other_types = (FeatureTypes(space.task) for space in spaces)
    assert other_types.definitions == types.definitions
    assert other_types.schema == types.schema
    for level, worlds in levels:
        one, two = (
            RelationalFeatures(space, own.tables, level, worlds)(ids)
            for space, own, ids in zip(spaces, (types, other_types), states, strict=True)
        )
        assert [array.tolist() for array in one] == [array.tolist() for array in two]


@settings(max_examples=100)
@given(strategies.tasks() | strategies.tasks(agents=("c", "a", "b"), max_designated=4), st.integers(0, 2**32 - 1))
def test_names_and_orders_do_not_matter_in_random_tasks(task: Task, seed: int) -> None:
    assert_alike(task, seed)
    assert_alike(add_structure(task, seed), seed)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_names_and_orders_do_not_matter_in_problems_of_the_domains(problem: str) -> None:
    task = load_problem(problem)
    for seed in range(2):
        assert_alike(task, seed)
    assert_alike(replace(task, structure=None), 2)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_colours_are_those_of_the_definitions(problem: str) -> None:
    types = FeatureTypes(load_problem(problem))
    tables = types.tables
    used = [tables.objects, tables.fact_fine, tables.goal_fine, tables.goal_coarse, tables.fluent_fine,
            tables.fluent_coarse, tables.belief_fine, tables.belief_coarse]  # fmt: skip
    colours = {int(colour) for array in used for colour in array.flat} | types.schema
    assert colours == types.definitions.keys()
    assert {word(str(text)): text for text in types.definitions.values()} == types.definitions


BUTTONS = """
fluent lit, dim, loud, kept;
action light, fade, ring;
agent a, b;
executable ring if loud;
light causes lit;
fade causes dim;
ring causes -kept;
a observes light; b observes light;
a observes fade; b observes fade;
a observes ring; b observes ring;
initially -lit, -dim, loud, kept;
initially C([a,b], -lit), C([a,b], -dim), C([a,b], loud), C([a,b], kept);
goal GOAL;
"""


def fluent_types(goal: str) -> dict[str, tuple[str, str]]:
    """The fine and the coarse type of each fluent of the buttons."""
    task = parse_mastar(BUTTONS.replace("GOAL", goal))
    types = FeatureTypes(task)
    both = zip(types.tables.fluent_fine.tolist(), types.tables.fluent_coarse.tolist(), strict=True)
    texts = [(str(types.definitions[fine]), str(types.definitions[coarse])) for fine, coarse in both]
    return dict(zip(task.fluents, texts, strict=True))


def test_what_actions_treat_alike_has_one_type_until_the_goal_tells_it_apart() -> None:
    alike = fluent_types("-kept")
    assert alike["lit"] == alike["dim"]
    assert alike["lit"][0].endswith("{added}; {})")
    assert alike["loud"][0].endswith("{needed +}; {})")
    assert alike["kept"][0].endswith("{deleted}; {goal -})")
    assert len({fine for fine, _ in alike.values()}) == 3
    assert {name: coarse for name, (_, coarse) in alike.items()} == {
        "lit": "any fluent({})", "dim": "any fluent({})", "loud": "any fluent({})", "kept": "any fluent({goal -})",
    }  # fmt: skip
    wanted = fluent_types("lit")
    assert wanted["lit"] != wanted["dim"]
    assert wanted["dim"] == alike["dim"]
    believed = fluent_types("B(a, lit)")
    assert len({believed["lit"][0], wanted["lit"][0], alike["lit"][0]}) == 3


def test_conditional_effects_and_what_decides_are_told_apart() -> None:
    text = BUTTONS.replace("light causes lit", "light causes lit if loud").replace("executable ring if loud;", "")
    task = parse_mastar(text.replace("GOAL", "dim"))
    types = FeatureTypes(task)
    found = [str(types.definitions[colour]) for colour in types.tables.fluent_fine.tolist()]
    assert [text.partition("; ")[2] for text in found] == [
        "{added if}; {})", "{added}; {goal +})", "{decides +}; {})", "{deleted}; {})",
    ]  # fmt: skip


def test_the_coin_by_hand() -> None:
    """Lift needs the box shut and opens it, look needs it open, shout tells what its speaker believes."""
    task = coin()
    assert task.structure is None
    types = FeatureTypes(task)
    tables, definitions = types.tables, {colour: str(text) for colour, text in types.definitions.items()}
    rough = "predicate(0; {added, imagined -, needed +, needed -, needed B+, sensed +, sensed -})"
    digits = f"{word(rough):016x}"[:8]
    box = f"fluent({digits}; {{added, needed +, needed -}}; {{}})"
    lies = f"fluent({digits}; {{imagined -, needed +, needed B+, sensed +, sensed -}}; {{goal B+, goal BB+}})"
    assert [definitions[colour] for colour in tables.fluent_fine.tolist()] == [box, lies]
    coarse = [[definitions[colour] for colour in row] for row in tables.belief_coarse.tolist()]
    assert coarse == [
        ["any belief(False; {})", "any belief(False; {goal 1 of BB+})"],  # of a
        ["any belief(False; {})", "any belief(False; {goal 1 of B+, goal 2 of BB+})"],  # of b
    ]
    fine = [[definitions[colour] for colour in row] for row in tables.belief_fine.tolist()]
    assert fine[0][1] == f"belief(agent({{}}); {lies}; {{}}; {{needed 1 of B+}}; {{goal 1 of BB+}})"
    assert fine[1][1] == f"belief(agent({{}}); {lies}; {{}}; {{}}; {{goal 1 of B+, goal 2 of BB+}})"
    assert fine[0][0] == fine[1][0] == f"belief(agent({{}}); {box}; {{}}; {{}}; {{}})"
    tail = fluent("tail")
    assert tables.goal == (tail, believes("b", tail), believes("a", believes("b", tail)))
    assert [definitions[colour] for colour in tables.goal_fine.tolist()] == [
        f"subformula({digits}[])", f"part(B({digits}[]))", f"part(B(B({digits}[])))",
    ]  # fmt: skip
    assert tables.relevant_fluent.tolist() == [False, True]
    assert tables.relevant_belief.tolist() == [[False, True], [False, True]]
    assert tables.agent_object.tolist() == [0, 1]
    assert [definitions[colour] for colour in tables.objects.tolist()] == ["agent({})"] * 2
    [action] = [text for text in map(definitions.__getitem__, types.schema) if text != rough]
    for event in ("events 2 1", "events 3 1", "events 3 2"):  # lift, shout and look
        assert event in action


def test_a_belief_of_an_agent_about_itself_has_types_of_its_own() -> None:
    task = load_problem("coin_in_the_box/pl_3")
    types = FeatureTypes(task)
    fluents = [task.fluents.index(f"has_key_{name}") for name in "ab"]
    for table in (types.tables.belief_fine, types.tables.belief_coarse):
        [[own, other], [another, same]] = table[:2, fluents].tolist()
        assert own == same != other == another
    coarse = types.tables.belief_coarse[0, fluents].tolist()
    assert [str(types.definitions[colour]) for colour in coarse] == ["any belief(True; {})", "any belief(False; {})"]


def shapes(*goal: Formula) -> list[str]:
    """The fine types of the subformulas of a goal about who knows of a secret."""
    task = domain_problem("epistemic_gossip")
    types = FeatureTypes(replace(task, goal=goal))
    return [str(types.definitions[colour]) for colour in types.tables.goal_fine.tolist()]


def test_the_shape_of_a_goal_says_which_agents_are_the_same_but_not_which_they_are() -> None:
    secret = {name: fluent(f"s{name}") for name in "abc"}
    own, other = believes("a", believes("b", secret["a"])), believes("a", believes("b", secret["c"]))
    assert shapes(own)[-1] != shapes(other)[-1]
    assert shapes(own) == shapes(believes("b", believes("c", secret["b"])))
    assert (
        shapes(believes("a", believes("a", secret["b"])))[-1] != shapes(believes("a", believes("c", secret["b"])))[-1]
    )
    assert shapes(common("ab", secret["c"]))[-1] != shapes(believes("a", secret["c"]))[-1]
    assert shapes(not_(secret["a"]))[-1] != shapes(secret["a"])[-1]


def test_a_set_stands_for_however_many_alternatives_alike() -> None:
    secret = [fluent(f"s{name}") for name in "abc"]
    two, three = (shapes(or_(*(believes("c", one) for one in some)))[-1] for some in (secret[:2], secret))
    assert two != three  # c is told its own secret in one of them
    apart = [or_(*(believes(who, secret[0]) for who in some)) for some in ("b", "bc")]
    assert len({shapes(or_(one, secret[1]))[-1] for one in apart}) == 1


def schema(domain: str, parameters: Mapping[str, Any]) -> dict[int, str]:
    types = FeatureTypes(domain_problem(domain, **parameters))
    return {colour: str(types.definitions[colour]) for colour in types.schema}


def sampled(domain: str, split: str, count: int) -> Iterator[dict[int, str]]:
    for seed in range(count):
        yield schema(domain, domains.DOMAINS[domain].sample(split, Random(seed)))


@pytest.mark.parametrize("domain", slow_but(domains.DOMAINS, "blocks_world", "gossip", "search_and_rescue"))
def test_what_larger_problems_are_made_of_is_known_from_smaller_ones(domain: str) -> None:
    known = {colour: text for found in sampled(domain, "train", 16) for colour, text in found.items()}
    for found in sampled(domain, "validation", 4):
        assert {text for colour, text in found.items() if colour not in known} == set()


def test_schemas_of_domains() -> None:
    schemas = {name: FeatureTypes(domain_problem(name)).schema for name in domains.DOMAINS}
    assert not [(one, two) for one, own in schemas.items() for two, b in schemas.items() if one != two and own <= b]
    plain, nested = (parse_mastar(COIN.replace("goal B(b, tail);", text)) for text in ("goal open;", "goal tail;"))
    assert FeatureTypes(plain).schema == FeatureTypes(nested).schema == FeatureTypes(coin()).schema
    assert FeatureTypes(coin()).schema != FeatureTypes(delusion()).schema


# Colours are part of model files: a change of any text makes stored models useless.
TEXTS_AND_TABLES = {
    "active_muddy_child": "74f06a8494d84f6c",
    "assembly_line": "ad7f385f0f31a408",
    "blocks_world": "0ac7090077a59a06",
    "cloud_scheduling": "64b57e6f8a81baa6",
    "coin_in_the_box": "0e9da22d9fff11cb",
    "collaboration_communication": "d96ddf8f988dc9d2",
    "consecutive_numbers": "4aaf3b4e0c127efa",
    "epistemic_gossip": "50f43698cbeb85f8",
    "gossip": "44a324835bf5496b",
    "grapevine": "7efbc51a233abe05",
    "room_messages": "391bf57842c5f149",
    "search_and_rescue": "1d97c7fa2cd31276",
    "selective_communication": "d6e6329ca523c875",
    "selective_communication_enriched": "a661eed509a68950",
}


@pytest.mark.parametrize("domain", TEXTS_AND_TABLES)
def test_texts_and_tables_are_those_of_stored_models(domain: str) -> None:
    types = FeatureTypes(domain_problem(domain))
    digest = blake2b(digest_size=8)
    for colour, description in types.definitions.items():
        digest.update(f"{colour} {description.text} {sorted(description.mentions)}\n".encode())
    for name in types.tables.__slots__:
        table = getattr(types.tables, name)
        for array in table if isinstance(table, tuple) else [table]:
            digest.update(f"{name} {array if isinstance(array, Formula) else array.tolist()}\n".encode())
    assert digest.hexdigest() == TEXTS_AND_TABLES[domain]


def test_pairs_of_objects_stand_in_for_static_facts() -> None:
    """x and z are arguments of one action, y and x of the other; all that is lit or dimmed needs z."""
    task = parse_mastar("""
        fluent lit, dim, loud; action light, fade; agent a;
        light causes lit if loud; fade causes dim if loud; a observes light; a observes fade;
        initially -lit, -dim, loud; goal B(a, lit);
    """)
    structure = Structure(
        fluents=(Lifted("on", ("x",)), Lifted("on", ("y",)), Lifted("loud", ("z",))),
        actions=(Lifted("turn", ("x", "z")), Lifted("turn", ("y", "x"))),
        types={"a": ("agent",)} | dict.fromkeys("xyz", ("object",)),
    )
    types = FeatureTypes(replace(task, structure=structure))
    found = [str(types.definitions[colour]) for colour in types.tables.fact_fine.tolist()]
    [schema] = [text for text in types.definitions.values() if text.text.startswith("action(")]
    assert found == [f"together({schema.reference}; 0; 1)"] * 2  # what relates all objects tells nothing
    assert [types.tables.fact_edges.row(number) for number in (0, 1)] == [[(1, 1), (2, 3)], [(1, 2), (2, 1)]]


def test_the_examples_of_types_are_real() -> None:
    found = [
        str(text)
        for problem in ("consecutive_numbers", "selective_communication")
        for text in FeatureTypes(load_problem(problem)).definitions.values()
    ]
    examples = re.findall(r"^\| .*[^-] \| `(.*)` \|$", str(epigym.features.types.__doc__), re.MULTILINE)
    patterns = [re.escape(example).replace("…", ".*") for example in examples]
    assert [one for one in patterns if not any(re.fullmatch(one, text) for text in found)] == []
    kinds = {text.partition("(")[0] for text in found}
    assert kinds == {example.partition("(")[0] for example in examples}
