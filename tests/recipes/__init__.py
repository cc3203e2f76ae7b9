"""Other libraries that no test runs: scripts that ran with the version they name."""
