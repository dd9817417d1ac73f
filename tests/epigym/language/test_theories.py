"""Compares models of theories, and classes of indistinguishable worlds, with brute force."""

from itertools import chain, combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epigym.errors import LimitError
from epigym.language.theories import evaluate, find_models, list_rows, number_classes
from epigym.task.formula import FALSE, TRUE, Formula, and_, fluent, implies, literal, not_, or_

NAMES = tuple("abcdef")


def formulas() -> st.SearchStrategy[Formula]:
    leaves = st.sampled_from([fluent(name) for name in NAMES] + [TRUE, FALSE])
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            inner.map(not_),
            st.lists(inner, min_size=1, max_size=3).map(lambda parts: and_(*parts)),
            st.lists(inner, min_size=1, max_size=3).map(lambda parts: or_(*parts)),
            st.builds(implies, inner, inner),
        ),
        max_leaves=12,
    )


def holds(formula: Formula, valuation: dict[str, bool]) -> bool:
    """Evaluate a formula by replacing fluents by their values; the constructors fold the constants."""
    value = formula.map_fluents(lambda name: TRUE if valuation[name] else FALSE)
    assert value in (TRUE, FALSE)
    return value is TRUE


@given(st.lists(formulas(), max_size=3))
def test_worlds_that_agree_on_every_formula_share_a_row(known: list[Formula]) -> None:
    worlds = find_models([], NAMES)
    columns = dict(zip(NAMES, worlds.T, strict=True))
    truths = [tuple(holds(one, dict(zip(NAMES, row, strict=True))) for one in known) for row in worlds.tolist()]
    found = list_rows(number_classes(known, columns, len(worlds)))
    assert found == tuple(frozenset(v for v, other in enumerate(truths) if other == own) for own in truths)
    assert len({id(row) for row in found}) == len(set(found))


@given(st.lists(formulas(), max_size=4))
def test_models_are_all_valuations_that_satisfy_the_constraints_in_counting_order(constraints: list[Formula]) -> None:
    expected = [
        values
        for values in product([False, True], repeat=len(NAMES))
        if all(holds(constraint, dict(zip(NAMES, values, strict=True))) for constraint in constraints)
    ]
    found = find_models(constraints, NAMES)
    assert found.shape == (len(expected), len(NAMES))
    assert [tuple(row) for row in found.tolist()] == expected


@given(formulas())
def test_truth_in_every_valuation(formula: Formula) -> None:
    rows = list(product([False, True], repeat=len(NAMES)))
    columns = dict(zip(NAMES, np.array(rows).T, strict=True))
    expected = [holds(formula, dict(zip(NAMES, row, strict=True))) for row in rows]
    assert np.broadcast_to(evaluate(formula, columns), len(rows)).tolist() == expected


def test_theories_over_many_fluents() -> None:
    names = tuple(f"x{index}" for index in range(60))
    some = or_(*(fluent(name) for name in names))
    apart = [not_(and_(fluent(one), fluent(other))) for one in names for other in names if one < other]
    found = find_models([some, *apart], names)
    assert np.array_equal(found, np.eye(60, dtype=np.bool_)[::-1])
    names = tuple(f"x{index}" for index in range(300))
    links = [implies(fluent(first), fluent(second)) for first, second in pairwise(names)]
    assert find_models([fluent("x0"), *links], names).tolist() == [[True] * 300]
    assert len(find_models(links, names)) == 301
    names = tuple(f"x{index}" for index in range(40))
    with pytest.raises(LimitError, match=r"up to 2\^40 worlds"):
        find_models([], names)
    assert len(find_models([fluent(name) for name in names[:30]], names)) == 1024


def place_boxes(boxes: int, places: int) -> tuple[tuple[str, ...], list[Formula]]:
    """The fluents and constraints of boxes that are each in exactly one place."""
    names = [[f"b{box}_{place}" for place in range(places)] for box in range(boxes)]
    some = [or_(*map(fluent, row)) for row in names]
    apart = [not_(and_(fluent(one), fluent(other))) for row in names for one, other in combinations(row, 2)]
    return tuple(chain.from_iterable(names)), [*some, *apart]


def test_boxes_that_are_each_in_one_of_twelve_places() -> None:
    names, constraints = place_boxes(4, 12)
    found = find_models(constraints, names)
    places = found.reshape(-1, 4, 12)
    assert (places.sum(axis=2) == 1).all()
    assert len(np.unique(places.argmax(axis=2), axis=0)) == len(found) == 12**4
    names, constraints = place_boxes(8, 12)
    known = [fluent(f"b{box}_{box}") for box in range(7)]
    assert len(find_models([*constraints, *known], names)) == 12
    together = [
        implies(fluent(f"b{box}_{place}"), fluent(f"b{box + 1}_{place}")) for box in range(7) for place in range(12)
    ]
    assert len(find_models([*constraints, *together], names)) == 12
    with pytest.raises(LimitError, match=r"up to 2\^29 worlds, more than 1048576: nothing fixes b0_0, .* b0_7, …;"):
        find_models(constraints, names)
    assert len(find_models([*constraints, FALSE], names)) == 0


@given(st.lists(st.lists(st.sampled_from(NAMES), min_size=2, max_size=4, unique=True), max_size=4), st.data())
def test_models_of_exclusions(groups: list[list[str]], data: st.DataObject) -> None:
    exclusions = [or_(*(and_(*(literal(one, one == other) for one in group)) for other in group)) for group in groups]
    known = data.draw(st.lists(formulas(), max_size=1))
    valuations = [dict(zip(NAMES, values, strict=True)) for values in product([False, True], repeat=len(NAMES))]
    expected = [
        [*valuation.values()]
        for valuation in valuations
        if all(holds(constraint, valuation) for constraint in (*exclusions, *known))
    ]
    assert find_models([*exclusions, *known], NAMES).tolist() == expected


def test_unlinked_fluents_are_counted_before_they_are_combined() -> None:
    names = tuple(f"x{index}" for index in range(3 * 2**8))
    groups = [names[start : start + 3] for start in range(0, len(names), 3)]
    pairs = [or_(fluent(one), fluent(other)) for first, second, third in groups for one, other in
             ((first, second), (second, third))]  # fmt: skip
    with pytest.raises(LimitError, match=rf"up to 2\^{(5 ** len(groups) - 1).bit_length()} worlds"):
        find_models(pairs, names)
    fixed = [fluent(name) for name in names[6:]]
    assert len(find_models([*pairs, *fixed], names)) == 25
