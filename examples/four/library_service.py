"""The service that `library.yaml` describes: `python library_service.py [PORT]`."""

import json
import re
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlsplit

BOOKS = {1: "The Art of Doing Nothing", 2: "Bread for Beginners", 3: "A Short History of Bread"}


class Library(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        [word] = parse_qs(urlsplit(self.path).query)["word"]
        found = [(n, title) for n, title in BOOKS.items() if word.lower() in title.lower()]
        self.answer(200, {"books": [{"number": n, "title": title} for n, title in found]})

    def do_POST(self) -> None:
        asked = re.fullmatch(r"/books/(\d+)/loan", self.path)
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if asked is None or (title := BOOKS.get(int(asked[1]))) is None:
            return self.answer(404, {"error": "there is no such book"})
        return self.answer(200, {"title": title, "reader": body["reader"], "weeks": 4})

    def answer(self, status: int, said: dict[str, object]) -> None:
        body = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8765
    with HTTPServer(("127.0.0.1", port), Library) as server:
        print(f"the library is open at http://127.0.0.1:{port}", flush=True)
        server.serve_forever()
