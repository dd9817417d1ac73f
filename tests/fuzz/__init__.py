"""Fuzzing: problem files and plans that are wrong in ways nobody thought of."""
