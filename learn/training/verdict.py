"""The verdict on a network: its searches beside the same search before training and beside baselines.

The problems are used neither for training nor for choosing the network. They stand in tiers: published tests, new
problems of the training sizes, and larger ones. Problems are compared one by one, never by sums of expansions.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest

from learn.training.diagnosis import Diagnosis

NETWORK: Final = "network"
UNTRAINED: Final = "untrained"
"""The control: the same search with the network before training."""
PUBLISHED: Final = "published tests"
NEW: Final = "new problems of the training sizes"
LARGER: Final = "new larger problems"
HELD_OUT: Final = "held-out problems"
LEVEL: Final = 0.05
"""Probability up to which a difference is called one."""
FEWEST: Final = 6
"""Problems that are better or worse; with fewer even a one-sided result has a probability above `LEVEL`."""
_RESAMPLES = 10_000

_COLUMNS = "    {:26}{:>7}{:>8}{:>7}  {:18}{:>8}"
_AGENTS = {"hfs": "greedy search", "hfs_star": "HFS*"}
_WORDS = {
    "gain": "gain over {0}",
    "loss": "loss to {0}",
    "no difference": "no difference from {0} shown",
    "too few": "too few problems to tell from {0} ({1} differ)",
}

NAMES: Final = {
    UNTRAINED: "the untrained network",
    "goal_count": "the goal count",
    "h_add": "h_add alone",
    "h_ff": "h_ff alone",
    "bfs": "bfs",
}
"""The searches with which a network is compared, in sentences."""

Expanded = tuple[int | None, ...]
"""Number of expansions on each problem; None if it is not solved."""


@dataclass(frozen=True, slots=True)
class PairedExpansions:
    """Two searches on the same problems.

    Attributes:
        ours: expansions of the network.
        others: expansions of the other search.
    """

    ours: Expanded
    others: Expanded

    @property
    def better(self) -> int:
        """Number of problems that only the network solves, or with fewer expansions."""
        return sum(_is_better(one, two) for one, two in zip(self.ours, self.others, strict=True))

    @property
    def worse(self) -> int:
        """Number of problems that only the other search solves, or with fewer expansions."""
        return PairedExpansions(self.others, self.ours).better

    @property
    def untied(self) -> int:
        """Number of problems that are better or worse."""
        return self.better + self.worse

    @property
    def p(self) -> float:
        """Probability, were both equally good, of counts at least as uneven (exact two-sided sign test)."""
        return float(binomtest(self.better, self.untied).pvalue) if self.untied else 1.0

    @property
    def _logs(self) -> NDArray[np.float64]:
        """float64[k]: logarithms of the ratios of expansions on the problems that both solve."""
        pairs = zip(self.ours, self.others, strict=True)
        both = [(one, two) for one, two in pairs if one is not None and two is not None]
        found: NDArray[np.float64] = np.diff(np.log(np.maximum(both, 1)), axis=1)[:, 0] if both else np.empty(0)
        return -found

    @property
    def common(self) -> int:
        """Number of problems that both solve."""
        return len(self._logs)

    @property
    def ratio(self) -> float | None:
        """Geometric mean of the ratios of expansions, ours to theirs, on common problems; None without one."""
        return float(np.exp(self._logs.mean())) if self.common else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % bootstrap interval of the ratio; None with fewer than two common problems."""
        logs = self._logs
        if len(logs) < 2:
            return None
        places = np.random.default_rng(0).integers(len(logs), size=(_RESAMPLES, len(logs)))
        low, high = np.exp(np.quantile(logs[places].mean(axis=1), (0.025, 0.975)))
        return float(low), float(high)


def _is_better(one: int | None, two: int | None) -> bool:
    return one is not None and (two is None or one < two)


@dataclass(frozen=True, slots=True)
class Tier:
    """Searches on problems of one kind.

    Attributes:
        name: of the kind.
        domains: of the problems; empty for files of none.
        limit: maximum number of expansions on a problem.
        problems: name and sizes (`fluents`, `agents`, `worlds` of the initial e-state) of each.
        expanded: the expansions of each search by its name, `NETWORK` and `UNTRAINED` first.
        diagnosis: of the values of the network.
    """

    name: str
    domains: tuple[str, ...]
    limit: int
    problems: tuple[Mapping[str, Any], ...]
    expanded: Mapping[str, Expanded]
    diagnosis: Diagnosis

    def compare(self, name: str) -> PairedExpansions:
        """The network beside another search."""
        return PairedExpansions(self.expanded[NETWORK], self.expanded[name])

    @property
    def others(self) -> list[str]:
        """The names of the searches with which the network is compared, the control first."""
        return [name for name in self.expanded if name != NETWORK]

    def count_solved(self, name: str) -> int:
        """Number of problems that a search solves."""
        return sum(count is not None for count in self.expanded[name])


@dataclass(frozen=True)
class Verdict:
    """Comparisons of a network with its control and with baselines in tiers of problems.

    Attributes:
        agent: of the searches.
        base: the base heuristic that the network corrects.
        tiers: at least one; the last one decides.
    """

    agent: str
    base: str
    tiers: tuple[Tier, ...]

    @property
    def main(self) -> Tier:
        """The tier that decides: larger problems, else new ones of the training sizes."""
        return self.tiers[-1]

    @property
    def is_trained(self) -> bool:
        """Whether the kept network took a step; else it is its own control."""
        return UNTRAINED in self.main.expanded

    @cached_property
    def probabilities(self) -> dict[tuple[str, str], float]:
        """By tier and search the p of each comparison; all but that of the control in the main tier by Holm's method.

        Comparisons with fewer than `FEWEST` untied problems can show nothing and are not counted.
        """
        found = {(tier.name, name): tier.compare(name) for tier in self.tiers for name in tier.others}
        main = (self.main.name, UNTRAINED)
        family = {key: one.p for key, one in found.items() if key != main and one.untied >= FEWEST}
        return {key: one.p for key, one in found.items()} | correct_by_holm(family)

    def find_word(self, tier: Tier, name: str) -> str:
        """`gain`, `loss`, `no difference`, or `too few` problems to tell."""
        found = tier.compare(name)
        if found.untied < FEWEST:
            return "too few"
        if self.probabilities[tier.name, name] > LEVEL:
            return "no difference"
        return "gain" if found.better > found.worse else "loss"

    @property
    def word(self) -> str:
        """The word for the control in the main tier; `untrained` if the kept network took no step."""
        return self.find_word(self.main, UNTRAINED) if self.is_trained else "untrained"

    @property
    def is_gain(self) -> bool:
        """Whether training gained over the same search before it, in the main tier."""
        return self.word == "gain"

    def describe(self) -> list[str]:
        """The verdict in lines of at most 80 characters: its words, then a table for each tier."""
        agent = _AGENTS.get(self.agent, self.agent)
        limits = ", ".join(f"{limit:,} on {names}" for limit, names in self._list_limits())
        found = [
            *_wrap(f"verdict: {self._conclude()}", 0),
            *_wrap(f"{agent}; most expansions on a problem: {limits}", 2),
        ]
        for tier in self.tiers:
            found += ["", *self._describe_tier(tier)]
        return found

    def _list_limits(self) -> list[tuple[int, str]]:
        limits = dict.fromkeys(tier.limit for tier in self.tiers)
        return [(one, " and ".join(tier.name for tier in self.tiers if tier.limit == one)) for one in limits]

    def _conclude(self) -> str:
        if not self.is_trained:
            return "untrained, no validation after a step was better than the one before"
        return f"{self._say(self.main, UNTRAINED)} on {self.main.name}"

    def _say(self, tier: Tier, name: str) -> str:
        """One of the words, about a search."""
        return _WORDS[self.find_word(tier, name)].format(self._name(name), tier.compare(name).untied)

    def _name(self, name: str) -> str:
        own = f" ({self.base})" if name == UNTRAINED and self.base != "none" else ""
        return NAMES[name] + own

    def _describe_tier(self, tier: Tier) -> Iterator[str]:
        where = ", ".join(tier.domains) if len(tier.domains) < 3 else f"{len(tier.domains)} domains"
        yield f"  {tier.name}: {len(tier.problems)} problems" + (f" of {where}" if where else "")
        yield from _wrap("; ".join(self._say(tier, name) for name in tier.others))
        yield _COLUMNS.format("", "solved", "better", "worse", "times expansions", "p").rstrip()
        yield _COLUMNS.format(NETWORK, tier.count_solved(NETWORK), "", "", "", "").rstrip()
        for name in tier.others:
            found, p = tier.compare(name), self.probabilities[tier.name, name]
            counts = tier.count_solved(name), found.better, found.worse
            shown = "" if found.untied < FEWEST else format_p(p)
            yield _COLUMNS.format(self._name(name).removeprefix("the "), *counts, format_ratio(found), shown).rstrip()
        yield from _wrap(tier.diagnosis.describe())

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values."""
        return {
            "agent": self.agent,
            "base": self.base,
            "is_trained": self.is_trained,
            "word": self.word,
            "is_gain": self.is_gain,
            "main": self.main.name,
            "tiers": [self._to_dict(tier) for tier in self.tiers],
            "text": self.describe(),
        }

    def _to_dict(self, tier: Tier) -> dict[str, Any]:
        return {
            "name": tier.name,
            "domains": list(tier.domains),
            "limit": tier.limit,
            "problems": [dict(one) for one in tier.problems],
            "expanded": {name: list(found) for name, found in tier.expanded.items()},
            "comparisons": {
                name: {
                    "better": found.better,
                    "worse": found.worse,
                    "common": found.common,
                    "p": self.probabilities[tier.name, name],
                    "ratio": found.ratio,
                    "interval": found.interval and list(found.interval),
                    "word": self.find_word(tier, name),
                }
                for name, found in ((name, tier.compare(name)) for name in tier.others)
            },
            "diagnosis": tier.diagnosis.to_dict(),
        }


def correct_by_holm(found: Mapping[Any, float]) -> dict[Any, float]:
    """Correct the p of several tests so that all hold together (Holm 1979)."""
    largest, corrected = 0.0, {}
    for place, key in enumerate(sorted(found, key=found.__getitem__)):
        largest = max(largest, min(1.0, (len(found) - place) * found[key]))
        corrected[key] = largest
    return corrected


def format_ratio(found: PairedExpansions) -> str:
    """The ratio of expansions with its interval; empty without common problems."""
    if found.ratio is None:
        return ""
    interval = found.interval
    return f"{found.ratio:.2f}" + (f" [{interval[0]:.2f}, {interval[1]:.2f}]" if interval else "")


def format_p(p: float) -> str:
    """A probability with two digits."""
    return "< 0.001" if p < 0.001 else f"{p:.2g}"


def _wrap(text: str, indent: int = 4) -> list[str]:
    blank = " " * indent
    later = " " * (indent or 2)
    return textwrap.wrap(text, 80, initial_indent=blank, subsequent_indent=later, break_on_hyphens=False)
