from pathlib import Path

import pytest

from tests.helpers.tasks import COIN


@pytest.fixture
def coin(tmp_path: Path) -> str:
    """A file with a problem of three actions."""
    (tmp_path / "coin.txt").write_text(COIN)
    return str(tmp_path / "coin.txt")
