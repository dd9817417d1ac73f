"""dfs and idfs on explicit graphs, with counts computed by hand."""

from search.agents import make_agent, run_agent
from tests.helpers.graph_space import DIAMOND, GraphSpace

# The long way round to 4 comes first: 0 1 2 3 4; the short way is 0 4. The goal 6 lies two steps behind 4.
DETOUR = {0: [("a", 1), ("b", 4)], 1: [("a", 2)], 2: [("a", 3)], 3: [("a", 4)], 4: [("a", 5)], 5: [("a", 6)]}


def test_depth_first_dives_along_the_first_action() -> None:
    space = GraphSpace(DIAMOND, goals=[6])
    result = run_agent(make_agent("dfs"), space)
    # 0 then 1, 3 and 5, a dead end; then back to 2, 4.
    assert space.expanded == [0, 1, 3, 5, 2, 4]
    assert result.plan == ("b", "b", "b")
    assert (result.expanded, result.generated, result.distinct) == (6, 10, 7)


def test_depth_first_drops_reached_e_states_also_on_a_shorter_path() -> None:
    space = GraphSpace(DETOUR, goals=[])
    run_agent(make_agent("dfs"), space)
    assert sorted(space.expanded) == list(range(7))


def test_iterative_deepening_counts_by_hand() -> None:
    space = GraphSpace(DETOUR, goals=[6])
    result = run_agent(make_agent("idfs"), space)
    assert result.plan == ("b", "a", "a")
    # Limit 1 expands 0; limit 2: 0 1 4; limit 3: 0 1 2 4 5.
    assert space.expanded == [0, 0, 1, 4, 0, 1, 2, 4, 5]
    assert (result.expanded, result.generated) == (9, 2 + 4 + 6)
    assert result.distinct == 7


def test_iterative_deepening_expands_again_on_a_shorter_path() -> None:
    # With limit 3 the long way through 1 and 2 meets 3 first, where it is cut; the short way leads through 4.
    edges = {0: [("a", 1), ("b", 4)], 1: [("a", 2)], 2: [("a", 3)], 4: [("a", 3)], 3: [("a", 5)]}
    assert run_agent(make_agent("idfs"), GraphSpace(edges, goals=[5])).plan == ("b", "a", "a")
