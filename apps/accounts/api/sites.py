"""Sites and their settings."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import selectors
from apps.accounts.serializers import SiteCreate, SitePage, SiteRow, SiteSettings
from apps.accounts.services import sites
from apps.kernel.access import access
from apps.kernel.api import Endpoint, every, only, row


@access(GET="kernel.signed_in", POST="accounts.create_site")
class SiteList(Endpoint):
    """Sites the caller knows."""

    @extend_schema(responses=SitePage, operation_id="list_sites")
    def get(self, request: Request) -> Response:
        """Sites at which the caller holds a role, by name, all on one page."""
        only(request)
        return every(SiteRow, selectors.sites_of(self.actor))

    @extend_schema(request=SiteCreate, responses={201: SiteRow}, operation_id="create_site")
    def post(self, request: Request) -> Response:
        """Make a site and be its first admin."""
        site = sites.create_site(actor=self.actor, idempotency_key=self.key(), **self.body(SiteCreate))
        return row(SiteRow, site, status=201, version=site.version)


@access(GET="accounts.view_site", PUT="accounts.change_site_settings")
class SiteDetail(Endpoint):
    """One site."""

    versioned = ("PUT",)

    @extend_schema(responses=SiteRow, operation_id="get_site")
    def get(self, request: Request, site_slug: str) -> Response:
        """One site and its settings."""
        only(request)
        return row(SiteRow, self.site, version=self.site.version)

    @extend_schema(request=SiteSettings, responses=SiteRow, operation_id="change_site")
    def put(self, request: Request, site_slug: str) -> Response:
        """Change name and time zone."""
        body, expected = self.body(SiteSettings), self.expected()
        site = sites.change_site_settings(
            actor=self.actor, site_id=self.site.id, expected=expected, idempotency_key=self.key(), **body
        )
        return row(SiteRow, site, version=site.version)
