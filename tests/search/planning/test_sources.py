"""Sources: agents and `search.plan` take environments, tasks, spaces and names."""

import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import yaml

import search
from docs.examples.mistakes import Mistakes
from epigym import EpistemicEnv, PaddedObservation, SearchProblem, StateSpace, Task, load_problem
from epigym.errors import UsageError
from epigym.reference.semantics import validate
from search.agents import make_agent, run_agent
from search.agents.result import SearchResult, SearchStatus
from search.heuristics import Heuristic, make_heuristic
from search.heuristics.goal_count import GoalCount, SplitGoalCount
from search.heuristics.learned import Learned
from search.planning.configuration import Configuration
from search.planning.options import SearchOptions
from search.planning.planner import find_plan
from search.policies.planner import plan
from search.solve import Solve, solve
from tests.helpers.benchmark_files import ROOT
from tests.helpers.commands import compose
from tests.helpers.tasks import coin, delusion

NAME = "grapevine/3_pl_4"
PLAN = ("share_a_sa_1", "share_b_sb_1", "right_a", "share_c_sc_1")
GREEDY = {"agent": "hfs", "heuristic": "goal_count"}
CONFIGURATIONS = [{"agent": "bfs"}, GREEDY, {"agent": "hfs_star", "heuristic": "goal_count"}]


def random_env(seed: int, steps: int = 0) -> gymnasium.Env[Any, Any]:
    """Grapevine with a random goal, after some random steps or at a goal."""
    env = gymnasium.make("epi/Grapevine-v0", random_goals=True)
    env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        if not env.unwrapped.is_goal():
            env.step(rng.choice(np.flatnonzero(env.unwrapped.action_masks())))
    return env


def reaches_goal(env: gymnasium.Env[Any, Any], found: tuple[str, ...]) -> bool:
    """Whether the last action of a plan ends the episode, and no earlier one."""
    ends = [bool(env.step(env.unwrapped.action_names.index(name))[2]) for name in found]
    return ends == [False] * (len(found) - 1) + [True] if found else env.unwrapped.is_goal()


@pytest.mark.parametrize(("seed", "steps"), [(0, 0), (1, 0), (2, 0), (1, 2), (1, 4), (2, 4), (3, 4), (4, 4)])
@pytest.mark.parametrize("settings", CONFIGURATIONS, ids=lambda settings: settings["agent"])
def test_plans_from_environments_reach_their_goal(settings: dict[str, str], seed: int, steps: int) -> None:
    env = random_env(seed, steps)
    problem = env.unwrapped.search_problem()
    heuristic = partial(make_heuristic, settings["heuristic"]) if "heuristic" in settings else None
    alone = run_agent(make_agent(settings["agent"]), env, heuristic)
    result = search.plan(env, **settings)
    made = StateSpace(problem.task)  # as the task that has that start and goal
    theirs = run_agent(make_agent(settings["agent"]), made, heuristic)
    assert (alone.expanded, alone.generated, alone.plan) == (theirs.expanded, theirs.generated, theirs.plan)
    assert len(alone.plan) == len(result.plan)
    for found in (alone.plan, result.plan):
        assert validate(problem.task, found).valid
        snapshot = env.unwrapped.clone_state()
        assert reaches_goal(env, found)
        env.unwrapped.restore_state(snapshot)


def test_later_plans() -> None:
    assert search.plan(random_env(0), agent="bfs").status is SearchStatus.SOLVED
    result = search.plan(random_env(0, steps=2), agent="bfs")
    assert (result.status, result.plan) == (SearchStatus.UNSOLVABLE, None)
    assert result.is_partly_checked
    first = search.plan("grapevine/3_pl_7", **GREEDY)
    best = search.plan("grapevine/3_pl_7", **GREEDY, anytime=True)
    assert (len(best.plan), best.optimal) == (7, True)
    assert len(first.plan) > 7


@pytest.mark.parametrize("settings", CONFIGURATIONS, ids=lambda settings: settings["agent"])
def test_all_sources_of_a_problem_give_the_same_plan(settings: dict[str, str]) -> None:
    task = load_problem(NAME)
    space = StateSpace(task)
    space.expand([0])
    env = gymnasium.make("epi/Problem-v0", path=NAME)
    wrapped = PaddedObservation(env)
    wrapped.reset()
    results = [search.plan(one, **settings) for one in (NAME, task, space, SearchProblem.of(task), env, wrapped)]
    expected = find_plan(task, Configuration.of(**settings))
    for result in results:
        assert result.plan == expected.plan
        assert (result.problem, result.expanded) == (NAME, expected.expanded)


def test_consistent_beliefs_of_the_source_hold() -> None:
    task = delusion()
    free, forbidding = StateSpace(task), StateSpace(task, consistent_beliefs=True)
    elsewhere = SearchProblem(forbidding, forbidding.successor(0, 0), task.goal)
    for source, settings, status in (
        (free, {}, SearchStatus.SOLVED),
        (forbidding, {}, SearchStatus.UNSOLVABLE),
        (elsewhere, {}, SearchStatus.UNSOLVABLE),
        (task, {"consistent_beliefs": True}, SearchStatus.UNSOLVABLE),
        (EpistemicEnv(task, consistent_beliefs=True), {}, SearchStatus.UNSOLVABLE),
    ):
        result = search.plan(source, agent="bfs", **settings)
        assert (result.status, result.consistent_beliefs) == (status, source is not free)
        if not settings:
            assert run_agent(make_agent("bfs"), source).status is status


def test_symmetry_and_threads_of_the_source_are_made_use_of() -> None:
    task = load_problem("gossip")
    plain, reduced = (search.plan(StateSpace(task, symmetry=on), agent="bfs") for on in (False, True))
    named = search.plan(task, agent={"name": "bfs", "symmetry": True})
    assert reduced.generated == named.generated < plain.generated
    given = StateSpace(task, symmetry=True, threads=2)
    within = Configuration.of("bfs").adapt_to(given)
    assert (within.agent["symmetry"], within.agent["threads"]) == (True, 2)
    asked = Configuration.of({"name": "bfs", "symmetry": True, "threads": 3})
    assert asked.adapt_to(StateSpace(task)).agent == asked.agent


def test_a_heuristic_for_another_space_is_refused() -> None:
    env = random_env(2, steps=3)
    problem = env.unwrapped.search_problem()
    agent = make_agent("hfs")
    space = env.unwrapped.space
    for other in (GoalCount(space), make_heuristic("goal_count", env), SplitGoalCount(StateSpace(coin()))):
        with pytest.raises(UsageError, match=r"'.*goal_count' .* another state space .*: make both for one"):
            run_agent(agent, problem, other)
    assert run_agent(agent, problem, GoalCount(problem.search_space)).plan
    assert run_agent(agent, problem, GoalCount(space=problem.search_space)).plan
    assert run_agent(agent, problem, make_heuristic("goal_count", problem)).plan
    assert run_agent(agent, problem, GoalCount).plan
    assert run_agent(make_agent("bfs"), problem, GoalCount(env.unwrapped.space)).plan  # not asked


def test_the_estimates_are_those_of_the_goal_that_is_searched() -> None:
    asked: list[Heuristic] = []

    def make(space: StateSpace) -> Heuristic:
        asked.append(GoalCount(space))
        return asked[-1]

    problem = random_env(3, steps=2).unwrapped.search_problem()
    run_agent(make_agent("hfs"), problem, make)
    truth = problem.space.query(problem.goal)([problem.start])
    assert asked[0].score(np.array([0], dtype=np.int32)).tolist() == [(~truth).sum()]


@pytest.mark.parametrize("heuristic", ["goal_count", 3, lambda space: space], ids=["name", "number", "function"])
def test_an_invalid_heuristic_is_refused(heuristic: Any) -> None:
    with pytest.raises(UsageError, match=r"^heuristic=.*: expected a Heuristic, its class"):
        run_agent(make_agent("hfs"), NAME, heuristic)


def test_a_learned_heuristic_finds_the_model_of_the_domain_under_any_goal() -> None:
    problem = random_env(1, steps=2).unwrapped.search_problem()
    assert Path(Learned(problem.search_space).model).stem == "grapevine"
    result = search.plan(problem, agent="hfs", heuristic="learned")
    assert validate(problem.task, result.plan).valid


def test_classes_of_ones_own() -> None:
    own = search.plan("coin_in_the_box/pl_7", agent="hfs", heuristic=Mistakes)
    named = search.plan("coin_in_the_box/pl_7", "hfs", {"_target_": "docs.examples.mistakes.Mistakes", "weight": 1.0})
    assert (own.plan, own.expanded, own.heuristic) == (named.plan, named.expanded, "Mistakes")
    assert run_agent(make_agent("hfs"), "coin_in_the_box/pl_7", Mistakes).plan == own.plan


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"agent": {"name": "lazy", "bost": 3}, "heuristic": "h_add"}, "did you mean 'boost'"),
        ({"heuristic": "h_add"}, "'interleaved' takes no heuristic: leave it out, or choose agent='hfs'"),
        ({"agent": make_agent("bfs")}, "must be a name, a mapping of name and settings, or a class"),
        ({"agent": int}, "is no class that derives from search.agents.agent.Agent"),
        ({"time_limit": "soon"}, "time_limit=soon: expected a number"),
        ({"verify": "none"}, "unknown verify 'none': expected one of 'bounded', 'whole'"),
        ({"verify": "whole", "policy": "strong"}, "verify='whole' is for linear plans: the and-or graph proves"),
        ({"consistent_beliefs": 1}, "consistent_beliefs=1: expected true or false"),
    ],
)
def test_wrong_arguments_are_answered_before_the_problem_is_read(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        search.plan("no such problem", **arguments)
    assert message in str(caught.value)


def test_the_defaults_are_those_of_the_command() -> None:
    defaults = yaml.safe_load((ROOT / "conf" / "solve.yaml").read_text(encoding="utf-8"))
    assert {"agent": plan.__defaults__[0]} in defaults["defaults"]  # type: ignore[index]
    named = dict(zip(("agent", "heuristic"), plan.__defaults__, strict=True)) | plan.__kwdefaults__
    del named["agent"], named["consistent_beliefs"]
    assert {name: defaults[name] for name in named} == named
    assert isinstance(search.plan(NAME), SearchResult)


@pytest.mark.parametrize("verify", ["bounded", "whole"])
def test_how_much_is_verified(verify: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def record(task: Task, configuration: Configuration, options: SearchOptions, *_: Any, **__: Any) -> SearchResult:
        assert options.verify == verify
        raise KeyError("recorded")

    monkeypatch.setattr("search.policies.planner.find_plan", record)
    monkeypatch.setattr("search.planning.planner.find_plan", record)
    with pytest.raises(KeyError, match="recorded"):
        search.plan(NAME, verify=verify)
    with pytest.raises(KeyError, match="recorded"):
        solve(compose(Solve, "solve", f"problem={NAME}", f"verify={verify}"))


def test_the_package_is_light_until_it_plans() -> None:
    script = "import sys, search; print(*{name.partition('.')[0] for name in sys.modules}); search.plan"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert "search" in loaded
    assert {"numpy", "epigym", "learn", "yaml", "psutil"}.isdisjoint(loaded)
    with pytest.raises(AttributeError, match="module 'search' has no attribute 'paln'"):
        search.paln  # noqa: B018


SCRIPT = """
import threading
import search

threading.Thread(target=threading.Event().wait, daemon=True).start()  # this process cannot be copied
print(*search.plan("grapevine/3_pl_4", agent="bfs").plan)
"""


def test_a_script_needs_no_guard(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, env={"PYTHONPATH": str(ROOT)})
    assert (done.stdout, done.stderr) == (" ".join(PLAN) + "\n", "")
