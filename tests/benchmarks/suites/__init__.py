"""The generator of the suites `scaling`, `hard` and `hard_control`: `python -m tests.benchmarks.suites`."""
