"""The summary of data sets."""

from pathlib import Path

from learn.data.collecting import collect, summarize
from learn.data.explorers import ExplorerSettings

ENCODING = {"name": "hash"}
PROBLEMS = ("coin_in_the_box/pl_3", "coin_in_the_box/pl_5", "grapevine/3_pl_4")


def test_many_data_sets_are_one_line_for_each_domain(tmp_path: Path) -> None:
    few = collect(PROBLEMS, ExplorerSettings("exhaustive"), ENCODING, tmp_path)
    many = [*few[:2] * 6, few[2]]
    assert [row[0] for row in summarize(few).rows] == list(PROBLEMS)
    coins, grapevine = summarize(many).rows
    assert (coins[0], grapevine[0]) == ("12 of coin_in_the_box", "grapevine")
    counts = [data.metadata["counts"] for data in few]
    assert coins[1:3] == [f"{6 * (counts[0][name] + counts[1][name]):,}" for name in ("visited", "kept")]
    assert coins[5] == str(max(len(one["depths"]) for one in counts[:2]) - 1)
    assert grapevine[1:] == summarize(few).rows[2][1:]
