"""From a task to a policy: a linear plan that reaches the goal by every outcome, or a search for branching policies."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from inspect import signature
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, Literal, Never

from epigym.config.values import AtLeast, convert
from epigym.errors import EpigymError, TaskError, UsageError
from epigym.names import unknown
from epigym.reference.semantics import require_consistent_beliefs
from epigym.space.search_problem import SearchProblem, Source
from epigym.space.space import StateSpace
from epigym.task.reachability import may_reach_goal
from epigym.task.task import Task
from search.agents.limits import Limits, memory_bytes, peak_bytes
from search.agents.result import SearchResult, SearchStatus, TaskSize
from search.heuristics.belief_relaxation import RelaxedPlan
from search.planning.configuration import DEFAULT, Choice, Configuration
from search.planning.options import SearchOptions, Verify
from search.planning.planner import File, ProgressReceiver, find_plan, run_search
from search.planning.single_search import search_in_process
from search.policies.policy import Policy, check_policy_file
from search.policies.policy_search import BudgetExceededError, PolicySearch
from search.processes.channel import NO_CHANNEL, ProgressChannel

Kind = Literal["strong", "shortest", "cyclic"]
LINEAR_SHARE, LINEAR_SECONDS = 0.1, 1.0
"""The time limit for the linear plan: a share of the remaining time, and at most so many seconds."""
_UNCERTAIN = "consistent_beliefs=false: the policy may rely on an agent whose beliefs are inconsistent"


@dataclass(frozen=True, slots=True)
class PolicyResult(SearchResult):
    """The outcome of a search for a policy: `agent` is `policy`, `heuristic` is `strong`, `shortest` or `cyclic`.

    Its counts are expanded e-states, outcomes, and e-states of the and-or graph, without the search for a linear plan.

    Attributes:
        policy: the policy, which the reference has executed; None when the search found none. With the status `error`
            it is not valid.
    """

    policy: Policy | None = None

    @property
    def depth(self) -> int | None:
        """The number of actions of the longest execution; None without a policy and for a cyclic policy."""
        return None if self.policy is None else self.policy.depth

    @property
    def leaves(self) -> int | None:
        """The number of goals in which executions end; None without a policy."""
        return None if self.policy is None else self.policy.leaves

    def to_dict(self) -> dict[str, Any]:
        """All attributes, depth and leaves, as JSON values."""
        policy = None if self.policy is None else self.policy.to_dict()
        return asdict(replace(self, policy=None)) | {"policy": policy, "depth": self.depth, "leaves": self.leaves}


def plan(
    source: Source,
    agent: Choice = DEFAULT,
    heuristic: Choice | None = None,
    *,
    policy: Literal["none", "strong", "shortest", "cyclic"] = "none",
    time_limit: float | None = 600.0,
    memory_limit: str | None = None,
    shorten: bool = True,
    anytime: bool = False,
    consistent_beliefs: bool | None = None,
    verify: Verify = "bounded",
    **misspelt: Never,
) -> SearchResult:
    """Search for a plan or a policy in a separate process; the reference re-executes the result.

        >>> import search
        >>> search.plan("grapevine/3_pl_4", agent="bfs").plan
        ('share_a_sa_1', 'share_b_sb_1', 'right_a', 'share_c_sc_1')

    Args:
        source: where to start and what to reach, see `SearchProblem.of`: an environment, from its current e-state to
            its current goal; a state space; a task; or the name or path of a problem.
        agent: a name, a mapping of name and settings as in `conf/agent/<name>.yaml`, or a user-defined class, also
            one of a script, a notebook or a function. A class that cannot be sent to another process searches in this
            one, with a warning. With a policy, this agent searches for the linear plan that is tried first.
        heuristic: the same, for agents that need a heuristic.
        policy: `none` for a linear plan; `strong` for a policy that always reaches the goal, `shortest` for a strong
            policy of least depth, `cyclic` for a policy that may repeat actions (strong cyclic). See `find_policy`.
        time_limit: seconds to build the heuristic and to search, without the re-execution of plans; None for no limit.
        memory_limit: a text such as `8GiB`; None for 80 % of the free memory.
        shorten: whether to shorten a linear plan that is not proved to be shortest, with a fifth of the search's work.
        anytime: whether to go on for shorter plans; for policies use `policy="shortest"`.
        consistent_beliefs: whether to exclude plans that make an agent's beliefs inconsistent; a source whose state
            space excludes them always does. None: yes for policies, no for linear plans.
        verify: how long the reference checks that there is no linear plan: `bounded`, as long as the search took and at
            least 1 s; `whole`, to the end, without a time limit. The result's `proof` says what was checked.
        **misspelt: none; the error for another name suggests the right one.

    Returns:
        The result; `plan` holds the names of the actions, or is None. With a policy a `PolicyResult`.

    Raises:
        UsageError: when an argument is unknown or invalid.
        EpigymError: as `SearchProblem.of`, `find_plan` and `find_policy`.
    """
    for name in misspelt:
        raise UsageError(unknown("argument of search.plan", name, list(signature(plan).parameters)[:-1]))
    seconds = convert(time_limit, Annotated[float, AtLeast(0)] | None, "time_limit")
    memory = memory_bytes(convert(memory_limit, str | None, "memory_limit"))
    limits = Limits(time_limit=seconds, memory_limit=memory)
    policy = convert(policy, Literal["none", "strong", "shortest", "cyclic"], "policy")
    shorten, anytime = convert(shorten, bool, "shorten"), convert(anytime, bool, "anytime")
    if convert(consistent_beliefs, bool | None, "consistent_beliefs") is None:
        consistent_beliefs = policy != "none"
    verify = convert(verify, Verify, "verify")
    if anytime and policy != "none":
        raise UsageError("anytime=True is for linear plans: choose policy='shortest'")
    if verify != "bounded" and policy != "none":
        raise UsageError("verify='whole' is for linear plans: the and-or graph proves that there is no policy")
    configuration = Configuration.of(agent, heuristic)
    if heuristic is not None and configuration.heuristic is None:
        raise UsageError(f"agent {configuration.label!r} takes no heuristic: leave it out, or choose agent='hfs'")
    start = perf_counter()
    problem = SearchProblem.of(source)
    consistent_beliefs = consistent_beliefs or problem.space.consistent_beliefs
    configuration, load_seconds = configuration.adapt_to(problem.space), perf_counter() - start
    search: Callable[..., SearchResult] = find_plan if policy == "none" else partial(find_policy, kind=policy)
    result = search(problem.task, configuration, SearchOptions(limits, anytime, consistent_beliefs, verify, shorten))
    return result.with_costs(load_seconds=load_seconds)


def find_policy(
    task: Task,
    configuration: Configuration,
    options: SearchOptions,
    policy_file: File | None = None,
    on_progress: ProgressReceiver | None = None,
    *,
    kind: Kind = "strong",
) -> PolicyResult:
    """Search for a policy in a separate process; the reference executes every branch of the result.

    A linear plan is tried first, with a limit of expansions of its own, and at most a second. Then replanning on the
    all-outcomes determinisation and breadth-first search of the and-or graph take turns. With `shortest`, the
    breadth-first search goes on until no policy has a lower depth; where a limit ends it, the result is the best policy
    known.

    Args:
        task: the planning task.
        configuration: agent and heuristic for the linear plan; the agent's threads also compute relaxations.
        options: the limits, without which this process searches, and whether to exclude e-states in which an agent's
            beliefs are inconsistent.
        policy_file: the file for the valid policy, see `Policy.write`; an earlier policy there is removed first.
        on_progress: receives counts and results of the running search.
        kind: `strong`, `shortest` or `cyclic`, as `policy` of `plan`.

    Returns:
        The result. The status `unsolvable` is a proof, which `proof` describes. The status is `error` when the policy
        is not valid.

    Raises:
        TaskError, InconsistentBeliefsError, ModelError: as `find_plan`.
        UsageError: when `policy_file` has another ending, exists and is no policy, or names a tree of a cyclic policy.
        OSError: when the policy cannot be written.
        KeyboardInterrupt: as `find_plan`.
    """
    if options.consistent_beliefs:
        require_consistent_beliefs(task, task.initial, "in the initial e-state")
    if policy_file is not None:
        check_policy_file(policy_file)
        if kind == "cyclic" and str(policy_file).endswith(".tree.json"):
            raise UsageError(f"{policy_file}: a cyclic policy is no tree: leave .tree out of the name")
        Path(policy_file).unlink(missing_ok=True)
    search = partial(find_policy_here, task, configuration, policy_file=policy_file, kind=kind)
    return run_search(search, options, policy_file, _blank(task, options, kind), on_progress)


def _blank(task: Task, options: SearchOptions, kind: Kind) -> PolicyResult:
    return PolicyResult(
        SearchStatus.UNSOLVABLE,
        "policy",
        task.name,
        heuristic=kind,
        consistent_beliefs=options.consistent_beliefs,
        message="" if options.consistent_beliefs else _UNCERTAIN,
        size=TaskSize.of(task),
    )


def find_policy_here(
    task: Task,
    configuration: Configuration,
    options: SearchOptions,
    policy_file: File | None = None,
    kind: Kind = "strong",
    channel: ProgressChannel = NO_CHANNEL,
) -> PolicyResult:
    """Search in this process; the channel receives counts and results, and enforces the limits."""
    return _PolicyRun(task, configuration, options, policy_file, kind, channel).find()


class _PolicyRun:
    """One search for a policy in this process, with its latest result."""

    def __init__(
        self,
        task: Task,
        configuration: Configuration,
        options: SearchOptions,
        policy_file: File | None,
        kind: Kind,
        channel: ProgressChannel,
    ) -> None:
        self._task, self._configuration, self._options = task, configuration, options
        self._policy_file, self._kind, self._channel = policy_file, kind, channel
        self._budget = options.active_limits.start()
        self._result = _blank(task, options, kind)
        self._import_seconds = 0.0
        self._search: PolicySearch | None = None  # None until there is a state space

    def find(self) -> PolicyResult:
        """Search within the limits."""
        try:
            return self._find()
        except BudgetExceededError as error:
            return self._report(error.status)
        except MemoryError:
            return self._report(SearchStatus.MEMORY_LIMIT)

    def _find(self) -> PolicyResult:
        if not may_reach_goal(self._task):
            result = replace(self._result, proof="no outcomes make the literals of the goal true")
            return result.with_costs(search_seconds=self._budget.seconds)
        consistent_beliefs, threads = self._options.consistent_beliefs, self._configuration.threads
        space = StateSpace(self._task, consistent_beliefs=consistent_beliefs, threads=threads)
        on_progress = None if self._channel is NO_CHANNEL else self._channel.send
        self._search = search = PolicySearch(space, RelaxedPlan(space), self._budget, on_progress)
        search.follow(self._find_linear_plan())
        space.use_symmetries()
        search.find_strong_cyclic() if self._kind == "cyclic" else search.find_strong()
        self._result = self._report(SearchStatus.UNSOLVABLE)
        if self._kind != "shortest" or self._result.status is not SearchStatus.SOLVED:
            return self._result
        self._channel.set_time_limit(self._budget.left)
        search.improve()
        return self._report(SearchStatus.SOLVED)

    def _find_linear_plan(self) -> tuple[str, ...]:
        """Search for a linear plan; returns its actions, none when the search finds no plan within the limits."""
        seconds = min(LINEAR_SHARE * self._budget.left, LINEAR_SECONDS)
        options = replace(self._options, limits=replace(self._options.active_limits, time_limit=seconds))
        with suppress(TaskError):  # designated worlds disagree about an observability type
            found = search_in_process(self._task, self._configuration, options).result
            self._import_seconds = found.costs.import_seconds
            return found.plan or ()
        return ()

    def _report(self, status: SearchStatus) -> PolicyResult:
        """The current result: the policy, verified and written when it is new or has a new depth; else the status."""
        result = replace(self._result, status=status)
        search_seconds, imports = self._budget.seconds - self._import_seconds, self._import_seconds
        result = result.with_costs(import_seconds=imports, search_seconds=search_seconds, peak_bytes=peak_bytes())
        search = self._search
        if search is None:
            return result
        result = replace(result, **asdict(search.counts()), optimal=search.is_optimal)
        if search.is_solved:
            result = replace(result, status=SearchStatus.SOLVED)
            if result.policy is None or result.depth != search.depth:
                self._channel.set_time_limit(None)
                with self._budget.pause():
                    result = _verify(result, search.make_policy(), self._policy_file)
            self._channel.send(result)
        elif status is SearchStatus.UNSOLVABLE:
            unused = result.distinct - result.expanded
            proof = f"the and-or graph is exhausted: {result.distinct} e-states, {unused} not needed"
            result = replace(result, proof=proof)
        return result


def _verify(result: PolicyResult, policy: Policy, policy_file: File | None) -> PolicyResult:
    """Execute a policy by the reference and write it if it is valid; returns the result with the policy."""
    start = perf_counter()
    validation = policy.validate(result.consistent_beliefs)
    seconds = result.costs.validation_seconds + perf_counter() - start
    result = replace(result, policy=policy, inconsistent_agents=validation.inconsistent_agents).with_costs(
        validation_seconds=seconds
    )
    if not validation.valid:
        message = f"the policy is not valid: {validation.reason}"
        return replace(result, status=SearchStatus.ERROR, message=message, optimal=False)
    if policy_file is not None:
        try:
            policy.write(policy_file)
        except EpigymError as error:
            return replace(result, message=f"{policy_file} is not written: {error}")
    return result
