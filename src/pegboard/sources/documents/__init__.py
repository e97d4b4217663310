"""Documents that describe a service: where they are, how they are fetched, parsed and followed."""
