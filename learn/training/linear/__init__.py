"""Training of linear models."""
