"""Faults put into the code on purpose, and who notices."""
