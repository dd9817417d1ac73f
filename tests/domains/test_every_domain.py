"""What every domain in the registry promises."""

import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import domains
from domains import DOMAINS, DomainError, checks, find
from domains.domain import SPLITS
from domains.writing.epddl import parts
from epigym.language import Reading, load, theories
from epigym.language.epddl import expansion
from epigym.problem import domain_problem, vocabulary
from epigym.space.sampling import sample_walk
from epigym.space.space import StateSpace
from epigym.task.formula import MAX_LEVELS, TRUE, considers_possible
from search.planning.configuration import Configuration
from search.planning.options import SearchOptions
from search.planning.planner import find_plan
from tests.benchmarks.sizes import SIZES
from tests.helpers.benchmark_files import ROOT
from tests.helpers.domain_problems import read
from tests.helpers.marks import slow_but

BASES: dict[str, dict[str, Any]] = {"blocks_world": {"tier": "clumsy"}}
"""Parameters of problems in which all others matter, where the defaults are none."""


def documented(domain: str) -> dict[str, str]:
    """What the documentation says of each parameter."""
    base = DOMAINS[domain].base
    _, _, text = DOMAINS[domain].documentation.partition("Args:\n")
    parts = re.split(r"^    (\w+): ", text.partition("\n\n")[0], flags=re.MULTILINE)
    return (documented(base.name) if base else {}) | dict(zip(parts[1::2], parts[2::2], strict=True))


def lower_bounds() -> Iterator[tuple[str, str, int]]:
    """Every lower bound of whole numbers in the documentation of a parameter."""
    for domain in DOMAINS:
        for name, text in documented(domain).items():
            found = re.match(r"[^.;]*?\bat least (\d+)\b", text)
            if found:
                yield domain, name, int(found[1])


def sampled(domain: str, split: str, count: int) -> Iterator[dict[str, Any]]:
    return (DOMAINS[domain].sample(split, Random(f"{split} {seed}")) for seed in range(count))


@pytest.mark.parametrize("domain", DOMAINS)
def test_every_parameter_is_documented_and_refuses_nonsense(domain: str) -> None:
    assert list(documented(domain)) == list(DOMAINS[domain].defaults)
    for name in documented(domain):
        with pytest.raises(DomainError) as caught:
            domains.write(domain, **{**BASES.get(domain, {}), name: 2.5})
        assert name in str(caught.value)
        assert "2.5" in str(caught.value)


def test_documented_lower_bounds_are_those_that_are_checked() -> None:
    known = list(lower_bounds())
    assert len(known) >= 33
    for domain, name, low in known:
        with pytest.raises(DomainError, match=rf"^{name} must be a whole number, at least \d+, got {low - 1}$"):
            domains.write(domain, **{**BASES.get(domain, {}), name: low - 1})
        domains.write(domain, **{**BASES.get(domain, {}), name: max(low, DOMAINS[domain].defaults[name] or 0)})


def test_sizes_beyond_a_limit_are_refused_before_anything_is_built() -> None:
    for domain, name, _ in lower_bounds():
        with pytest.raises(DomainError) as caught:
            domains.write(domain, **{**BASES.get(domain, {}), name: 10**9})
        assert re.fullmatch(
            rf"more than \d+ [a-z ]+ with (.+, )?{name}={10**9}(, .+)?: lower (.+ or )?{name}( or .+)?"
            rf"|{name} must be a whole number from \d+ to \d+, got {10**9}"
            rf"|highest must be a whole number, at least {10**9 + 1}, got 6",
            str(caught.value),
        )


@pytest.mark.parametrize(
    ("domain", "parameters"),
    [
        ("coin_in_the_box", {"agents": 9}),
        ("collaboration_communication", {"agents": 4, "boxes": 3, "rooms": 9}),
        ("grapevine", {"agents": 5, "rooms": 9}),
        ("selective_communication", {"agents": 30, "rooms": 40}),
        ("selective_communication_enriched", {"rooms": 20, "useless": 9, "toggles": True}),
    ],
)
def test_statements_are_estimated_well(
    domain: str, parameters: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    estimates = []

    def note(what: str, count: int, most: int, **_: int) -> None:
        if what == "statements":
            assert most == checks.MAX_STATEMENTS
            estimates.append(count)

    monkeypatch.setattr(f"domains.{domain}.check_limit", note)
    text = domains.write(domain, **parameters)
    others = ("fluent", "action", "agent", "initially", "goal")
    lines = re.sub(r"^%.*$", "", text, flags=re.MULTILINE).split(";")
    count = sum(not line.strip().startswith(others) for line in lines if line.strip())
    assert count <= estimates[-1] <= 2 * count


def test_every_domain_has_a_large_size() -> None:
    assert list(SIZES) == list(DOMAINS)
    for domain in ("blocks_world", "consecutive_numbers", "search_and_rescue", "room_messages"):
        assert len(domains.write(domain, **SIZES[domain])) < 10**6


def test_limits_are_those_of_the_readers() -> None:
    assert checks.MAX_WORLDS == theories.MAX_WORLDS
    assert (checks.MAX_INSTANCES, checks.MAX_EXPANDED) == (expansion.MAX_INSTANCES, expansion.MAX_EXPANDED)
    assert checks.MAX_LEVELS == MAX_LEVELS


@pytest.mark.filterwarnings("ignore:.*the goal contradicts itself")  # all formulas of a vocabulary together
@pytest.mark.parametrize("domain", slow_but(DOMAINS, "active_muddy_child", "assembly_line", "coin_in_the_box"))
def test_every_size_is_read_without_a_warning_and_has_a_vocabulary(domain: str) -> None:
    for parameters in ({}, BASES.get(domain, {}), *sampled(domain, "train", 4), *sampled(domain, "validation", 1)):
        task = read(domain, **parameters)
        assert task.goal
        assert all(name.isidentifier() for name in task.fluents)
        texts, formulas = vocabulary(domain, **parameters)
        assert len(set(texts)) == len(texts) == len(formulas) == len(set(formulas))
        other = domain_problem(domain, **{**parameters, "goals": texts})
        assert set(other.goal) == set(formulas)
        assert other.actions == task.actions
        assert other.initial == task.initial
    chosen = DOMAINS[domain]
    assert chosen.vocabulary(**chosen.defaults) == chosen.vocabulary()
    assert inspect.signature(chosen.vocabulary).parameters.keys() - {"_"} <= chosen.defaults.keys()


@pytest.mark.parametrize("domain", DOMAINS)
def test_the_default_problem_has_a_plan(domain: str) -> None:
    result = find_plan(read(domain), Configuration.of("hfs_preferred", "h_add"), SearchOptions(None))
    assert result.plan_length


@pytest.mark.parametrize("domain", [name for name, domain in DOMAINS.items() if "seed" in domain.defaults])
def test_the_seed_decides_what_is_sampled(domain: str) -> None:
    for base in ({}, BASES.get(domain, {})):
        texts = [domains.write(domain, seed=seed, **base) for seed in range(8)]
        assert texts == [domains.write(domain, seed=seed, **base) for seed in range(8)]
        assert len(set(texts)) > 2


@pytest.mark.parametrize("domain", DOMAINS)
def test_beliefs_remain_consistent_if_the_domain_says_so(domain: str) -> None:
    space = StateSpace(read(domain))
    consistent = space.query(considers_possible(agent, TRUE) for agent in space.task.agents)
    walks = (sample_walk(space, np.random.default_rng(seed), steps=40)[0] for seed in range(10))
    assert all(consistent(states).all() for states in walks) == DOMAINS[domain].consistent_beliefs


@pytest.mark.parametrize("domain", slow_but(DOMAINS, "coin_in_the_box", "gossip", "search_and_rescue"))
def test_instances_ranges_and_growth_are_legal_and_lines_short_enough_to_read(domain: str) -> None:
    chosen = DOMAINS[domain]
    assert not {*chosen.train} & {*chosen.test}
    longest, comment = (100, "% ") if chosen.language == "mA*" else (120, ";; ")
    growing = chosen.growth.sizes if chosen.growth else ()
    found = (parameters for split in SPLITS for parameters in sampled(domain, split, 3))
    for parameters in (*chosen.instances.values(), *growing, *found):
        lines = chosen.write(parameters).splitlines()
        assert max(map(len, lines)) <= longest, parameters
        assert lines[0].startswith(comment)


def test_text_is_the_same_in_every_process() -> None:
    script = (
        "import domains, hashlib\n"
        "digest = hashlib.sha256()\n"
        "for domain in domains.DOMAINS.values():\n"
        "    for name in (*domain.train, *domain.test):\n"
        "        digest.update(domain.write(domain.instance(name)).encode())\n"
        "print(digest.hexdigest())"
    )
    assert len({run(script, {"PYTHONHASHSEED": seed}) for seed in ("1", "2")}) == 1


DATA = ROOT / "domains" / "data"


def run(script: str, env: dict[str, str] | None = None) -> str:
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=env).stdout


def test_no_data_file_is_read_at_import() -> None:
    script = (
        "import epigym, domains; from domains.data import read_text\n"
        "print(read_text.cache_info().misses)\n"
        "domains.find('gossip/gos_03_all'); print(read_text.cache_info().misses)\n"
        "domains.find('blocks_world/bw_05'); print(read_text.cache_info().misses)\n"
        "for _ in range(2): domains.write('gossip'); print(read_text.cache_info().misses)"
    )
    assert run(script).split() == ["0", "1", "2", "4", "4"]


def test_every_data_file_is_part_of_an_instance() -> None:
    script = (
        "import domains; from domains.data import read_text\n"
        "for domain in domains.DOMAINS.values():\n"
        "    for name in domain.train + domain.test: domain.write(domain.instance(name))\n"
        "print(read_text.cache_info().currsize)"
    )
    files = {path.name for path in DATA.iterdir() if path.suffix in (".epddl", ".json")}
    assert int(run(script)) == len(files | {f"{name}.json" for name in DOMAINS})


@pytest.mark.parametrize(
    ("file", "parameters"),
    [
        ("active_muddy_child", {}),
        ("blocks_world_single", {}),
        ("blocks_world_several", {"tier": "several", "blocks": 3}),
        ("blocks_world_clumsy", {"tier": "clumsy", "blocks": 3}),
        ("cloud_scheduling", {}),
        ("consecutive_numbers", {}),
        ("gossip_basic", {}),
        ("gossip_private", {"kind": "private"}),
        ("gossip_deceived", {"kind": "deceived"}),
    ],
)
def test_domain_and_library_are_valid_files(tmp_path: Path, file: str, parameters: dict[str, Any]) -> None:
    name = next(name for name in DOMAINS if file.startswith(name))
    problem = tmp_path / "problem.epddl"
    problem.write_text(parts(find(name)[0].write(parameters))["problem"], encoding="utf-8")
    reading = Reading(domain_file=str(DATA / f"{file}.epddl"), libraries=(str(DATA / "action_types.epddl"),))
    task = load(problem, reading)
    assert replace(task, name=name, domain=name, instance="") == domain_problem(name, **parameters)
