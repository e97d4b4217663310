"""Services over HTTP: operations of OpenAPI and LightAPI documents, and hand-written manifests."""
