"""`python -m pegboard.pytools` takes the place of freeact's search server."""

import sys

from pegboard.cli.main import main

if __name__ == "__main__":
    sys.argv[1:1] = ["mcp", "--profile", "pytools"]
    main()
