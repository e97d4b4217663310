"""Running what was found.

`policy` judges a call, `arguments` checks what it is given, `grants` and `secrets` say what it may
have, and a `job` goes to the executor of its type: `bash`, `python`, `container`, `api` or `mcp`.
The first two run in a `process` of this host. What comes back is read by `answered_json`.
"""
