"""Benchmarks: figures, never pass or fail.  Matrix products take one thread unless the environment says otherwise."""

from idiot_train.cli import one_thread

one_thread()
