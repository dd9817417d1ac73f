"""Every feature has a text, the same in every task, without names, and whatever it mentions has one too."""

import re
from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epigym import StateSpace, Task, load_problem
from epigym.features.counts import RelationalFeatures
from epigym.features.description import join_texts, refer_to, short
from epigym.features.texts import find_mentioned, names, texts
from epigym.features.types import FeatureTypes
from tests.helpers import strategies
from tests.helpers.renaming import rename_task
from tests.helpers.structures import walk_states
from tests.helpers.tasks import delusion
from tests.oracles import features as twin
from tests.oracles.symmetric import muddy_children

PROBLEMS = (
    "coin_in_the_box/pl_6",
    "grapevine/3_pl_4",
    "blocks_world/bw_05",
    "gossip/g_gos_03_single_private",
    "selective_communication/4_2_pl_5",
)


def written(task: Task, level: int = 2, *, worlds: bool = True, seed: int = 0) -> dict[int, str]:
    """The texts of what a random walk meets; they are those of its features and of types."""
    space, types = StateSpace(task), FeatureTypes(task)
    ids = walk_states(space, seed)
    found = texts(space, types, level, worlds, ids)
    expected = set(RelationalFeatures(space, types.tables, level, worlds)(ids).colour.tolist())
    others = found.keys() - expected
    assert expected <= found.keys()
    assert {colour: found[colour] for colour in others} == {colour: types.definitions[colour] for colour in others}
    assert not expected & types.definitions.keys()
    for description in found.values():
        assert str(description).isprintable()
        assert description.mentions <= found.keys()
        assert set(map(short, description.mentions)) == set(re.findall(r"\b[0-9a-f]{8}\b", str(description)))
    return {colour: str(description) for colour, description in found.items()}


@pytest.mark.parametrize("level", [0, 1, 2])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_feature_has_as_many_names_as_it_counts(problem: str, level: int) -> None:
    space = StateSpace(load_problem(problem))
    types, state = FeatureTypes(space.task), walk_states(space)[-1]
    found = names(space, types, level, False, state)
    _, colours, values = RelationalFeatures(space, types.tables, level, False)(np.array([state]))
    counts = dict(zip(colours.tolist(), values.tolist(), strict=True))
    assert {colour: len(found[colour]) for colour in counts} == counts


def test_the_names_are_those_of_the_task() -> None:
    space = StateSpace(load_problem("coin_in_the_box/pl_5"))
    types = FeatureTypes(space.task)
    found = names(space, types, 0, True, space.initial)
    lines = {colour: str(text) for colour, text in texts(space, types, 0, True, [space.initial]).items()}
    assert ["a about tail", "b about tail", "c about tail"] in found.values()
    assert ["C([a,b,c], tail)"] in found.values()
    assert ["tail"] in found.values()
    assert {
        one for colour, text in lines.items() if text.startswith("share of designated") for one in found[colour]
    } == {
        "{" + ", ".join(sorted(world)) + "}"
        for world in (space.task.initial.valuations[number] for number in space.task.initial.designated)
    }


@settings(max_examples=60)
@given(
    strategies.tasks() | strategies.tasks(agents=("c", "a", "b"), max_designated=4),
    st.integers(0, 2**32 - 1),
    st.sampled_from(twin.LEVELS),
)
def test_on_random_tasks(task: Task, seed: int, how: tuple[int, bool]) -> None:
    written(task, how[0], worlds=how[1], seed=seed)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_names_do_not_occur_in_texts_and_different_features_have_different_ones(problem: str) -> None:
    task = load_problem(problem)
    found = written(task)
    assert len(set(found.values())) == len(found)
    assert not any("z" in text for text in written(rename_task(task, 0)[0]).values())  # all names begin with z there


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("coin_in_the_box/pl_5", "coin_in_the_box/pl_7"),
        ("grapevine/3_pl_4", "grapevine/4_pl_4"),
        ("gossip/g_gos_03_single_private", "gossip/g_gos_04_all"),
        ("blocks_world/bw_05", "coin_in_the_box/pl_5"),
    ],
)
def test_a_colour_has_one_text_in_all_tasks(one: str, other: str) -> None:
    first, second = (written(load_problem(problem)) for problem in (one, other))
    both = first.keys() & second.keys()
    assert both
    assert {colour: first[colour] for colour in both} == {colour: second[colour] for colour in both}


def test_names_do_not_matter() -> None:
    named = muddy_children(3, 1, "x{}", "on_forehead_{}")
    assert written(named) == written(muddy_children(3, 1))


def lines(space: StateSpace, state: int, level: int = 0) -> list[str]:
    return list(map(str, texts(space, FeatureTypes(space.task), level, level > 0, [state]).values()))


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        ((), r"fluent\(.*\) is true"),
        ((), r"fluent\(.*\) is false"),
        ((), r"belief\(.*\): unsure, truth true"),
        ((), r"belief\(.*\): held false, truth false"),
        ((), r"part\(B\(.*\) does not hold"),
        ((0, 1), r".*\): held true and false, truth true"),
        ((0, 1), r"part\(B\(.*\) holds"),
    ],
)
def test_what_is_so_is_in_words(plan: tuple[int, ...], expected: str) -> None:
    space = StateSpace(delusion())
    state = reduce(space.successor, plan, space.initial)
    assert any(re.fullmatch(expected, line) for line in lines(space, state))


WORLDS = r"worlds: true {\w{8}.*}; holds {\w{8}}; does not hold {\w{8}}"


@pytest.mark.parametrize(
    "expected",
    [
        r"round 1 of belief \w{8} \(unsure, truth true\): {who: \w{8}}",
        r"round 1 of object \w{8}: {.*1: \w{8}, .*who: \w{8}.*}",
        r"round 2 of subformula \w{8} \(does not hold\): {child: \w{8}, who: \w{8}.*}",
        f"share of designated {WORLDS}",
        rf"log of 1 \+ number of designated {WORLDS}",
    ],
)
def test_edges_and_worlds_are_in_words(expected: str) -> None:
    space = StateSpace(load_problem("coin_in_the_box/pl_5"))
    assert any(re.fullmatch(expected, line) for line in lines(space, 0, level=2))


def test_what_is_mentioned_is_found_at_any_remove() -> None:
    known = {1: join_texts(refer_to(2)), 2: join_texts("of ", refer_to(3)), 4: join_texts("none")}
    assert find_mentioned([join_texts(refer_to(1), refer_to(5))], known) == {1: known[1], 2: known[2]}
