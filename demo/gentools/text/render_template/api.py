import string


def run(template: str, values: dict[str, str], strict: bool = True) -> str:
    """Fill $placeholders in a template with values.

    Args:
        template: Text with $name or ${name} placeholders; $$ gives a dollar sign.
        values: Replacement for each placeholder.
        strict: Raise an error if a placeholder has no value instead of leaving it in place.

    Returns:
        The finished text.
    """
    filled = string.Template(template)
    return filled.substitute(values) if strict else filled.safe_substitute(values)
