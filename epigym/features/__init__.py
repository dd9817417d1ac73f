"""Counts of typed features of e-states, their texts, and the relaxation over beliefs."""
