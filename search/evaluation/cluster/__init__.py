"""Evaluations as array tasks of a cluster."""
