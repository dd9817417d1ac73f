"""Policies: conditional plans, which branch on the outcomes of actions."""
