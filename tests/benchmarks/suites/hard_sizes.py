"""The growing instances of each domain that the suite `hard` is generated from."""

from domains import DOMAINS
from domains.domain import Growth

LINES: dict[str, Growth] = {name: domain.growth for name, domain in DOMAINS.items() if domain.growth is not None}
