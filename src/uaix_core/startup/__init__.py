"""Start-up: a stored package put together for an agent, all of it or nothing."""
