import json
import os
import urllib.parse
import urllib.request


def run(address: str, country: str | None = None, limit: int = 1) -> list[dict[str, str | float]]:
    """Look up the coordinates of a street address or place name.

    Asks a Nominatim-compatible geocoder.

    Args:
        address: Free-form address, such as "10 Downing Street, London".
        country: Two-letter country code to search in.
        limit: Number of candidates.

    Returns:
        Full name, latitude and longitude of each candidate, best first.
    """
    query = {"q": address, "format": "jsonv2", "limit": limit}
    if country:
        query["countrycodes"] = country.lower()
    found = _call("GET", "/search?" + urllib.parse.urlencode(query))
    return [
        {"name": hit["display_name"], "latitude": float(hit["lat"]), "longitude": float(hit["lon"])}
        for hit in found
    ]


def _call(method: str, path: str, payload: dict | None = None) -> dict | list:
    url, token = os.environ.get("DEMO_MAPS_URL"), os.environ.get("DEMO_MAPS_TOKEN")
    if not url or not token:
        raise RuntimeError(f"missing environment variable DEMO_MAPS_{'TOKEN' if url else 'URL'}")
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    body = None if payload is None else json.dumps(payload).encode()
    request = urllib.request.Request(url.rstrip("/") + path, body, headers, method=method)
    with urllib.request.urlopen(request, timeout=20) as reply:
        return json.load(reply)
