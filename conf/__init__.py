"""Hydra configuration of all commands: composition and values, no logic."""
