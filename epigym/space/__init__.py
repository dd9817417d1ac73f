"""State spaces: e-states as integers, as Kripke models and as arrays of worlds."""
