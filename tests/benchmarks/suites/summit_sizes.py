"""The lines of growing problems on which the summit is looked for: of the domains that have one."""

from __future__ import annotations

from domains import DOMAINS
from domains.domain import Growth

LINES: dict[str, Growth] = {name: domain.growth for name, domain in DOMAINS.items() if domain.growth is not None}
