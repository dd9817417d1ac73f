"""From a task to a verified plan: configurations, processes, proofs."""
