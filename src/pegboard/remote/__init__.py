"""A board behind a gateway, asked over HTTP."""
