"""Ship trained models with epigym, choose the default kind of a domain, and write the models' cards.

python -m tests.tools.ship outputs/train/gossip              copies the model of a run into learn/models/shipped
python -m tests.tools.ship --default outputs/train/gossip    and makes its kind the default of its domain
python -m tests.tools.ship                                   only writes the cards
"""

import argparse
from pathlib import Path

from epigym.errors import UsageError
from epigym.io.files import read_json, write_json, write_text
from learn.models import open_model, shipped
from learn.models.gine.kinds import GINE
from learn.models.linear.model import LINEAR
from tests.tools.cards import make_card


def ship(source: str, *, is_default: bool) -> Path:
    """Copy a model to the models of epigym; its kind becomes the default of a domain that has none.

    Args:
        source: a file, or the folder of a run.
        is_default: whether its kind becomes the default in any case.

    Raises:
        UsageError: when the model needs PyTorch.
    """
    model = open_model(source)
    if model.kind not in (LINEAR, GINE):
        raise UsageError(f"{model.path}: a model of kind {model.kind} needs PyTorch: ship one of model=gine or linear")
    path = shipped.locate_shipped(model.kind, model.domain)
    model.write(path)
    choice = shipped.SHIPPED / "choice.json"
    kinds = read_json(choice) if choice.exists() else {}
    if is_default or model.domain not in kinds:
        write_json(choice, dict(sorted({**kinds, model.domain: model.kind}.items())))
    return path


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", help="files of models, or folders of runs")
    parser.add_argument("--default", action="store_true", help="make their kinds the defaults of their domains")
    options = parser.parse_args()
    for name in options.models:
        print(ship(name, is_default=options.default))
    for kind in (GINE, LINEAR):
        write_text(shipped.SHIPPED / kind / "README.md", make_card(kind))
