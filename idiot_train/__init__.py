"""Who learns: self-play PPO, its configuration, and the ``idiot`` command line."""
