"""The core refuses ids that a space does not have and arrays that do not fit together, without side effects."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from epigym import _core
from epigym.encoding.encoder import Encoder, list_identifiers
from epigym.encoding.relational import Relational, RelationalEncoder
from epigym.features.counts import RelationalFeatures
from epigym.features.relaxation import Relaxation
from epigym.features.types import FeatureTypes
from epigym.space.rows import Rows, goal_parts, refine, unroll, unroll_under
from epigym.space.space import StateSpace, hold_each
from epigym.task.formula import TRUE, fluent
from epigym.task.packing import pack_formulas, pack_model, pack_task
from tests.helpers.tasks import coin, counter

TASK = coin()


def batches(space: StateSpace) -> dict[str, Callable[[Any], Any]]:
    """Functions of several e-states or actions, by the name of the argument."""
    types = FeatureTypes(TASK)
    return {
        "expand": space.expand,
        "outcomes": space.outcomes,
        "successors of": lambda ids: space.successors(ids, [0]),
        "successors by": lambda ids: space.successors([0], ids),
        "applicable": space.applicable,
        "allowed": space.allowed,
        "representatives": space.representatives,
        "is_goal": space.is_goal,
        "world_counts": space.world_counts,
        "query": space.query([TRUE]),
        "asked": lambda ids: hold_each([space.bind([TRUE])], [0], ids),
        "questions": lambda ids: hold_each([space.bind([TRUE])], ids, [0]),
        "relaxation": Relaxation(space),
        "features": RelationalFeatures(space, types.tables, 1, True),
        "worlds": space.rows,
        **{f"rows of {name}": Encoder(space, name).rows for name in list_identifiers()},
        "graphs": Encoder(space).graphs,
        "typed graphs": RelationalEncoder(space, Relational()).graphs,
    }


def singles(space: StateSpace) -> dict[str, Callable[[Any], Any]]:
    """Functions of one e-state or action, by the name of the argument."""
    return {
        "successor of": lambda state: space.successor(state, 0),
        "successor by": lambda action: space.successor(0, action),
        "model": space.model,
        "landmarks": Relaxation(space).landmarks,
        "is_uninformative": Relaxation(space).is_uninformative,
    }


@pytest.fixture
def space() -> StateSpace:
    return StateSpace(TASK)


NOT_IDS = [0.9, 0.0, float("nan"), True, None, "0", -1, 2**31, 2**32, 2**63, 2**80, np.uint32(2**32 - 1), [0], [0, 0]]


WRONG_BATCHES = [0, [[0], [0, 0]], np.zeros((1, 1), np.int32), np.zeros((0, 1)), None]


@pytest.mark.parametrize("wrong", [*([wrong] for wrong in NOT_IDS), *WRONG_BATCHES], ids=repr)
def test_batches_are_whole_numbers_in_one_dimension(space: StateSpace, wrong: Any) -> None:
    for name, ask in batches(space).items():
        assert_refused(space, name, ask, wrong)


@pytest.mark.parametrize("wrong", NOT_IDS, ids=repr)
def test_single_ids_are_whole_numbers(space: StateSpace, wrong: Any) -> None:
    for name, ask in singles(space).items():
        assert_refused(space, name, ask, wrong)


@pytest.mark.parametrize("dtype", ["int8", "uint8", ">i4", "int64", "uint64"])
def test_ids_of_any_kind_of_whole_number(space: StateSpace, dtype: str) -> None:
    assert space.is_goal(np.zeros(2, dtype)).tolist() == [False, False]


@pytest.mark.parametrize("wrong", [-1, 2**31 - 1])
def test_arrays_of_the_right_type_have_known_ids(space: StateSpace, wrong: int) -> None:
    for name, ask in batches(space).items():
        if name != "questions":  # numbers of queries
            assert_refused(space, name, ask, np.array([wrong], dtype=np.int32))


def test_the_core_cuts_no_ids(space: StateSpace) -> None:
    for ids in ([2**32], [0.5]):
        for ask in (space.core.is_goal, space.core.applicable, space.core.outcomes):
            with pytest.raises(TypeError):
                ask(np.array(ids))


def assert_refused(space: StateSpace, name: str, ask: Callable[[Any], Any], wrong: Any) -> None:
    before = len(space)
    with pytest.raises(IndexError) as caught:
        pytest.fail(f"{name} answers {ask(wrong)}")
    assert "\n" not in str(caught.value), name
    assert len(space) == before


@pytest.mark.parametrize("name", list_identifiers())
@pytest.mark.parametrize("cut", [(slice(0, -1), slice(None)), (slice(None), slice(0, 1))], ids=["rows", "columns"])
def test_identifiers_that_are_missing_are_noticed(space: StateSpace, name: str, cut: tuple[slice, slice]) -> None:
    encoder = Encoder(space, name)
    whole = encoder.identify
    encoder.identify = lambda *worlds: whole(*worlds)[cut]
    with pytest.raises(ValueError, match="identify returned an array of shape"):
        encoder.graphs([0])
    encoder.identify = whole
    for again, expected in zip(encoder.graphs([0]), Encoder(space, name).graphs([0]), strict=True):
        assert np.array_equal(again, expected)


@pytest.fixture
def rows(space: StateSpace) -> Rows:
    return Encoder(space, "map").rows([0, 0])


@pytest.mark.parametrize("change", [{"label": 1}, {"label": -99}], ids=repr)
def test_labels_without_identifier_are_refused(space: StateSpace, change: dict[str, int]) -> None:
    encoder = Encoder(space, "map")
    with pytest.raises(ValueError, match="labels or identifiers"):
        unroll(alter(encoder.rows([0, 0]), **change), encoder.identifiers, encoder.goal)


@pytest.mark.parametrize("part", ["world_ptr", "designated", "row_of", "row_ptr", "successor_ptr", "successor"])
@pytest.mark.parametrize("by", [-99, 99])
@pytest.mark.parametrize("place", [0, -1])
def test_rows_that_do_not_fit_are_refused(space: StateSpace, rows: Rows, part: str, by: int, place: int) -> None:
    wrong = alter(rows, place, **{part: by})
    with pytest.raises(ValueError, match="do not fit together"):
        refine(wrong, np.zeros(len(rows.label), np.int64))
    encoder = Encoder(space, "map")
    with pytest.raises(ValueError, match="do not fit together"):
        unroll(wrong, encoder.rows([0]) and encoder.identifiers, encoder.goal)


@pytest.mark.parametrize("colour", [-1, 2**62])
def test_colours_that_have_no_message_are_refused(rows: Rows, colour: int) -> None:
    with pytest.raises(ValueError, match="a colour is negative or too large"):
        refine(rows, np.full(len(rows.label), colour))


@pytest.mark.parametrize("wrong", [{"edges": [[0], [10**6]]}, {"labels": [1, 2]}, {"bits": [[]]}], ids=repr)
def test_a_goal_part_that_does_not_fit_together_is_refused(space: StateSpace, wrong: dict[str, Any]) -> None:
    encoder = Encoder(space)
    goal = encoder.goal._replace(
        **{name: np.array(value, getattr(encoder.goal, name).dtype) for name, value in wrong.items()}
    )
    with pytest.raises(ValueError, match="do not fit together"):
        unroll(encoder.rows([0]), encoder.identifiers, goal)


@pytest.mark.parametrize(
    "wrong", [{"of": [2]}, {"of": [-1]}, {"of": [0, 1]}, {"node_ptr": [0, 1]}, {"edge_ptr": [0, 0, 0]}], ids=repr
)
def test_goal_parts_that_do_not_fit_are_refused(space: StateSpace, wrong: dict[str, list[int]]) -> None:
    encoder = Encoder(space)
    goals, rows = goal_parts([encoder.goal, encoder.goal]), encoder.rows([0])
    of = np.array(wrong.pop("of", [1]))
    goals = goals._replace(**{name: np.array(value) for name, value in wrong.items()})
    with pytest.raises(ValueError, match="do not fit together"):
        unroll_under(rows, encoder.identifiers, goals, of)


def test_an_edge_from_one_goal_to_another_is_refused(space: StateSpace) -> None:
    encoder = Encoder(space)
    goals, rows = goal_parts([encoder.goal, encoder.goal]), encoder.rows([0])
    unroll_under(rows, encoder.identifiers, goals, np.array([1]))
    goals.edge_index[0, 0] = goals.node_ptr[1]
    with pytest.raises(ValueError, match="do not fit together"):
        unroll_under(rows, encoder.identifiers, goals, np.array([1]))


def test_identifiers_of_graphs(space: StateSpace) -> None:
    encoder = Encoder(space)
    rows, goal = encoder.rows([0]), encoder.goal._replace(bits=encoder.goal.bits[:, :0].copy())
    graphs = unroll(rows, encoder.identifiers[:, :0].copy(), goal)
    assert graphs.nodes.shape == (len(goal.bits) + len(rows.label), 0)
    assert np.array_equal(graphs.edge_index, encoder.graphs([0]).edge_index)
    labels = _core.WorldLabels()
    space.core.rows(np.zeros(1, np.int32), labels)
    for first, fluents in ((len(labels) + 1, 2), (0, 99), (0, 3)):
        with pytest.raises(ValueError, match="labels"):
            labels.describe(first, fluents)
    with pytest.raises(ValueError, match="another number of fluents"):
        StateSpace(counter()).rows([0], labels)


def alter(rows: Rows, place: int = -1, **parts: int) -> Rows:
    """Add a number to one entry of some arrays of rows."""
    arrays = {name: getattr(rows, name).copy() for name in parts}
    for name, array in arrays.items():
        array.flat[place] += np.array(parts[name]).astype(array.dtype)
    return rows._replace(**arrays)


# (ops, fluents, first children, children, first agents, agents): invalid tables, which `FormulaPacker` never makes.
FORMULAS = {
    "no such operator": ([10], [0], [0, 0], [], [0, 0], []),
    "no operator of one byte": ([257], [0], [0, 0], [], [0, 0], []),
    "no such fluent": ([2], [99], [0, 0], [], [0, 0], []),
    "an empty disjunction": ([5], [0], [0, 0], [], [0, 0], []),
    "an empty conjunction": ([4], [0], [0, 0], [], [0, 0], []),
    "a negation of nothing": ([3], [0], [0, 0], [], [0, 0], []),
    "a formula in itself": ([3], [0], [0, 1], [0], [0, 0], []),
    "a belief of nobody": ([0, 6], [0, 0], [0, 0, 1], [0], [0, 0, 0], []),
    "a belief of a stranger": ([0, 6], [0, 0], [0, 0, 1], [0], [0, 0, 1], [9]),
    "offsets that are missing": ([0], [0], [0], [], [0, 0], []),
    "offsets beyond the end": ([0], [0], [0, 5], [], [0, 0], []),
}


@pytest.mark.parametrize("lists", FORMULAS.values(), ids=list(FORMULAS))
def test_the_core_refuses_invalid_formulas(space: StateSpace, lists: Any) -> None:
    model = pack_model(TASK.fluents, TASK.initial)
    for ask in (
        lambda: _core.Query(space.core, lists, [0]),
        lambda: _core.holds(model, lists, 0),
        lambda: _core.Space(**{**pack_task(TASK), "formulas": lists}, consistent_beliefs=False),
    ):
        with pytest.raises(ValueError, match="do not fit"):
            ask()


def test_the_relaxation_refuses_equal_formulas() -> None:
    """They would shift the numbers of the formulas after them."""
    parts = pack_task(TASK)
    ops, fluents, child_first, children, agent_first, agents = parts["formulas"]
    last = ([*ops, ops[0]], [*fluents, 0], [*child_first, child_first[-1]], children)
    lists = (*last, [*agent_first, agent_first[-1]], agents)
    space = _core.Space(**{**parts, "formulas": lists}, consistent_beliefs=False)
    with pytest.raises(ValueError, match="two formulas are equal"):
        _core.Relaxation(space)


def test_the_core_refuses_wrong_counts_and_symmetries(space: StateSpace) -> None:
    lists, _ = pack_formulas(TASK, [fluent("tail")])
    with pytest.raises(ValueError, match="do not fit"):
        _core.Query(space.core, lists, [1])
    with pytest.raises(ValueError, match="symmetries do not fit"):
        space.core.use_symmetries([([(0, 9)], [], [])])


def test_the_symmetries_of_a_space_stay(space: StateSpace) -> None:
    symmetries = [([(0, 1)], [], [])]
    for again in ([], symmetries, symmetries):
        space.core.use_symmetries(again)
    for other in ([], [([], [], [(0, 1)])]):
        with pytest.raises(ValueError, match="other symmetries already"):
            space.core.use_symmetries(other)


MODEL = pack_model(TASK.fluents, TASK.initial)


@pytest.mark.parametrize(
    ("part", "wrong"),
    [
        *((0, worlds) for worlds in (0, 99)),
        *((1, valuation) for valuation in ([], [[9], []], [[1, 0], []])),
        *((part, wrong) for part in range(2, 7) for wrong in ([], [9], [0, 9], [1, 0, 1, 0])),
    ],
    ids=repr,
)
def test_the_core_refuses_invalid_e_states(space: StateSpace, part: int, wrong: Any) -> None:
    with pytest.raises(ValueError, match="of an e-state do not fit"):
        space.core.intern((*MODEL[:part], wrong, *MODEL[part + 1 :]))


@pytest.mark.parametrize(
    ("part", "wrong"),
    [
        ("events", [(99, [])] * 9),
        ("events", [(0, [(9, True, 0)])] * 9),
        ("event_models", [([0], 0)] * 9),
        ("event_models", [([0], 2)] * 9),
        ("event_models", [([99], 1)] * 9),
        ("relations", [[]] * 9),
        ("relations", [[(1, 2**40)]] * 9),
        ("relations", [[(0, 0), *groups] for groups in pack_task(TASK)["relations"]]),
        ("observability", [[]] * 9),
        ("observability", [[(0, 99)]] * 9),
        ("observability", [[(1, relation)] for ((_, relation),) in pack_task(TASK)["observability"]]),
        ("actions", [(0, 0, [0])]),
        ("actions", [(0, 99, [0, 0])]),
        ("goal", [99]),
    ],
)
def test_the_core_refuses_invalid_tasks(part: str, wrong: Any) -> None:
    parts = {**pack_task(TASK), "consistent_beliefs": False}
    with pytest.raises(ValueError, match="do not fit"):
        _core.Space(**{**parts, part: wrong})
