import json
import random
import re
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

import gymnasium
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Batch

from epigym import EpigymError, EState, LimitError, StateSpace, Task, load_problem, to_pyg
from epigym.config.values import Natural
from epigym.encoding.encoder import ENCODINGS, Encoder, graph_instance, list_identifiers, make_encoder, make_encoding
from epigym.encoding.goal_graph import DESIGNATED_LABEL, FIRST_AGENT_LABEL, GoalGraph, goal_graph
from epigym.encoding.identifiers import NODE_TYPES, Hash, Identifiers, Identify, to_bits
from epigym.errors import UsageError
from epigym.task.formula import Formula, actually, and_, believes, common, everybody, fluent, not_, or_
from learn.train import Train
from tests.helpers.benchmark_files import ROOT
from tests.helpers.commands import compose
from tests.helpers.strategies import estates

GOLDEN = json.loads((Path(__file__).parent / "goldens" / "graphs.json").read_text())
FLUENTS, AGENTS = ("p", "q"), ("a", "b")
P, Q = fluent("p"), fluent("q")


def make_task(*goal: Formula, fluents: tuple[str, ...] = FLUENTS, agents: tuple[str, ...] = AGENTS) -> Task:
    world = (frozenset({0}),)
    initial = EState((frozenset(fluents[:1]),), (world,) * len(agents), (0,))
    return Task("test", fluents, agents, (), initial, goal)


def make_state(golden: dict[str, Any]) -> EState:
    def rows(links: list[str]) -> tuple[frozenset[int], ...]:
        pairs = [tuple(map(int, link.split(">"))) for link in links]
        return tuple(frozenset(t for s, t in pairs if s == world) for world in range(len(golden["worlds"])))

    valuations = tuple(frozenset(names.split()) for names in golden["worlds"])
    return EState(valuations, (rows(golden["a"]), rows(golden["b"])), tuple(golden["designated"]))


def numbers(bits: np.ndarray) -> list[int]:
    """The integers behind identifier bits, least significant first."""
    return [sum(int(bit) << place for place, bit in enumerate(row)) for row in bits]


def golden_identifiers(name: str, golden: dict[str, Any]) -> list[int]:
    if name == "map":
        return golden["map"]
    if name == "hash":
        return [int(digits, 16) for digits in golden["hash"]]
    values = {"p": 1 << 16, "q": 1 << 17}
    return [sum(values[one] if one in values else int(one[1:]) for one in text.split()) for text in golden["bitmask"]]


@pytest.mark.parametrize("golden", GOLDEN["states"], ids=lambda golden: golden["about"].split(":")[0])
@pytest.mark.parametrize("name", ["map", "hash", "bitmask"])
def test_golden_graphs(name: str, golden: dict[str, Any]) -> None:
    space = StateSpace(make_task(believes("a", P), not_(Q)))
    state = space.intern(make_state(golden))
    assert space.model(state).state == make_state(golden), "the golden e-state is not in canonical order"
    batch = Encoder(space, name).graphs([state])

    goal = GOLDEN["goal"]
    shift = 48 if name == "bitmask" else 0
    goal_identifiers = [node << shift for node in goal["nodes"]]
    assert numbers(batch.nodes) == goal_identifiers + golden_identifiers(name, golden)
    names = [str(node) for node in goal["nodes"]] + [str(world) for world in range(len(golden["worlds"]))]
    split = len(goal["edges"])
    found = [f"{names[s]} -{k}> {names[t]}" for (s, t), k in zip(batch.edge_index.T, batch.edge_label, strict=True)]
    assert found[:split] == goal["edges"]
    assert [edge.replace("1 -2", "eps -2") if " -2>" in edge else edge for edge in found[split:]] == golden["edges"]
    assert batch.edge_index[:, :split].max() < len(goal["nodes"]) <= batch.edge_index[1, split:].min()


def test_goal_graph_of_nested_operators_by_hand() -> None:
    # n = 2 agents, m = 2 fluents: not 5, and 6, or 7, B 8, E 9, C 10, actually 13; p 14, -p 15, q 16, -q 17
    shared = believes("b", not_(P))
    goal = and_(or_(shared, Q), not_(common(AGENTS, or_(shared, everybody(["a"], P)))))
    task = make_task(P, goal, actually(not_(or_(P, Q))))
    first, second, third = 5, 6, 7
    assert goal_graph(task).edges == (
        (1, 2, 1),
        (2, 14, first),
        (2, 18, second), (18, 6, second),  # 18: and
        (18, 19, second), (19, 7, second),  # 19: or
        (19, 20, second), (20, 8, second), (20, 4, second), (4, 20, second), (20, 15, second),  # 20: B(b, -p)
        (19, 16, second),
        (18, 21, second), (21, 5, second),  # 21: not
        (21, 22, second), (22, 10, second),  # 22: C
        (22, 3, second), (3, 22, second), (22, 4, second), (4, 22, second),
        (22, 23, second), (23, 7, second), (23, 20, second),  # 23: or, over the shared 20
        (23, 24, second), (24, 9, second), (24, 3, second), (3, 24, second), (24, 14, second),  # 24: E
        (2, 25, third), (25, 13, third),  # 25: actually
        (25, 26, third), (26, 6, third), (26, 15, third), (26, 17, third),  # 26: and, negation pushed inwards
    )  # fmt: skip
    assert goal_graph(task).nodes == (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 14, 15, 16, 17, *range(18, 27))
    assert goal_graph(task).first_free == 27


def test_equal_formulas_of_different_subgoals_are_different_nodes() -> None:
    task = make_task(believes("a", P), or_(believes("a", P), Q))
    nodes = [source for source, target, _ in goal_graph(task).edges if target == 8]
    assert nodes == [18, 20]


@given(
    estates(fluents=FLUENTS, agents=AGENTS),
    st.sampled_from(list_identifiers()),
    st.randoms(use_true_random=False),
)
def test_graphs_hold_the_e_states_however_worlds_are_numbered(state: EState, name: str, shuffle: random.Random) -> None:
    order = list(range(len(state.valuations)))
    shuffle.shuffle(order)
    place = {old: new for new, old in enumerate(order)}
    renumbered = EState(
        tuple(state.valuations[old] for old in order),
        tuple(tuple(frozenset(place[v] for v in rows[old]) for old in order) for rows in state.successors),
        tuple(sorted(place[world] for world in state.designated)),
    )
    batches = []
    for variant in (state, renumbered):
        space = StateSpace(make_task(believes("a", P)))
        encoder, found = Encoder(space, name), space.intern(variant)
        batches.append(encoder.graphs([found]))
    for first, second in zip(*batches, strict=True):
        assert np.array_equal(first, second)
    contracted, first_world = space.model(found).state, len(encoder.goal.bits)
    edges = zip(*batches[0].edge_index.tolist(), batches[0].edge_label.tolist(), strict=True)
    assert {edge for edge in edges if edge[1] >= first_world} == {
        *((0, first_world + world, DESIGNATED_LABEL) for world in contracted.designated),
        *(
            (first_world + world, first_world + successor, FIRST_AGENT_LABEL + agent)
            for agent, rows in enumerate(contracted.successors)
            for world, row in enumerate(rows)
            for successor in row
        ),
    }
    assert len(np.unique(batches[0].nodes, axis=0)) == len(batches[0].nodes) == first_world + len(contracted.valuations)


def test_hash_is_the_same_in_other_processes() -> None:
    script = (
        "import numpy as np, hashlib; from epigym.encoding.encoder import Encoder\n"
        "from epigym.problem import load_problem\n"
        "from epigym.space.space import StateSpace\n"
        "task = load_problem('coin_in_the_box/pl_3'); space = StateSpace(task); space.expand([0])\n"
        "bits = Encoder(space).graphs(np.arange(len(space))).nodes\n"
        "print(hashlib.sha256(bits.tobytes()).hexdigest())"
    )
    digests = {
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=env).stdout
        for env in ({"PYTHONHASHSEED": "1"}, {"PYTHONHASHSEED": "2"})
    }
    assert len(digests) == 1


def test_sizes_of_fields() -> None:
    space = StateSpace(make_task(P))
    valuations, repetitions = np.array([[True, False]]), np.array([0])
    wide, narrow = (Encoder(space, "hash", width=width).identify(valuations, repetitions) for width in (80, 20))
    assert numbers(wide) == [0xB309C0ED29FD32E3]
    assert numbers(narrow) == [0xB309C0ED29FD32E3 % (1 << 20)]
    space = StateSpace(make_task(fluent("f0"), fluents=tuple(f"f{index}" for index in range(33))))
    with pytest.raises(LimitError, match="raise to fluent_bits=33 and width=65, or use encoding=map or encoding=hash"):
        Encoder(space, "bitmask")
    bits = Encoder(space, "bitmask", fluent_bits=33, width=65).identify(np.ones((1, 33), dtype=np.bool_), np.array([1]))
    assert bits.tolist() == [[1] + [0] * 15 + [1] * 33 + [0] * 16]
    names = tuple(f"f{index}" for index in range(251))
    assert goal_graph(make_task(*map(fluent, names), fluents=names)).edges[-1][2] == 255
    with pytest.raises(LimitError, match="needs 256 edge labels"):
        goal_graph(make_task(*map(fluent, names), fluents=names, agents=("a", "b", "c")))


@pytest.mark.parametrize(
    ("name", "widths", "message"),
    [
        ("map", {"width": 5}, "raise to width=6, or use encoding=hash"),
        ("bitmask", {"repetition_bits": 3}, "raise to repetition_bits=4 and width=65"),
    ],
)
def test_too_many_worlds_are_refused(name: str, widths: dict[str, int], message: str) -> None:
    identify = Encoder(StateSpace(make_task(P)), name, **widths).identify
    valuations = np.zeros((15, 2), dtype=np.bool_)
    with pytest.raises(LimitError, match=message):
        identify(valuations, np.arange(15))


def test_the_files_of_settings_are_the_encodings_with_their_defaults() -> None:
    for path in (ROOT / "conf" / "encoding").iterdir():
        chosen = compose(Train, "train", f"encoding={path.stem}").encoding
        assert chosen == {"name": path.stem, **asdict(ENCODINGS[path.stem]())}


@dataclass(frozen=True, kw_only=True)
class Short(Hash):
    """An encoding of the user's own."""

    width: int = 16
    more: Natural = 0


def test_an_encoding_of_ones_own_is_added_or_named_by_its_path(monkeypatch: pytest.MonkeyPatch) -> None:
    path = f"{__name__}.Short"
    assert make_encoding({"_target_": path, "more": 3}) == Short(more=3)
    assert make_encoding({"name": "hash", "_target_": path, "width": 20}) == Short(width=20)
    assert make_encoding({"name": "hash", "_target_": None}) == Hash()
    env = gymnasium.make("epi/CoinInTheBox-v0", encoding={"_target_": path})
    assert env.reset(seed=0)[0].nodes.shape[1] == 16
    with pytest.raises(UsageError, match="unknown encoding 'short'"):
        make_encoding("short")
    monkeypatch.setitem(ENCODINGS, "short", Short)
    assert make_encoding("short") == Short()
    assert list_identifiers() == ["map", "hash", "bitmask", "short"]
    assert Encoder(StateSpace(make_task(P)), "short").identifiers.shape[1] == 16
    with pytest.raises(UsageError, match="use 'map' or 'hash' or 'bitmask' or 'short'"):
        Encoder(StateSpace(make_task(P)), "relational")
    with pytest.raises(LimitError, match=r"or use encoding=map or encoding=hash or encoding=short$"):
        Encoder(StateSpace(make_task(P)), "bitmask", fluent_bits=1)


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"_target_": "none.Own"}, "_target_=none.Own: No module named 'none'; give module.Class"),
        ({"_target_": "collections.OrderedDict"}, "is no class that derives from epigym.encoding.identifiers.Identif"),
        ({"_target_": f"{__name__}.Short", "colour": 3}, "unknown setting 'encoding.colour'"),
        ({"_target_": f"{__name__}.Short", "more": -1}, "encoding.more=-1: expected at least 0"),
        ({"name": "short"}, "unknown encoding 'short'"),
    ],
)
def test_wrong_encodings_of_ones_own_are_refused(choice: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)) as caught:
        make_encoding(choice, "encoding.")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_observation_and_pyg_data_are_the_graph(encoding: str) -> None:
    space = StateSpace(make_task(believes("a", P)))
    batch = make_encoder(space, make_encoding(encoding)).graphs([0])
    data = to_pyg(graph_instance(batch))
    assert data.validate()
    assert np.array_equal(data.x.numpy(), batch.nodes)
    assert np.array_equal(data.edge_index.numpy(), batch.edge_index)
    if batch.nodes.dtype == np.uint8:
        assert (data.edge_attr.numpy().ravel() * 255).round().astype(int).tolist() == batch.edge_label.tolist()
    else:
        assert data.edge_attr.tolist() == batch.edge_label[:, None].tolist()
        assert data.edge_type.tolist() == batch.edge_label.tolist()
        assert data.node_type.tolist() == batch.nodes[:, 0].tolist()
    with pytest.raises(IndexError, match="there is no graph 1: the batch holds 1"):
        graph_instance(batch, 1)


def test_pyg_data_know_what_nodes_and_edges_are() -> None:
    space = StateSpace(load_problem("coin_in_the_box/pl_3"))
    state = space.successor(0, [action.name for action in space.task.actions].index("open_a"))
    batch = Encoder(space).under([believes("a", fluent("tail")), fluent("opened")]).graphs([0, state])
    both = to_pyg(batch)
    worlds = space.world_counts([0, state])
    designated = [len(space.model(some).designated) for some in (0, state)]
    for index in range(2):
        data = to_pyg(graph_instance(batch, index))
        kinds = [NODE_TYPES[kind] for kind in data.node_type]
        assert kinds[:2] == ["epsilon", "goal root"]
        assert kinds.count("world") + kinds.count("designated world") == worlds[index]
        assert kinds.count("designated world") == designated[index]
        assert kinds.count("goal") == len(kinds) - 2 - worlds[index]
        labels = graph_instance(batch, index).edges
        agents = len(space.task.agents)
        expected = [
            label - 1 if label < 3 else label if label < 3 + agents else 2  # after the agents come the subgoals
            for label in labels.tolist()
        ]
        assert data.edge_type.tolist() == expected
        assert all(torch.equal(both[index][name], data[name]) for name in data.keys())  # noqa: SIM118
    again = Batch.from_data_list([to_pyg(graph_instance(batch, index)) for index in range(2)])
    assert all(torch.equal(both[name], again[name]) for name in again.keys())  # noqa: SIM118
    assert both.num_graphs == 2


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_batches_of_different_tasks_become_one(encoding: str) -> None:
    """Tasks with different numbers of agents, whose labels of subgoals would be those of agents in the other."""
    batches = []
    for name in ("coin_in_the_box/pl_3", "grapevine/4_pl_2", "coin_in_the_box/pl_5"):
        space = StateSpace(load_problem(name))
        ids = np.unique(np.append(space.expand([0]).target[:3], 0))
        batches.append(make_encoder(space, make_encoding(encoding)).graphs(ids))
    agents = [len(load_problem(name).agents) for name in ("coin_in_the_box/pl_3", "grapevine/4_pl_2")]
    assert agents[0] < agents[1]
    together = to_pyg(batches)
    assert together.validate()
    each = [to_pyg(graph_instance(batch, index)) for batch in batches for index in range(len(batch.node_ptr) - 1)]
    assert together.num_graphs == len(each)
    again = Batch.from_data_list(each)
    for name in ("x", "edge_index", "edge_attr", "node_type", "edge_type", "batch", "ptr"):
        assert torch.equal(together[name], again[name]), name
    for index, data in enumerate(each):
        assert all(torch.equal(together[index][name], data[name]) for name in data.keys())  # noqa: SIM118


@pytest.mark.parametrize("wrong", [None, 7, np.zeros(3), [np.zeros(3)], []])
def test_what_is_no_observation_is_refused(wrong: object) -> None:
    expected = r"^expected the observation of an environment \(GraphInstance\), a GraphBatch or several, got "
    with pytest.raises(EpigymError, match=rf"{expected}{type(wrong).__name__}$"):
        to_pyg(wrong)  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True)
class AfterGoal(Identifiers):
    """Identifiers that depend on the goal."""

    name: ClassVar[str] = "after_goal"

    def of_worlds(self, task: Task, goal: GoalGraph) -> Identify:
        return lambda valuations, repetitions: to_bits(valuations.sum(axis=1) + goal.first_free, self.width)


def test_identifiers_that_depend_on_the_goal_are_not_shared_between_goals() -> None:
    encoder = make_encoder(StateSpace(make_task(P)), AfterGoal())
    assert isinstance(encoder.under([P]), Encoder)
    with pytest.raises(UsageError, match=r"^the encoding 'after_goal' identifies a world differently under another"):
        encoder.under([and_(P, believes("a", Q))])


@pytest.mark.parametrize("choice", [None, 3, Hash(), {"_target_": 3}, {"_target_": "..X"}])
def test_what_is_no_encoding_is_refused(choice: Any) -> None:
    with pytest.raises(UsageError):
        make_encoding(choice)
    with pytest.raises(UsageError, match=r"^width= is a setting of an encoding given by its name, not of Hash"):
        Encoder(StateSpace(make_task(P)), Hash(), width=32)
    with pytest.raises(UsageError, match=r"^type_ids=2147483649: expected at most 2147483648$"):
        make_encoding({"name": "relational", "type_ids": 2**31 + 1})
