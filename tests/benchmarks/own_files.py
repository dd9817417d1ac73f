"""Train a network from small problem files of two domains outside the registry, and search larger files with it.

python -m tests.benchmarks.own_files [SEED …]      seeds of the training; without any 42
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from rich.console import Console

import epigym
from tests.benchmarks.networks import Result, describe, search, train
from tests.helpers.own_domains import write_couriers, write_museum

OUT: Final = Path("outputs/own_files")
SMALL: Final = 12
LARGE: Final = 10


def museum(number: int, large: bool) -> str:
    """A problem of the museum with its number as seed."""
    sizes = {"rooms": 7 + number % 3, "guards": 3 + number % 2, "artefacts": 3} if large else {
        "rooms": 6, "guards": 1 + number % 2, "artefacts": 1 + number // 2 % 2}  # fmt: skip
    return write_museum(**sizes, seed=number)


def couriers(number: int, large: bool) -> str:
    """A problem of the couriers with its number as seed."""
    sizes = {"rooms": 6, "couriers": 4, "parcels": 3 + number % 2} if large else {
        "rooms": 4 + number % 2, "couriers": 2 + number // 2 % 2, "parcels": 1 + number // 4 % 2}  # fmt: skip
    return write_couriers(**sizes, seed=number)


DOMAINS: Final[dict[str, Callable[[int, bool], str]]] = {"museum": museum, "couriers": couriers}


def main(seeds: Sequence[str]) -> None:
    """Write the files, train, search and print the tables of each domain."""
    guidance = ["h_ff", "h_add", *(f"network/{seed}" for seed in seeds or ["42"])]
    for domain in DOMAINS:
        for table in describe(list(measure(domain, seeds or ["42"])), guidance):
            Console(width=120).print(table)


def measure(domain: str, seeds: Sequence[str]) -> Iterator[Result]:
    """The outcomes of greedy search on the larger files of a domain."""
    folder = OUT / domain
    (folder / "small").mkdir(parents=True, exist_ok=True)
    for number in range(SMALL):
        (folder / "small" / f"{number:02d}.txt").write_text(DOMAINS[domain](number, False))
    models: dict[str, Path | None] = {"h_ff": None, "h_add": None}
    for seed in seeds:
        settings = ["encoding=relational", f"problem={folder}/small"]
        models[f"network/{seed}"] = train(settings, seed, folder / f"seed_{seed}")
    for number in range(LARGE):
        file = folder / f"large_{number:02d}.txt"
        file.write_text(DOMAINS[domain](100 + number, True))
        for guidance, model in models.items():
            found = search(epigym.load_problem(file), guidance, model)
            yield {"domain": domain, "problem": str(number), "guidance": guidance, **found}


if __name__ == "__main__":
    main(sys.argv[1:])
