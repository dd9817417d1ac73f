"""The Lightning module, loaders, the trainer and the pictures of a run."""
