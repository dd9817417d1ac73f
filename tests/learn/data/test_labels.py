import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from learn.data.labels import UNREACHABLE, compute_goal_distances


def test_hand_made_graph() -> None:
    # 0 -> 1 -> 2(goal) -> 3 -> 3, 4 -> 2, 5 alone
    distances = compute_goal_distances(6, [0, 1, 2, 3, 4], [1, 2, 3, 3, 2], [2])
    assert distances.tolist() == [2, 1, 0, UNREACHABLE, 1, UNREACHABLE]


def test_no_goal_and_no_transition() -> None:
    assert compute_goal_distances(2, [0], [1], []).tolist() == [UNREACHABLE] * 2
    assert compute_goal_distances(2, [], [], [1]).tolist() == [UNREACHABLE, 0]


@st.composite
def transition_graphs(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]], set[int]]:
    count = draw(st.integers(1, 12))
    states = st.integers(0, count - 1)
    return count, draw(st.lists(st.tuples(states, states), max_size=40)), draw(st.sets(states))


@given(transition_graphs())
def test_against_relaxation_until_nothing_changes(graph: tuple[int, list[tuple[int, int]], set[int]]) -> None:
    count, transitions, goals = graph
    best = np.array([0.0 if state in goals else np.inf for state in range(count)])
    for _ in range(count):
        for source, target in transitions:
            best[source] = min(best[source], best[target] + 1)
    expected = np.where(np.isinf(best), UNREACHABLE, best)
    sources, targets = [source for source, _ in transitions], [target for _, target in transitions]
    assert compute_goal_distances(count, sources, targets, sorted(goals)).tolist() == expected.tolist()
