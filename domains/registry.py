"""The domains by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from domains.domain import Domain

_NAMES = (
    "active_muddy_child",
    "assembly_line",
    "blocks_world",
    "cloud_scheduling",
    "coin_in_the_box",
    "collaboration_communication",
    "consecutive_numbers",
    "epistemic_gossip",
    "gossip",
    "grapevine",
    "room_messages",
    "search_and_rescue",
    "selective_communication",
    "selective_communication_enriched",
)


class _Domains(Mapping[str, Domain]):
    """Imports the module of a domain when it is first needed."""

    def __getitem__(self, name: str) -> Domain:
        if name not in _NAMES:
            raise KeyError(name)
        found: Domain = import_module(f"domains.{name}").DOMAIN
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(_NAMES)

    def __len__(self) -> int:
        return len(_NAMES)


DOMAINS: Mapping[str, Domain] = _Domains()
