"""Grids of searches, each cell in a process of its own."""
