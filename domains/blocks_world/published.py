"""The instances of the Blocks World: the competition's of all tiers, and those generated beside them (`g_…`)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from domains.data import read_text

# The generated ones that are not listed are for validation.
TRAIN = (
    "g_bw_04_s1", "g_bw_04_s2", "g_bw_04_s3", "g_bw_05_s2", "g_bw_05_s3", "g_bw_06_s1", "g_bw_06_s3", "g_bw_07_s1",
    "g_bw_3_03_2_w2_s2", "g_bw_3_03_2_w3_s1",
    "g_bw_3_3_2_clumsy_w2_disj_s1", "g_bw_3_3_2_clumsy_w3_common_s1", "g_bw_3_3_2_clumsy_w3_common_s2",
)  # fmt: skip
# The two largest clumsy ones say of no agent whether it is precise or clumsy, so that nobody can move a block.
TEST = (
    "bw_05", "bw_10", "bw_15", "bw_20", "bw_25", "bw_30", "bw_35", "bw_40", "bw_45", "bw_50",
    "bw_3_03_2", "bw_3_04_2", "bw_3_05_2", "bw_3_06_2", "bw_4_05_2", "bw_4_06_3", "bw_4_07_3",
    "bw_5_07_3", "bw_5_08_3", "bw_5_10_3",
    "bw_3_3_2_clumsy", "bw_3_5_2_clumsy", "bw_4_5_2_clumsy", "bw_4_7_3_clumsy", "bw_5_8_3_clumsy",
)  # fmt: skip


class _Instances(Mapping[str, Mapping[str, Any]]):
    """Parameters by name, read at the first lookup."""

    def __getitem__(self, name: str) -> Mapping[str, Any]:
        return self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    @cached_property
    def _all(self) -> dict[str, Mapping[str, Any]]:
        return dict(json.loads(read_text("blocks_world.json")))


INSTANCES: Mapping[str, Mapping[str, Any]] = _Instances()
