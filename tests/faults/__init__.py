"""Deliberate faults in the sources, and the tests that must find them."""
