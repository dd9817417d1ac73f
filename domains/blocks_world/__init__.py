"""Blocks world of one or several robots."""

from domains.blocks_world.problem import DOMAIN

__all__ = ["DOMAIN"]
