"""`python -m pegboard` is `pegboard`."""

from pegboard.cli.main import main

main()
