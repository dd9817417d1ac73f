"""Cards of the models that come with epigym, in the form of Hugging Face: metadata, uses, data, evaluation, limits.

`tests.tools.ship` writes them beside the models.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import yaml

from epigym.config.packages import PLACE
from epigym.io.files import read_rows
from epigym.io.tables import Table
from learn.models import open_model
from learn.models.gine.kinds import GINE
from learn.models.linear.model import LINEAR
from learn.models.model import GENERAL, Model
from learn.models.shipped import SHIPPED, read_defaults
from tests.benchmarks.networks import COLUMNS, EXPANSIONS

ROWS: Final = PLACE / "docs" / "results" / "networks.csv.gz"
BASES: Final = ("h_ff", "h_add")
TITLES: Final = {GINE: "GINE networks for epistemic planning", LINEAR: "Linear models for epistemic planning"}
TAGS: Final = {GINE: ["graph-neural-networks", "gine"], LINEAR: ["linear-models"]}
TEXTS: Final = {
    GINE: """\
Graph neural networks with three residual GINE layers of width 16. Each corrects a relaxation heuristic, `h_add` or
`h_ff`, so that greedy search prefers better successors.""",
    LINEAR: """\
Linear models over relational features of an e-state and its goal. Most have the value of `h_add` or `h_ff` as a
feature.""",
}
CARD: Final = """\
---
{metadata}---

# {title}

{text} One belongs to each domain, and `general` to all other problems.

They come with [epigym](../../../../README.md) under its MIT licence as safetensors, {size} kB in all, and are
evaluated without PyTorch. [The neural heuristic](../../../../docs/neural.md) describes them.

## Uses

```text
python -m search.solve problem=gossip agent=hfs heuristic=learned \\
  heuristic.model=learn/models/shipped/{kind}/gossip.safetensors
```

`heuristic=learned` alone, and the default search, take the model that `choice.json` names for the domain, which is
one of these for {chosen}.

## Training data

{data}
`data=sampled` samples the problems; at most 20,000 e-states of each are explored. None is isomorphic to a problem of a
suite for tests.

## Evaluation

{validation}
{tests}
Searches are greedy and take at most {expansions:,} expansions, which an unsolved test problem counts.
[Measured](../../../../docs/neural.md#measured) describes the test problems:

    python -m tests.benchmarks.networks guidance=h_ff,h_add,{kind}

## Limits

- Values order e-states. They are no bounds: plans need not be shortest, and no value proves a dead end.
- The models learned from small problems. On test problems these solve fewer than `h_add` alone: {worse}.
- Types of objects and beliefs that training did not have add nothing to a value. `heuristic.least_known` is the share
  of known types from which on the default search uses a model.
- Each has one seed. [Measured](../../../../docs/neural.md#measured) shows how far seeds differ.

## Citation

`CITATION.cff` of epigym.
"""


class Counts(NamedTuple):
    """What searches did: problems solved, and expansions, an unsolved problem counting as the limit."""

    solved: int
    expanded: int

    def __str__(self) -> str:
        return f"{self.solved}, {self.expanded:,}"


def make_card(kind: str) -> str:
    """The card of all models of a kind, as Markdown with metadata in YAML."""
    paths = sorted((SHIPPED / kind).glob("*.safetensors"))
    models = [open_model(path) for path in paths]
    rows = read_rows(ROWS, COLUMNS)
    tested = {model.domain: counts for model in models if kind in (counts := count_tests(model, rows))}
    metadata = {
        "license": "mit",
        "library_name": "epigym",
        "pipeline_tag": "graph-ml",
        "tags": ["planning", "epistemic-planning", "heuristic-search", *TAGS[kind]],
        "model-index": [make_entry(kind, name, counts[kind]) for name, counts in tested.items()],
    }
    chosen = (name for name, path in sorted(read_defaults().items()) if path.parent.name == kind)
    worse = (name for name, counts in tested.items() if counts[kind].solved < counts["h_add"].solved)
    return CARD.format(
        metadata=yaml.safe_dump(metadata, sort_keys=False, width=120),
        title=TITLES[kind],
        text=TEXTS[kind],
        size=sum(path.stat().st_size for path in paths) // 1000,
        kind=kind,
        chosen=", ".join(chosen),
        data=describe_data(models).markdown(),
        validation=make_table("validation problems, which selected the models", kind,
                              {model.domain: count_validation(model) for model in models}),
        tests=make_table("test problems, used for no choice: 10 for each model, 140 for general", kind, tested),
        expansions=EXPANSIONS,
        worse=", ".join(worse) or "none",
    )  # fmt: skip


def make_entry(kind: str, domain: str, counts: Counts) -> dict[str, Any]:
    """The entry of a model in the index of the metadata: its results on the test problems."""
    dataset = {"type": f"epigym/{domain}", "name": "sampled test problems", "split": "test"}
    metrics = [
        {"type": "solved", "name": "solved problems", "value": counts.solved},
        {"type": "expanded", "name": "expansions", "value": counts.expanded},
    ]
    task = {"type": "graph-ml", "name": "greedy best-first search"}
    return {"name": f"{kind}/{domain}", "results": [{"task": task, "dataset": dataset, "metrics": metrics}]}


def make_table(caption: str, kind: str, counts: Mapping[str, Mapping[str, Counts]]) -> str:
    """What searches did with the relaxations alone and with the models."""
    names = (*BASES, kind)
    rows = [[domain, *(str(found.get(name, "–")) for name in names)] for domain, found in counts.items()]
    return Table(f"{caption}: solved, expansions", ("model", *names), rows).markdown()


def describe_data(models: Iterable[Model]) -> Table:
    """What the models learned from."""
    rows = []
    for model in models:
        data = model.card.get("data", {})
        settings = {**model.card, **data, **data.get("data", {})}
        expert = "an expert" if data.get("added") else ""
        seconds = f"{model.card['seconds']:,.0f}"
        base = getattr(model, "representation", model).base
        rows.append([model.domain, str(settings["instances"]), expert, base, str(model.card["seed"]), seconds])
    return Table(
        "problems of each domain, plans of larger problems, corrected heuristic, seed, and time in seconds",
        ("model", "problems", "plans of", "base", "seed", "time"), rows,
    )  # fmt: skip


def count_validation(model: Model) -> dict[str, Counts]:
    """What searches did on validation problems, by heuristic, as the card in the file says."""
    found = model.card["validation"]
    if model.kind == LINEAR:
        return {name: Counts(one["solved"], one["expanded"])
                for name, one in {**model.card["baselines"], LINEAR: found}.items()}  # fmt: skip
    base = "untrained" if "untrained/solved" in found else model.base
    return {name: Counts(int(found[f"{key}/solved"]), int(found[f"{key}/expanded"]))
            for name, key in ((model.base, base), (GINE, "val"))}  # fmt: skip


def count_tests(model: Model, rows: Iterable[Mapping[str, str]]) -> dict[str, Counts]:
    """What searches did on the test problems of the model, by heuristic; without its kind where it was not searched.

    Args:
        model: of a domain, or of all.
        rows: one for each problem and guidance.
    """
    names = {name: name for name in BASES}
    if model.domain != GENERAL:
        names[model.kind] = model.kind
    elif model.kind == GINE:
        names[f"{GENERAL}/{model.card['seed']}"] = GINE
    found: dict[str, Counts] = defaultdict(lambda: Counts(0, 0))
    for row in rows:
        if model.domain in (row["domain"], GENERAL) and row["guidance"] in names:
            name = names[row["guidance"]]
            found[name] = Counts(found[name].solved + int(row["solved"]), found[name].expanded + int(row["expanded"]))
    return found
