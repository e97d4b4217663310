"""A server over HTTP that wants a key: `python guarded.py PORT`."""

import sys

import uvicorn
from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("guarded")


@server.tool()
def greeting(ctx: Context) -> str:
    """What the caller said in its headers."""
    return (ctx.headers or {}).get("x-greeting", "")


app = server.streamable_http_app()


async def guard(scope, receive, send):
    headers = dict(scope.get("headers", ()))
    if scope["type"] != "http" or headers.get(b"authorization") == b"Bearer open-sesame":
        return await app(scope, receive, send)
    await send({"type": "http.response.start", "status": 401, "headers": []})
    return await send({"type": "http.response.body", "body": b"no"})


uvicorn.run(guard, host="127.0.0.1", port=int(sys.argv[1]))
