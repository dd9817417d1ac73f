"""Answers to names that do not exist; `domains` has them, as it imports no other package."""

from domains.names import did_you_mean, find_close, unknown

__all__ = ["did_you_mean", "find_close", "is_one_line", "unknown"]


def is_one_line(name: str) -> bool:
    """Whether a name fits into a message of one line."""
    return len(f"{name}.".splitlines()) == 1
