"""Learning distance-to-goal heuristics: rollouts, data sets, the regressor, its training, scoring and export."""
