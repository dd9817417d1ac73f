"""E-states of a space as graphs under a goal."""
