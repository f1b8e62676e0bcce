"""Tables of accounts, projected from the journal; only `projections.py` writes them.

Not projected, because they are no facts: passwords and `last_login` (the sign-in library writes them) and `last_used_at`.
"""

from typing import ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.contrib.postgres.fields import ArrayField
from django.db import models

from apps.accounts.types import DENSITIES, THEMES
from apps.kernel import clock
from apps.kernel.ids import new_id
from apps.kernel.types import Role

ROLE_CHOICES = [(role.value, role.label) for role in Role]


class PersonManager(BaseUserManager["Person"]):
    """Makes people by e-mail address."""

    def create_user(self, email: str, password: str | None = None, **fields: object) -> "Person":
        """A person with a hashed password, or without any when it is None."""
        person = self.model(email=self.normalize_email(email).lower(), **fields)
        person.set_password(password)
        person.save(using=self._db)
        return person

    def create_superuser(self, email: str, password: str | None = None, **fields: object) -> "Person":
        """Refused: a row without its fact would be lost in a rebuild. `manage.py seed` makes the first admin."""
        raise RuntimeError("Use `manage.py seed` for the first admin and invitations for everybody else.")


class Person(AbstractBaseUser, PermissionsMixin):
    """Somebody who signs in. `is_scripted` marks an account driven by a program; it says so on every screen."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    email = models.EmailField(unique=True)
    name = models.CharField(max_length=100)
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField(default=False)
    is_scripted = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=clock.now)

    objects: ClassVar[PersonManager] = PersonManager()
    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = ["name"]

    class Meta:
        db_table = "accounts_person"
        verbose_name_plural = "people"

    def __str__(self) -> str:
        return self.name or self.email

    def get_short_name(self) -> str:
        """The name shown beside acts."""
        return self.name


class Site(models.Model):
    """A place with its own roles: a hall, a lab, a farm. Every object of the console belongs to exactly one."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    slug = models.SlugField(max_length=50, unique=True)
    name = models.CharField(max_length=100)
    time_zone = models.CharField(max_length=50, default="UTC")
    is_simulated = models.BooleanField(default=False)
    version = models.BigIntegerField(default=1)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        db_table = "accounts_site"

    def __str__(self) -> str:
        return self.name

    @property
    def site_id(self) -> object:
        """Its own id, so that `can` may be asked about a site itself."""
        return self.id


class RoleGrant(models.Model):
    """One role one person holds at one site now."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="grants")
    site = models.ForeignKey(Site, on_delete=models.PROTECT, related_name="grants")
    role = models.CharField(max_length=20, choices=ROLE_CHOICES)
    granted_at = models.DateTimeField()
    granted_by = models.UUIDField(null=True)

    class Meta:
        db_table = "accounts_role_grant"
        constraints = [models.UniqueConstraint(fields=["person", "site", "role"], name="accounts_role_once")]

    def __str__(self) -> str:
        return f"{self.person_id} {self.role} at {self.site_id}"


class Invitation(models.Model):
    """An address asked to join a site. Used once; who is behind the address shows only when it is accepted."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    site = models.ForeignKey(Site, on_delete=models.PROTECT, related_name="invitations")
    email = models.EmailField()
    name = models.CharField(max_length=100)
    roles = ArrayField(models.CharField(max_length=20, choices=ROLE_CHOICES))
    prefix = models.CharField(max_length=12, unique=True)
    digest = models.BinaryField()
    invited_by = models.UUIDField(null=True)
    invited_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True)
    accepted_by = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="accepted_invitations")
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "accounts_invitation"

    def __str__(self) -> str:
        return f"{self.email} to {self.site_id}"

    @property
    def role_labels(self) -> list[str]:
        """The roles in words, in a fixed order."""
        return [Role(role).label for role in sorted(self.roles)]


class Preferences(models.Model):
    """How the console looks and behaves for one person."""

    person = models.OneToOneField(Person, on_delete=models.CASCADE, primary_key=True, related_name="preferences")
    theme = models.CharField(max_length=10, default=THEMES[0], choices=[(word, word) for word in THEMES])
    density = models.CharField(max_length=12, default=DENSITIES[0], choices=[(word, word) for word in DENSITIES])
    single_keys = models.BooleanField(default=True)

    class Meta:
        db_table = "accounts_preferences"
        verbose_name_plural = "preferences"

    def __str__(self) -> str:
        return f"preferences of {self.person_id}"


class ApiToken(models.Model):
    """A person's own token for the API. Only its SHA-256 is kept; `prefix` finds the row."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="tokens")
    name = models.CharField(max_length=100)
    prefix = models.CharField(max_length=12, unique=True)
    digest = models.BinaryField()
    role = models.CharField(max_length=20, choices=ROLE_CHOICES)
    site = models.ForeignKey(Site, on_delete=models.PROTECT, related_name="tokens")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "accounts_api_token"

    def __str__(self) -> str:
        return f"{self.prefix} of {self.person_id}"


class MachineCredential(models.Model):
    """What one bridge or worker signs in with. Bound to its name and to the subjects it may speak for."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    site = models.ForeignKey(Site, on_delete=models.PROTECT, related_name="machines")
    name = models.CharField(max_length=100)
    subjects = models.JSONField(default=list)
    prefix = models.CharField(max_length=12, unique=True)
    digest = models.BinaryField()
    created_at = models.DateTimeField()
    created_by = models.UUIDField(null=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "accounts_machine_credential"
        constraints = [
            models.UniqueConstraint(
                fields=["site", "name"], condition=models.Q(revoked_at=None), name="accounts_machine_name_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} at {self.site_id}"


class SignInBudget(models.Model):
    """How much of one guessing budget is used: a bucket that leaks at a steady rate. Written only by one atomic upsert.

    The key is a digest of what is limited (an address, an account, a known device), so the table names nobody.
    """

    key = models.BinaryField(primary_key=True, max_length=32)
    level = models.FloatField(default=0)
    counted_at = models.DateTimeField()

    class Meta:
        db_table = "accounts_sign_in_budget"
        indexes = [models.Index(fields=["counted_at"], name="accounts_budget_age")]

    def __str__(self) -> str:
        return f"{self.level:.1f}"
