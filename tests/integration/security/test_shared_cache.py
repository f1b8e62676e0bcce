"""Attack 42: two people behind one shared cache never see each other's pages."""

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
from django.conf import settings

from apps.kernel.types import Role
from tests.factories.accounts import client_of, grant, make_person, make_site

HEURISTIC_S = 60.0  # RFC 9111 4.2.2 lets a cache keep what names no lifetime


class Cache:
    """A shared HTTP cache: keeps any 200 to a GET that is not forbidden. Like some real ones it looks at no Vary."""

    def __init__(self, upstream: str) -> None:
        self.upstream = httpx.Client(base_url=upstream, timeout=20)
        self.kept: dict[str, tuple[float, httpx.Response]] = {}

    def fetch(self, path: str, headers: dict[str, str]) -> tuple[httpx.Response, bool]:
        until, kept = self.kept.get(path, (0.0, None))
        if kept is not None and time.monotonic() < until:
            return kept, True
        answer = self.upstream.get(path, headers=headers)
        lifetime = self.lifetime(answer)
        if answer.status_code == 200 and lifetime > 0:
            self.kept[path] = (time.monotonic() + lifetime, answer)
        return answer, False

    @staticmethod
    def lifetime(answer: httpx.Response) -> float:
        pairs = (word.strip().lower().partition("=") for word in answer.headers.get("Cache-Control", "").split(","))
        words = {name: value for name, _, value in pairs}
        if words.keys() & {"private", "no-store", "no-cache"}:
            return 0.0
        return float(words.get("s-maxage") or words.get("max-age") or HEURISTIC_S)


@pytest.fixture
def shared(live_server) -> Iterator[str]:
    cache = Cache(live_server.url)

    class Proxy(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = {"Cookie": self.headers.get("Cookie", ""), "Host": "localhost", "Accept-Encoding": "identity"}
            answer, hit = cache.fetch(self.path, wanted)
            self.send_response(answer.status_code)
            self.send_header("X-Cache", "hit" if hit else "miss")
            for name in ("Content-Type", "Location", "Cache-Control"):
                if name in answer.headers:
                    self.send_header(name, answer.headers[name])
            self.end_headers()
            self.wfile.write(answer.content)

        def log_message(self, *_args: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    cache.upstream.close()
    thread.join()


def _browser(base: str, person) -> httpx.Client:
    session = client_of(person).cookies[settings.SESSION_COOKIE_NAME].value if person else ""
    return httpx.Client(base_url=base, headers={"Cookie": f"{settings.SESSION_COOKIE_NAME}={session}"}, timeout=20)


@pytest.mark.django_db(transaction=True)
def test_nobody_gets_the_page_of_somebody_else(shared):
    """Attack 42: pages, the API and refusals, asked for by one, then by the other, then by a stranger."""
    hall = make_site("hall")
    ada, bob = (grant(make_person(name), hall, Role.ADMIN) for name in ("Ada Unmistakable", "Bob Unmistakable"))
    asked = [
        "/",
        "/account/sessions/",
        "/account/password/change/",
        f"/sites/{hall.slug}/people/",
        "/api/v1/sites/",
        "/me/preferences/",
    ]
    with _browser(shared, ada) as first, _browser(shared, bob) as second, _browser(shared, None) as stranger:
        for path in asked:
            mine = first.get(path)
            theirs = second.get(path)
            nobody = stranger.get(path)
            assert mine.headers["X-Cache"] == theirs.headers["X-Cache"] == nobody.headers["X-Cache"] == "miss", path
            assert nobody.status_code in {302, 401, 404}, path
            assert "Unmistakable" not in nobody.text, path


@pytest.mark.django_db(transaction=True)
def test_the_cache_does_keep_static_files(shared):
    """Attack 42: so the test above would have seen a page kept."""
    with _browser(shared, None) as browser:
        path = f"{settings.STATIC_URL}css/tokens.css"
        assert browser.get(path).headers["X-Cache"] == "miss"
        again = browser.get(path)
        assert again.headers["X-Cache"] == "hit"
        assert again.status_code == 200
