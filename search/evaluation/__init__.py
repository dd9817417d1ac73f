"""Grids of searches: problems, configurations, and a record of each outcome."""
