"""Pages of the sign-in library that change a credential: the same pages, with the fact in the same transaction."""

from typing import Any, cast

from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.views import GenerateRecoveryCodesView
from allauth.mfa.totp.views import ActivateTOTPView, DeactivateTOTPView
from allauth.mfa.webauthn.views import AddWebAuthnView, RemoveWebAuthnView
from allauth.usersessions.views import ListUserSessionsView
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from apps.accounts.adapters.forms import ActivateForm
from apps.accounts.models import Person
from apps.accounts.services import second_factor, sign_in
from apps.kernel.access import access, actor_of

own_page = access(GET="kernel.person", POST="kernel.person")


class ActivateCodes(ActivateTOTPView):
    """Set up a code generator."""

    def form_valid(self, form: ActivateForm) -> HttpResponse:
        """Keep the generator, its first code as used, and the fact: all or nothing."""
        request = self.request
        with transaction.atomic():
            response = super().form_valid(form)
            second_factor.use_up_first_code(request.user, form.step)
            sign_in.record_factor_added(
                request.actor, request.user, Authenticator.Type.TOTP.value, keep_session=request.session.session_key
            )
        return response


class DeactivateCodes(DeactivateTOTPView):
    """Remove the code generator."""

    def form_valid(self, form: Any) -> HttpResponse:
        """Remove it with the fact."""
        with transaction.atomic():
            response = super().form_valid(form)
            sign_in.record_factor_removed(self.request.actor, self.request.user, Authenticator.Type.TOTP.value)
        return response


class AddPasskey(AddWebAuthnView):
    """Add a passkey."""

    def form_valid(self, form: Any) -> HttpResponse:
        """Keep it with the fact."""
        request = self.request
        with transaction.atomic():
            response = super().form_valid(form)
            sign_in.record_factor_added(
                request.actor, request.user, Authenticator.Type.WEBAUTHN.value, keep_session=request.session.session_key
            )
        return response


class RemovePasskey(RemoveWebAuthnView):
    """Remove a passkey."""

    def form_valid(self, form: Any) -> HttpResponse:
        """Remove it with the fact."""
        with transaction.atomic():
            response = super().form_valid(form)
            sign_in.record_factor_removed(self.request.actor, self.request.user, Authenticator.Type.WEBAUTHN.value)
        return response


class MakeRecoveryCodes(GenerateRecoveryCodesView):
    """Replace the recovery codes."""

    def form_valid(self, form: Any) -> HttpResponse:
        """Replace them with the fact."""
        with transaction.atomic():
            response = super().form_valid(form)
            sign_in.record_recovery_codes(self.request.actor, self.request.user)
        return response


class Sessions(ListUserSessionsView):
    """Where the person is signed in; one session, or all others, can be ended."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """End the session whose number is posted as `session`, or all others when none is."""
        number = request.POST.get("session", "")
        if not number:
            return super().post(request, *args, **kwargs)
        sign_in.end_session(actor_of(request), cast("Person", request.user), number)
        return HttpResponseRedirect(str(self.success_url))

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """`SignedIn` keeps the time of the last request, so the page shows it."""
        return {**super().get_context_data(**kwargs), "show_last_seen_at": True}


activate_codes = own_page(ActivateCodes.as_view())
deactivate_codes = own_page(DeactivateCodes.as_view())
add_passkey = own_page(AddPasskey.as_view())
remove_passkey = own_page(RemovePasskey.as_view())
make_recovery_codes = own_page(MakeRecoveryCodes.as_view())
sessions = own_page(Sessions.as_view())
