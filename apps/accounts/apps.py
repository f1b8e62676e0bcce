"""People, their site roles, machine credentials, tokens."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """Connects the owner of sites with the kernel's access rule."""

    name = "apps.accounts"
    label = "accounts"

    def ready(self) -> None:
        """Register verbs and projected tables, and tell the kernel how a slug becomes a site."""
        from apps.accounts import checks, permissions, projections, selectors  # noqa: F401
        from apps.journal.services import projection
        from apps.kernel.access import use_site_finder

        projection("accounts", projections.TABLES, projections.apply_recorded)
        use_site_finder(selectors.find_site)
