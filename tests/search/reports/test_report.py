"""Tables and figures from outcomes whose numbers were made by hand."""

from __future__ import annotations

import csv
import subprocess
import sys
from dataclasses import replace
from io import StringIO
from pathlib import Path

import matplotlib.image
import pytest
from rich.console import Console

from epigym.errors import EpigymError, MissingError, UsageError
from epigym.io.tables import ScreenTable
from search.agents.result import SearchStatus
from search.evaluate import Evaluate
from search.evaluation.cell import COLUMNS
from search.evaluation.suites import problems_of
from search.reports import figures
from search.reports.outcomes import Outcome, Outcomes, read_outcomes
from search.reports.published import published
from search.reports.tables import instances, left_out, number, overview, summary, totals
from search.reports.writing import write_report
from tests.helpers.commands import composed

SOLVED, UNSOLVABLE, TIME_LIMIT = SearchStatus.SOLVED, SearchStatus.UNSOLVABLE, SearchStatus.TIME_LIMIT


def outcome(configuration: str, problem: str, expanded: float | None, length: float = 4) -> Outcome:
    """A solved outcome, or a time-out when there are no nodes."""
    domain = problem.partition("/")[0]
    if expanded is None:
        return Outcome(domain, problem, configuration, TIME_LIMIT)
    return Outcome(domain, problem, configuration, SOLVED, length, expanded, expanded / 2, expanded * 2, 40.0)


def outcomes() -> Outcomes:
    blind = {"x/1": 10, "x/2": 20, "x/3": 30, "y/1": 1000, "y/2": None}
    guided = {"x/1": 5, "x/2": 5, "x/3": 3, "y/1": None, "y/2": 50}
    found = {}
    for name, nodes in (("bfs", blind), ("hfs/gnn", guided)):
        found[name] = {problem: outcome(name, problem, count) for problem, count in nodes.items()}
    return Outcomes(found)


def test_summary_over_what_each_solved_and_over_what_all_solved() -> None:
    assert summary(outcomes(), common=False).rows == [
        ["x", "3/3 (100.00%)", "20 ± 10", "40 ± 20", "4 ± 0", "3/3 (100.00%)", "5 ± 1", "10 ± 2", "4 ± 0"],
        ["y", "1/2 (50.00%)", "1000 ± 0", "2000 ± 0", "4 ± 0", "1/2 (50.00%)", "50 ± 0", "100 ± 0", "4 ± 0"],
        # Of 10, 20, 30 and 1000 the quartiles are 17.5 and 272.5; of 3, 5, 5 and 50 they are 4.5 and 16.25.
        ["All", "4/5 (80.00%)", "25 ± 255", "50 ± 510", "4 ± 0", "4/5 (80.00%)", "5 ± 12", "10 ± 24", "4 ± 0"],
    ]
    common = summary(outcomes(), common=True).rows
    assert common[1] == ["y", "1/2 (50.00%)", "–", "–", "–", "1/2 (50.00%)", "–", "–", "–"]
    assert common[2][2] == "20 ± 10"


def test_coverage_counts_only_problems_with_an_outcome() -> None:
    found = outcomes()
    for problem in ("x/1", "y/1", "y/2"):
        found.table["hfs/gnn"].pop(problem)
    coverage = [row[5] for row in summary(found, common=False).rows]
    assert coverage == ["2/2 (100.00%)", "–", "2/2 (100.00%)"]
    assert totals(found).rows[1][1] == "2/2 (100.00%)"


def test_instances_say_how_each_search_ended() -> None:
    found = outcomes()
    found.table["hfs/gnn"].pop("x/1")
    rows = {row[0]: row[1:] for row in instances(found).rows}
    assert rows["x/1"] == ["–", "–", "–", "4", "10", "20", "40", "–", "–", "–", "–"]
    assert rows["y/1"] == ["–", "–", "–", "4", "1000", "2000", "40", "TO", "–", "–", "–"]


def test_instances_tell_the_size_that_any_outcome_knows() -> None:
    found = outcomes()
    found.table["hfs/gnn"]["x/1"] = replace(
        found.table["hfs/gnn"]["x/1"], actions=5.0, fluents=20480.0, initial_worlds=1.0
    )
    table = instances(found)
    assert table.titles[:5] == ["problem", "actions", "fluents", "worlds", "bfs length"]
    assert table.rows[0][:4] == ["x/1", "5", "20480", "1"]


def test_totals_show_the_interval_of_the_coverage() -> None:
    [bfs, _] = totals(outcomes()).rows
    assert bfs[:3] == ["bfs", "4/5 (80.00%)", "40 to 100 %"]
    assert bfs[3].startswith("20 ± 10 [10 to 30]")


def test_what_is_proved_unsolvable_counts_as_answered() -> None:
    found = outcomes()
    found.table["bfs"]["y/2"] = Outcome("y", "y/2", "bfs", UNSOLVABLE)
    found.table["hfs/gnn"].pop("x/3")
    assert overview(found).rows == [
        ["bfs", "5/5", "1", "100 to 100 %", "15", "30"],  # the means of 10 and 20 nodes, and of twice as many ms
        ["hfs/gnn", "3/4", "0", "25 to 100 %", "5", "10"],
    ]


def test_what_is_on_the_screen_fits_into_80_columns_and_names_every_configuration() -> None:
    labels = [f"hfs_preferred/learned_with_some_long_name_{number}" for number in (1, 2)]
    found = Outcomes({name: {f"x/{n}": outcome(name, f"x/{n}", 10**6 + n) for n in range(1000)} for name in labels})
    table = overview(found)
    console = Console(file=StringIO(), width=80)
    console.print(ScreenTable(table.caption, table.titles, table.rows))
    lines = console.file.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    cells = (
        "answered   1000/1000",
        "no plan    0",
        "95 %       100 to 100 %",
        "nodes      1000500",
        "time [ms]  2000999",
    )
    blocks = [line for label in labels for line in (label, *(f"  {cell}" for cell in cells), "")]
    assert lines[-len(blocks) + 1 :] == blocks[:-1]


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.0421, "0.042"), (3.14, "3.1"), (5, "5"), (9.96, "10"), (12.4, "12"), (1e6, "1000000")],
)
def test_numbers_in_tables(value: float, text: str) -> None:
    assert number(value) == text


def test_the_three_forms_hold_the_same_cells() -> None:
    table = summary(outcomes(), common=False)
    rows = list(csv.reader(table.csv().splitlines()))
    assert rows[0][:5] == ["", "bfs solved", "bfs nodes", "bfs time [ms]", "bfs length"]
    assert rows[1:] == [list(row) for row in table.rows]
    lines = table.markdown().splitlines()
    assert lines[4] == "| x | 3/3 (100.00%) | 20 ± 10 | 40 ± 20 | 4 ± 0 | 3/3 (100.00%) | 5 ± 1 | 10 ± 2 | 4 ± 0 |"
    latex = table.latex()
    assert r"\begin{tabular}{lrrrr|rrrr}" in latex
    assert r" & \multicolumn{4}{c}{bfs} & \multicolumn{4}{c}{hfs/gnn} \\" in latex
    assert r"x & 3/3 (100.00\%) & 20 $\pm$ 10 &" in latex
    assert latex.count(r"\midrule") == 3  # under the groups, under the titles, above all domains


def lines_of(figure: object) -> dict[str, list[tuple[float, float]]]:
    [axes] = figure.axes
    return {line.get_label(): list(zip(*line.get_data(), strict=True)) for line in axes.get_lines()}


def test_the_cactus_counts_what_is_solved_within_a_budget() -> None:
    drawn = lines_of(figures.cactus(outcomes(), "nodes"))
    assert drawn["bfs"] == [(10, 0), (20, 1), (30, 2), (1000, 3), (1000, 4)]
    assert drawn["hfs/gnn"] == [(3, 0), (5, 1), (5, 2), (50, 3), (50, 4)]


def test_twenty_configurations_have_different_colours() -> None:
    found = Outcomes({f"hfs/{number}": {"x/1": outcome(f"hfs/{number}", "x/1", 10)} for number in range(20)})
    [axes] = figures.cactus(found, "nodes").axes
    assert len({line.get_color() for line in axes.get_lines()}) == 20


def test_the_scatter_puts_what_was_not_solved_on_the_border() -> None:
    drawn = lines_of(figures.scatter(outcomes(), "bfs", "hfs/gnn"))
    assert drawn["x"] == [(10, 5), (20, 5), (30, 3)]
    assert drawn["y"] == [(1000, 3000), (3000, 50)]


def test_the_ratios_are_relative_to_the_baseline() -> None:
    drawn = lines_of(figures.ratios(outcomes(), "bfs"))
    assert drawn["hfs/gnn"] == [(4, 0.25)]  # the median of 5/10, 5/20 and 3/30


def test_the_same_outcomes_give_the_same_files(tmp_path: Path) -> None:
    contents = []
    for name in ("first", "second"):
        write_report(tmp_path / name, outcomes(), "bfs", [("bfs", "hfs/gnn")])
        contents.append({file.name: file.read_bytes() for file in (tmp_path / name).iterdir()})
    assert contents[0] == contents[1]
    assert len(contents[0]) == 6 * 3 + 6 * 2 + 1
    for picture in (tmp_path / "first").glob("*.png"):
        image = matplotlib.image.imread(picture)
        assert image.shape[0] > 100
        assert image.min() < 0.5 < image.max()


def write_run(folder: Path, *rows: dict[str, str]) -> Path:
    folder.mkdir()
    with (folder / "results.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="")
        writer.writeheader()
        writer.writerows(rows)
    return folder


def test_tables_say_what_was_unsolvable_without_collapse(tmp_path: Path) -> None:
    run = write_run(
        tmp_path / "a",
        row("bfs", "x/1", status="unsolvable", consistent_beliefs="true"),
        row("bfs", "x/2", status="unsolvable", consistent_beliefs="false"),
        row("bfs", "x/3", status="time_limit", consistent_beliefs="true"),
    )
    table = instances(read_outcomes([run]))
    assert [cells[4] for cells in table.rows] == ["unsolvable without collapse", "unsolvable", "TO"]


def row(configuration: str, problem: str, **more: str) -> dict[str, str]:
    base = {"domain": problem.partition("/")[0], "problem": problem, "configuration": configuration}
    found = {"status": "solved", "plan_length": "5", "expanded": "7", "search_seconds": "0.25"}
    return base | found | {"other_outcomes": "0"} | more


def test_runs_are_joined_with_the_published_outcomes_on_the_same_problems(tmp_path: Path) -> None:
    problem, other = "assembly_line/b2_pl_5", "assembly_line/unpublished"
    first = write_run(tmp_path / "a", row("bfs", problem), row("bfs", other, status="error", expanded=""))
    second = write_run(tmp_path / "b", row("hfs/gnn", problem, peak_bytes="1048576"))
    found = read_outcomes([first, second], published(["standard"]))
    assert found.configurations == ["bfs", "hfs/gnn", "published BFS", "published GNN"]
    assert found.table["hfs/gnn"][problem].search_ms == 250
    assert found.table["hfs/gnn"][problem].peak_mib == 1
    assert found.table["published BFS"][problem].expanded == 14
    assert list(found.table["published BFS"]) == [problem]
    assert found.common(found.problems) == [problem]
    assert found.of(["bfs"]).configurations == ["bfs"]


def test_what_is_left_out_is_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    run = write_run(
        tmp_path / "a",
        row("bfs", "x/1"),
        row("bfs", "x/2", status="", other_outcomes="2"),
        row("hfs", "x/1", other_outcomes="1"),
        row("hfs", "x/2", status=""),
    )
    found = read_outcomes([run])
    assert found.problems == ["x/1"]
    table = left_out(found)
    assert table.rows == [["x/2", "bfs", "no", "2"], ["x/1", "hfs", "yes", "1"], ["x/2", "hfs", "no", "0"]]
    assert "2 searches without an outcome, and 3 outcomes under other settings" in table.caption
    assert left_out(found.of(["bfs"])).rows == [["x/2", "bfs", "no", "2"]]
    write_report(tmp_path / "out", found)
    assert "| x/2 | bfs | no | 2 |" in (tmp_path / "out" / "left_out.md").read_text()
    assert [record.getMessage() for record in caplog.records] == [f"{table.caption} See {tmp_path}/out/left_out.md"]
    caplog.clear()
    write_report(tmp_path / "whole", read_outcomes([write_run(tmp_path / "b", row("bfs", "x/1"))]))
    assert not caplog.records


def test_wrong_runs_are_explained(tmp_path: Path) -> None:
    run = write_run(tmp_path / "a", row("bfs", "x/1"))
    with pytest.raises(EpigymError, match="bfs on x/1 is in two runs; report them apart"):
        read_outcomes([run, run])
    with pytest.raises(MissingError, match="there is no outcome yet in"):
        read_outcomes([write_run(tmp_path / "empty", row("bfs", "x/1", status=""))])
    with pytest.raises(MissingError, match=r"holds no results\.csv"):
        read_outcomes([tmp_path / "gone"])
    with pytest.raises(EpigymError, match="unknown published experiment 'standart': did you mean 'standard'"):
        published(["standart"])
    with pytest.raises(EpigymError, match=r"cannot read the published table 'gone\.csv': No such file"):
        published(["gone.csv"])
    with pytest.raises(EpigymError, match=r"a table of another layout; expected the columns bfs_60s, .* or cpu_time_s"):
        published([str(run / "results.csv")])


TOOLKIT = """domain,problem,plan_source,bfs_60s,plan_length,bfs_wall_seconds
Coin,problem_1,bfs,found,2,0.03
Gossip,problem_1,comment,no plan (search space exhausted),6,0.02
Sc,problem_1,comment,timeout,4,60.78
"""
COMPETITION = """team,problem,status,solution,cpu_time_s,max_mem_kb
deep,benchmarks/1-basic/gossip/problems/gos-03.epddl,correct,tell_A; tell_B,0.5,2048
deep,benchmarks/1-basic/gossip/problems/gos-04.epddl,memout,,600.5,16777216
deep,benchmarks/1-basic/gossip/problems/gos-05.epddl,timeout,,1200,1024
deep,benchmarks/1-basic/gossip/problems/gos-06.epddl,no-plan,,1,1024
"""


RUNGS = """domain,instance,status,plan_length,expanded,seconds,memory_mib
grapevine,scaling_01,solved,7,364,0.5,50
grapevine,scaling_02,time_limit,,9000,600.0,700
"""


def test_tables_of_other_layouts_are_read(tmp_path: Path) -> None:
    toolkit, competition, ladder = (tmp_path / f"{name}.csv" for name in ("toolkit", "competition", "ladder"))
    toolkit.write_text(TOOLKIT)
    competition.write_text(COMPETITION)
    ladder.write_text(RUNGS)
    memory_limit = SearchStatus.MEMORY_LIMIT
    assert published([str(toolkit), str(competition)]) == [
        Outcome("Coin", "Coin/problem_1", "published toolkit", SOLVED, plan_length=2, total_ms=30),
        Outcome("Gossip", "Gossip/problem_1", "published toolkit", UNSOLVABLE, total_ms=20),
        Outcome("Sc", "Sc/problem_1", "published toolkit", TIME_LIMIT, total_ms=60780),
        *(
            Outcome("1-basic/gossip", f"1-basic/gossip/gos-0{n}", "published deep", status, length, None, None, ms, mib)
            for n, status, length, ms, mib in (
                (3, SOLVED, 2, 500, 2),
                (4, memory_limit, None, 600500, 16384),
                (5, TIME_LIMIT, None, 1200000, 1),
                (6, UNSOLVABLE, None, 1000, 1),
            )
        ),
    ]
    assert published([str(ladder)]) == [
        Outcome("grapevine", "grapevine/scaling_01", "published bfs", SOLVED, 7, 364, search_ms=500, peak_mib=50),
        Outcome("grapevine", "grapevine/scaling_02", "published bfs", TIME_LIMIT, None, 9000, 600000, peak_mib=700),
    ]


@pytest.mark.reference
def test_the_published_tables_cover_the_suites(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPIGYM_SHARED", str(shared))
    for suite, name, solved in (("epddl", "plank_results", 15), ("ipc", "ipc2026_published", 39)):
        found = {outcome.problem: outcome for outcome in published([str(shared / f"benchmarks/reference/{name}.csv")])}
        suite_of = composed(Evaluate, "evaluate", f"suite={suite}").suite
        problems = [problem.name for problem in problems_of(suite_of, None, "default")]
        assert set(problems) <= set(found)
        assert sum(found[problem].is_solved for problem in problems) == solved


def test_the_command_takes_runs_as_arguments(tmp_path: Path) -> None:
    write_run(tmp_path / "a", row("bfs", "grapevine/3_pl_2"), row("hfs", "grapevine/3_pl_2"))
    command = [sys.executable, "-m", "search.report", "a", "folder=out", "published=[standard]", "pairs=[[bfs,hfs]]"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "| published BFS |" in (tmp_path / "out" / "totals.md").read_text()
    assert (tmp_path / "out" / "scatter_bfs_hfs.pdf").is_file()
    assert "| bfs | hfs | 1 | 1 | 0 | 0 |" in (tmp_path / "out" / "paired.md").read_text()
    assert "</html>" in (tmp_path / "out" / "report.html").read_text()
    *shown, log = done.stdout.splitlines()
    assert log.endswith("tables, figures and report.html: out")
    assert max(map(len, shown)) <= 80
    with pytest.raises(UsageError, match=r"pairs: \[bfs\] is no pair: name two configurations"):
        write_report(tmp_path / "none", read_outcomes([tmp_path / "a"]), pairs=[["bfs"]])
    wrong = subprocess.run([*command[:4], "baseline=bsf"], cwd=tmp_path, capture_output=True, text=True)
    assert wrong.returncode == 64
    assert "unknown configuration 'bsf': did you mean 'bfs'?" in wrong.stderr
