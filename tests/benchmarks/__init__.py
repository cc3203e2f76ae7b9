"""Benchmarks: figures, never pass or fail."""
