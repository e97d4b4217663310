"""Processes of tools on this host: begun in a sandbox, held to limits, ended as a whole."""
