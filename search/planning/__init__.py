"""From a task to a verified plan: configurations, searches, shorter plans, checks of unsolvability."""
