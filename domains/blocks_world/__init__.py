"""Blocks World of one robot or of several agents."""
