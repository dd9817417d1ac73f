"""Exploring, labels, and data sets on disk."""
