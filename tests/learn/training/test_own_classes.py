"""Networks, optimizers, callbacks and loggers of users, named on the command line."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import search
from epigym import StateSpace, load_problem, to_pyg
from epigym.encoding.encoder import Encoder, make_encoder, make_encoding
from epigym.errors import EpigymError, UsageError
from learn.data import files, sources
from learn.models import open_model
from learn.models.base import BaseHeuristic
from learn.models.gine.model import NetworkModel
from learn.train import Train
from learn.training.fitting import fit_network
from learn.training.resuming import read_checkpoint
from tests.helpers.commands import compose
from tests.helpers.runs import PAPER, PROBLEM, SEARCHED, Fit, rows_of

OWN = """
from pathlib import Path

import torch
from lightning import Callback
from lightning.pytorch.loggers import CSVLogger
from torch import nn
from torch.optim import SGD
from torch_geometric.nn import GINEConv, global_mean_pool

from dataclasses import dataclass

from epigym.encoding.encoder import Encoder, make_encoding
from epigym.encoding.identifiers import Hash


@dataclass(frozen=True, kw_only=True)
class WithoutGoal(Hash):
    name = "without_goal"
    salt: int = 0

    def encoder(self, space, goal=None):
        return Encoder(space, self, ())


class Net(nn.Module):
    def __init__(self, encoding, width=4, *, scale=1):
        super().__init__()
        self.nodes = nn.Linear(make_encoding(encoding).width, width)
        self.conv = GINEConv(nn.Linear(width, width), edge_dim=1)
        self.head = nn.Linear(width, 1)
        self.scale, self.encoding = scale, encoding

    def forward(self, data):
        x = self.conv(self.nodes(data.x).relu(), data.edge_index, data.edge_attr).relu()
        return self.scale * self.head(global_mean_pool(x, data.batch, data.num_graphs)).squeeze(1)


class Typed(nn.Module):
    def __init__(self, types, layers):
        super().__init__()
        self.seen, self.layers, self.size = types, layers, nn.Embedding(8, 1)

    def forward(self, data):
        return global_mean_pool(self.size(data.node_type), data.batch, data.num_graphs).squeeze(1)


class Anything(nn.Module):
    def __init__(self, **settings):
        super().__init__()
        self.settings, self.bias = settings, nn.Parameter(torch.zeros(()))

    def forward(self, data):
        return self.bias.expand(data.num_graphs)


class Fixed(nn.Module):
    def forward(self, data):
        return torch.zeros(data.num_graphs)


class Lazy(nn.Module):
    def __init__(self):
        super().__init__()
        self.nodes = nn.LazyLinear(1)

    def forward(self, data):
        return global_mean_pool(self.nodes(data.x), data.batch, data.num_graphs).squeeze(1)


class Bare(nn.Module):
    def __init__(self):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(()))


class Column(Bare):
    def forward(self, data):
        return self.bias.expand(data.num_graphs, 1)


class Pair(Bare):
    def forward(self, data):
        return self.bias.expand(data.num_graphs), 3


class Fails(Bare):
    def forward(self, data):
        return data.colour


class Apart:
    def __init__(self, encoding):
        pass


class Pushed(SGD):
    def __init__(self, parameters, lr, push):
        super().__init__(parameters, lr=lr, momentum=push)


class Note(Callback):
    def __init__(self, file):
        self.file = file

    def on_train_end(self, trainer, module):
        Path(self.file).write_text(type(module.network).__name__)



class Log(CSVLogger):
    def __init__(self, folder):
        super().__init__(folder, name="own", version="")


class Raises(Callback):
    def __init__(self):
        raise RuntimeError("out of order\\nfor ever")


class RaisesToo(Log):
    def __init__(self, save_dir):
        raise OSError("out of paper")
"""
SHORT = (*SEARCHED, "trainer.max_epochs=1")
WITHOUT_GPU = pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
PUSHED = ("model.optimizer._target_=own.Pushed", "+model.optimizer.push=0.25")
LESS = ("~model.optimizer.weight_decay",)


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A module of the user's."""
    (tmp_path / "own.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("own", None)


def test_a_training_takes_classes_of_the_user(fit: Fit, tmp_path: Path) -> None:
    network = ("model.network._target_=own.Net", "+model.network.scale=3", "model.network.width=5")
    callback = ("+callbacks.mine._target_=own.Note", f"+callbacks.mine.file={tmp_path}/note")
    logger = ("+logger.mine._target_=own.Log", f"+logger.mine.folder={tmp_path}")
    fit(*SHORT, *network, *PUSHED, *LESS, *callback, *logger)
    model = open_model(tmp_path / "run")
    assert isinstance(model, NetworkModel)
    assert model.kind == "own.Net"
    made: Any = model.network
    assert (type(made).__name__, made.scale, made.head.in_features) == ("Net", 3, 5)
    assert made.encoding == {"name": "hash", "width": 64}
    last = read_checkpoint(tmp_path / "run" / "checkpoints" / "last.ckpt")
    [group] = last["optimizer_states"][0]["param_groups"]
    assert (group["momentum"], group["initial_lr"]) == (0.25, 2e-3)
    assert (tmp_path / "note").read_text() == "Net"
    loss = rows_of(tmp_path / "run")[-1]["train/loss"]
    assert f"{loss:.9f}"[:6] in (tmp_path / "own" / "metrics.csv").read_text()
    space = StateSpace(load_problem(PROBLEM))
    ids = np.array([space.initial], dtype=np.int32)
    with torch.no_grad():
        correction = made(to_pyg(make_encoder(space, make_encoding("hash")).graphs(ids))).numpy()
    expected = BaseHeuristic(space, "h_ff")(ids) + correction
    assert model.make_scorer(space).score(ids) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("chosen", "network"),
    [
        ("={_target_: own.WithoutGoal, salt: 3}", ("width=4",)),
        ("._target_=own.WithoutGoal", ("_target_=own.Net", "width=4")),
    ],
)
def test_a_training_takes_an_encoding_of_the_user(
    fit: Fit, tmp_path: Path, chosen: str, network: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    fit(*SHORT, f"++encoding{chosen}", *(f"model.network.{one}" for one in network))
    trained: Any = open_model(tmp_path / "run")
    assert type(make_encoding(trained.encoding)).__qualname__ == "WithoutGoal"
    space = StateSpace(load_problem(PROBLEM))
    ids = np.unique(space.expand([space.initial]).target)
    with torch.no_grad():
        graphs = Encoder(space, "hash", ()).graphs(ids)
        expected = BaseHeuristic(space, "h_ff").correct(ids, trained.network(to_pyg(graphs)).numpy())
    assert trained.make_scorer(space).score(ids) == pytest.approx(expected, abs=1e-4)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    found = search.plan(PROBLEM, agent="hfs", heuristic={"name": "learned", "model": str(tmp_path / "run")})
    assert found.plan


def test_a_network_learns_distances_from_published_problems(fit: Fit) -> None:
    own = ("model=gine", "model.network._target_=own.Net", "model.network.width=4")
    metrics = fit(*PAPER, *own, "trainer.max_epochs=2")
    assert metrics["val/loss"] > 0


@pytest.mark.parametrize(("target", "encoding"), [("Net", "bitmask"), ("Typed", "relational"), ("Typed", "hash")])
def test_a_network_receives_what_its_constructor_names(fit: Fit, tmp_path: Path, target: str, encoding: str) -> None:
    fit(*SHORT, f"encoding={encoding}", f"model.network._target_=own.{target}")
    trained: Any = open_model(tmp_path / "run")
    made = trained.network
    if target == "Net":
        assert (made.head.in_features, made.encoding["name"]) == (4, "bitmask")
    else:
        assert (made.layers, made.seen) == (2, trained.types)
        assert bool(trained.types) == (encoding == "relational")


def test_lazy_layers_take_their_shapes_from_the_data(fit: Fit, tmp_path: Path) -> None:
    fit(*SHORT, "encoding=hash", "model.network._target_=own.Lazy")
    trained: Any = open_model(tmp_path / "run")
    assert trained.weights["nodes.weight"].shape == (1, 64)
    space = StateSpace(load_problem(PROBLEM))
    assert np.isfinite(trained.make_scorer(space).score(np.array([space.initial], dtype=np.int32))).all()


def test_settings_of_networks(fit: Fit, tmp_path: Path) -> None:
    fit(*SHORT, "model.network._target_=own.Anything", "+model.network.colour=red")
    model: Any = open_model(tmp_path / "run")
    made = model.network
    assert made.settings == {"colour": "red"}


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["model.network._target_=own.Gone"], r"_target_=own\.Gone: module 'own' has no attribute 'Gone'"),
        (["model.network._target_=gone.Net"], r"_target_=gone\.Net: No module named 'gone'"),
        (PUSHED, r"own\.Pushed takes no 'weight_decay': leave a setting of ours out with a ~ before its name$"),
        (
            ["+callbacks.mine._target_=own.Note", "+callbacks.mine.fle=note"],
            r"^callbacks\.mine: own\.Note takes no 'fle': did you mean 'file'\?$",
        ),
        (["model.network._target_=own.Fixed"], r"^model\.network: own\.Fixed has no parameters to train: make its"),
        (
            ["model.network._target_=own.Net", "+model.network.scale=nan"],
            r"^model\.network: own\.Net\.forward\(data\) returns values that are not numbers before training: check",
        ),
        (["+callbacks.mine.file=note"], r"^callbacks: mine: name a class as mine\._target_=module\.Class$"),
        (["+callbacks.mine._target_=own.Gone"], r"^callbacks\.mine: _target_=own\.Gone: module 'own' has no attribute"),
        (["+logger.mine._target_=gone.Log"], r"^logger\.mine: _target_=gone\.Log: No module named 'gone'"),
    ],
)
def test_classes_that_do_not_fit_are_named(fit: Fit, overrides: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        fit(*SHORT, *overrides)


def test_early_stopping_may_wait_for_a_metric_of_the_user(fit: Fit) -> None:
    early = "+callbacks.mine._target_=lightning.pytorch.callbacks.EarlyStopping"
    assert fit(*SHORT, early, "+callbacks.mine.monitor=own/metric", "+callbacks.mine.strict=false")


def test_options_of_ours_give_way_to_those_of_the_user(fit: Fit, tmp_path: Path) -> None:
    elsewhere = f"trainer.default_root_dir={tmp_path}/root"
    fit(*SHORT, elsewhere, "trainer.num_sanity_val_steps=1", "trainer.log_every_n_steps=1")
    with pytest.raises(UsageError, match=r"trainer: .*quantum"):
        fit(*SHORT, "trainer.accelerator=quantum", run="other")


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("model.optimizer._target_=torch.optim.SGD +model.optimizer.betas=[0.1]", "SGD takes no 'betas': "),
        ("+callbacks.mine._target_=collections.OrderedDict",
         r"^callbacks\.mine: collections\.OrderedDict does not derive from Lightning's Callback$"),
        ("+logger.mine._target_=own.Raises", r"^logger\.mine: own\.Raises: out of order$"),
        ("+logger.mine._target_=own.Note +logger.mine.file=x",
         r"^logger\.mine: own\.Note does not derive from Lightning's Logger$"),
        ("+callbacks.mine._target_=own.Raises", r"^callbacks\.mine: own\.Raises: out of order$"),
        ("+logger.mine._target_=own.RaisesToo +logger.mine.save_dir=null",
         r"^logger\.mine: own\.RaisesToo: out of paper$"),
        ("callbacks.early_stopping.monitor=val/scor",
         r"^EarlyStopping: unknown metric 'val/scor': did you mean 'val/score'"),
        ("callbacks.early_stopping.monitor=val/mae", r"^EarlyStopping: unknown metric 'val/mae': "),  # of distances
        ("+callbacks.mine._target_=lightning.pytorch.callbacks.ModelCheckpoint +callbacks.mine.monitor=val/x",
         r"^ModelCheckpoint: unknown metric 'val/x': "),
        ("trainer.accelerator=abacus", "^trainer: .*abacus"),
        pytest.param("trainer.accelerator=gpu", r"^trainer: No supported gpu backend found", marks=WITHOUT_GPU),
        ("trainer.max_epoch=3", r"^unknown setting of trainer 'max_epoch': did you mean 'max_epochs'"),
        ("trainer.max_epochs=abc", r"^trainer: max_epochs=abc: expected a whole number$"),
        ("trainer.limit_val_batches=0", r"^trainer\.limit_val_batches=0: validation chooses the network: leave it"),
        ("trainer.limit_val_batches=0.0", r"^trainer\.limit_val_batches=0: "),
        ("trainer.limit_val_batches=0.5", r"^trainer\.limit_val_batches=0\.5: "),  # of one batch of problems
        ("trainer.devices=2 expert.problems=3", r"^expert\.problems: one process learns from it, not 2: give trainer"),
        ("trainer.max_epochs=-1 trainer.max_steps=5 expert.problems=3 expert.aggregation=1",
         r"^expert\.aggregation: each follows as many epochs as trainer\.max_epochs=, which is missing"),
        ("trainer.max_steps=0", r"^trainer\.max_steps=0: no step would be taken or validated: give at least 1"),
        ("trainer.max_epochs=0", r"^trainer\.max_epochs=0: no step would be taken"),
        ("trainer.limit_train_batches=0", r"^trainer\.limit_train_batches=0: no step would be taken"),
        ("trainer.val_check_interval=0", r"^trainer\.val_check_interval=0: no step would be taken or validated"),
        ("trainer.check_val_every_n_epoch=0", r"^trainer\.check_val_every_n_epoch=0: no step would be taken or"),
        ("trainer.precision=64-true", r"^trainer\.precision=64-true: weights have 32 bits: give one of 32-true, 16"),
        ("trainer.precision=bf16-true", r"^trainer\.precision=bf16-true: weights have 32 bits"),
        ("trainer.precision=7", r"^unknown trainer: precision '7': expected one of "),
        ("trainer.callbacks=[own.Note]", r"^trainer\.callbacks: give \+callbacks\.mine\._target_=module\.Class"),
        ("trainer.logger=false", r"^trainer\.logger: give \+logger\.mine\._target_=module\.Class"),
        ("ckpt_path={}/broken.ckpt", "broken.ckpt: damaged or cut off, "),
        ("model.network._target_=own.Net +model.network.colour=red", r"own\.Net takes no 'colour': leave a setting"),
        ("model.network._target_=own.Typed", r"own\.Typed: .*missing .* argument: 'layers'"),
        ("model.network._target_=own.Apart", r"own\.Apart: expected a class that derives from torch\.nn\.Module$"),
        ("model.network._target_=os.getcwd", r"os\.getcwd: expected a class that derives from torch\.nn\.Module$"),
        ("model.network._target_=own.Bare", r"^model\.network: own\.Bare\.forward\(data\) fails on two graphs with x "
         r"float32\[n, 64\]: .*; data has x, edge_index, edge_attr, node_type, edge_type, batch and num_graphs"),
        ("model.network._target_=own.Fails encoding=relational", r"own\.Fails\.forward\(data\) fails on two graphs "
         r"with x int64\[n, 4\]: .*colour"),
        ("model.network._target_=own.Column", r"^model\.network: own\.Column\.forward\(data\) returns \[2, 1\] for 2 "
         r"graphs, expected a tensor of shape \[2\]: one value for each$"),
        ("model.network._target_=own.Pair", r"own\.Pair\.forward\(data\) returns tuple for 2 graphs, expected"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("source", ["data=sampled", f"problem={PROBLEM}", "data=published"])
def test_refused_settings_come_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, override: str, message: str, source: str
) -> None:
    (tmp_path / "broken.ckpt").write_text("x")
    given = override.replace("{}", str(tmp_path)).split()
    ours = ("model=gine", "objective=ranking", "base=h_add", "~model.network.layers", source)
    chosen = compose(Train, "train", f"run_dir={tmp_path}/run", *ours, *given)

    def refuse_exploration(*_: Any, **__: Any) -> None:
        raise AssertionError("explored")

    for name in ("sample_tasks", "make_trees"):
        monkeypatch.setattr(sources, name, refuse_exploration)
    monkeypatch.setattr(files, "sample_files", refuse_exploration)
    with pytest.raises(EpigymError, match=message) as refused:
        fit_network(chosen, chosen.source)
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "run").exists()
