"""Guards that live in the browser are switched off here: a script of ours reaches the page with one piece of it changed."""

from playwright.sync_api import Route

# By the path of a script in static/js/, without its ending: what is replaced, and by what.
# Filled only by tests/mutations, empty in every other run.
CHANGES: dict[str, tuple[str, str]] = {}


def serve_changed(route: Route) -> None:
    """Answer with the script as it is, but for the change. A piece that is not there any more fails the run."""
    stem = route.request.url.rpartition("/static/js/")[2].partition(".")[0]
    answer = route.fetch()
    before, after = CHANGES[stem]
    text = answer.text()
    if before not in text:
        raise LookupError(f"{stem}.js no longer holds {before!r}")
    route.fulfill(response=answer, body=text.replace(before, after))
