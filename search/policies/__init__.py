"""Policies: plans that go on according to what sensing shows."""
