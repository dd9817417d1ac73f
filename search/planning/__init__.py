"""From a task to a verified plan: configurations, one search, shorter plans, checks."""
