"""A page to explore a problem: applicable actions of an e-state, their successors, and a plan from there."""
