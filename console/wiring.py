"""What joins apps that may not know each other, and what the views of libraries need."""

from apps.kernel.access import declare_third_party

PUBLIC = "kernel.public"
PERSON = "kernel.person"

for _name in (
    "account_login",
    "account_logout",
    "account_signup",
    "account_inactive",
    "account_reset_password",
    "account_reset_password_done",
    "account_reset_password_from_key",
    "account_reset_password_from_key_done",
    "mfa_authenticate",
    "mfa_login_webauthn",
    "mfa_trust",
):
    declare_third_party(_name, GET=PUBLIC, POST=PUBLIC)
for _name in (
    "account_change_password",
    "account_set_password",
    "account_email",
    "account_reauthenticate",
    "mfa_reauthenticate",
    "mfa_index",
    "mfa_activate_totp",
    "mfa_deactivate_totp",
    "mfa_generate_recovery_codes",
    "mfa_view_recovery_codes",
    "mfa_download_recovery_codes",
    "mfa_list_webauthn",
    "mfa_add_webauthn",
    "mfa_remove_webauthn",
    "mfa_edit_webauthn",
    "mfa_reauthenticate_webauthn",
    "usersessions_list",
):
    declare_third_party(_name, GET=PERSON, POST=PERSON)
