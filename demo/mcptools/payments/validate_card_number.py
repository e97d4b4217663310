import re

_BRANDS = {
    "visa": r"4(\d{12}|\d{15}|\d{18})",
    "mastercard": r"(5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}",
    "amex": r"3[47]\d{13}",
    "discover": r"(6011|64[4-9]\d|65\d\d)\d{12}",
}


def run(number: str) -> dict[str, bool | str | None]:
    """Check the digits of a credit card for typing mistakes and name its brand.

    Works offline with the Luhn checksum; it cannot tell if an account exists.

    Args:
        number: Card number, with or without spaces.

    Returns:
        "valid" and "brand", the latter null if unrecognised.
    """
    digits = re.sub(r"[ -]", "", number)
    if not re.fullmatch(r"[0-9]{12,19}", digits):
        return {"valid": False, "brand": None}
    odd = sum(int(digit) for digit in digits[-1::-2])
    even = sum(sum(divmod(int(digit) * 2, 10)) for digit in digits[-2::-2])
    brand = next((name for name, form in _BRANDS.items() if re.fullmatch(form, digits)), None)
    return {"valid": (odd + even) % 10 == 0, "brand": brand}
