"""Tools in containers: an image and a command, by whichever engine the host has."""
