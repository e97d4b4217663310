"""The operations of a service, as its OpenAPI document describes them."""
