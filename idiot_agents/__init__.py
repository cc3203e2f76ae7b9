"""Everything that chooses an action: the protocol, the agents, the arena, and a person at the terminal."""
