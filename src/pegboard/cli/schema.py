"""The command `schema`: what a tool.yaml may look like, for editors."""

import click

from pegboard.gate.tool_schema import schema_text


@click.command()
def schema() -> None:
    """Print the JSON Schema of tool.yaml.

    Write it into a file, and have your editor check manifests against it.
    """
    click.echo(schema_text(), nl=False)
