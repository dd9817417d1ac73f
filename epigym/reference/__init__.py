"""The semantics in Python and NumPy; it shares no code with the core."""
