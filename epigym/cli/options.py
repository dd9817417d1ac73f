"""Options of a group that have no configuration file: classes of a registry with the defaults of their signatures."""

from __future__ import annotations

from collections.abc import Iterable
from pkgutil import resolve_name

from hydra.core.config_store import ConfigStore

from domains.words import split
from epigym.config.registry import default_settings, option_file

_REGISTRIES = {
    "agent": "search.agents:AGENTS",
    "encoding": "epigym.encoding.encoder:ENCODINGS",
    "heuristic": "search.heuristics:HEURISTICS",
}
"""By group, the table of its classes as `module:name`; its module is imported when an option has no file."""


def add_options(words: Iterable[str]) -> None:
    """Add the options without a file that words such as `heuristic=mine` choose to Hydra's store."""
    for word in words:
        group, _, value = word.partition("=")
        if group in _REGISTRIES:
            for name in split(value):
                if name.isidentifier() and not option_file(group, name).is_file():
                    registry = resolve_name(_REGISTRIES[group])
                    if name in registry:
                        settings = default_settings(group, name, registry[name])
                        ConfigStore.instance().store(name=name, group=group, node=settings)
