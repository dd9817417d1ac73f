"""Runs a module, as `python -m` does, as if no package of an extra were installed."""

import re
import runpy
import sys
from collections.abc import Sequence
from importlib.metadata import requires

import epigym  # noqa: F401

EXTRAS = {
    name.replace("-", "_")
    for name in re.findall(r"^([\w.-]+)\S*>\S+; extra == .(?!dev)", "\n".join(requires("epigym") or ()), re.M)
}
PLUGINS = "hydra_plugins"  # the package in which Hydra finds the launchers of the extra `sweep`


class Without:
    """Finds no package of an extra."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: object = None) -> None:
        if name.partition(".")[0] in (*EXTRAS, PLUGINS):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def main() -> None:
    assert EXTRAS.isdisjoint(sys.modules), "importing epigym needs an extra"
    sys.meta_path.insert(0, Without())
    sys.path[0] = ""  # as for `python -m`
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
