"""Fuzzing with random changes of problem files and plans."""
