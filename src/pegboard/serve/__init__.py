"""The faces: how agents and programs reach a board. They only parse and render."""
