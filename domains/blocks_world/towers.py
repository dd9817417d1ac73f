"""Arrangements of blocks in towers on tables: read from text, written as atoms, and sampled."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from random import Random
from typing import TypeAlias

from domains.checks import DomainError, check_one_of
from domains.writing.epddl import atom, or_

Arrangement: TypeAlias = list[tuple[str, list[str]]]
"""Towers, each with its table and its blocks from the bottom up; the name of a single table is empty."""

_TRIES = 100  # samples of a target; nearly every sample has a new place


def on_table(block: str, table: str) -> str:
    """The atom that a block stands on a table."""
    return atom("on_table", block, table) if table else atom("on_table", block)


def supports(arrangement: Arrangement) -> dict[str, str]:
    """The atom of the place of each block."""
    return {
        block: atom("on", block, tower[height - 1]) if height else on_table(block, table)
        for table, tower in arrangement
        for height, block in enumerate(tower)
    }


def atoms(arrangement: Arrangement) -> list[str]:
    """The true atoms of the blocks: their places, and which are clear."""
    return [*supports(arrangement).values(), *(atom("clear", tower[-1]) for _, tower in arrangement)]


def read(parameter: str, text: object, blocks: Sequence[str], tables: Sequence[str]) -> Arrangement:
    """The arrangement that a text such as `b1 b3, b2 | b4` stands for.

    Raises:
        DomainError: when it lacks a part for a table, or names an unknown block.
    """
    parts = text.split("|") if isinstance(text, str) else ()
    if len(parts) != len(tables):
        example = " | ".join(blocks[: len(tables)])
        raise DomainError(f"{parameter} must be towers on {len(tables)} tables, such as {example!r}, got {text!r}")
    towers = [(table, tower.split()) for part, table in zip(parts, tables, strict=True) for tower in part.split(",")]
    for block in chain.from_iterable(tower for _, tower in towers):
        check_one_of(f"block in {parameter}", block, blocks)
    return [(table, tower) for table, tower in towers if tower]


def read_start(text: object, blocks: Sequence[str], tables: Sequence[str]) -> Arrangement:
    """An arrangement of all blocks.

    Raises:
        DomainError: also when a block is missing or is in two places.
    """
    arrangement = read("start", text, blocks, tables)
    if sorted(chain.from_iterable(tower for _, tower in arrangement)) != sorted(blocks):
        raise DomainError(f"start must name each of {', '.join(blocks)} once, got {text!r}")
    return arrangement


def read_target(text: object, blocks: Sequence[str], tables: Sequence[str]) -> Arrangement:
    """An arrangement of some blocks.

    Raises:
        DomainError: also when there are none, or a block is in two places.
    """
    arrangement = read("target", text, blocks, tables)
    if not 0 < sum(len(tower) for _, tower in arrangement) == len(supports(arrangement)):
        raise DomainError(f"target must name blocks, each of them once, got {text!r}")
    return arrangement


def sample_starts(count: int, blocks: Sequence[str], tables: Sequence[str], random: Random) -> list[Arrangement]:
    """`count` different arrangements: one tower on each of several tables, or any number on a single table."""
    found: list[Arrangement] = []
    while len(found) < count:
        order = random.sample(blocks, len(blocks))
        bottoms = list(zip(tables, ([block] for block in order), strict=False)) if len(tables) > 1 else []
        sampled = _pile(bottoms, order[len(bottoms) :], () if bottoms else tables, random)
        if all(supports(sampled) != supports(other) for other in found):
            found.append(sampled)
    return found


def sample_target(start: Arrangement, home: Sequence[str], *, clumsy: bool, random: Random) -> Arrangement:
    """An arrangement with a new place that an agent at the tables `home` can reach; the start if none is found.

    Blocks at the bottom of towers on other tables stay there.
    """
    for _ in range(_TRIES):
        towers = [(table, tower[:1]) for table, tower in start if table not in home]
        loose = [block for table, tower in start for block in (tower if table in home else tower[1:])]
        sampled = _pile(towers, random.sample(loose, len(loose)), home, random)
        if changes(start, sampled, clumsy=clumsy):
            return sampled
    return start


def changes(start: Arrangement, target: Arrangement, *, clumsy: bool) -> list[tuple[str, str]]:
    """For each block whose place in `target` is new: the atom of its old place, and the formula of the new one.

    Among clumsy agents only blocks on others count, and they may have fallen on the table of their tower.
    """
    old, new = supports(start), supports(target)
    found = []
    for table, tower in target:
        for block in tower[1:] if clumsy else tower:
            places = [new[block], on_table(block, table)] if clumsy else [new[block]]
            if old[block] not in places:
                found.append((old[block], or_(*places)))
    return found


def _pile(towers: Arrangement, blocks: Sequence[str], home: Sequence[str], random: Random) -> Arrangement:
    """The towers with these blocks on them, or in new towers on the tables `home`."""
    for block in blocks:
        if home and not random.randrange(len(towers) + 1):
            towers.append((random.choice(home), [block]))
        else:
            random.choice(towers)[1].append(block)
    return towers
