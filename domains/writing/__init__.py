"""Texts of problems in mA* and EPDDL."""
