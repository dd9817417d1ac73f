"""Typed settings, classes by name or path, and optional packages."""
