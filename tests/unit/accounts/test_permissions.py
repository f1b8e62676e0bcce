from apps.kernel.permissions import EVERY_ROLE, registered
from apps.kernel.types import Role


def test_what_a_viewer_may_do_every_role_may():
    """A token of the role viewer may be made by the holder of any role; so it must never reach further than they do."""
    uneven = [verb.name for verb in registered() if Role.VIEWER in verb.roles and verb.roles != EVERY_ROLE]
    assert uneven == []


def test_rights_change_only_by_a_person_with_a_fresh_proof():
    rights = {
        "accounts.create_site",
        "accounts.change_site_settings",
        "accounts.manage_people",
        "accounts.manage_machines",
        "accounts.manage_own_tokens",
        "accounts.deactivate_person",
    }
    found = {verb.name: verb for verb in registered() if verb.name in rights}
    assert set(found) == rights
    assert all(verb.step_up for verb in found.values())
    assert not [verb.name for verb in registered() if verb.machines and verb.roles & {Role.APPROVER, Role.ADMIN}]
