"""What joins apps that may not know each other, and what the views of libraries need."""

from apps.kernel.access import declare_third_party, declare_third_party_namespace

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
):
    declare_third_party(_name, GET=PUBLIC, POST=PUBLIC)
for _name in (
    "account_change_password",
    "account_set_password",
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
for _name in (
    "account_email",  # an address is who somebody is: an admin gives it
    "account_confirm_email",
    "account_email_verification_sent",
    "account_confirm_login_code",  # no sign-in and no step-up by a code in a mail
    "account_request_reauthentication_code",
    "account_confirm_reauthentication_code",
):
    declare_third_party(_name, GET="accounts.unoffered", POST="accounts.unoffered")
declare_third_party_namespace("admin", GET="accounts.use_admin_site", POST="accounts.use_admin_site")
