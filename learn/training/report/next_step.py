"""The training that a verdict suggests next, see "When there is no gain" in `docs/neural.md`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from learn.data.sources import SampledData, keep_known
from learn.training.options import Training
from learn.training.verdict import Verdict

PLANS: Final = 80
"""Number of problems of an expert in a suggested training."""
GROWTH: Final = 0.5
"""The largest suggested share of the growing problems that those of an expert come from."""
MORE: Final = 4
"""How many times as many problems are suggested to learn from."""
_SOURCE = ("consistent_beliefs", "determines", "domain", "domain_file", "libraries", "plank_compat", "problem",
           "semantics", "without")  # fmt: skip
_OWN = ("ckpt_path", "run_dir", "hydra.")
_AS_THIS, _WITH_PLANS = "about as long as this training", "5 to 10 minutes on two cores"
_OBJECTIVE = ("objective", "validation")


@dataclass(frozen=True, slots=True)
class NextStep:
    """A training that may help.

    Attributes:
        reason: its purpose, in words.
        duration: how long it takes, in words.
        overrides: settings of `learn.train`.
    """

    reason: str
    duration: str
    overrides: tuple[str, ...]


def suggest_step(settings: Training, verdict: Verdict, given: Sequence[str]) -> NextStep | None:
    """The training that is most likely to help; None after a gain.

    Args:
        settings: of the training that is judged.
        verdict: on its network.
        given: its settings on the command line.
    """
    if verdict.is_gain:
        return None
    again = [one for one in given if not _is_of(one, _OWN)]
    domains = keep_known(verdict.main.domains)
    plans = {"expert.problems": PLANS} if domains else {}
    if settings.encoding.get("name") != "relational":
        source = [one for one in again if _is_of(one, _SOURCE)]
        named = {} if any(_is_of(one, ("domain", "problem")) for one in source) else {"domain": ",".join(domains)}
        more, duration = (", and from plans of larger problems", _WITH_PLANS) if plans else ("", _AS_THIS)
        chosen = {"encoding": "relational", **named, **plans}
        return _make(f"learn from types in place of identifiers{more}", duration, source, chosen)
    if domains and not settings.expert.problems:
        ranking = [one for one in again if not _is_of(one, _OBJECTIVE)]
        return _make("learn from plans of larger problems, too", _WITH_PLANS, ranking, plans)
    if domains and settings.expert.growth < GROWTH:
        return _make("learn from plans of still larger problems", _WITH_PLANS, again, {"expert.growth": GROWTH})
    if isinstance(settings.data, SampledData) and not domains:
        more_goals = {"data.instances": MORE * settings.data.instances}
        return _make("learn from more goals", "at most four times as long as this training", again, more_goals)
    other = "h_add" if settings.base == "h_ff" else "h_ff"
    return _make(f"correct {other}", _AS_THIS, again, {"base": other})


def _make(reason: str, duration: str, given: Sequence[str], new: Mapping[str, Any]) -> NextStep:
    """A step with the given settings but those of new names, and the new ones."""
    kept = [one for one in given if one.partition("=")[0] not in new]
    return NextStep(reason, duration, (*kept, *(f"{name}={value}" for name, value in new.items())))


def _is_of(override: str, names: Sequence[str]) -> bool:
    """Whether an override is of a setting of some names, or of a part of one."""
    name = override.lstrip("+~").partition("=")[0]
    return any(name == one or name.startswith(f"{one.removesuffix('.')}.") for one in names)
