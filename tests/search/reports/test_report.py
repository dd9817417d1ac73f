"""Tables and figures from outcomes whose numbers were made by hand."""

import csv
import gzip
import re
import subprocess
import sys
from dataclasses import replace
from errno import ENOSPC
from io import StringIO
from pathlib import Path
from xml.etree.ElementTree import fromstring

import matplotlib.image
import pytest
from markdown import markdown
from matplotlib.figure import Figure
from rich.console import Console

from epigym.errors import EpigymError, MissingError, UsageError
from search.agents.result import SearchStatus
from search.evaluate import Evaluate
from search.evaluation.record import COLUMNS
from search.evaluation.suites import problems_of
from search.report import name_run
from search.reports import figures
from search.reports.outcomes import LeftOut, SearchOutcome, SearchOutcomes, read_outcomes
from search.reports.paired import compare_pairs
from search.reports.published import read_published
from search.reports.tables import (
    COVERAGE_NOTE,
    format_number,
    list_left_out,
    make_instances,
    make_largest,
    make_overview,
    make_scores,
    make_summary,
    make_totals,
)
from search.reports.writing import check_measures, write_report
from tests.helpers.benchmark_files import BENCHMARKS, SHARED
from tests.helpers.commands import compose
from tests.helpers.marks import slow_but

SOLVED, UNSOLVABLE, TIME_LIMIT = SearchStatus.SOLVED, SearchStatus.UNSOLVABLE, SearchStatus.TIME_LIMIT


def outcome(configuration: str, problem: str, expanded: float | None) -> SearchOutcome:
    """A solved outcome, or a time-out when there are no nodes."""
    domain = problem.partition("/")[0]
    if expanded is None:
        return SearchOutcome(domain, problem, configuration, TIME_LIMIT)
    return SearchOutcome(domain, problem, configuration, SOLVED, 4, expanded, expanded / 2, expanded * 2, 40.0)


def outcomes(second: str = "hfs/gnn") -> SearchOutcomes:
    blind = {"x/1": 10, "x/2": 20, "x/3": 30, "y/1": 1000, "y/2": None}
    guided = {"x/1": 5, "x/2": 5, "x/3": 3, "y/1": None, "y/2": 50}
    return SearchOutcomes(
        {
            name: {problem: outcome(name, problem, count) for problem, count in nodes.items()}
            for name, nodes in (("bfs", blind), (second, guided))
        }
    )


def test_summary_over_what_each_solved_and_over_what_all_solved() -> None:
    measures = ["coverage", "expanded", "time", "length"]
    table = make_summary(outcomes(), measures, common=False)
    assert table.headings[:5] == ["", "bfs coverage", "bfs expanded", "bfs time [ms]", "bfs length"]
    assert table.cells == [
        ["x", "3/3 (100.00%)", "20 ± 10", "40 ± 20", "4 ± 0", "3/3 (100.00%)", "5 ± 1", "10 ± 2", "4 ± 0"],
        ["y", "1/2 (50.00%)", "1000 ± 0", "2000 ± 0", "4 ± 0", "1/2 (50.00%)", "50 ± 0", "100 ± 0", "4 ± 0"],
        # Of 10, 20, 30 and 1000 the quartiles are 17.5 and 272.5; of 3, 5, 5 and 50 they are 4.5 and 16.25.
        ["All", "4/5 (80.00%)", "25 ± 255", "50 ± 510", "4 ± 0", "4/5 (80.00%)", "5 ± 12", "10 ± 24", "4 ± 0"],
    ]
    common = make_summary(outcomes(), measures, common=True).cells
    assert common[1] == ["y", "1/2 (50.00%)", "–", "–", "–", "1/2 (50.00%)", "–", "–", "–"]
    assert common[2][2] == "20 ± 10"


def test_outcomes_that_count() -> None:
    found = outcomes()
    for problem in ("x/1", "y/1", "y/2"):
        found.table["hfs/gnn"].pop(problem)
    second = [row[2] for row in make_summary(found, ["coverage"], common=False).cells]
    assert second == ["2/2 (100.00%)", "–", "2/2 (100.00%)"]
    bfs, other = make_totals(found).cells
    assert bfs[:3] == ["bfs", "4/5 (80.00%)", "38 to 96 %"]
    assert bfs[3].startswith("25 ± 5 [20 to 30]")
    assert other[1] == "2/2 (100.00%)"
    found = outcomes()
    found.table["bfs"]["y/2"] = SearchOutcome("y", "y/2", "bfs", UNSOLVABLE)
    found.table["hfs/gnn"].pop("x/3")
    assert make_overview(found, ["coverage", "expanded", "time", "length"]).cells == [
        ["bfs", "5/5", "1", "57 to 100 %", "15", "30"],  # the means of 10 and 20 nodes, and of twice as many ms
        ["hfs/gnn", "3/4", "0", "30 to 95 %", "5", "10"],
    ]


def test_errors_are_counted_apart() -> None:
    found = outcomes()
    note = make_overview(found, ["coverage"]).note
    for problem in ("x/1", "x/2"):
        found.table["bfs"][problem] = SearchOutcome("x", problem, "bfs", SearchStatus.ERROR)
    assert make_overview(found, ["coverage"]).note == f"{note} Errors, which are no answers: bfs 2."


def test_instances_say_how_large_they_are_and_how_each_search_ended() -> None:
    found = outcomes()
    found.table["hfs/gnn"].pop("x/1")
    found.table["hfs/gnn"]["x/2"] = replace(
        found.table["hfs/gnn"]["x/2"], actions=5.0, fluents=20480.0, initial_worlds=1.0
    )
    found.table["bfs"]["x/3"] = SearchOutcome("x", "x/3", "bfs", UNSOLVABLE)
    found.table["hfs/gnn"]["x/3"] = SearchOutcome("x", "x/3", "hfs/gnn", UNSOLVABLE, consistent_beliefs=True)
    table = make_instances(found, ["coverage", "expanded", "time", "length"])
    assert table.headings[:5] == ["problem", "actions", "fluents", "worlds", "bfs outcome"]
    rows = {row[0]: row[1:] for row in table.cells}
    assert rows["x/1"] == ["–", "–", "–", "solved", "10", "20", "4", "–", "–", "–", "–"]
    assert rows["x/2"][:3] == ["5", "20480", "1"]
    assert [rows["x/3"][column] for column in (3, 7)] == ["unsolvable", "unsolvable with consistent beliefs"]
    assert rows["y/1"] == ["–", "–", "–", "solved", "1000", "2000", "4", "TO", "–", "–", "–"]


def test_what_is_on_the_screen_fits_into_80_columns() -> None:
    labels = [f"hfs_preferred/learned_with_some_long_name_{number}" for number in (1, 2)]
    found = SearchOutcomes({one: {f"x/{n}": outcome(one, f"x/{n}", 10**6 + n) for n in range(1000)} for one in labels})
    console = Console(file=StringIO(), width=80)
    console.print(make_overview(found, ["coverage", "expanded", "time"]))
    lines = console.file.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[-7:-1] == [
        labels[1], "  answered     1000/1000", "  no plan      0", "  Wilson 95 %  100 to 100 %",
        "  expanded     1000500", "  time [ms]    2000999",
    ]  # fmt: skip
    assert lines[-1] == COVERAGE_NOTE


def test_scores_count_by_seconds_and_compare_with_the_shortest_length() -> None:
    found = outcomes()
    plans = {"x/1": (4, 900), "x/2": (8, 5_000), "x/3": (2, 300e3)}
    for name, (length, milliseconds) in plans.items():
        found.table["bfs"][name] = replace(
            found.table["bfs"][name], plan_length=float(length), total_ms=float(milliseconds)
        )
    bfs, other = make_scores(found).cells
    # bfs: 4/4, 4/8, 2/2 and 4/4 of the lengths; 1, 0.718, 0 and, for 2 s, 0.878 of the seconds
    assert bfs == ["bfs", "4", "1", "3", "3", "3.5", "2.6"]
    assert other == ["hfs/gnn", "4", "4", "4", "4", "3.5", "4.0"]


def test_the_largest_solved_problem_of_each_domain() -> None:
    found = outcomes()
    for name, (problem, fluents) in {"bfs": ("x/2", 9), "hfs/gnn": ("x/1", 7)}.items():
        found.table[name][problem] = replace(found.table[name][problem], fluents=float(fluents))
    found.table["bfs"]["x/2"] = replace(found.table["bfs"]["x/2"], status=TIME_LIMIT)
    assert make_largest(found).cells == [["x", "9", "7", "9"], ["y", "–", "–", "–"]]


def test_csv_cells_are_numbers() -> None:
    found = outcomes()
    tables = {
        "totals": make_totals(found),
        "scores": make_scores(found),
        "summary": make_summary(found, common=True),
        "paired": compare_pairs(found, [("bfs", "hfs/gnn")]),
        "instances": make_instances(found),
    }
    read = {name: list(csv.DictReader(StringIO(table.csv()))) for name, table in tables.items()}
    bfs, _ = read["totals"]
    assert [float(bfs[f"expanded {part}"]) for part in ("IQM", "IQR", "low", "high")] == [20, 10, 10, 30]
    assert (bfs["coverage solved"], bfs["coverage problems"], bfs["Wilson 95 % high"][:5]) == ("4", "5", "96.37")
    assert read["summary"][1]["bfs expanded IQM"] == ""
    [compared] = read["paired"]
    assert (compared["p (McNemar)"], compared["difference [bootstrap 95 %]"]) == ("1.0", "0.0")
    assert (read["instances"][4]["bfs outcome"], read["instances"][4]["bfs expanded"]) == ("TO", "")
    words = {"problem", "configuration", "first", "second", ""}
    for name, rows in read.items():
        for title, cell in ((title, cell) for row in rows for title, cell in row.items() if cell):
            assert title in words or title.endswith("outcome") or float(cell) is not None, (name, title)


def test_only_the_chosen_measures_are_in_the_tables_to_read(tmp_path: Path) -> None:
    write_report(tmp_path, outcomes(), measures=["time", "coverage"])
    titles = (tmp_path / "summary_all.md").read_text().splitlines()[2]
    assert titles == "|  | bfs time [ms] | bfs coverage | hfs/gnn time [ms] | hfs/gnn coverage |"
    assert "expanded" not in (tmp_path / "instances.tex").read_text() + (tmp_path / "paired.md").read_text()
    assert "Wilcoxon" not in (tmp_path / "paired.tex").read_text()
    assert "memory [MiB]" not in (tmp_path / "report.html").read_text()
    assert "bfs memory [MiB]" in (tmp_path / "instances.csv").read_text()
    assert check_measures(["time", "coverage", "time"]) == ["time", "coverage"]
    for names, message in ((["coverge"], "'coverge': did you mean 'coverage'"), ([], "expected one of")):
        with pytest.raises(UsageError, match=message):
            check_measures(names)


ODD = ["\\input{/etc/passwd}", "a|b", "<img src=x onerror=alert(1)>", "a|<img src=x>$\\input{x}$"]


@pytest.mark.parametrize("odd", slow_but(ODD, ODD[-1]))
def test_labels_are_text_in_every_form(odd: str, tmp_path: Path) -> None:
    found = {name: {f"{odd}/{n}": outcome(name, f"{odd}/{n}", 10) for n in (1, 2)} for name in ("bfs", odd)}
    found = {name: {key: replace(one, domain=odd) for key, one in table.items()} for name, table in found.items()}
    left_out = [LeftOut(odd, f"{odd}/3", False, 1)]
    write_report(tmp_path, SearchOutcomes(found, left_out), "bfs", measures=["coverage", "expanded"])
    for file in tmp_path.iterdir():
        assert re.fullmatch(r"[\w.+-]+", file.name)
    for file in tmp_path.glob("*.tex"):
        assert "\\input" not in file.read_text()
    for file in tmp_path.glob("*.md"):
        html = markdown(file.read_text(), extensions=["tables"])
        assert "<img src=x" not in html
        rows = fromstring(f"<body>{html}</body>").iter("tr")
        assert len({len(row) for row in rows}) == 1
    assert "<img src=x" not in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.0421, "0.042"), (3.14, "3.1"), (5, "5"), (9.96, "10"), (12.4, "12"), (1e6, "1000000")],
)
def test_numbers_in_tables(value: float, text: str) -> None:
    assert format_number(value) == text


def lines_of(figure: figures.Figure) -> dict[str, list[tuple[float, float]]]:
    [axes] = figure.axes
    return {line.get_label(): list(zip(*line.get_data(), strict=True)) for line in axes.get_lines()}


def test_figures_draw_the_numbers() -> None:
    solved = lines_of(figures.draw_cactus(outcomes(), "expanded"))
    assert solved["bfs"] == [(10, 0), (20, 1), (30, 2), (1000, 3), (1000, 4)]
    assert solved["hfs/gnn"] == [(3, 0), (5, 1), (5, 2), (50, 3), (50, 4)]
    both = lines_of(figures.draw_scatter(outcomes(), "bfs", "hfs/gnn"))
    assert both["x"] == [(10, 5), (20, 5), (30, 3)]
    assert both["y"] == [(1000, 3000), (3000, 50)]  # on the border what was not solved
    ratios = lines_of(figures.draw_ratios(outcomes(), "bfs"))
    assert ratios["hfs/gnn"] == [(4, 0.25)]  # the median of 5/10, 5/20 and 3/30
    unknown = outcomes()
    unknown.table["bfs"]["x/2"] = replace(unknown.table["bfs"]["x/2"], expanded=None)
    assert lines_of(figures.draw_scatter(unknown, "bfs", "hfs/gnn"))["x"] == [(10, 5), (30, 3)]


def test_a_figure_that_fails_leaves_the_old_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Figure, file: Path, **options: object) -> None:
        Path(file).write_text("half")
        raise OSError(ENOSPC, "No space left on device")

    figures.write_figure(figures.draw_cactus(outcomes(), "time"), tmp_path, "cactus")
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    assert set(before) == {"cactus.png", "cactus.pdf"}
    monkeypatch.setattr(Figure, "savefig", fail)
    with pytest.raises(OSError, match="No space left"):
        figures.write_figure(figures.draw_cactus(outcomes(), "time"), tmp_path, "cactus")
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


@pytest.mark.parametrize("counts", [(300, 310), (2, 900), (1, 10**6), (None, None)])
def test_axes_have_at_least_two_ticks_that_do_not_crowd(counts: tuple[float | None, float | None]) -> None:
    found = SearchOutcomes(
        {name: {f"x/{n}": outcome(name, f"x/{n}", count) for n, count in enumerate(counts)} for name in ("bfs", "hfs")}
    )
    drawn = [
        figures.draw_cactus(found, "expanded"), figures.draw_aggregates(found), figures.draw_ratios(found, "bfs"),
        figures.draw_scatter(found, "bfs", "hfs"),
    ]  # fmt: skip
    for axis in (axis for figure in drawn for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
        low, high = sorted(axis.get_view_interval())
        shown = [tick for tick in axis.get_majorticklocs() if low <= tick <= high]
        assert axis.get_scale() == "linear" or 2 <= len(shown) <= 10


def test_equal_lines_are_seen_and_numbers_are_plain() -> None:
    table = {f"x/{n}": outcome("a", f"x/{n}", 10.0**n) for n in range(7)}
    figure = figures.draw_cactus(SearchOutcomes({"a": table, "b": table}), "expanded")
    figure.draw_without_rendering()
    [axes] = figure.axes
    assert len({line.get_linestyle() for line in axes.get_lines()}) == 2
    assert "100000" in [label.get_text() for label in axes.get_xticklabels()]


def test_twenty_configurations_have_different_colours() -> None:
    found = SearchOutcomes({f"hfs/{number}": {"x/1": outcome(f"hfs/{number}", "x/1", 10)} for number in range(20)})
    [axes] = figures.draw_cactus(found, "expanded").axes
    assert len({line.get_color() for line in axes.get_lines()}) == 20


@pytest.mark.slow
def test_the_same_outcomes_give_the_same_files_whatever_their_labels(tmp_path: Path) -> None:
    odd, similar = "../h|<img src=x>$\\input{x}$", "../h?<img src=x>$\\input{x}$"
    found = outcomes(odd)
    pairs = [("bfs", odd), ("bfs", similar), ("bfs", odd)]
    contents = []
    for name in ("first", "second"):
        write_report(
            tmp_path / name / "report", SearchOutcomes({**found.table, similar: found.table[odd]}), "bfs", pairs
        )
        assert [path.name for path in (tmp_path / name).iterdir()] == ["report"]
        contents.append({file.name: file.read_bytes() for file in (tmp_path / name / "report").iterdir()})
    assert contents[0] == contents[1]
    assert len(contents[0]) == 8 * 3 + (5 + 2) * 2 + 1
    stem = "scatter_bfs_..+h__img_src_x___input_x__"
    assert {name for name in contents[0] if name.startswith("scatter")} == {
        f"{stem}{more}.{suffix}" for more in ("", "_") for suffix in ("png", "pdf")
    }
    for name, content in contents[0].items():
        assert b"<img src=x" not in content or name.endswith(".csv"), name
        assert rb"\input{" not in content or not name.endswith(".tex"), name
    for picture in (tmp_path / "first").glob("report/*.png"):
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


def row(configuration: str, problem: str, **more: str) -> dict[str, str]:
    base = {"domain": problem.partition("/")[0], "problem": problem, "configuration": configuration}
    found = {"status": "solved", "plan_length": "5", "expanded": "7", "search_seconds": "0.25"}
    return base | found | {"other_outcomes": "0"} | more


def test_runs_are_joined_with_the_published_outcomes_on_the_same_problems(tmp_path: Path) -> None:
    problem, other = "assembly_line/b2_pl_5", "assembly_line/unpublished"
    first = write_run(tmp_path / "a", row("bfs", problem), row("bfs", other, status="error", expanded=""))
    second = write_run(tmp_path / "b", row("hfs/gnn", problem, peak_bytes="1048576", consistent_beliefs="true"))
    found = read_outcomes([first, second], read_published(["standard"]))
    assert found.configurations == ["bfs", "hfs/gnn", "published BFS", "published GNN"]
    ours = found.table["hfs/gnn"][problem]
    assert (ours.search_ms, ours.peak_mib, ours.consistent_beliefs) == (250, 1, True)
    assert found.table["published BFS"][problem].expanded == 14
    assert list(found.table["published BFS"]) == [problem]
    assert found.find_common(found.problems) == [problem]
    assert found.restrict(["bfs"]).configurations == ["bfs"]


def test_a_published_answer_that_a_plan_refutes_is_an_error(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    solved = {"x/1": "false", "x/2": "true"}  # a plan with consistent beliefs is one without this condition, too
    rows = [row("bfs", problem, consistent_beliefs=consistent) for problem, consistent in solved.items()]
    run = write_run(tmp_path / "a", *rows, row("bfs", "x/3", status="unsolvable"))
    published = [SearchOutcome("x", f"x/{number}", "published deep", UNSOLVABLE) for number in (1, 2, 3)]
    found = read_outcomes([run], published)
    statuses = [one.status for one in found.select("published deep", found.problems)]
    assert statuses == [SearchStatus.ERROR, SearchStatus.ERROR, UNSOLVABLE]
    assert [record.getMessage() for record in caplog.records] == [
        f"published deep says that x/{number} has no plan, but it has: an error" for number in (1, 2)
    ]


def test_a_compressed_table_stands_for_its_run(tmp_path: Path) -> None:
    run = write_run(tmp_path / "a", row("bfs", "x/1"), row("bfs", "x/2", status="time_limit"))
    copy = tmp_path / "results.csv.gz"
    copy.write_bytes(gzip.compress((run / "results.csv").read_bytes()))
    assert read_outcomes([copy]) == read_outcomes([run])


@pytest.mark.slow
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
    table = list_left_out(found)
    assert table.rows == [["x/2", "bfs", "no", 2], ["x/1", "hfs", "yes", 1], ["x/2", "hfs", "no", 0]]
    assert "2 searches without an outcome, and 3 outcomes under other settings" in table.caption
    assert list_left_out(found.restrict(["bfs"])).rows == [["x/2", "bfs", "no", 2]]
    write_report(tmp_path / "out", found)
    assert [record.getMessage() for record in caplog.records] == [f"{table.caption} See {tmp_path}/out/left_out.md"]
    assert "| x/2 | bfs | no | 2 |" in (tmp_path / "out" / "left_out.md").read_text()
    caplog.clear()
    write_report(tmp_path / "whole", read_outcomes([write_run(tmp_path / "b", row("bfs", "x/1"))]))
    assert not caplog.records


def test_wrong_runs_are_explained(tmp_path: Path) -> None:
    run = write_run(tmp_path / "a", row("bfs", "x/1"))
    with pytest.raises(EpigymError, match="bfs on x/1 is in two runs"):
        read_outcomes([run, run])
    for folder in (write_run(tmp_path / "empty", row("bfs", "x/1", status="")), tmp_path / "gone"):
        with pytest.raises(MissingError, match=str(folder)):
            read_outcomes([folder])
    with pytest.raises(EpigymError, match=r"bfs: .*none.*: start the evaluation again"):
        read_outcomes([write_run(tmp_path / "damaged", row("bfs", "x/1", expanded="none"))])
    with pytest.raises(EpigymError, match=r"results\.csv, x/1 with bfs: .*'few': start the evaluation again"):
        read_outcomes([write_run(tmp_path / "words", row("bfs", "x/1", other_outcomes="few"))])
    (tmp_path / "words.csv").write_text(TABLES["toolkit"].replace("0.02", "fast"))
    for name, message in (
        (str(tmp_path / "words.csv"), r"words\.csv: row 2: .*'fast'"),
        ("standart", "'standart': did you mean 'standard'"),
        ("gone.csv", r"gone\.csv: No such file"),
        (str(run / "results.csv"), "expected the columns bfs_60s, .* or cpu_time_s"),
    ):
        with pytest.raises(EpigymError, match=message):
            read_published([name])
    for pairs, message in (([["bfs"]], r"\[bfs\] is no pair"), ([["bfs", "bsf"]], "'bsf': did you mean 'bfs'")):
        with pytest.raises(UsageError, match=message):
            write_report(tmp_path / "none", read_outcomes([run]), pairs=pairs)


TABLES = {
    "toolkit": """domain,problem,plan_source,bfs_60s,plan_length,bfs_wall_seconds
Coin,problem_1,bfs,found,2,0.03
Gossip,problem_1,comment,no plan (search space exhausted),6,0.02
Sc,problem_1,comment,timeout,4,60.78
""",
    "competition": """team,problem,status,solution,cpu_time_s,max_mem_kb
deep,benchmarks/1-basic/gossip/problems/gos-03.epddl,correct,tell_A; tell_B,0.5,2048
deep,benchmarks/1-basic/gossip/problems/gos-04.epddl,memout,,600.5,16777216
deep,benchmarks/1-basic/gossip/problems/gos-05.epddl,timeout,,1200,1024
deep,benchmarks/1-basic/gossip/problems/gos-06.epddl,no-plan,,1,1024
""",
    "ladder": """domain,instance,status,plan_length,expanded,seconds,memory_mib
grapevine,scaling_01,solved,7,364,0.5,50
grapevine,scaling_02,time_limit,,9000,600.0,700
""",
}


def test_tables_of_other_layouts_are_read(tmp_path: Path) -> None:
    for name, text in TABLES.items():
        (tmp_path / f"{name}.csv").write_text(text)
    assert read_published([str(tmp_path / f"{name}.csv") for name in TABLES]) == [
        SearchOutcome("Coin", "Coin/problem_1", "published toolkit", SOLVED, plan_length=2, total_ms=30),
        SearchOutcome("Gossip", "Gossip/problem_1", "published toolkit", UNSOLVABLE, total_ms=20),
        SearchOutcome("Sc", "Sc/problem_1", "published toolkit", TIME_LIMIT, total_ms=60780),
        *(
            SearchOutcome(
                "1-basic/gossip", f"1-basic/gossip/gos-0{n}", "published deep", status, length, None, None, ms, mib
            )
            for n, status, length, ms, mib in (
                (3, SOLVED, 2, 500, 2),
                (4, SearchStatus.MEMORY_LIMIT, None, 600500, 16384),
                (5, TIME_LIMIT, None, 1200000, 1),
                (6, UNSOLVABLE, None, 1000, 1),
            )
        ),
        SearchOutcome("grapevine", "grapevine/scaling_01", "published bfs", SOLVED, 7, 364, search_ms=500, peak_mib=50),
        SearchOutcome(
            "grapevine", "grapevine/scaling_02", "published bfs", TIME_LIMIT, None, 9000, 600000, peak_mib=700
        ),
    ]


@pytest.mark.reference
def test_the_published_tables_cover_the_suites(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPIGYM_SHARED", str(SHARED))
    for suite, name, solved in (("epddl", "plank_results", 15), ("ipc", "ipc2026_published", 39)):
        found = {one.problem: one for one in read_published([str(BENCHMARKS / f"reference/{name}.csv")])}
        suite_of = compose(Evaluate, "evaluate", f"suite={suite}").suite
        problems = [problem.name for problem in problems_of(suite_of, None, "default")]
        assert set(problems) <= set(found)
        assert sum(found[problem].is_solved for problem in problems) == solved


@pytest.mark.parametrize("run", ["x/standard", "x/standard/", "x/standard.csv.gz", "x/standard/results.csv"])
def test_a_run_has_the_name_of_its_folder_or_table(run: str) -> None:
    assert name_run(run) == "standard"


@pytest.mark.slow
def test_the_command_takes_runs_as_arguments(tmp_path: Path) -> None:
    write_run(tmp_path / "a", row("bfs", "grapevine/3_pl_2"), row("hfs", "grapevine/3_pl_2"))
    command = [sys.executable, "-m", "search.report", "a", "folder=out", "published=[standard]", "pairs=[[bfs,hfs]]"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "| published BFS |" in (tmp_path / "out" / "totals.md").read_text()
    assert (tmp_path / "out" / "scatter_bfs_hfs.pdf").is_file()
    assert "| bfs | hfs | 1 | 1 | 0 | 0 |" in (tmp_path / "out" / "paired.md").read_text()
    page = (tmp_path / "out" / "report.html").read_text()
    assert re.search(r"<title>Report of a, \d+ \w+ \d{4}</title>", page)
    assert "<code>python -m search.report &#39;runs=[a]&#39; folder=out" in page
    *shown, log = done.stdout.splitlines()
    assert log.endswith("tables, figures and report.html: out")
    assert max(map(len, shown)) <= 80
