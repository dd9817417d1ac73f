"""Gymnasium environments of planning tasks."""
