"""The gateway: a board over HTTP, for programs."""
