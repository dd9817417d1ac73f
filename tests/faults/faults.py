"""Deliberate faults of the core. One build contains them all, and a process enables at most one, see `build`."""

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tests.helpers.benchmark_files import ROOT

CORE = ROOT / "epigym" / "core"
_HEADER = """
#include <cstdint>
#include <cstdlib>
inline std::uint64_t fault_calls = 0;
inline bool has_fault(int number) {
    static const int chosen = std::getenv("EPI_FAULT") ? std::atoi(std::getenv("EPI_FAULT")) : 0;
    return chosen == number;
}
"""


class Fault(NamedTuple):
    """A deliberate fault.

    Attributes:
        effect: its effect.
        changes: file, right code, and wrong code, in which FAULT is true iff this fault is enabled.
        test: an ordinary test that detects it; there may be others.
    """

    effect: str
    changes: tuple[tuple[str, str, str], ...]
    test: str


_AGREEMENT = "tests/epigym/core/test_core_agreement.py::"
FAULTS: Mapping[str, Fault] = {
    "update: facts": Fault(
        "facts that an event deletes stay true",
        (("update.cpp", "else truth.subtract(where);", "else if (!FAULT) truth.subtract(where);"),),
        _AGREEMENT + "test_random_tasks",
    ),
    "update: unchanged": Fault(
        "an update that changes only facts counts as no change",
        (("update.cpp", "if (before != after) return true;", "if (before != after) return !FAULT;"),),
        _AGREEMENT + "test_random_tasks",
    ),
    "update: observers": Fault(
        "all agents have the observability type of the first one",
        (("update.cpp", "type_[i] = chosen;", "type_[i] = FAULT && i > 0 ? type_[0] : chosen;"),),
        _AGREEMENT + "test_random_tasks",
    ),
    "update: shared event model": Fault(
        "actions with one event model are confused, even if agents observe them differently",
        (("update.cpp", "for (auto type : type_) hash", "if (!FAULT) for (auto type : type_) hash"),
         ("update.cpp", "if (!std::equal(type_", "if (!FAULT && !std::equal(type_")),
        _AGREEMENT + "test_random_tasks",
    ),
    "contraction: too coarse": Fault(
        "beliefs about facts distinguish worlds, but beliefs about beliefs do not",
        (("contraction.cpp", "split_by_successors()) colour();",
          "split_by_successors()) { colour(); if (FAULT) break; }"),),
        _AGREEMENT + "test_a_long_chain_distinguishes_worlds",
    ),
    "contraction: order": Fault(
        "rows are not in canonical order",
        (("contraction.cpp", "sort(images_, [](const auto& a, const auto& b) { return lowest",
          "if (!FAULT) sort(images_, [](const auto& a, const auto& b) { return lowest"),),
        _AGREEMENT + "test_interning_ignores_the_order_and_the_number_of_worlds",
    ),
    "hash: another each time": Fault(
        "equal e-states have different hashes",
        (("space.cpp", "^ length;", "^ length ^ (FAULT ? ++fault_calls : 0);"),),
        _AGREEMENT + "test_interning_ignores_the_order_and_the_number_of_worlds",
    ),
    "hash: equality": Fault(
        "all hashes are equal, and e-states of the same length count as equal",
        (("space.cpp", "return mix(hash ^ last,", "return FAULT ? 0 : mix(hash ^ last,"),
         ("space.cpp", "std::memcmp((*this)[id]", "!FAULT * std::memcmp((*this)[id]")),
        _AGREEMENT + "test_a_formula_distinguishes_different_ids",
    ),
    "applicability: conditions": Fault(
        "applicability ignores all of an action's condition except its literals",
        (("update.cpp", "if (!state_.truths.holds(action.applicability))",
          "if (!FAULT && !state_.truths.holds(action.applicability))"),),
        _AGREEMENT + "test_applicable_actions",
    ),
    "applicability: index": Fault(
        "the index treats negative literals as positive",
        (("applicability.cpp", "children.front()], false}", "children.front()], FAULT}"),),
        _AGREEMENT + "test_applicable_actions",
    ),
    "goal": Fault(
        "only the first subgoal counts",
        (("space.cpp", "return std::all_of(task_->goal.begin()",
          "return FAULT ? state.truths.holds(task_->goal.at(0)) : std::all_of(task_->goal.begin()"),),
        "tests/search/agents/test_agents_on_tasks.py::test_uninformed_search_level_by_level_finds_the_only_shortest_plans",
    ),
}  # fmt: skip
"""By short names; `EPI_FAULT` is the position of the enabled fault, counted from 1."""


def find_stale() -> list[str]:
    """Find faults whose test, or place in the sources, does not exist."""
    stale = []
    for name, fault in FAULTS.items():
        file, _, test = fault.test.partition("::")
        has_test = (ROOT / file).exists() and f"\ndef {test}(" in (ROOT / file).read_text(encoding="utf-8")
        texts = {file: (CORE / file).read_text(encoding="utf-8") for file, _, _ in fault.changes}
        if not has_test or any(texts[file].count(right) != 1 for file, right, _ in fault.changes):
            stale.append(name)
    return stale


def build(folder: Path) -> Path:
    """Build the core with all faults from a copy of its sources. Without `EPI_FAULT` the extension enables none."""
    core = folder / "epigym" / "core"
    shutil.copytree(CORE, core)
    shutil.copy(ROOT / "CMakeLists.txt", folder)
    (folder / "faults.hpp").write_text(_HEADER)
    for number, fault in enumerate(FAULTS.values(), start=1):
        for name, right, wrong in fault.changes:
            text = (core / name).read_text(encoding="utf-8")
            wrong = wrong.replace("FAULT", f"has_fault({number})")
            (core / name).write_text(text.replace(right, wrong), encoding="utf-8")
    flags = f"-DCMAKE_CXX_FLAGS=-include {folder}/faults.hpp"
    options = ("-DCMAKE_BUILD_TYPE=Release", f"-DPython_EXECUTABLE={sys.executable}", flags)
    for step in (["-S", ".", "-B", "build", *options], ["--build", "build"]):
        subprocess.run(["cmake", *step], cwd=folder, check=True, capture_output=True)
    [extension] = (folder / "build").glob("_core*.so")
    return extension
