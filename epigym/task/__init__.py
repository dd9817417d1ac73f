"""The ground planning task and what follows from its text alone: structure, symmetries, reachability."""
