"""Who and what is believed: keys, signatures, tokens, servers and services."""
