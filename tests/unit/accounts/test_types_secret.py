import re
from datetime import UTC, datetime, timedelta

import pytest

from apps.accounts.types import NO_DIGEST, Member, Secret, SecretKind, has_expired, looks_secret, narrowed, parse_roles
from apps.kernel.ids import new_id
from apps.kernel.types import Role


@pytest.mark.parametrize("kind", SecretKind)
def test_a_secret_has_a_kind_a_prefix_and_192_bits(kind):
    made = [Secret.new(kind) for _ in range(100)]
    assert all(re.fullmatch(rf"{kind.value}_[0-9a-f]{{12}}_[0-9a-f]{{48}}", secret.text) for secret in made)
    assert len({secret.text for secret in made}) == len({secret.prefix for secret in made}) == 100


def test_a_secret_is_read_as_its_own_kind_only():
    secret = Secret.new(SecretKind.TOKEN)
    assert Secret.parse(secret.text, SecretKind.TOKEN) == secret
    assert Secret.parse(secret.text, SecretKind.MACHINE) is None
    for wrong in ("", secret.text + "0", secret.text[:-1], secret.text.upper(), f" {secret.text}", f"{secret.text}\n"):
        assert Secret.parse(wrong, SecretKind.TOKEN) is None


def test_only_the_whole_secret_matches_its_digest():
    secret, other = Secret.new(SecretKind.TOKEN), Secret.new(SecretKind.TOKEN)
    assert secret.matches(secret.digest)
    assert secret.matches(memoryview(secret.digest))
    assert not secret.matches(other.digest)
    assert not secret.matches(NO_DIGEST)


def test_a_secret_does_not_print_itself():
    secret = Secret.new(SecretKind.MACHINE)
    assert secret.text not in repr(secret)


def test_a_secret_is_found_inside_other_text():
    assert looks_secret(f"a=1&b={Secret.new(SecretKind.INVITATION).text}&c")
    assert not looks_secret("pht_0123")


def test_a_credential_ends_at_its_very_moment():
    end = datetime(2026, 1, 31, tzinfo=UTC)
    assert [has_expired(end, end + timedelta(seconds=s)) for s in (-1, 0, 1)] == [False, True, True]


@pytest.mark.parametrize("held", Role)
@pytest.mark.parametrize("wanted", Role)
def test_a_token_reaches_what_is_held_or_a_view_of_it(wanted, held):
    expected = {wanted} if wanted in {held, Role.VIEWER} else set()
    assert narrowed(wanted, frozenset({held})) == expected
    assert narrowed(wanted, frozenset()) == frozenset()


def test_roles_go_through_a_form_unchanged():
    member = Member(new_id(), "", "", is_active=True, is_scripted=False, roles=frozenset({Role.VIEWER, Role.ADMIN}))
    assert member.roles_seen == "admin viewer"
    assert parse_roles(member.roles_seen) == member.roles
    assert [*member.roles_in_order, *member.roles_not_held] == sorted(
        Role, key=lambda role: (role not in member.roles, list(Role).index(role))
    )
    with pytest.raises(ValueError, match="king"):
        parse_roles("king")
