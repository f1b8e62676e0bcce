"""Every process of Pilothouse, declared once.

`manage.py up` runs these, `docker-compose.yml` is compared with them field by field by a test, `manage.py doctor` counts
their pools, and the table in the documentation is made from them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

CORE = "core"
DEMO = "demo"  # comes with --demo, never with --with: what it needs is made by the demo's seed
PROFILES: tuple[str, ...] = ()  # later parts add themselves here, to be asked for with --with

WEB_PORT, GATEWAY_PORT, POSTGRES_PORT, VALKEY_PORT = 8000, 8001, 5432, 6379
TOOLS_CONNECTIONS = 8  # migrations, backup, doctor, a person with psql
SUPERUSER_CONNECTIONS = 3  # PostgreSQL's own default


@dataclass(frozen=True)
class Listen:
    """An address the process serves. `offset` is counted from `--port` when embedded; `container` is the port inside."""

    offset: int
    container: int
    public: bool = False  # people use it: it must be free. An inner port moves aside instead.


@dataclass(frozen=True)
class Health:
    """How a supervisor knows that a process works, and how long it may take."""

    kind: Literal["http", "postgres", "valkey", "alive"]
    path: str = ""
    interval: float = 5.0
    timeout: float = 4.0
    failures: int = 3  # in a row, until it is restarted
    start_within: float = 60.0


@dataclass(frozen=True)
class Container:
    """How production runs the process: what the compose file must say."""

    image: str
    command: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    ports: tuple[str, ...] = ()
    volumes: tuple[str, ...] = ()
    health: tuple[str, ...] = ()
    health_interval: float = 5.0
    health_timeout: float = 4.0


@dataclass(frozen=True)
class Process:
    """One process, or several equal ones on one listening socket (`count`)."""

    name: str
    command: tuple[str, ...] = ()  # words in {braces} are filled in: python, data, run, gateway
    engine: Literal["", "postgres", "valkey", "roles"] = ""  # run from a wheel; the command is the engine's
    profile: str = CORE
    count: int = 1
    environment: Mapping[str, str] = field(default_factory=dict)
    listen: Listen | None = None
    health: Health = Health("alive")
    needs: tuple[str, ...] = ()
    restart: Literal["always", "never"] = "always"  # "never": runs once to its end, and what needs it waits for that
    pool: int = 0  # most PostgreSQL connections one pool of it may hold
    pools: int = 1  # pools in each of `count`: a process that forks has one in every child
    stop_within: float = 4.0
    discard_on_crash: tuple[str, ...] = ()  # files in the run folder that a crash may have left damaged
    container: Container | None = None


_IMAGE = "pilothouse:${PILOTHOUSE_VERSION:-latest}"
_SETTINGS: Mapping[str, str] = {
    "DJANGO_SETTINGS_MODULE": "console.settings.production",
    "PILOTHOUSE_DATA": "/app/var",
    "PILOTHOUSE_DATABASE_URL": "postgresql://pilothouse_app:${PILOTHOUSE_APP_PASSWORD:?}@postgres:5432/pilothouse",
    "PILOTHOUSE_VALKEY_URL": "redis://:${VALKEY_PASSWORD:?}@valkey:6379",
    "PILOTHOUSE_SECRET_KEY": "${PILOTHOUSE_SECRET_KEY:?}",
    "PILOTHOUSE_HOSTS": "${PILOTHOUSE_HOSTS:?},localhost",  # the health check asks as localhost
    "PILOTHOUSE_PUBLIC_URL": "${PILOTHOUSE_PUBLIC_URL:?}",
    "PILOTHOUSE_GATEWAY_URL": "${PILOTHOUSE_GATEWAY_URL:?}",
    "PILOTHOUSE_TRUSTED_PROXIES": "${PILOTHOUSE_TRUSTED_PROXIES:-1}",
}
_AS_OWNER = {"PILOTHOUSE_DATABASE_URL": "postgresql://pilothouse:${PILOTHOUSE_OWNER_PASSWORD:?}@postgres:5432/pilothouse"}
_BLOBS = ("blobs:/app/var/blobs",)


def _asks(port: int) -> tuple[str, ...]:
    return ("CMD", "python", "-m", "console.supervisor.health", f"http://127.0.0.1:{port}/healthz")


def _serving(pool: int) -> Mapping[str, str]:
    return dict(_SETTINGS) | {"PILOTHOUSE_POOL_SIZE": str(pool)}


POSTGRES = Process(
    name="postgres",
    engine="postgres",
    listen=Listen(offset=2, container=POSTGRES_PORT),
    health=Health("postgres"),
    container=Container(
        image="postgres:18",
        command=(
            *("postgres", "-c", "max_connections=50", "-c", "log_lock_waits=on"),
            *("-c", "log_min_error_statement=panic"),  # keys of sessions stand in statements
        ),
        environment={
            "POSTGRES_PASSWORD": "${POSTGRES_PASSWORD:?}",
            "PILOTHOUSE_OWNER_PASSWORD": "${PILOTHOUSE_OWNER_PASSWORD:?}",
            "PILOTHOUSE_APP_PASSWORD": "${PILOTHOUSE_APP_PASSWORD:?}",
        },
        volumes=(
            "postgres:/var/lib/postgresql",
            "./console/embedded/roles.sql:/docker-entrypoint-initdb.d/10-roles.sql:ro",
        ),
        health=("CMD", "pg_isready", "-q", "-U", "postgres", "-h", "127.0.0.1"),
    ),
)
VALKEY = Process(
    name="valkey",
    engine="valkey",
    listen=Listen(offset=3, container=VALKEY_PORT),
    health=Health("valkey"),
    container=Container(
        image="valkey/valkey:9",
        command=(
            "sh",
            "-c",
            'exec valkey-server --requirepass "$$VALKEY_PASSWORD" --appendonly yes --appendfsync everysec '
            "--maxmemory 256mb --maxmemory-policy noeviction --databases 4",
        ),
        environment={"VALKEY_PASSWORD": "${VALKEY_PASSWORD:?}"},
        volumes=("valkey:/data",),
        health=("CMD-SHELL", 'REDISCLI_AUTH="$$VALKEY_PASSWORD" valkey-cli ping | grep -q PONG'),
    ),
)
# In production the PostgreSQL image applies the same roles.sql at its first start.
ROLES = Process(name="roles", engine="roles", needs=("postgres",), restart="never")
PREPARE = Process(
    name="prepare",
    command=("{python}", "manage.py", "prepare"),
    needs=("postgres", "roles", "valkey"),
    restart="never",
    container=Container(
        image=_IMAGE,
        command=("python", "manage.py", "prepare"),
        environment=dict(_SETTINGS) | _AS_OWNER,
        volumes=_BLOBS,
    ),
)
WEB = Process(
    name="web",
    command=("{python}", "-m", "console.supervisor.serve", "web"),
    count=2,
    listen=Listen(offset=0, container=WEB_PORT, public=True),
    health=Health("http", path="/healthz"),
    needs=("postgres", "valkey", "prepare"),
    pool=8,
    container=Container(
        image=_IMAGE,
        command=("python", "-m", "console.supervisor.serve", "web", "--listen", f"0.0.0.0:{WEB_PORT}", "--processes", "2"),
        environment=_serving(8),
        ports=(f"127.0.0.1:{WEB_PORT}:{WEB_PORT}",),
        volumes=_BLOBS,
        health=_asks(WEB_PORT),
    ),
)
GATEWAY = Process(
    name="gateway",
    command=("{python}", "-m", "console.supervisor.serve", "gateway"),
    listen=Listen(offset=1, container=GATEWAY_PORT, public=True),
    health=Health("http", path="/healthz"),
    needs=("postgres", "valkey", "prepare"),
    pool=10,
    stop_within=8.0,  # it stores the samples of the last seconds first
    container=Container(
        image=_IMAGE,
        command=("python", "-m", "console.supervisor.serve", "gateway", "--listen", f"0.0.0.0:{GATEWAY_PORT}"),
        environment=dict(_serving(10))
        | {
            "PILOTHOUSE_GATEWAY_NAME": "${PILOTHOUSE_GATEWAY_NAME:-gateway}",
            "PILOTHOUSE_GATEWAY_LINKS": "${PILOTHOUSE_GATEWAY_LINKS:-}",
            "PILOTHOUSE_LINK_SECRET": "${PILOTHOUSE_LINK_SECRET:-}",
        },
        ports=(f"127.0.0.1:{GATEWAY_PORT}:{GATEWAY_PORT}",),
        volumes=("gateway:/app/var/gateway",),  # Stops that the database did not take yet
        health=_asks(GATEWAY_PORT),
    ),
)
_WORKER: tuple[str, ...] = ("-m", "celery", "-A", "console", "worker", "-Q", "console", "--concurrency", "2")
_WORKER = (*_WORKER, "--loglevel", "INFO", "--without-gossip", "--without-mingle", "-n", "console@%h")
WORKER = Process(
    name="worker",
    command=("{python}", *_WORKER),
    needs=("postgres", "valkey", "prepare"),
    pool=2,
    pools=3,  # two children and the parent
    container=Container(
        image=_IMAGE,
        command=("python", *_WORKER),
        environment=_serving(2),
        volumes=_BLOBS,
        health=("CMD-SHELL", "python -m celery -A console inspect ping -d console@$$HOSTNAME --timeout 3"),
        health_interval=60.0,  # it starts a Python each time
        health_timeout=20.0,
    ),
)
_BEAT = ("-m", "celery", "-A", "console", "beat", "--loglevel", "INFO", "--pidfile=")
BEAT = Process(
    name="beat",
    command=("{python}", *_BEAT, "--schedule", "{run}/beat-schedule"),
    needs=("postgres", "valkey", "prepare"),
    pool=1,
    discard_on_crash=("beat-schedule*",),
    container=Container(
        image=_IMAGE,
        command=("python", *_BEAT, "--schedule", "/app/var/beat-schedule"),
        environment=_serving(1),
        health=("CMD-SHELL", "grep -q celery /proc/1/cmdline"),
    ),
)
TAIL = Process(
    name="tail",
    command=("{python}", "manage.py", "journal", "tail"),
    needs=("postgres", "prepare"),
    pool=3,  # one for reactions, one that holds the tail, one to spare
    container=Container(
        image=_IMAGE,
        command=("python", "manage.py", "journal", "tail"),
        environment=_serving(3),
        volumes=("seal:/app/var/seal",),
        health=("CMD-SHELL", "grep -q journal /proc/1/cmdline"),
    ),
)

# Twelve simulated arms. It signs in with what `manage.py seed_fleet` wrote, and trains their policy at its first start.
ARMS = Process(
    name="arms",
    command=(
        *("{python}", "-m", "workers.edge.arms", "--config", "{data}/secrets/arms.json", "--url", "{gateway}/machine"),
        *("--state", "{data}/arms/state", "--weights", "{data}/arms/weights"),
    ),
    profile=DEMO,
    needs=("gateway",),
    stop_within=6.0,
)

PROCESSES: tuple[Process, ...] = (POSTGRES, VALKEY, ROLES, PREPARE, WEB, GATEWAY, WORKER, BEAT, TAIL, ARMS)
# What each serving process runs: application, largest WebSocket message, the protocol that bounds its sockets.
APPLICATIONS: Mapping[str, tuple[str, int, str]] = {
    "web": ("console.asgi:application", 64 * 1024, "console.websocket:BrowserWebSocket"),
    "gateway": ("console.gateway:application", 1024 * 1024, "console.websocket:MachineWebSocket"),
}


def chosen(profiles: Iterable[str] = (), processes: Iterable[Process] = PROCESSES) -> tuple[Process, ...]:
    """The core, and the processes of the profiles asked for."""
    wanted = {CORE, *profiles}
    return tuple(process for process in processes if process.profile in wanted)


def connections_needed(processes: Iterable[Process] = PROCESSES) -> int:
    """The most PostgreSQL connections all pools together may hold, tools and the superuser's reserve included."""
    return (
        sum(process.pool * process.pools * process.count for process in processes) + TOOLS_CONNECTIONS + SUPERUSER_CONNECTIONS
    )


def max_connections(processes: Iterable[Process] = PROCESSES) -> int:
    """What PostgreSQL is set to: what is needed, rounded up to the next ten, fifty at least."""
    return max(50, -(-connections_needed(processes) // 10) * 10)


def table(processes: Iterable[Process] = PROCESSES) -> str:
    """The processes as a Markdown table, for the documentation."""
    rows = ["| process | runs | count | port | health | needs | pool |", "|---|---|---|---|---|---|---|"]
    for process in processes:
        runs = f"`{' '.join(process.command).replace('{python}', 'python')}`" if process.command else "from a wheel"
        port = "" if process.listen is None else ("`--port`" + (f" + {process.listen.offset}" if process.listen.offset else ""))
        health = " ".join((process.health.kind, process.health.path)).strip() if process.restart == "always" else "runs once"
        needs = ", ".join(process.needs)
        pool = process.pool * process.pools or ""
        rows.append(f"| {process.name} | {runs} | {process.count} | {port} | {health} | {needs} | {pool} |")
    return "\n".join(rows) + "\n"
