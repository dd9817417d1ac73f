"""Generate a suite and measure searches on it, into a table; those of `domains/suites` are made so.

python -m tests.benchmarks.suites scaling --domain grapevine --out outputs/scaling.csv --time-limit 60
python -m tests.benchmarks.suites hard --domain coin_in_the_box --out outputs/hard.csv
"""

import argparse
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, Final

from epigym.errors import EpigymError
from search.agents.limits import Limits, memory_bytes
from tests.benchmarks.suites import hard, scaling
from tests.benchmarks.suites.hard_sizes import LINES
from tests.benchmarks.suites.scaling import SIZES

INTERRUPTED: Final = 130


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the program.

    Raises:
        SystemExit: with one line, when an argument or a table is wrong or the program was interrupted.
    """
    parser = _parser()
    chosen = parser.parse_args(arguments)
    try:
        chosen.generate(chosen)
    except (EpigymError, OSError) as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        parser.exit(INTERRUPTED, f"interrupted: the problems measured until now are in {chosen.out}\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.suites", description=str(__doc__).partition("\n")[0]
    )
    suites = parser.add_subparsers(required=True, metavar="suite")
    one = _suite(suites, "scaling", _scaling, SIZES, Limits(time_limit=600.0, memory_limit="8GiB"))
    one.add_argument(
        "--sample", action="store_true", help="sample the goals anew, else keep those of the table or of the suite"
    )
    _suite(suites, "hard", _hard, LINES, Limits(time_limit=30.0, memory_limit="4GiB"))
    return parser


def _suite(
    suites: Any, name: str, generate: Callable[[argparse.Namespace], None], domains: Collection[str], limits: Limits
) -> argparse.ArgumentParser:
    """The arguments that both suites have."""
    parser: argparse.ArgumentParser = suites.add_parser(name, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.set_defaults(generate=generate)
    parser.add_argument("--domain", nargs="+", choices=[*domains], default=[*domains], metavar="DOMAIN", help="names")
    parser.add_argument("--out", type=Path, default=Path(f"outputs/suites/{name}.csv"), help="the table")
    parser.add_argument("--time-limit", type=float, default=limits.time_limit, help="seconds per search")
    parser.add_argument("--memory-limit", default=limits.memory_limit, help="of the process of a search")
    parser.add_argument("--parallel", type=int, default=1, choices=range(1, 65), metavar="N", help="searches at a time")
    return parser


def _scaling(chosen: argparse.Namespace) -> None:
    scaling.generate(chosen.domain, chosen.out, _limits(chosen), fresh=chosen.sample, parallel=chosen.parallel)


def _hard(chosen: argparse.Namespace) -> None:
    for domain in chosen.domain:
        hard.generate(domain, chosen.out, _limits(chosen), parallel=chosen.parallel)


def _limits(chosen: argparse.Namespace) -> Limits:
    memory_bytes(chosen.memory_limit)  # an amount of memory
    return Limits(time_limit=chosen.time_limit, memory_limit=chosen.memory_limit)


if __name__ == "__main__":
    main()
