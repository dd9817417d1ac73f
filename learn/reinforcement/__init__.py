"""Reinforcement learning on graphs."""
