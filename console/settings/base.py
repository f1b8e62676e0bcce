"""Settings shared by every deployment. Values that differ come from `console.env` or the module of the deployment."""

from pathlib import Path
from urllib.parse import unquote, urlsplit

from csp.constants import NONCE, NONE, SELF

from console import env

ROOT = env.ROOT
DATA = env.data_folder()
SEAL_FOLDER = Path(env.read("SEAL")).expanduser().resolve() if env.read("SEAL") else DATA / "seal"
DEBUG = False
SECRET_KEY = env.read("SECRET_KEY")
PUBLIC_URL = env.read("PUBLIC_URL").rstrip("/")
GATEWAY_URL = env.read("GATEWAY_URL").rstrip("/")
GATEWAY_NAME = env.read("GATEWAY_NAME")
GATEWAY_LINKS: list[str] = env.read("GATEWAY_LINKS")
LINK_SECRET = env.read("LINK_SECRET")
ALLOWED_HOSTS: list[str] = env.read("HOSTS") or [urlsplit(PUBLIC_URL).hostname or "localhost"]
ADMIN_NETWORKS: list[str] = env.read("ADMIN_NETWORKS")
TRUSTED_PROXIES: int = env.read("TRUSTED_PROXIES")
SECURE = PUBLIC_URL.startswith("https:")
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL]

INSTALLED_APPS = [
    "apps.kernel",
    "apps.journal",
    "apps.accounts",
    "apps.telemetry",
    "apps.control",
    "apps.alarms",
    "apps.fleet",
    "apps.realtime",
    "apps.ingest",
    "apps.shell",
    "console",
    "channels",
    "django.contrib.admin.apps.SimpleAdminConfig",  # without discovery: libraries register nothing
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "django.contrib.humanize",  # pages of the sign-in library load it
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "django_htmx",
    "template_partials",
    "csp",
    "rest_framework",
    "drf_spectacular",
]

MIDDLEWARE = [
    "console.metrics.Measured",
    "apps.kernel.middleware.correlation",
    # Around all that may refuse or fail, so that those pages have a policy, and may use its nonce, too.
    "csp.middleware.CSPMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "apps.kernel.middleware.ForwardedHeaders",
    "apps.kernel.middleware.OnlyUtf8",
    "apps.accounts.middleware.AdminNetworks",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "apps.accounts.middleware.SignedIn",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "apps.accounts.middleware.GuessLimits",
    "django_htmx.middleware.HtmxMiddleware",
    "apps.kernel.middleware.Refusals",
    "apps.kernel.middleware.AccessDeclared",
]

ROOT_URLCONF = "console.urls"
ASGI_APPLICATION = "console.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ROOT / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
            ],
        },
    },
]


def _database(url: str) -> dict[str, object]:
    parts = urlsplit(url)
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": parts.path.lstrip("/"),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": parts.hostname or "",
        "PORT": str(parts.port or 5432),
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {
            "connect_timeout": 5,
            # A server that vanished from the network ends a connection after some 25 s, not after two hours.
            "keepalives_idle": 10,
            "keepalives_interval": 5,
            "keepalives_count": 3,
            "tcp_user_timeout": 20_000,
            "application_name": "pilothouse",
            "pool": {
                "min_size": 1,
                "max_size": env.read("POOL_SIZE"),
                "timeout": 5,
                "reconnect_timeout": 5,
                "max_lifetime": 1800,
            },
        },
    }


DATABASE_URL = env.read("DATABASE_URL")
DATABASES = {"default": _database(DATABASE_URL or "postgresql://pilothouse@127.0.0.1:5432/pilothouse")}
TELEMETRY_DAYS = env.read("TELEMETRY_DAYS")
# The role that owns the tables, for commands that make some; the runtime role where none is given.
OWNER_DATABASE = _database(env.read("MIGRATION_DATABASE_URL") or DATABASE_URL or "postgresql://pilothouse@127.0.0.1/pilothouse")
PAGE_THREADS = max(1, env.read("POOL_SIZE") - 2)  # two connections are left to sockets and probes
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

VALKEY_URL = env.read("VALKEY_URL").rstrip("/")
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.core.RedisChannelLayer",
        "CONFIG": {
            # The layer waits five seconds for a message; with the client's own limit, as long, it fails when idle.
            "hosts": [{"address": f"{VALKEY_URL}/1", "socket_timeout": 10, "socket_connect_timeout": 2}],
            "capacity": 100,
            "expiry": 10,
            "group_expiry": 60,
            "prefix": "ph",
        },
    },
}
CACHES = {
    # Nothing that must hold is kept here: limits and used codes are counted in PostgreSQL.
    "default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": f"{VALKEY_URL}/2"},
}
CELERY_BROKER_URL = f"{VALKEY_URL}/0"

LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False

STATIC_URL = "/static/"
STATIC_ROOT = DATA / "static"
STATICFILES_DIRS = [ROOT / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "console.static_files.CompressedFiles"},
}

AUTH_USER_MODEL = "accounts.Person"
AUTHENTICATION_BACKENDS = ["apps.accounts.adapters.backend.PersonBackend"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*", "password2*"]
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_ADAPTER = "apps.accounts.adapters.AccountAdapter"
ACCOUNT_REAUTHENTICATION_TIMEOUT = 300
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_REAUTHENTICATION_METHODS = ("password", "mfa")  # a code in a mail proves only a mailbox
ACCOUNT_LOGOUT_ON_PASSWORD_CHANGE = False  # the service ends every other session; this one goes on
ACCOUNT_RATE_LIMITS = False  # the library counts in the cache, which may be down or flushed; `services.budgets` counts
ACCOUNT_PASSWORD_RESET_TOKEN_GENERATOR = "django.contrib.auth.tokens.PasswordResetTokenGenerator"  # noqa: S105
ACCOUNT_EMAIL_SUBJECT_PREFIX = "[Pilothouse] "
ACCOUNT_EMAIL_NOTIFICATIONS = True
PASSWORD_RESET_TIMEOUT = 3600
ACCOUNT_SESSION_REMEMBER = False
ACCOUNT_PREVENT_ENUMERATION = True
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_TOLERANCE = 1
MFA_ADAPTER = "apps.accounts.adapters.SecondFactorAdapter"
MFA_RATE_LIMITS = False
MFA_ALLOW_UNVERIFIED_EMAIL = True  # nobody signs up: an admin gave the address
MFA_TRUST_ENABLED = False
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = False
MFA_FORMS = {
    "authenticate": "apps.accounts.adapters.forms.AuthenticateForm",
    "reauthenticate": "apps.accounts.adapters.forms.ReauthenticateForm",
    "activate_totp": "apps.accounts.adapters.forms.ActivateForm",
    "add_webauthn": "apps.accounts.adapters.forms.AddPasskeyForm",
    "authenticate_webauthn": "apps.accounts.adapters.forms.AuthenticatePasskeyForm",
    "login_webauthn": "apps.accounts.adapters.forms.SignInPasskeyForm",
    "reauthenticate_webauthn": "apps.accounts.adapters.forms.ReauthenticatePasskeyForm",
}
USERSESSIONS_ADAPTER = "apps.accounts.adapters.SessionsAdapter"
USERSESSIONS_TRACK_ACTIVITY = False  # `SignedIn` does, once a minute instead of at each request

KNOWN_DEVICE_COOKIE_NAME = "pilothouse_device"
SESSION_COOKIE_NAME = "pilothouse_session"
CSRF_COOKIE_NAME = "pilothouse_csrf"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SECURE = SECURE
CSRF_COOKIE_SECURE = SECURE
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"  # no cookie of its own
SESSION_COOKIE_AGE = 12 * 3600
CSRF_FAILURE_VIEW = "apps.shell.views.csrf_failed"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 500

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF, NONCE],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF, PUBLIC_URL.replace("http", "ws", 1), GATEWAY_URL, GATEWAY_URL.replace("ws", "http", 1)],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "manifest-src": [SELF],
    },
}

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "apps.accounts.authentication.BearerToken",
        "apps.accounts.authentication.BrowserSession",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["apps.kernel.access.DeclaredAccess"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "console.openapi.Schema",
    "EXCEPTION_HANDLER": "apps.kernel.problems.api_exception_handler",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Pilothouse API",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": r"/api/v1",
    "ENUM_NAME_OVERRIDES": {"Role": "apps.accounts.models.ROLE_CHOICES"},
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"json": {"()": "apps.kernel.logs.json_formatter"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
    "root": {"handlers": ["stderr"], "level": env.read("LOG_LEVEL")},
    "loggers": {"channels_redis": {"level": "WARNING"}, "django.request": {"level": "ERROR"}, "httpx": {"level": "WARNING"}},
}
EMAIL_URL = env.read("EMAIL_URL")
DEFAULT_FROM_EMAIL = env.read("EMAIL_FROM")
EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
EMAIL_FILE_PATH = DATA / "mail"
EMAIL_TIMEOUT = 10
