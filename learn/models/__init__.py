"""Networks, their shared computation, scoring, checkpoints."""
