"""Compares the domains and the core with all public files at length, before a release.

    python -m tests.tools.public_files instances     # of the domains, each with its file
    python -m tests.tools.public_files random_plans  # of all EPDDL problems: the core with the reference, hours

The slow tests do the same with fewer e-states.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from functools import partial

from tests.domains.test_published import PROBLEMS, assert_of_competition, assert_published
from tests.epigym.language.test_epddl_reference import CASES, compare_random_plans
from tests.helpers.benchmark_files import mastar_files

Comparison = tuple[str, Callable[[], None]]


def compare_instances() -> Iterator[Comparison]:
    for path in mastar_files():
        yield path.stem, partial(assert_published, path, most_expanded=100_000, most_worlds=200_000_000)
    for problem in PROBLEMS:
        yield problem.name, partial(assert_of_competition, problem, most_expanded=20_000, most_worlds=20_000_000)


def compare_all_plans() -> Iterator[Comparison]:
    for name, case in CASES.items():
        yield name, partial(compare_random_plans, case)


KINDS = {"instances": compare_instances, "random_plans": compare_all_plans}


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare with all public files at length.")
    parser.add_argument("kind", choices=KINDS)
    comparisons = list(KINDS[parser.parse_args().kind]())
    wrong = 0
    for name, compare in comparisons:
        try:
            compare()
        except AssertionError as error:
            wrong += 1
            print(f"{name}: {error}", flush=True)
    print(f"{len(comparisons)} compared, {wrong} differ")
    sys.exit(not comparisons or wrong > 0)


if __name__ == "__main__":
    main()
