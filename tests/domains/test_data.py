"""The data files of the domains: all are read, none at import, and those in EPDDL are valid by themselves."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from domains import DOMAINS, find
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
    task = load(problem, domain_file=DATA / f"{file}.epddl", libraries=DATA / "action_types.epddl")
    assert replace(task, name=name, domain=name, instance="") == domain_problem(name, **parameters)
