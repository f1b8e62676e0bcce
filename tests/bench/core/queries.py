"""How many statements the floor page needs: `python -m tests.bench.core.queries SLUG...`, run with a deployment's settings."""

import json
import sys


def count(slugs: list[str]) -> dict[str, int]:
    """Statements of one GET of the floor, by site."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    from apps.accounts.models import Person
    from tests.bench.core.seed import EMAIL
    from tests.factories.accounts import client_of

    browser = client_of(Person.objects.get(email=EMAIL), HTTP_HOST="localhost")
    found = {}
    for slug in slugs:
        for _ in "12":  # the first one may fill caches
            with CaptureQueriesContext(connection) as caught:
                answer = browser.get(f"/sites/{slug}/floor/")
            if answer.status_code != 200:
                raise RuntimeError(f"the floor of {slug} was answered {answer.status_code}")
        found[slug] = len(caught)
    return found


if __name__ == "__main__":
    import django

    django.setup()
    sys.stdout.write(json.dumps(count(sys.argv[1:])))
