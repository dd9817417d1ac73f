"""Learning heuristics: rollouts, data sets, networks and linear models, their training, scoring and export."""

import os

# Threads of PyTorch that wait for one another should sleep, not spin: beside any other work on the machine spinning
# makes small batches up to ten times slower. Read when PyTorch is loaded, so it has to be set before.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
