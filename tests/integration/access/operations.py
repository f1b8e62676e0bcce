"""Every operation of the API as its own schema tells it, with a right body for each that takes one."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from drf_spectacular.generators import SchemaGenerator

from tests.integration.access.arguments import AT_SITE, OWN
from tests.integration.access.world import Member, World

# A right body for each operation that takes one, and what stands for a person, a machine, a name in it.
BODIES: dict[str, dict[str, Any]] = {
    "acknowledge_alarm": {"seen": 1},
    "shelve_alarm": {"minutes": 30, "reason": "camera is replaced tomorrow"},
    "change_stop_policy": {"one_person_clears": False},
    "accept_invitation": {"secret": "phi_000000000000_" + "0" * 48},
    "change_preferences": {"theme": "dark", "density": "compact", "single_keys": True},
    "change_site": {"name": "Hall A, east", "time_zone": "Europe/Paris"},
    "create_machine": {"name": "bridge 9", "subjects": [], "days": 30},
    "create_site": {"slug": "hall-z", "name": "Hall Z", "time_zone": "UTC"},
    "create_token": {"name": "nightly", "site": "hall-a", "role": "admin", "days": 7},
    "inject_fault": {"name": "gripper_slip"},
    "invite_person": {"email": "newcomer@example.test", "name": "Newcomer", "roles": ["viewer"]},
    "register_robot": {"name": "arm-99", "kind": "arm", "is_simulated": True},
}
# Who may do what an admin may not: the role of the cast that tries it.
DONE_BY = {"request_clear": "floor_operator", "reset_scene": "floor_operator", "withdraw_clear": "floor_operator"}
SITE_OBJECTS = AT_SITE.keys() - {"site_slug", "role", "fault"}


@dataclass(frozen=True)
class Operation:
    """One method of one address."""

    id: str
    method: str
    path: str
    query: tuple[str, ...]
    schema: dict[str, Any] | None = field(hash=False)

    @property
    def writes(self) -> bool:
        """Whether it changes anything."""
        return self.method not in {"GET", "HEAD"}

    def address(self, world: World, member: Member) -> str:
        """The address for a caller at their own site, naming their own things."""
        path = self.path
        for name, find in AT_SITE.items():
            if f"{{{name}}}" in path:
                path = path.replace(f"{{{name}}}", str(find(world.here)))
        for name, make in OWN.items():
            if f"{{{name}}}" in path and member.person is not None:
                path = path.replace(f"{{{name}}}", str(make(world, member.person)))
        return path


@cache
def schema() -> dict[str, Any]:
    """The API's own schema."""
    found: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    return found


def operations() -> list[Operation]:
    """All of them."""
    return list(_operations())


def _operations() -> Iterator[Operation]:
    for path, methods in schema()["paths"].items():
        for method, found in methods.items():
            query = tuple(one["name"] for one in found.get("parameters", ()) if one["in"] == "query")
            body = found.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
            yield Operation(found["operationId"], method.upper(), path, query, _resolved(body) if body else None)


def _resolved(node: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in node:
        name = node["$ref"].rpartition("/")[2]
        found: dict[str, Any] = schema()["components"]["schemas"][name]
        return found
    return node
