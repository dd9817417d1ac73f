"""The notebooks: their cells run and print what is stored."""

import json
from pathlib import Path
from typing import Any

import pytest

from epigym.config.packages import PLACE

NOTEBOOKS = sorted((PLACE / "docs" / "notebooks").glob("*.ipynb"))


def test_there_are_two() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["environment", "train_and_search"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_cells_print_what_is_stored(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for cell in json.loads(path.read_text())["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
            stored = "".join(text for output in cell["outputs"] for text in output["text"])
            assert capsys.readouterr().out == stored
