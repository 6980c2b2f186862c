"""The figures of `benchmarks/run.py`, one module for each group."""
