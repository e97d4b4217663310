import re

_LENGTHS = {"AT": 20, "BE": 16, "CH": 21, "DE": 22, "ES": 24, "FR": 27, "GB": 22, "IE": 22}
_LENGTHS |= {"IT": 27, "LU": 20, "NL": 18, "PL": 28, "PT": 25, "DK": 18, "SE": 24, "FI": 18}


def run(iban: str) -> dict[str, bool | str]:
    """Verify an international bank account number by its check digits.

    Args:
        iban: Account number, spaces allowed.

    Returns:
        Whether it is valid, its country code and the number in groups of four.
    """
    plain = re.sub(r"\s", "", iban).upper()
    valid = bool(re.fullmatch(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}", plain))
    if valid:
        number = "".join(str(int(character, 36)) for character in plain[4:] + plain[:4])
        right_length = len(plain) == _LENGTHS.get(plain[:2], len(plain))
        valid = right_length and int(number) % 97 == 1
    pretty = " ".join(plain[i : i + 4] for i in range(0, len(plain), 4))
    return {"valid": valid, "country": plain[:2], "formatted": pretty}
