"""Grids of searches, each record in a process of its own."""
