"""One thread for every numeric library, before any of them is imported."""

import os

import pytest

for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")


def pytest_configure(config: pytest.Config) -> None:
    """As plain Python, splitmix64's multiplications wrap around with a warning; compiled they do so silently."""
    if os.environ.get("NUMBA_DISABLE_JIT") == "1":
        config.addinivalue_line("filterwarnings", "ignore:overflow encountered in scalar:RuntimeWarning")
