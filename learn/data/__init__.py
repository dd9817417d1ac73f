"""Exploration, labels, data sets, and the problems that models are trained on."""
