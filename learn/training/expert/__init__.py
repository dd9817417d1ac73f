"""Learning from an expert, the default search with a relaxation as its heuristic."""
