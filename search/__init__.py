"""Agents and heuristics that search the e-states of a task for a plan."""
