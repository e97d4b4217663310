"""What runs inside the process of a Python tool, before and after the tool itself.

It sees only the standard library and loads as little of it as it can, `json`, `os` and `typing`
not among it: each takes as long as a tenth of the whole call or more. Nothing else of Pegboard is
there.
"""
