"""Pages by key in every order: nothing skipped, nothing twice, one query a page."""

import pytest
from django.http import QueryDict

from apps.accounts.models import Site
from apps.kernel.filters import BY_AGE, Filter, Listing, Sort

SITES = Listing(filters=(Filter("name", "name__icontains"),), sorts={"age": BY_AGE, "name": Sort("name")})


def ask(**parameters):
    query = QueryDict(mutable=True)
    query.update(parameters)
    return query


@pytest.mark.django_db
@pytest.mark.parametrize("sort", ["age", "-age", "name", "-name"])
def test_walks_every_row_once_in_order(sort, django_assert_num_queries):
    for number in range(23):
        Site.objects.create(slug=f"walk-{number}", name=f"Same {number % 4} O'Brien — é")
    seen, cursor = [], ""
    while True:
        with django_assert_num_queries(1):
            page = SITES.page(Site.objects.all(), ask(sort=sort, cursor=cursor, limit="5", name="Same"))
        seen += page.rows
        if page.next_cursor is None:
            break
        cursor = page.next_cursor
        Site.objects.create(slug=f"later-{len(seen)}", name="Unrelated")  # a new row never shifts a page
    key = (lambda site: (site.name, site.id)) if sort.endswith("name") else (lambda site: site.id)
    assert seen == sorted(seen, key=key, reverse=sort.startswith("-"))
    assert len(seen) == 23 and len({site.id for site in seen}) == 23
