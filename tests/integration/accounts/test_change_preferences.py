import pytest

from apps.accounts.selectors import preferences_of, verify_token
from apps.accounts.services import change_preferences, create_token
from apps.accounts.types import Display
from apps.kernel.errors import Invalid, NotAllowed, NotFound
from apps.kernel.types import ANONYMOUS, Role

pytestmark = pytest.mark.django_db


def test_what_was_chosen_is_kept(viewer, actor_of, facts):
    assert preferences_of(viewer.id) == Display("system", "compact", single_keys=True)
    act = {"actor": actor_of(viewer, proved=False), "theme": "dark", "density": "comfortable", "single_keys": False}
    change_preferences(**act, idempotency_key="once")
    change_preferences(**act, idempotency_key="once")
    assert preferences_of(viewer.id) == Display("dark", "comfortable", single_keys=False)
    assert facts() == ["preferences_changed"]


@pytest.mark.parametrize(("theme", "density"), [("pink", "compact"), ("dark", "tiny")])
def test_bad_input(theme, density, viewer, actor_of, refused):
    with refused(Invalid):
        change_preferences(actor=actor_of(viewer), theme=theme, density=density, single_keys=True)


def test_a_stranger_has_none(db, refused):
    with refused(NotFound):
        change_preferences(actor=ANONYMOUS, theme="dark", density="compact", single_keys=True)


def test_a_token_reaches_only_its_site(site, viewer, actor_of, refused):
    made = create_token(actor=actor_of(viewer), person_id=viewer.id, site_id=site.id, role=Role.VIEWER, name="x")
    with refused(NotAllowed):
        change_preferences(actor=verify_token(made.text).actor, theme="dark", density="compact", single_keys=True)
