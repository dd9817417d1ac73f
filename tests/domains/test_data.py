"""The data files of the domains: which are read, when, and that they are valid EPDDL by themselves."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from domains import DOMAINS, find
from domains.blocks_world.published import INSTANCES, TEST, TRAIN
from domains.writing.epddl import parts
from epigym.language import load
from epigym.problem import domain_problem
from tests.helpers.benchmark_files import ROOT

DATA = ROOT / "domains" / "data"


def run(script: str) -> str:
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout


def test_no_data_file_is_read_at_import() -> None:
    script = (
        "import epigym, domains; from domains.data import read_text\n"
        "print(read_text.cache_info().misses)\n"
        "domains.find('gossip/gos_03_all'); print(read_text.cache_info().misses)\n"
        "domains.find('blocks_world/bw_05'); print(read_text.cache_info().misses)\n"
        "for _ in range(2): domains.text('gossip'); print(read_text.cache_info().misses)"
    )
    assert run(script).split() == ["0", "0", "1", "3", "3"]


def test_every_data_file_is_part_of_an_instance() -> None:
    script = (
        "import domains; from domains.data import read_text\n"
        "for domain in domains.DOMAINS.values():\n"
        "    for name in domain.train + domain.test: domain.text(domain.instance(name))\n"
        "print(read_text.cache_info().currsize)"
    )
    assert int(run(script)) == len([path for path in DATA.iterdir() if path.suffix in (".epddl", ".json")])


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
    problem.write_text(parts(find(name)[0].text(parameters))["problem"], encoding="utf-8")
    task = load(problem, domain_file=DATA / f"{file}.epddl", libraries=DATA / "action_types.epddl")
    assert replace(task, name=name, domain=name, instance="") == domain_problem(name, **parameters)


def test_instances_of_the_blocks_world_are_to_train_test_or_validate_with() -> None:
    assert {*TRAIN, *TEST} < set(INSTANCES)
    assert set(TEST) == {name for name in INSTANCES if not name.startswith("g_")}
    assert set(INSTANCES) - {*TRAIN, *TEST} == {"g_bw_05_s1", "g_bw_06_s2", "g_bw_4_4_2_clumsy_w2_beliefs_s1"}
