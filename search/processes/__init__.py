"""Searches in separate processes, with limits enforced from outside."""
