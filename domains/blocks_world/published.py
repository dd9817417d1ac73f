"""The published problems of the Blocks World, as parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def _one_robot(start: str, target: str | None = None, goals: Sequence[str] | None = None) -> dict[str, Any]:
    blocks = len(start.replace(",", " ").split())
    return {"blocks": blocks, "start": start, "target": target, "goals": goals}


def _agents(
    sizes: tuple[int, int, int], start: Sequence[str], goals: Sequence[str], tier: str = "several", **others: Any
) -> dict[str, Any]:
    blocks, tables, agents = sizes
    several = {"tier": tier, "blocks": blocks, "tables": tables, "agents": agents}
    return {**several, "start": start, "goals": goals, **others}


_ONE_ROBOT = {
    "bw_05": _one_robot("b1, b5 b2 b4, b3", "b2 b1 b4 b5 b3"),
    "bw_10": _one_robot(
        "b1 b3, b2 b4 b5, b6 b7 b8, b9 b10", goals=["(on b9 b2)", "(on b5 b3)", "(on b10 b1)", "(on_table b7)"]
    ),
    "bw_15": _one_robot(
        "b5 b4 b14 b3 b6, b12 b2 b10, b1 b15 b11 b7 b9 b13, b8",
        "b7 b2 b10 b5 b8 b12 b13, b4 b9, b11, b1 b3, b6 b14, b15",
    ),
    "bw_20": _one_robot(
        "b9 b6 b12 b4 b15 b14 b2 b5 b20 b7 b8 b18 b1 b19, b13 b17 b3 b11, b16, b10",
        "b1, b19 b18 b11 b20 b16, b8 b14 b13 b17 b2 b15 b9 b12, b7 b4, b10 b6 b3, b5",
    ),
    "bw_25": _one_robot(
        "b2 b21 b14 b1 b23 b5 b16 b13 b24 b12 b17 b7, b15 b20 b4 b3 b22, b9 b18 b11, b19 b8 b6, b25, b10",
        "b6 b16 b7 b17 b10 b13 b25 b9 b11 b24 b20 b8 b18 b22 b12, b5 b14 b15 b1 b2 b19 b3 b21 b23 b4",
    ),
    "bw_30": _one_robot(
        (
            "b5 b16 b9 b13 b23 b12 b24 b18 b6 b17 b3 b4 b2 b1 b11 b30 b10 b28 b25 b15 b7, b14, b29 b22 b27 b21, b20 "
            "b19 b26, b8"
        ),
        (
            "b6 b16 b26 b20 b10 b21 b12 b14 b2, b30 b11 b29 b17 b28 b13 b9 b24 b15 b22 b27 b1 b8 b3 b18 b4 b19 b25 "
            "b7 b23 b5"
        ),
    ),
    "bw_35": _one_robot(
        (
            "b31 b2 b29 b20 b19 b27 b1 b5 b16 b34 b28 b30 b8 b22 b12 b32 b9 b26 b11 b23 b35 b4 b15 b33 b21 b17 b13 "
            "b6 b7 b14 b3 b18 b10 b24 b25"
        ),
        (
            "b26 b29 b13 b22 b24 b20 b21 b23 b17 b32 b5 b3 b30 b19 b33 b1 b2, b4 b10 b34, b31 b12 b6 b8 b15 b18 b28 "
            "b9 b27 b14 b7 b25, b35 b11, b16"
        ),
    ),
    "bw_40": _one_robot(
        (
            "b36 b23, b35 b5 b17 b4 b34 b38 b19 b1 b11 b3 b25 b21 b22 b24 b7 b26, b12 b37 b16 b40 b2 b9 b31 b28 b33 "
            "b29 b27 b32 b20 b14, b18 b8 b15 b39 b13 b10 b30, b6"
        ),
        (
            "b12, b21 b10 b11 b27 b30, b37 b28 b5 b25 b17 b35 b8 b15 b22 b2 b18 b3 b38 b34, b19 b29 b16 b32 b23 b13 "
            "b4 b24 b36 b33, b20 b26 b14 b39 b40 b7 b6 b31 b9, b1"
        ),
    ),
    "bw_45": _one_robot(
        (
            "b6 b14 b26 b12 b41 b21 b4 b9 b10 b29 b30 b16, b3 b19 b18 b11 b25 b36 b43 b42 b31 b39 b35 b38 b24 b7 b27 "
            "b32 b2 b5, b34 b22 b20 b8 b15 b44 b37 b17 b1 b28 b45, b33 b23 b13 b40"
        ),
        (
            "b42, b45 b24 b4 b2 b32 b23 b39 b26 b34 b6 b35 b30 b29 b25 b17 b21 b14 b20 b43 b16 b13 b22 b11 b19 b33 "
            "b5 b3 b18 b8 b9 b7, b12 b38 b36 b27, b31 b28 b44 b37, b15, b40 b1 b10 b41"
        ),
    ),
    "bw_50": _one_robot(
        (
            "b31 b49 b10 b35 b8 b28 b50 b3 b45 b22 b34 b5 b21 b7 b48 b17 b26 b41 b16 b44 b2 b32 b12 b6 b40 b24 b4 "
            "b18 b19 b20 b15 b43 b46 b37 b47, b30 b33 b23 b11 b36 b14 b39 b1 b29 b27 b25 b38 b42 b13, b9"
        ),
        (
            "b2 b22 b18 b1, b37 b49 b11 b38 b34 b36 b16 b5 b4 b30 b26 b32 b7 b8 b10 b27 b12 b39 b23 b48 b24 b14 b20 "
            "b28 b19 b21 b9 b35 b40 b17 b13 b33 b43 b47 b25 b31 b50 b45 b44 b3 b41 b6 b29 b46, b42, b15"
        ),
    ),
    "g_bw_04_s1": _one_robot("b3 b1 b4 b2", "b2 b1 b4 b3"),
    "g_bw_04_s2": _one_robot("b3 b2 b4 b1", "b3 b2 b1 b4"),
    "g_bw_04_s3": _one_robot("b2 b1 b4 b3", "b3 b1, b2, b4"),
    "g_bw_05_s1": _one_robot("b3 b1, b2 b4 b5", "b3 b2, b5 b1, b4"),
    "g_bw_05_s2": _one_robot("b2 b4 b1 b3 b5", "b3 b5 b4 b2 b1"),
    "g_bw_05_s3": _one_robot("b3 b4 b1, b5 b2", "b1 b5, b2 b3 b4"),
    "g_bw_06_s1": _one_robot("b6, b3 b5 b4 b1 b2", "b5 b4, b3 b2 b6 b1"),
    "g_bw_06_s2": _one_robot("b2, b4 b6 b1 b5 b3", "b4 b1 b6 b3 b5 b2"),
    "g_bw_06_s3": _one_robot("b5 b6, b2, b4 b1 b3", "b5, b2 b3 b6 b1, b4"),
    "g_bw_07_s1": _one_robot("b4 b7 b1 b6 b5, b3 b2", "b4, b5 b6 b7 b3 b2, b1"),
}

_SEVERAL = {
    "bw_3_03_2": _agents(
        (3, 2, 3),
        ["b1 b2, b3 |", "b1, b2, b3 |", "b2 b1, b3 |"],
        ["([b] (on b1 b2))", "([c] (on b2 b1))", "(on_table b3 t2)"],
        ignorant="bc",
        places=["1", "2", "2"],
        focus="aba",
    ),
    "bw_3_04_2": _agents(
        (4, 2, 3),
        ["b1 b4 | b2 b3", "b4 b1 b3 | b2"],
        ["(on b4 b1)", "([c] (on_table b1 t1))", "([c] (on_table b2 t2))", "([b] (on b3 b2))"],
    ),
    "bw_3_05_2": _agents(
        (5, 2, 3),
        ["b5 b4 b3 | b1 b2", "b1 b5 | b4 b3 b2"],
        [
            "(on b2 b1)",
            "([b] (on b3 b4))",
            "([b] (on_table b1 t2))",
            "([c] (on_table b5 t1))",
            "([a] ([c] (on_table b5 t2)))",
        ],
    ),
    "bw_3_06_2": _agents(
        (6, 2, 3),
        ["b2 b1 | b4 b3 b6 b5", "b4 b6 b5 b2 | b1 b3", "b5 b1 | b2 b6 b4 b3"],
        [
            "(on_table b4 t2)",
            "([b] (and (on b6 b5) (on b5 b4) (on b4 b3)))",
            "([b] (on_table b2 t1))",
            "([c] (on b1 b2))",
            "([b] ([c] (on b2 b1)))",
        ],
    ),
    "bw_4_05_2": _agents(
        (5, 2, 4),
        ["b1 b3 | b2 b5 b4", "b5 b4 b1 | b3 b2", "b1 b4 b2 | b5 b3"],
        ["(on_table b2 t2)", "([d] (and (on b3 b4) (on b4 b5)))", "([b] (on_table b1 t1))", "([c] (on b3 b1))"],
    ),
    "bw_4_06_3": _agents(
        (6, 3, 4),
        ["b4 b5 b2 | b3 | b6 b1", "b1 b4 | b6 b2 b3 | b5", "b4 | b2 b3 b5 b1 | b6"],
        ["(on b5 b4)", "([b] (on_table b5 t1))", "([c] (on_table b5 t2))", "([d] (and (on b3 b4) (on b4 b5)))"],
        places=["1", "2", "1", "2"],
    ),
    "bw_4_07_3": _agents(
        (7, 3, 4),
        [
            "b3 b5 | b4 b6 | b7 b1 b2",
            "b3 b2 b4 | b1 b5 b6 | b7",
            "b4 b1 | b6 b5 b7 | b3 b2",
            "b2 b3 | b1 | b4 b7 b5 b6",
        ],
        [
            "(on b2 b1)",
            "([b] (on_table b5 t1))",
            "([c] ([b] (on_table b5 t2)))",
            "([d] (and (on b2 b3) (on b3 b4) (on b4 b5) (on b5 b6) (on b5 b7)))",
        ],
        places=["1", "2", "1", "2"],
    ),
    "bw_5_07_3": _agents(
        (7, 3, 5),
        [
            "b7 b5 b3 | b1 b2 | b6 b4",
            "b4 | b7 b2 | b6 b3 b1 b5",
            "b2 | b3 b5 b7 | b6 b4 b1",
            "b7 b3 | b5 b4 b2 b6 | b1",
        ],
        [
            "(on b4 b6)",
            "([e] (on b2 b1))",
            "([b] (on_table b5 t1))",
            "([c] ([b] (on_table b5 t2)))",
            "([e] ([c] ([b] (on_table b5 t1))))",
            "([d] (and (on b2 b3) (on b3 b4) (on b4 b5) (on b5 b6) (on b5 b7)))",
        ],
        places=["1", "2", "1", "2", "3"],
    ),
    "bw_5_08_3": _agents(
        (8, 3, 5),
        [
            "b3 | b1 b6 b4 | b8 b2 b5 b7",
            "b8 b4 b6 | b5 b2 b3 | b1 b7",
            "b5 b2 | b1 b3 b7 b8 | b6 b4",
            "b5 b2 b4 | b8 | b6 b7 b3 b1",
        ],
        ["(on_table b2 t2)", "([b] (on b5 b2))", "([c] (on_table b7 t3))", "([d] (on b1 b4))", "([e] (on b8 b6))"],
        places=["1", "2", "1", "2", "3"],
    ),
    "bw_5_10_3": _agents(
        (10, 3, 5),
        [
            "b1 | b9 b7 | b2 b5 b6 b4 b8 b10 b3",
            "b1 b9 | b5 b7 b2 | b8 b10 b4 b6 b3",
            "b10 b4 b2 b7 | b8 b3 b6 | b5 b1 b9",
            "b7 b6 b10 | b4 b8 b2 b9 b3 | b5 b1",
        ],
        [
            "(on_table b2 t2)",
            "([b] (on b3 b1))",
            "([c] (and (on b9 b8) (on_table b4 t3)))",
            "([d] (and (on b10 b7) (on b5 b4)))",
            "([e] ([b] (on_table b6 t1)))",
        ],
        places=["1", "2", "1", "2", "3"],
    ),
    "g_bw_3_03_2_w2_s2": _agents((3, 2, 3), ["b3 | b2 b1", "b2 b3 | b1"], ["(on b1 b3)", "([b] (on_table b3 t2))"]),
    "g_bw_3_03_2_w3_s1": _agents(
        (3, 2, 3),
        ["b3 b1 | b2", "b3 | b1 b2", "b1 b2 | b3"],
        ["(on b1 b3)", "([c] (on_table b3 t2))", "([b] (on_table b2 t1))"],
    ),
}


def _clumsy(several: str, **others: Any) -> dict[str, Any]:
    """One of several agents as published with clumsy ones among them."""
    return {**_SEVERAL[several], "tier": "clumsy", **others}


_CLUMSY = {
    "bw_3_3_2_clumsy": _clumsy("bw_3_03_2", places=None, goals=["([C. All] (or (on b3 b2) (on_table b3 t2)))"]),
    "bw_3_5_2_clumsy": _clumsy(
        "bw_3_05_2",
        clumsy=2,
        places=["1", "2", "12"],
        movers="a",
        goals=[
            "([c] (and (on_table b4 t1) (or (on b2 b1) (on_table b1 t2)) (or (on b3 b2) (on_table b3 t2))"
            " (or (on b5 b4) (on_table b4 t2))))"
        ],
    ),
    "bw_4_5_2_clumsy": _clumsy("bw_4_05_2", clumsy=2, zones=_SEVERAL["bw_4_05_2"]["start"]),
    # The two largest say of no agent whether it is precise or clumsy, so that nobody can move a block.
    "bw_4_7_3_clumsy": _clumsy("bw_4_07_3", clumsy=0, onlookers=4, zones=_SEVERAL["bw_4_07_3"]["start"]),
    "bw_5_8_3_clumsy": _clumsy(
        "bw_5_08_3",
        clumsy=0,
        onlookers=5,
        zones=[
            "b3 | b1 b6 b4 | b8 b2 b5 b7",
            "b8 b4 b6 | b5 b2 b3 | b1 b7",
            "b5 b2 b4 | b1 b3 b7 b8 | b6 b4",
            "b5 b2 b4 | b8 | b6 b7 b3 b1",
        ],
    ),
    "g_bw_3_3_2_clumsy_w2_disj_s1": _agents(
        (3, 2, 3),
        ["b1 b3 | b2", "b3 | b2 b1"],
        ["([c] (and (on_table b2 t2) (or (on b3 b2) (on_table b2 t2)) (or (on_table b1 t1) (on_table b3 t1))))"],
        tier="clumsy",
    ),
    "g_bw_3_3_2_clumsy_w3_common_s1": _agents(
        (3, 2, 3),
        ["b1 b3 | b2", "b3 | b2 b1", "b1 | b2 b3"],
        ["([C. All] (or (on_table b2 t1) (on_table b2 t2)))"],
        tier="clumsy",
    ),
    "g_bw_3_3_2_clumsy_w3_common_s2": _agents(
        (3, 2, 3),
        ["b2 | b3 b1", "b2 b3 | b1", "b2 b1 | b3"],
        ["([C. All] (or (on_table b3 t1) (on_table b3 t2)))"],
        tier="clumsy",
    ),
    "g_bw_4_4_2_clumsy_w2_beliefs_s1": _agents(
        (4, 2, 4),
        ["b4 b3 b2 | b1", "b4 | b1 b2 b3"],
        ["(on b1 b3)", "([d] (on_table b4 t2))", "([b] (on b2 b4))"],
        tier="clumsy",
        clumsy=2,
    ),
}

INSTANCES: Mapping[str, Mapping[str, Any]] = {**_ONE_ROBOT, **_SEVERAL, **_CLUMSY}
"""The competition's problems of all tiers, and those generated beside them (`g_…`)."""
