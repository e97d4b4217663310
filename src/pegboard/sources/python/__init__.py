"""Python code that is read and never run: what a function takes, gives and says of itself."""
