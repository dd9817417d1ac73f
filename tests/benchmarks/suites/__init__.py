"""The generator of the suites `scaling`, `summit` and `control`: `python -m tests.benchmarks.suites`."""
