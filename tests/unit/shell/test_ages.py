"""Ages read the same from the server and in the browser, and stale is never dressed as fresh."""

from datetime import timedelta

import pytest

from apps.kernel import clock
from apps.shell.templatetags.shell import age, age_words, browser_words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-5, "0.0 s"),
        (0.24, "0.2 s"),
        (9.94, "9.9 s"),
        (10, "10 s"),
        (119, "119 s"),
        (120, "2 min"),
        (7199, "119 min"),
        (7200, "2 h"),
        (172800, "2 d"),
    ],
)
def test_words_of_an_age(seconds: float, words: str) -> None:
    assert age_words(seconds) == words


def test_a_value_that_never_came_says_so() -> None:
    assert "none yet" in age(None, 3)


def test_an_age_carries_its_limit_for_the_browser() -> None:
    shown = age(clock.now() - timedelta(seconds=48), 30)
    assert 'limit="30"' in shown and "48 s" in shown


def test_a_browser_is_named_in_words() -> None:
    agent = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36"
    assert browser_words(agent) == "Chrome on Linux"
    assert browser_words("curl/8.5") == "curl/8.5"
    assert browser_words("") == "unknown"
