"""What a user starts: one runner over Hydra with typed settings, its exit codes, its help."""
