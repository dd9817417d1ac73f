"""Deliberate faults in the core, and the tests that detect them."""
