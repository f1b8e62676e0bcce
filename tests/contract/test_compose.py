"""docker-compose.yml and Dockerfile say what console/processes.py says, field by field.

No Docker engine is needed. That the comparison finds a change is itself tested: every single leaf of the file, and every
field of the declarations, is changed in turn, and each change must be reported.
"""

import copy
import json
import re
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from console.processes import GATEWAY, POSTGRES, PREPARE, PROCESSES, WEB, Container, Health, Process, max_connections

ROOT = Path(__file__).resolve().parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
DOCKERFILE = (ROOT / "Dockerfile").read_text()
OURS = "pilothouse:"


def expected(processes: tuple[Process, ...]) -> dict[str, dict[str, Any]]:
    """The services as the declarations have them."""
    in_containers = {process.name: process for process in processes if process.container}
    return {name: _service(process, in_containers) for name, process in in_containers.items()}


def _service(process: Process, known: dict[str, Process]) -> dict[str, Any]:
    container = process.container
    assert container is not None
    service: dict[str, Any] = {
        "image": container.image,
        "command": list(container.command),
        "environment": dict(container.environment),
        "restart": "unless-stopped" if process.restart == "always" else "no",
    }
    if container.image.startswith(OURS):
        service |= {"build": ".", "cap_drop": ["ALL"], "security_opt": ["no-new-privileges:true"]}
    if container.ports:
        service["ports"] = list(container.ports)
    if container.volumes:
        service["volumes"] = list(container.volumes)
    if container.health:
        service["healthcheck"] = {
            "test": list(container.health),
            "interval": f"{container.health_interval:.0f}s",
            "timeout": f"{container.health_timeout:.0f}s",
            "retries": process.health.failures,
            "start_period": f"{process.health.start_within:.0f}s",
        }
    needs = [known[name] for name in process.needs if name in known]
    if needs:
        service["depends_on"] = {
            need.name: {"condition": "service_healthy" if need.restart == "always" else "service_completed_successfully"}
            for need in needs
        }
    return service


def differences(compose: dict[str, Any], processes: tuple[Process, ...]) -> list[str]:
    """Every place where the file and the declarations differ."""
    wanted = expected(processes)
    volumes = sorted(
        {volume.partition(":")[0] for one in wanted.values() for volume in one.get("volumes", ()) if volume[0] != "."}
    )
    found = list(_compare("services", compose.get("services"), wanted))
    found += _compare("volumes", compose.get("volumes"), dict.fromkeys(volumes))
    found += _compare("name", compose.get("name"), "pilothouse")
    return found


def _compare(place: str, found: Any, wanted: Any) -> Iterator[str]:
    if isinstance(found, dict) and isinstance(wanted, dict):
        for key in sorted(found.keys() | wanted.keys()):
            if key not in wanted or key not in found:
                yield f"{place}.{key} is {'not declared' if key not in wanted else 'missing'}"
            else:
                yield from _compare(f"{place}.{key}", found[key], wanted[key])
    elif found != wanted:
        yield f"{place}: the file has {found!r}, the declarations {wanted!r}"


def test_compose_file_is_as_declared() -> None:
    assert differences(COMPOSE, PROCESSES) == []


def leaves(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value that is not a container."""
    if isinstance(tree, dict | list):
        for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from leaves(value, (*path, key))
    else:
        yield path


COMPARED = {"services": COMPOSE["services"], "volumes": COMPOSE["volumes"], "name": COMPOSE["name"]}


@pytest.mark.parametrize("path", [pytest.param(path, id=".".join(map(str, path))) for path in leaves(COMPARED)])
def test_every_change_of_the_file_is_found(path: tuple[Any, ...]) -> None:
    for change in ("change", "remove"):
        changed = copy.deepcopy(COMPOSE)
        place = changed
        for key in path[:-1]:
            place = place[key]
        if change == "remove":
            del place[path[-1]]
        else:
            place[path[-1]] = f"{place[path[-1]]}x"
        assert differences(changed, PROCESSES), f"{change} of {path} was not noticed"


def test_an_added_service_or_field_is_found() -> None:
    changed = copy.deepcopy(COMPOSE)
    changed["services"]["extra"] = {"image": "x"}
    assert differences(changed, PROCESSES) == ["services.extra is not declared"]
    changed = copy.deepcopy(COMPOSE)
    changed["services"]["web"]["privileged"] = True
    assert differences(changed, PROCESSES) == ["services.web.privileged is not declared"]


def test_every_change_of_the_declarations_is_found() -> None:
    for index, process in enumerate(PROCESSES):
        if process.container is None:
            continue
        for field in fields(Container):
            value = getattr(process.container, field.name)
            other = replace(process.container, **{field.name: _other(value)})
            if field.name.startswith("health_") and not process.container.health:
                continue
            changed = (*PROCESSES[:index], replace(process, container=other), *PROCESSES[index + 1 :])
            assert differences(COMPOSE, changed), f"{process.name}.{field.name}"
        without = tuple(one for one in PROCESSES if one is not process)
        assert differences(COMPOSE, without), process.name
    changed = tuple(replace(one, health=Health("http", failures=9)) if one is WEB else one for one in PROCESSES)
    assert differences(COMPOSE, changed)
    assert differences(COMPOSE, tuple(replace(one, restart="always") if one is PREPARE else one for one in PROCESSES))
    assert differences(COMPOSE, tuple(replace(one, needs=()) if one is GATEWAY else one for one in PROCESSES))


def _other(value: Any) -> Any:
    if isinstance(value, str):
        return value + "x"
    if isinstance(value, tuple):
        return (*value, "x")
    if isinstance(value, float):
        return value + 1
    return {**value, "X": "x"}


def instruction(text: str, word: str) -> str:
    """The last instruction of a kind in the Dockerfile, continuation lines joined."""
    joined = text.replace("\\\n", " ")
    return [line[len(word) :].strip() for line in joined.splitlines() if line.startswith(word + " ")][-1]


def image_differences(text: str) -> list[str]:
    """Where the Dockerfile and the declarations differ."""
    assert WEB.container and WEB.listen and GATEWAY.listen
    health = instruction(text, "HEALTHCHECK")
    timing = dict(re.findall(r"--([a-z-]+)=(\S+)", health))
    wanted = {
        "base": ("python:3.11-slim", instruction(text, "FROM")),
        "command": (list(WEB.container.command), json.loads(instruction(text, "CMD"))),
        "health": (list(WEB.container.health), ["CMD", *json.loads(health.partition("CMD ")[2])]),
        "timing": (
            {"interval": "5s", "timeout": "4s", "start-period": "60s", "retries": str(WEB.health.failures)},
            timing,
        ),
        "ports": (f"{WEB.listen.container} {GATEWAY.listen.container}", instruction(text, "EXPOSE")),
        "user": ("10001:10001", instruction(text, "USER")),
        "folder": ("/app", instruction(text, "WORKDIR")),
    }
    return [f"{name}: {found!r} is not {want!r}" for name, (want, found) in wanted.items() if want != found]


def test_dockerfile_is_as_declared() -> None:
    assert image_differences(DOCKERFILE) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"--processes", "2"', '"--processes", "3"'),
        ("8000/healthz", "8001/healthz"),
        ("EXPOSE 8000 8001", "EXPOSE 8000"),
        ("USER 10001:10001", "USER root"),
        ("python:3.11-slim\nENV", "python:3.12-slim\nENV"),
        ("--retries=3", "--retries=1"),
        ("WORKDIR /app\nUSER", "WORKDIR /srv\nUSER"),
    ],
)
def test_every_change_of_the_dockerfile_is_found(old: str, new: str) -> None:
    assert old in DOCKERFILE
    assert image_differences(DOCKERFILE.replace(old, new))


def test_postgres_takes_the_connections_of_all_pools() -> None:
    assert POSTGRES.container is not None
    assert f"max_connections={max_connections()}" in POSTGRES.container.command
