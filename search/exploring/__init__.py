"""A page to look around in a problem: what can be done in an e-state, what it would lead to, and a plan from there."""
