"""Deliberate faults, each a mistake in one place, and the test files that must find them: `tests.faults.run` tries all.

The places of the core are changed in one build, where FAULT is true iff the fault is enabled.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tests.helpers.benchmark_files import ROOT


class Fault(NamedTuple):
    """A deliberate fault.

    Attributes:
        effect: its effect.
        changes: file, right code, and wrong code.
        tests: files whose fast tests detect it, or one test of an expensive file as `file::test`.
    """

    effect: str
    changes: tuple[tuple[str, str, str], ...]
    tests: tuple[str, ...]


AGREEMENT = "tests/epigym/core/test_core_agreement.py"
FAULTS: Mapping[str, Fault] = {
    "update: facts": Fault(
        "facts that an event deletes stay true",
        (("epigym/core/update.cpp", "else truth.subtract(where);", "else if (!FAULT) truth.subtract(where);"),),
        (AGREEMENT,),
    ),
    "update: unchanged": Fault(
        "an update that changes only facts counts as no change",
        (("epigym/core/update.cpp", "if (before != after) return true;", "if (before != after) return !FAULT;"),),
        (AGREEMENT,),
    ),
    "update: observers": Fault(
        "all agents have the observability type of the first one",
        (("epigym/core/update.cpp", "type_[i] = chosen;", "type_[i] = FAULT && i > 0 ? type_[0] : chosen;"),),
        (AGREEMENT,),
    ),
    "update: shared event model": Fault(
        "actions with one event model are confused, even if agents observe them differently",
        (("epigym/core/update.cpp", "for (auto type : type_) hash", "if (!FAULT) for (auto type : type_) hash"),
         ("epigym/core/update.cpp", "if (!std::equal(type_", "if (!FAULT && !std::equal(type_")),
        (AGREEMENT,),
    ),
    "contraction: too coarse": Fault(
        "beliefs about facts distinguish worlds, but beliefs about beliefs do not",
        (("epigym/core/contraction.cpp", "split_by_successors()) colour();",
          "split_by_successors()) { colour(); if (FAULT) break; }"),),
        (AGREEMENT,),
    ),
    "contraction: order": Fault(
        "rows are not in canonical order",
        (("epigym/core/contraction.cpp", "sort(images_, [](const auto& a, const auto& b) { return lowest",
          "if (!FAULT) sort(images_, [](const auto& a, const auto& b) { return lowest"),),
        (AGREEMENT,),
    ),
    "hash: another each time": Fault(
        "equal e-states have different hashes",
        (("epigym/core/space.cpp", "^ length;", "^ length ^ (FAULT ? ++fault_calls : 0);"),),
        (AGREEMENT,),
    ),
    "hash: equality": Fault(
        "all hashes are equal, and e-states of the same length count as equal",
        (("epigym/core/space.cpp", "return mix(hash ^ last,", "return FAULT ? 0 : mix(hash ^ last,"),
         ("epigym/core/space.cpp", "std::memcmp((*this)[id]", "!FAULT * std::memcmp((*this)[id]")),
        (AGREEMENT,),
    ),
    "applicability: conditions": Fault(
        "applicability ignores all of an action's condition except its literals",
        (("epigym/core/update.cpp", "if (!state_.truths.holds(action.applicability))",
          "if (!FAULT && !state_.truths.holds(action.applicability))"),),
        (AGREEMENT,),
    ),
    "applicability: index": Fault(
        "the index treats negative literals as positive",
        (("epigym/core/applicability.cpp", "children.front()], false}", "children.front()], FAULT}"),),
        (AGREEMENT,),
    ),
    "goal": Fault(
        "only the first subgoal counts",
        (("epigym/core/space.cpp", "return std::all_of(task_->goal.begin()",
          "return FAULT ? state.truths.holds(task_->goal.at(0)) : std::all_of(task_->goal.begin()"),),
        ("tests/search/agents/test_agents_on_tasks.py",),
    ),
    "domains: coin": Fault(
        "whoever looks at the box when somebody peeks sees the coin, too",
        (("domains/coin_in_the_box.py", "observes=always([actor]),\n        aware=_audience(actor, names),",
          "observes={actor: \"\", **_audience(actor, names)},"),),
        ("tests/domains/test_plans.py",),
    ),
    "errors: caret": Fault(
        "the caret of a message stands one column too far to the right",
        (("epigym/errors.py", "{' ' * (column - 1)}^", "{' ' * column}^"),),
        ("tests/epigym/language/test_mastar_errors.py",),
    ),
    "names: one line": Fault(
        "a name with a line break at its end counts as one line",
        (("epigym/names.py", "f\"{name}.\".splitlines()", "name.splitlines()"),),
        ("tests/epigym/task/test_task.py", "tests/epigym/io/test_files.py"),
    ),
    "io: not renamed": Fault(
        "a file is written in place, so that an interruption leaves half of it",
        (("epigym/io/files.py",
          "    with replacing(path) as temporary:\n        temporary.write_text(as_unicode(text),",
          "    Path(path).write_text(as_unicode(text),"),),
        ("tests/epigym/io/test_files.py",),
    ),
    "io: no checksum": Fault(
        "a file without a checksum counts as undamaged",
        (("epigym/io/checksummed.py", "value.pop(_CHECKSUM, None) != digest(value)",
          "value.pop(_CHECKSUM, digest(value)) != digest(value)"),),
        ("tests/epigym/io/test_checksummed.py",),
    ),
    "config: not a number": Fault(
        "a setting that is not a number passes its bounds",
        (("epigym/config/values.py", "AtLeast: (ge,", "AtLeast: (lambda value, least: not value < least,"),),
        ("tests/epigym/config/test_values.py",),
    ),
    "task: symmetry": Fault(
        "an exchange that changes the goal counts as a symmetry, so that different e-states count as alike",
        (("epigym/task/symmetry.py",
          "        if self._goal_after(FormulaNumbers(self._number, agents, fluents)) != self._goal:\n"
          "            return None\n", ""),),
        ("tests/epigym/task/test_symmetry.py",),
    ),
    "task: reachability": Fault(
        "an event that cannot be designated counts as possible",
        (("epigym/task/reachability.py", "map(action.events.__getitem__, action.designated)", "action.events"),),
        ("tests/epigym/task/test_reachability.py",),
    ),
    "task: group belief": Fault(
        "a subgoal that everybody believes something is split into the belief of the first agent only",
        (("epigym/task/formula.py", "for agent in formula.agents for part in parts)",
          "for agent in formula.agents[:1] for part in parts)"),),
        ("tests/epigym/task/test_task.py", "tests/search/heuristics/test_goal_count.py"),
    ),
    "reference: common knowledge": Fault(
        "what is not true is no common knowledge, even if everybody believes it",
        (("epigym/reference/semantics.py", "found = wider\n        return found",
          "found = wider\n        return found | targets"),),
        ("tests/epigym/reference/test_reference.py",),
    ),
    "reference: effects": Fault(
        "an event that deletes and adds a fluent deletes it",
        (("epigym/reference/semantics.py",
          "key=lambda one: one[0].value", "key=lambda one: not one[0].value"),),
        ("tests/epigym/reference/test_reference_definitions.py", "tests/epigym/reference/test_reference.py"),
    ),
    "reference: sensed world": Fault(
        "after an outcome the actual world is the first designated one",
        (("epigym/reference/semantics.py", "after.designated[self.worlds.index(world)]", "after.designated[0]"),),
        ("tests/epigym/envs/test_sampled_nature.py",),
    ),
    "language: awareness": Fault(
        "agents who are only aware of sensing learn what is sensed",
        (("epigym/language/mastar/event_models.py", "\"partial\": (*(sensed,) * count, epsilon)",
          "\"partial\": (*(frozenset({event}) for event in range(count)), epsilon)"),),
        ("tests/epigym/language/test_mastar.py",),
    ),
    "language: literals": Fault(
        "with determines=literals a comma list is still sensed as a conjunction",
        (("epigym/language/mastar/event_models.py", "if not one_by_one or not fluents:",
          "if not one_by_one or len({effect.condition for effect in self.effects}) == 1:"),),
        ("tests/epigym/language/test_mastar.py",),
    ),
    "language: designated worlds": Fault(
        "of several designated worlds of an EPDDL theory only the first is read",
        (("epigym/language/epddl/initial.py", "tuple(np.flatnonzero(designated).tolist())",
          "tuple(np.flatnonzero(designated)[:1].tolist())"),),
        ("tests/epigym/language/test_epddl.py",),
    ),
    "problem: parameters": Fault(
        "the objects of a problem are those of the instance, not of the parameters that override it",
        (("epigym/problem.py", "_structure(task, known, {**named, **parameters})",
          "_structure(task, known, {**parameters, **named})"),),
        ("tests/epigym/test_problem.py",),
    ),
    "space: consistent beliefs": Fault(
        "a search from another e-state forgets that beliefs must stay consistent",
        (("epigym/space/search_problem.py", "self.task, consistent_beliefs=space.consistent_beliefs, symmetry",
          "self.task, symmetry"),),
        ("tests/epigym/space/test_search_problem.py",),
    ),
    "space: sampled plan": Fault(
        "the walk that proves a sampled goal goes on after the goal",
        (("epigym/space/sampling.py", "tuple(actions[:reached])", "tuple(actions[: reached + 1])"),),
        ("tests/epigym/space/test_traversal.py",),
    ),
    "space: signature": Fault(
        "tasks that differ in the events that can happen count as equal",
        (("epigym/space/signature.py", "\"designated\" if index in action.designated else \"event\"", "\"event\""),),
        ("tests/epigym/space/test_signature.py",),
    ),
    "features: orders": Fault(
        "orders between landmarks are reversed",
        (("epigym/features/relaxation.py", "before[place[one], place[other]] = True",
          "before[place[other], place[one]] = True"),),
        ("tests/epigym/features/test_landmarks.py",),
    ),
    "encoding: agents": Fault(
        "the nodes of two agents are exchanged",
        (("epigym/encoding/goal_graph.py", "FIRST_AGENT + index for index, agent in enumerate(self.task.agents)",
          "FIRST_AGENT + index for index, agent in enumerate(reversed(self.task.agents))"),),
        ("tests/epigym/encoding/test_encoding.py",),
    ),
    "encoding: bitmask": Fault(
        "the numbers of goal nodes overlap the last fluent",
        (("epigym/encoding/identifiers.py", "self.repetition_bits + self.fluent_bits, self.width",
          "self.repetition_bits + self.fluent_bits - 1, self.width"),),
        ("tests/epigym/encoding/test_encoding.py",),
    ),
    "drawing: who saw": Fault(
        "an agent that considers an event possible among others is said to have seen it",
        (("epigym/drawing/steps.py", "if all(row == {event} for", "if all(event in row for"),),
        ("tests/epigym/drawing/test_steps.py",),
    ),
    "drawing: changed worlds": Fault(
        "a world counts as changed when an agent considers the same worlds possible",
        (("epigym/drawing/steps.py", "for pair in row} != known", "for pair in row} == known"),),
        ("tests/epigym/drawing/test_steps.py",),
    ),
    "drawing: text of pictures": Fault(
        "the page shrinks pictures so that their text has fewer than 11 pixels",
        (("epigym/drawing/page.py", "SMALLEST, LARGEST, HIGHEST = 0.75", "SMALLEST, LARGEST, HIGHEST = 0.6"),),
        ("tests/epigym/drawing/test_page.py",),
    ),
    "reports: interval of a share": Fault(
        "the interval of a share is exact, not Wilson's",
        (("search/reports/metrics.py", 'method="wilson"', 'method="exact"'),),
        ("tests/search/reports/test_metrics.py",),
    ),
    "drawing: standing": Fault(
        "a true belief of an agent that is mistaken about the world counts as knowledge",
        (("epigym/drawing/beliefs.py", "Standing.KNOWS: right & itself[:, None],", "Standing.KNOWS: right,"),),
        ("tests/epigym/drawing/test_steps.py",),
    ),
    "envs: mask": Fault(
        "the mask after a step is that before it",
        (("epigym/envs/env.py", "invalid = not self.action_masks()[action]",
          "mask = self.action_masks()\n        invalid = not mask[action]"),
         ("epigym/envs/env.py", "info = self.information(is_goal, invalid)\n",
          "info = self.information(is_goal, invalid) | {\"action_mask\": mask.astype(np.int8)}\n")),
        ("tests/epigym/envs/test_env.py",),
    ),
    "envs: perspective": Fault(
        "the mask of an agent shows what is applicable, not what it believes applicable",
        (("epigym/envs/aec.py", "applicable([seen])[0, self._own[agent]]",
          "applicable([self.central.state])[0, self._own[agent]]"),),
        ("tests/epigym/envs/test_aec.py",),
    ),
    "envs: question": Fault(
        "a question is about beliefs that are nested once less than asked for",
        (("epigym/envs/questions.py", "for _ in range(depth):", "for _ in range(max(depth - 1, 1)):"),),
        ("tests/epigym/envs/test_text.py",),
    ),
    "envs: asked agent": Fault(
        "the text of a question names the first agent of the task, not the one of its formula",
        (("epigym/envs/questions.py", "Does {asked.agents[0]}", "Does {self._task.agents[0]}"),),
        ("tests/epigym/envs/test_text.py",),
    ),
    "cli: exit code": Fault(
        "a missing model counts as wrong input",
        (("epigym/cli/codes.py", "(MissingError, cls.NO_INPUT),\n            (EpigymError, cls.BAD_INPUT),",
          "(EpigymError, cls.BAD_INPUT),\n            (MissingError, cls.NO_INPUT),"),),
        ("tests/epigym/cli/test_command.py::test_a_command_that_meets_a_wrong_file_leaves_no_folder",),
    ),
    "cli: quotes": Fault(
        "a text that looks like a number is read as a number",
        (("epigym/cli/words.py", "and not (is_text and _NUMBER.fullmatch(element))", "or _NUMBER.fullmatch(element)"),),
        ("tests/epigym/cli/test_words.py",),
    ),
    "cli: split settings": Fault(
        "a setting that the shell has split at its blanks is looked for in the word after it only",
        (("epigym/cli/words.py", "range(start + 2, len(words) + 1)", "range(start + 2, start + 3)"),),
        ("tests/epigym/cli/test_command.py::test_a_setting_in_another_place_or_form_is_suggested",),
    ),
    "cli: close names": Fault(
        "a prefix that all names share makes unlike settings close",
        (("domains/names.py", "len(prefix) if all(other.startswith(prefix) for other in names) else 0", "0"),),
        ("tests/epigym/cli/test_suggestions.py",),
    ),
    "cli: parameters": Fault(
        "a parameter of a domain wins over a setting of the command",
        (("epigym/cli/words.py", "(parameter != name or name not in hints) and", ""),),
        ("tests/epigym/cli/test_words.py",),
    ),
    "config: inputs": Fault(
        "a file to be written is an input only under the same name",
        (("epigym/config/values.py", "if samefile(file, other):", "if str(file) == other:"),),
        ("tests/epigym/cli/test_command.py::test_a_wrong_line_is_answered_in_one_and_leaves_nothing",),
    ),
    "language: notations": Fault(
        "a foreign notation is recognised only where the parser stops, not just before",
        (("epigym/language/source.py", "if found.start() <= offset and", "if found.start() == offset and"),),
        ("tests/epigym/language/test_epddl_errors.py",),
    ),
    "language: contradictions": Fault(
        "an event that adds and deletes an atom under conditions of its own warns, too",
        (("epigym/language/epddl/checker.py", "stated.setdefault((*context, atom), ", "stated.setdefault((atom,), "),),
        ("tests/epigym/language/test_epddl_readings.py",),
    ),
    "learn/data: labels": Fault(
        "labels are one too large, except at goals",
        (("learn/data/labels.py", "        distances[frontier] = distance\n        distance += 1\n",
          "        distances[frontier] = distance\n        distance += 1 + (distance == 0)\n"),),
        ("tests/learn/data/test_explorers.py",),
    ),
    "learn/data: pairs": Fault(
        "in pairs of a plan, an e-state of the plan counts as worse than itself",
        (("learn/data/pairs.py", "np.setdiff1d(space.expand([state]).target, [state, after])",
          "np.setdiff1d(space.expand([state]).target, [state])"),),
        ("tests/learn/data/test_pairs.py::test_a_plan_is_preferred_to_what_it_leaves_aside",),
    ),
    "io: progress of stages": Fault(
        "a stage that an error has left stays in the lines of later stages",
        (("epigym/io/progress.py", "del _open[_open.index(self) :]", "_open.remove(self)"),),
        ("tests/epigym/io/test_progress.py",),
    ),
    "learn/data: visits": Fault(
        "the progress of exploring counts the e-states of the last problem only",
        (("learn/data/sources.py", "self._earlier + visited", "visited"),),
        ("tests/learn/data/test_dataset.py::test_exploring_shows_the_e_states_of_all_problems",),
    ),
    "learn/data: worlds": Fault(
        "depth-first exploration goes on beyond the maximum number of worlds",
        (("learn/data/explorers.py", " and worlds <= max_worlds", ""),),
        ("tests/learn/data/test_explorers.py",),
    ),
    "learn/models: unknown features": Fault(
        "a feature that a linear model does not know has the weight of the next one",
        (("learn/models/linear/model.py", "np.where(self.colours[place] == colour, self.weights[place], 0.0)",
          "self.weights[place]"),),
        ("tests/learn/models/test_linear_model.py",),
    ),
    "learn/training: verdict": Fault(
        "a network that is worse on more problems than its control is called a gain",
        (("learn/training/verdict.py", 'return "gain" if found.better > found.worse else "loss"',
          'return "gain"'),),
        ("tests/learn/test_verdict.py",),
    ),
    "learn/training: verdict by Holm": Fault(
        "comparisons of a verdict are not corrected for their number",
        (("learn/training/verdict.py", "(len(found) - place) * found[key]", "found[key]"),),
        ("tests/learn/test_verdict.py",),
    ),
    "learn/training: diagnosis": Fault(
        "values that are all clamped, to one bound or the other, count as different",
        (("learn/training/diagnosis.py", " or np.isin(seen, np.rint([0.0, STEP * highest])).all()", ""),),
        ("tests/learn/test_diagnosis.py",),
    ),
    "learn/training: expert": Fault(
        "an e-state that the expert does not solve is worse than all others",
        (("learn/training/expert/plans.py", "QUARTER * answer.expanded", "np.inf"),),
        ("tests/learn/test_expert.py",),
    ),
    "learn/training: calibration": Fault(
        "the values of e-states on a plan are calibrated to one step too many",
        (("learn/training/validation.py", "np.arange(len(states) - 1, -1, -1,", "np.arange(len(states), 0, -1,"),),
        ("tests/learn/models/test_calibration.py",),
    ),
    "search/heuristics: landmarks": Fault(
        "a landmark is required again only if it is part of the goal",
        (("search/heuristics/landmarks.py", "again = self._is_goal | (~accepted @ self._before.T > 0)",
          "again = np.broadcast_to(self._is_goal, accepted.shape)"),),
        ("tests/search/heuristics/test_landmarks.py",),
    ),
    "search/agents: depth bound": Fault(
        "the search for shorter plans drops e-states one action too early",
        (("search/agents/anytime.py", "if depth + 2 < length:", "if depth + 3 < length:"),),
        ("tests/search/agents/test_anytime.py",),
    ),
    "search/agents: pause": Fault(
        "the time limit goes on while the clock of a search stands still",
        (("search/agents/limits.py", "        self._start += pause\n        self._deadline += pause\n",
          "        self._start += pause\n"),),
        ("tests/search/agents/test_limits.py",),
    ),
    "search/processes: memory limit": Fault(
        "a process that is killed at the memory limit is reported as late",
        (("search/processes/supervisor.py", "return self._stop(SearchStatus.MEMORY_LIMIT)",
          "return self._stop(SearchStatus.TIME_LIMIT)"),),
        ("tests/search/processes/test_supervisor.py",),
    ),
    "search/processes: starts of threads": Fault(
        "two threads start processes at a time",
        (("search/processes/starting.py", "with _STARTING, _defer_signals(), _hide_main_script():",
          "with _defer_signals(), _hide_main_script():"),),
        ("tests/search/processes/test_supervisor.py",),
    ),
    "search/planning: proof of optimality": Fault(
        "a plan counts as shortest when a limit ends the search for shorter ones",
        (("search/planning/improvement.py", "optimal=end is SearchStatus.UNSOLVABLE",
          "optimal=end is not SearchStatus.ERROR"),),
        ("tests/search/planning/test_anytime.py",),
    ),
    "search/planning: allowance": Fault(
        "shortening a plan takes as much work as it likes",
        (("search/planning/shortening.py", "return self.limit is None and self.spent < self.most",
          "return self.limit is None"),),
        ("tests/search/planning/test_shortening.py",),
    ),
    "search/planning: draft": Fault(
        "the file of a plan appears before the plan is validated",
        (("search/planning/planner.py", "write_json(make_unverified_path(plan_file), plan)",
          "write_json(make_unverified_path(plan_file), plan), write_json(plan_file, plan)"),),
        ("tests/faults/test_faults.py",),
    ),
    "search/planning: time of imports": Fault(
        "imports during the search of `interleaved` count twice in the total time",
        (("search/planning/single_search.py", "search_seconds=result.costs.search_seconds - (searched - built),",
          "search_seconds=result.costs.search_seconds,"),),
        ("tests/search/planning/test_times.py",),
    ),
    "search/policies: skipped outcome": Fault(
        "the validation of a policy skips an outcome without a branch",
        (("search/policies/validation.py", "        if len(fitting) != 1:",
          "        if not fitting:\n            continue\n        if len(fitting) != 1:"),),
        ("tests/search/policies/test_policy.py",),
    ),
    "search/policies: least depth": Fault(
        "the search for a policy of least depth ends one level early",
        (("search/policies/policy_search.py", "self.graph.depth[self._root] > distance + 1, count()",
          "self.graph.depth[self._root] > distance + 2, count()"),),
        ("tests/search/policies/test_policy_search.py",),
    ),
    "search/evaluation: counts": Fault(
        "the table keeps counts of searches that a time limit ended, which differ from run to run",
        (("search/evaluation/record.py", "result.status.is_decided or result.status is SearchStatus.EXPANSION_LIMIT",
          "result.status is not SearchStatus.ERROR"),),
        ("tests/search/evaluation/test_evaluate.py",),
    ),
    "search/reports: solved": Fault(
        "a report counts proofs of unsolvability as plans",
        (("search/reports/outcomes.py", "return self.status is SearchStatus.SOLVED", "return self.status.is_decided"),),
        ("tests/search/reports/test_report.py",),
    ),
    "search/reports: sign test": Fault(
        "the test of two configurations is one-sided",
        (("search/reports/metrics.py", "stats.binomtest(first, first + second).pvalue",
          "stats.binomtest(first, first + second, alternative=\"greater\").pvalue"),),
        ("tests/search/reports/test_metrics.py",),
    ),
    "search/exploring: nested perspective": Fault(
        "what an agent believes that another one sees is what the other one believes that it sees",
        (("search/exploring/exploration.py", "reduce(KripkeModel.perspective, agents,",
          "reduce(KripkeModel.perspective, reversed(agents),"),),
        ("tests/search/exploring/test_exploration.py",),
    ),
    "search/exploring: changes": Fault(
        "an agent that is unsure about a fact is said to be sure whether it holds",
        (("search/exploring/exploration.py", "yield or_(it, opposite)", "yield or_(it, not_(it))"),),
        ("tests/search/exploring/test_exploration.py",),
    ),
    "commands: exit code": Fault(
        "the exit code is that of the last search that is compared, not that of the search",
        (("search/solve.py", "ExitCode.of(results[0].status)", "ExitCode.of(results[-1].status)"),),
        ("tests/search/test_commands.py::test_exit_codes_say_how_a_search_ended",),
    ),
    "commands: attempts": Fault(
        "the table of sampled problems counts one attempt too few",
        (("learn/sample.py", "removeprefix(f\"{split}_\")) + 1)", "removeprefix(f\"{split}_\")))"),),
        ("tests/learn/data/test_sample.py",),
    ),
}  # fmt: skip
CORE_FAULTS = [name for name, fault in FAULTS.items() if fault.changes[0][0].startswith("epigym/core/")]
"""`EPI_FAULT` is the position of the enabled one, counted from 1."""


def find_stale() -> list[str]:
    """Find faults with a test that does not exist, or a place that is not exactly once in the sources."""
    return [
        name
        for name, fault in FAULTS.items()
        if not all(map(_has_test, fault.tests))
        or any((ROOT / file).read_text(encoding="utf-8").count(right) != 1 for file, right, _ in fault.changes)
    ]


def _has_test(name: str) -> bool:
    file, _, test = name.partition("::")
    return (ROOT / file).is_file() and f"\ndef {test}" in (ROOT / file).read_text(encoding="utf-8")


def put_in(folder: Path, fault: Fault, **replaced: str) -> None:
    """Make the changes of a fault in a copy of the sources, with words of the wrong code replaced."""
    for file, right, wrong in fault.changes:
        for word, by in replaced.items():
            wrong = wrong.replace(word, by)
        text = (folder / file).read_text(encoding="utf-8")
        (folder / file).write_text(text.replace(right, wrong), encoding="utf-8")
