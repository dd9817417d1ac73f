"""Every feature has a text, the same in every task, without names, and whatever it mentions has one too."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epigym.errors import TaskError
from epigym.features.counts import RelationalFeatures
from epigym.features.texts import mentioned, names, texts
from epigym.features.types import FeatureTypes, short
from epigym.problem import load_problem
from epigym.space.sampling import random_walk
from epigym.space.space import StateSpace
from epigym.task.task import Task
from tests.helpers import strategies
from tests.helpers.tasks import deluded
from tests.oracles import features as twin
from tests.oracles.symmetric import muddy_children

PROBLEMS = (
    "coin_in_the_box/pl_6",
    "grapevine/3_pl_4",
    "blocks_world/bw_05",
    "gossip/g_gos_03_single_private",
    "selective_communication/4_2_pl_5",
)


def walked(space: StateSpace, seed: int = 0, steps: int = 4) -> list[int]:
    try:
        return random_walk(space, np.random.default_rng(seed), steps=steps)[0]
    except TaskError:  # designated worlds disagree
        return [0]


def written(task: Task, level: int = 2, *, worlds: bool = True, seed: int = 0) -> dict[int, str]:
    """The texts of what a random walk meets; they are those of its features and of types."""
    space, types = StateSpace(task), FeatureTypes(task)
    ids = walked(space, seed)
    found = texts(space, types, level, worlds, ids)
    expected = set(RelationalFeatures(space, types.tables, level, worlds)(ids).colour.tolist())
    others = found.keys() - expected
    assert expected <= found.keys()
    assert {colour: found[colour] for colour in others} == {colour: types.definitions[colour] for colour in others}
    assert not expected & types.definitions.keys()
    for text in found.values():
        assert text.isprintable()
        assert set(abbreviated(text)) <= set(map(short, found))
    return found


@pytest.mark.parametrize("level", [0, 1, 2])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_feature_has_as_many_names_as_it_counts(problem: str, level: int) -> None:
    space = StateSpace(load_problem(problem))
    types, state = FeatureTypes(space.task), walked(space)[-1]
    found = names(space, types, level, False, state)
    _, colours, values = RelationalFeatures(space, types.tables, level, False)(np.array([state]))
    counts = dict(zip(colours.tolist(), values.tolist(), strict=True))
    assert {colour: len(found[colour]) for colour in counts} == counts


def test_the_names_are_those_of_the_task() -> None:
    space = StateSpace(load_problem("coin_in_the_box/pl_5"))
    types = FeatureTypes(space.task)
    found = names(space, types, 0, True, space.initial)
    lines = texts(space, types, 0, True, [space.initial])
    assert ["a about tail", "b about tail", "c about tail"] in found.values()
    assert ["C([a,b,c], tail)"] in found.values()
    assert ["tail"] in found.values()
    assert {
        one for colour, text in lines.items() if text.startswith("share of designated") for one in found[colour]
    } == {
        "{" + ", ".join(sorted(world)) + "}"
        for world in (space.task.initial.valuations[number] for number in space.task.initial.designated)
    }


def abbreviated(text: str) -> list[str]:
    return re.findall(r"\b[0-9a-f]{8}\b", text)


@pytest.mark.parametrize(("level", "worlds"), twin.LEVELS)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_every_feature_has_a_text(problem: str, level: int, worlds: bool) -> None:
    written(load_problem(problem), level, worlds=worlds)


@settings(max_examples=60)
@given(
    strategies.tasks() | strategies.tasks(agents=("c", "a", "b"), max_designated=4),
    st.integers(0, 2**32 - 1),
    st.sampled_from(twin.LEVELS),
)
def test_on_random_tasks(task: Task, seed: int, how: tuple[int, bool]) -> None:
    written(task, how[0], worlds=how[1], seed=seed)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_no_name_occurs_in_a_text(problem: str) -> None:
    task = load_problem(problem)
    assert task.structure is not None
    words = {word for text in written(task).values() for word in re.split(r"[^\w()+-]|[(){}]|: ", text)}
    lifted = (*task.structure.fluents, *task.structure.actions, *task.structure.facts)
    names = {*task.fluents, *task.agents, *task.structure.types, *(action.name for action in task.actions)}
    names |= {one.symbol for one in lifted} | {kind for kinds in task.structure.types.values() for kind in kinds}
    # The words of the texts themselves, and numbers, are no names.
    assert {name for name in names & words if not name.isdigit()} <= {"agent", "object"}


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


def test_different_colours_have_different_texts() -> None:
    for problem in PROBLEMS:
        found = written(load_problem(problem))
        assert len(set(found.values())) == len(found)


def test_names_do_not_matter() -> None:
    named = muddy_children(3, 1, "x{}", "on_forehead_{}")
    assert written(named) == written(muddy_children(3, 1))


def test_what_is_so_is_in_words() -> None:
    task = deluded()
    space, types = StateSpace(task), FeatureTypes(task)
    start = list(texts(space, types, 0, False, [0]).values())
    assert any(text.startswith("fluent(") and text.endswith(") is true") for text in start)
    assert any(text.startswith("fluent(") and text.endswith(") is false") for text in start)
    assert any(text.startswith("belief(") and text.endswith("): unsure, truth true") for text in start)
    assert any(text.startswith("belief(") and text.endswith("): held false, truth false") for text in start)
    assert any(text.startswith("part(B(") and text.endswith(") does not hold") for text in start)
    after = space.successor(space.successor(0, 0), 1)
    end = list(texts(space, types, 0, False, [after]).values())
    assert any(text.endswith("): held true and false, truth true") for text in end)
    assert any(text.startswith("part(B(") and text.endswith(") holds") for text in end)


def test_edges_and_worlds_are_in_words() -> None:
    task = load_problem("coin_in_the_box/pl_5")
    found = texts(StateSpace(task), types := FeatureTypes(task), 2, True, [0])
    agent = short(int(types.tables.objects[0]))
    lines = list(found.values())
    assert any(
        re.fullmatch(r"round 1 of belief \w{8} \(unsure, truth true\): " + rf"{{who: {agent}}}", x) for x in lines
    )
    assert any(re.fullmatch(rf"round 1 of object {agent}: {{.*1: \w{{8}}, .*who: \w{{8}}.*}}", x) for x in lines)
    assert any(
        re.fullmatch(r"round 2 of subformula \w{8} \(does not hold\): {child: \w{8}, who: \w{8}.*}", x) for x in lines
    )
    worlds = r"worlds: true {\w{8}.*}; holds {\w{8}}; does not hold {\w{8}}"
    assert any(re.fullmatch(f"share of designated {worlds}", x) for x in lines)
    assert any(re.fullmatch(rf"log of 1 \+ number of designated {worlds}", x) for x in lines)


def test_what_is_mentioned_is_found_at_any_remove() -> None:
    known = {0x1111111100000000: "22222222", 0x2222222200000000: "33333333", 0x4444444400000000: "none"}
    assert mentioned(["of 11111111, 55555555"], known) == {
        0x1111111100000000: "22222222",
        0x2222222200000000: "33333333",
    }
