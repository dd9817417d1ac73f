"""GINE networks: forward pass, batches, scorers, export."""
