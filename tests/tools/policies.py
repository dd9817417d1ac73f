"""Searches policies of random tasks and compares them with fixpoints over all e-states.

OMP_NUM_THREADS=1 python -m tests.tools.policies 10000
"""

import sys
from collections import Counter

from epigym.errors import InconsistentBeliefsError
from epigym.space.space import StateSpace
from search.agents.limits import Limits
from search.heuristics.belief_relaxation import RelaxedPlan
from search.policies.policy import Policy
from search.policies.policy_search import PolicySearch
from tests.helpers.policy_tasks import random_task
from tests.oracles.policies import all_options, least_depths, strong_cyclic

MOST, MOST_WORLDS = 2_000, 100
"""E-states of a task that is compared, and worlds of each."""


def compare(seed: int) -> Counter[str]:
    """Search strong, shortest and cyclic policies of one task; counts what was met.

    Raises:
        AssertionError: when existence, least depth or validity is not what the fixpoints and the reference say.
    """
    task, consistent_beliefs, met = random_task(seed), seed % 3 > 0, Counter[str]()
    try:
        space = StateSpace(task, consistent_beliefs=consistent_beliefs)
    except InconsistentBeliefsError:
        return met
    options = all_options(space, MOST, MOST_WORLDS)
    if options is None:
        return Counter(["large"])
    depth, has_cyclic = least_depths(space, options).get(0), 0 in strong_cyclic(space, options)
    met["trivial" if depth == 0 else "solvable" if depth else "cyclic" if has_cyclic else "none"] += 1
    for kind in ("strong", "shortest", "cyclic"):
        space = StateSpace(task, consistent_beliefs=consistent_beliefs, symmetry=bool(seed % 2))
        search = PolicySearch(space, RelaxedPlan(space), Limits().start())
        found = search.find_strong_cyclic() if kind == "cyclic" else search.find_strong()
        assert found == search.is_solved == (has_cyclic if kind == "cyclic" else depth is not None), (seed, kind)
        if not found:
            continue
        if kind == "shortest":
            search.improve()
        policy = search.make_policy()
        validation = policy.validate(consistent_beliefs)
        assert validation.valid, (seed, kind, validation.reason)
        assert kind != "shortest" or (policy.depth, search.is_optimal) == (depth, True), (seed, policy.depth, depth)
        assert Policy.from_dict(task, policy.to_dict()) == policy
        met["deep"] += (policy.depth or 0) > 2
        met["types"] += any(branch.types for node in policy.nodes for branch in node.branches)
    return met


if __name__ == "__main__":
    print(dict(sum(map(compare, range(int(sys.argv[1]))), Counter[str]())))
