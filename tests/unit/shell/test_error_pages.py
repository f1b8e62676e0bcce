"""Error pages and fragments stand without database, session or context processors (pytest refuses any query here)."""

import pytest
from django.template.loader import render_to_string
from django.test import RequestFactory

from apps.kernel.problems import PAGES, problem

CONTEXT = {
    "message": "A part did not answer.",
    "correlation_id": "018f-4a2c",
    "fields": {"name": ["Give one."]},
    "retry_after_s": 7,
}


@pytest.mark.parametrize("status", sorted(PAGES))
def test_a_page_says_what_failed_whether_it_took_effect_and_what_to_do(status: int) -> None:
    page = render_to_string(f"errors/{status}.html", {**CONTEXT, "status": status})
    for words in ("What failed", "Took effect", "What to do", "A part did not answer.", "018f-4a2c", "Give one.", "Stop site"):
        assert words in page
    assert page.count("<h1>") == 1


@pytest.mark.parametrize("status", sorted(PAGES))
def test_a_fragment_is_one_alert_with_the_number_to_copy(status: int) -> None:
    fragment = render_to_string(f"errors/_{status}.html", {**CONTEXT, "status": status})
    assert fragment.count('role="alert"') == 1
    assert str(status) in fragment and 'value="018f-4a2c"' in fragment
    assert "<html" not in fragment


def test_only_a_fault_of_ours_leaves_the_effect_open() -> None:
    open_ended = [
        status for status in PAGES if "Not known" in render_to_string(f"errors/{status}.html", {**CONTEXT, "status": status})
    ]
    assert open_ended == [500]


def test_a_refused_fragment_is_asked_for_by_htmx() -> None:
    answer = problem(
        RequestFactory().get("/sites/a/floor/", headers={"HX-Request": "true"}), 503, message="Down.", retry_after_s=5
    )
    assert answer.status_code == 503 and answer["Retry-After"] == "5"
    assert b"<html" not in answer.content
