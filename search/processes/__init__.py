"""Searches in processes of their own, under limits that are enforced from outside."""
