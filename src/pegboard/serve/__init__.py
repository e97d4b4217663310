"""The faces: how agents and programs reach a board. They parse and render; the board does the rest."""
