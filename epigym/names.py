"""Answers to names that do not exist; one body serves this room and `domains`, which knows no other room."""

from domains.names import did_you_mean, unknown

__all__ = ["did_you_mean", "unknown"]
