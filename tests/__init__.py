"""The tests, as a package, so that they can share the slow twin and the deck builder."""
