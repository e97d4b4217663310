"""An `.ai` folder: tools, scripts, directives, knowledge and skills as files."""
