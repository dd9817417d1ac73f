"""Compare trained networks with other guidance of greedy search on sampled problems of 14 domains.

python -m tests.benchmarks.networks                          train, search and print the table; started again it goes on
python -m tests.benchmarks.networks set=validation guidance=h_add,h_ff,linear
python -m tests.benchmarks.networks domain=gossip,grapevine guidance=network/1 out=outputs/networks

`guidance` is h_ff, h_add (the base heuristics, which untrained networks equal), linear and gine (the models that come
with epigym), linear/SEED and network/SEED (trained with their settings), general/SEED (one network of all domains),
left_out/SEED (one of the domains outside the group of `GROUPS` of the domain, or of all others), a choice of all, as
ENCODING/OBJECTIVE/BASE/DATA/SEED, such as hash/distance/none/published/1, or the paper's network, paper/SEED. With
lists:NAME+NAME… the agent `alternation` takes the place of greedy search, with these open lists and the model of
epigym.
`table=FILE` only prints the table of such rows, such as docs/results/networks.csv.gz.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, cast

import numpy as np
from rich.console import Console
from scipy.stats import wilcoxon

from domains import DOMAINS
from epigym.io.checksummed import read_checksummed
from epigym.io.files import read_rows, write_rows
from epigym.io.tables import Table
from epigym.space.space import StateSpace
from epigym.task.task import Task
from learn.models import open_model
from learn.models.base import BaseHeuristic
from learn.models.files import MODEL_FILE
from learn.models.shipped import locate_shipped
from learn.training.options import CHECKPOINTS, LAST, RUN_FILE
from learn.training.validation import search_greedily
from search.agents import run_agent
from search.agents.alternation import Alternation, OpenListName
from search.agents.limits import Limits
from search.agents.result import SearchStatus
from search.heuristics.learned import Learned
from search.reports.metrics import bootstrap, mcnemar
from search.reports.paired import format_probability
from tests.benchmarks.suites.hard import sample_instance
from tests.benchmarks.suites.hard_sizes import LINES

SETS: Final = {"validation": (47_110_000, 10), "validation_30": (48_000_000, 30), "test": (90_210_000, 10)}
"""Seed of the goals of the first problem of each set, the others have the numbers that follow; number of problems of a
domain."""
STEPS: Final = {
    "active_muddy_child": (9, 14), "blocks_world": (5, 12), "grapevine": (10, 16), "room_messages": (2, 6),
    "gossip": (3, 8), "assembly_line": (8, 13), "epistemic_gossip": (9, 14),
}  # fmt: skip
"""First and last sampled step of the domain's line of growing problems; others: the upper third of the line."""
EXPANSIONS: Final = 1000
LISTS: Final = "lists:"
GUIDANCE: Final = (
    "h_ff,h_add,linear,linear/1,linear/2,linear/3,linear/4,"
    "network/42,network/1,network/2,network/3,network/4,general/42,general/1,general/2,general/3,general/4,"
    "left_out/42,left_out/1,left_out/2"
)
GROUPS: Final = (
    ("collaboration_communication", "grapevine", "selective_communication", "selective_communication_enriched"),
    ("epistemic_gossip", "gossip", "room_messages"),
    ("active_muddy_child", "coin_in_the_box", "consecutive_numbers"),
    ("assembly_line", "blocks_world", "cloud_scheduling", "search_and_rescue"),
)
"""Communication between rooms, messages, deduction, and work; all domains of a group are left out at once."""
EXPERT: Final = {
    "grapevine": ("base=h_add", "expert.problems=80", "expert.growth=0.5", "expert.aggregation=1"),
    "room_messages": ("base=h_add", "expert.problems=80", "expert.aggregation=1"),
}
"""Settings of the domains whose networks also learn from an expert."""
FEWER: Final = "validation.problems=12"
"""Of networks of several domains, for each domain, and of choices of everything, which are many."""
COLUMNS: Final = ("domain", "problem", "guidance", "solved", "expanded", "cpu_seconds", "plan_length")

Result = Mapping[str, str]


def main(arguments: Sequence[str]) -> None:
    """Train what is missing, search what is missing, and print the table."""
    given = {"set": "test", "out": "outputs/networks", "domain": ",".join(DOMAINS), "guidance": GUIDANCE, "table": ""}
    for argument in arguments:
        name, _, value = argument.partition("=")
        if name not in given:
            raise SystemExit(f"unknown setting {name!r}: expected one of {', '.join(given)}")
        given[name] = value
    if given["set"] not in SETS:
        raise SystemExit(f"unknown set {given['set']!r}: expected one of {', '.join(SETS)}")
    out, wanted = Path(given["out"]), given["guidance"].split(",")
    found = []
    for domain in given["domain"].split(","):
        file = out / given["set"] / f"{domain}.csv"
        if not given["table"]:
            measure(domain, given["set"], wanted, out, file)
        rows = read(Path(given["table"]) if given["table"] else file)
        found += [row for row in rows if row["domain"] == domain and row["guidance"] in wanted]
    for table in describe(found, wanted):
        Console().print(table)


def sample(domain: str, kind: str) -> Iterator[Task]:
    """The problems of a set: sizes spread evenly over steps of the domain's line, goals where random walks end."""
    line = LINES[domain]
    first, last = STEPS.get(domain, (2 * len(line) // 3, len(line)))
    seed, count = SETS[kind]
    for number in range(count):
        step = first + number * (last - first + 1) // count
        yield sample_instance(domain, line.at(step), step, seed + number).task()


def read(file: Path) -> list[Result]:
    """The rows of a file; none where there is no file."""
    return read_rows(file, COLUMNS) if file.exists() else []


def measure(domain: str, kind: str, wanted: Iterable[str], out: Path, file: Path) -> None:
    """Search the problems of a domain with the guidance that is missing in the file, and add the rows."""
    missing = [one for one in wanted if one not in {row["guidance"] for row in read(file)}]
    tasks = list(sample(domain, kind)) if missing else []
    for guidance in missing:
        model = find_model(domain, guidance, out)
        rows = [{"domain": domain, "problem": str(number), "guidance": guidance, **search(task, guidance, model)}
                for number, task in enumerate(tasks)]  # fmt: skip
        write_rows(file, COLUMNS, [*read(file), *rows])


def find_model(domain: str, guidance: str, out: Path) -> Path | None:
    """The file of the model, which is trained where it is missing; None where the guidance names none."""
    if guidance in ("h_ff", "h_add") or guidance.startswith(LISTS):
        return None
    if guidance in ("linear", "gine"):
        return locate_shipped(guidance, domain)
    kind, *choices, seed = guidance.split("/")
    settings, learned = ["encoding=relational"], domain
    if kind == "linear":
        card = open_model(locate_shipped("linear", domain)).card
        given = ("long_goals", "partially_explored")
        settings = ["data.expansions=60", *(f"data.{name}={str(card[name]).lower()}" for name in given)]
    elif kind == "network":
        settings = [*settings, *EXPERT.get(domain, ())]
    elif kind == "general":
        domain = learned = "all"
        settings = [*settings, FEWER]
    elif kind == "left_out":
        group = next((group for group in GROUPS if domain in group), (domain,))
        learned, domain, settings = "all", group[0], [*settings, FEWER, f"without=[{','.join(group)}]"]
    elif kind == "paper":
        settings = ["encoding=hash", "experiment=paper"]
    elif choices:
        names = ("encoding", "objective", "base", "data")
        chosen = (f"{name}={value}" for name, value in zip(names, (kind, *choices), strict=True))
        settings = ["model=gine", "validation=ranking", *chosen, FEWER]
    else:
        raise SystemExit(f"unknown guidance {guidance!r}")
    folder = out / guidance.replace("/", "-") / domain
    return train([*settings, f"domain={learned}"], seed, folder, is_linear=kind == "linear")


def train(settings: Sequence[str], seed: str, folder: Path, *, is_linear: bool) -> Path:
    """The file of the model of a run in `folder`, which is trained on one thread unless it is finished.

    Without encoding=hash and base= it is the better of two networks, with `h_add` and with `h_ff`: that which solves
    more validation problems, or the first.
    """
    if is_linear:
        return _train_one(["learn.train_linear", *settings], seed, folder, folder / MODEL_FILE)
    if any(one == "encoding=hash" or one.startswith("base=") for one in settings):
        return _train_one(["learn.train", *settings], seed, folder, folder / RUN_FILE)
    files = [
        _train_one(["learn.train", *settings, f"base={base}"], seed, folder / base, folder / base / RUN_FILE)
        for base in ("h_add", "h_ff")
    ]
    records = [read_checksummed(file.with_name(RUN_FILE), "train again") for file in files]
    solved = [record["metrics"]["val/solved"] for record in records]
    return files[solved.index(max(solved))]


def _train_one(command: Sequence[str], seed: str, folder: Path, finished: Path) -> Path:
    if not finished.exists():
        last = (folder / CHECKPOINTS / LAST).exists()
        own = ("trainer.accelerator=cpu", "validation.verdict=0", *(("ckpt_path=last",) if last else ()))
        others = own if command[0] == "learn.train" else ()
        words = ["-m", *command, *others, f"seed={seed}", f"data.seed={seed}", f"run_dir={folder}"]
        subprocess.run([sys.executable, *words], check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    return folder / MODEL_FILE


def search(task: Task, guidance: str, model: Path | None) -> dict[str, str]:
    """What the search did with the guidance; `cpu_seconds` include the first steps of building it."""
    space, start = StateSpace(task), time.process_time()
    if guidance.startswith(LISTS):
        lists = cast(Sequence[OpenListName], guidance.removeprefix(LISTS).split("+"))
        limits = Limits(max_expanded=EXPANSIONS, time_limit=None, memory_limit=sys.maxsize)
        found = run_agent(Alternation(lists=lists), space, Learned(space), limits)
    else:
        score = BaseHeuristic(space, guidance) if model is None else Learned(space, str(model)).score
        found = search_greedily(space, score, EXPANSIONS)
    solved = found.status is SearchStatus.SOLVED
    counts = {"expanded": str(found.expanded if solved else EXPANSIONS), "plan_length": str(len(found.plan or ()))}
    return {"solved": str(int(solved)), "cpu_seconds": f"{time.process_time() - start:.3f}", **counts}


def describe(rows: Sequence[Result], wanted: Sequence[str]) -> Iterator[Table]:
    """Tables of kinds of guidance, over their seeds: solved by domain, in all with intervals, and pairs of kinds."""
    of: dict[str, dict[tuple[str, str], Result]] = defaultdict(dict)
    for row in rows:
        of[row["guidance"]][row["domain"], row["problem"]] = row
    kinds: dict[str, list[str]] = defaultdict(list)
    for label in wanted:
        if of[label]:
            kinds[label.rpartition("/")[0] or label].append(label)
    solved = {label: {key: row["solved"] == "1" for key, row in found.items()} for label, found in of.items()}
    yield Table(
        f"solved of {len({row['problem'] for row in rows})} within {EXPANSIONS} expansions, means over seeds",
        ("domain", *kinds),
        [[domain, *(show_mean([sum(is_solved for key, is_solved in solved[label].items() if key[0] == domain)
                               for label in labels]) for labels in kinds.values())]
         for domain in sorted({row["domain"] for row in rows})],
    )  # fmt: skip
    yield Table(
        "seeds of a kind",
        ("kind", "seeds", "solved", "fewest, most", "95 % interval", "expansions"),
        [[kind, *describe_seeds([solved[label] for label in labels], [of[label] for label in labels])]
         for kind, labels in kinds.items()],
        note="solved, expansions: means over seeds; 95 % interval: percentile bootstrap over problems",
    )  # fmt: skip
    yield Table(
        "kinds compared",
        ("first", "second", "more", "fewer", "p (sign)", "fewer in", "expansions second/first", "p (Wilcoxon)"),
        [
            [first, second, *compare(kinds[first], kinds[second], of, solved)]
            for place, first in enumerate(reversed(kinds))
            for second in list(kinds)[: len(kinds) - 1 - place]
        ],
        texts=2,
        note="more, fewer: problems that the first solves with a larger or smaller share of its seeds; fewer in: "
        "domains with p < 0.05; expansions: geometric means over seeds, then over problems that both solve with a seed",
    )


def show_mean(counts: Sequence[int]) -> str:
    """The mean, with a digit where it is not whole."""
    return f"{np.mean(counts):.1f}".removesuffix(".0")


def describe_seeds(
    solved: Sequence[Mapping[tuple[str, str], bool]], of: Sequence[Mapping[tuple[str, str], Result]]
) -> list[str]:
    """The cells of the models of one kind; an interval is of the mean over seeds and varies with the problems."""
    counts = [sum(one.values()) for one in solved]
    shares = [float(np.mean([one[key] for one in solved])) for key in solved[0]]
    low, high = (len(shares) * share for share in bootstrap(shares, np.mean))
    expanded = np.mean([sum(int(row["expanded"]) for row in rows.values()) for rows in of])
    spread, interval = f"{min(counts)}, {max(counts)}", f"{low:.0f} to {high:.0f}"
    return [str(len(counts)), show_mean(counts), spread, interval, f"{expanded:,.0f}"]


def compare(
    first: Sequence[str],
    second: Sequence[str],
    of: Mapping[str, Mapping[tuple[str, str], Result]],
    solved: Mapping[str, Mapping[tuple[str, str], bool]],
) -> list[str]:
    """The cells of a comparison, whose tests have one value for each problem."""
    ours, theirs = ({key: float(np.mean([solved[label][key] for label in labels])) for key in solved[labels[0]]}
                    for labels in (first, second))  # fmt: skip
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    ratios = []
    for key in sorted(ours.keys() & theirs.keys()):
        counts[key[0]][0] += ours[key] > theirs[key]
        counts[key[0]][1] += ours[key] < theirs[key]
        if ours[key] and theirs[key]:
            ours_log, theirs_log = (
                np.mean([math.log(int(of[label][key]["expanded"]) + 1) for label in labels if solved[label][key]])
                for labels in (first, second)
            )
            ratios.append(float(theirs_log - ours_log))
    more, fewer = (sum(numbers[place] for numbers in counts.values()) for place in (0, 1))
    weak = [name for name, (a, b) in counts.items() if b > a and mcnemar(a, b) < 0.05]
    ratio = f"{math.exp(np.mean(ratios)):.2f}" if ratios else ""
    of_solved = format_probability(mcnemar(more, fewer))
    of_expanded = format_probability(wilcoxon(ratios).pvalue) if any(ratios) else ""
    return [str(more), str(fewer), of_solved, ", ".join(weak) or "none", ratio, of_expanded]


if __name__ == "__main__":
    main(sys.argv[1:])
