"""The tests, the slow twin of the engine, and the benchmarks."""
