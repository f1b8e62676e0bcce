"""What a hello gets from the apps that know subjects: which ones it speaks for, and where their samples are kept."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from apps.accounts.types import VerifiedMachine
from apps.fleet.services import claim_bridge
from apps.fleet.types import Claim, ClaimedRobot, subject_name
from apps.ingest.gateway.live import About
from apps.telemetry.services import describe
from workers.protocol import Channel, Described, Hello


@dataclass(frozen=True)
class Claimed:
    """A claim, and the layout of each subject's samples."""

    claim: Claim
    layouts: Mapping[UUID, int]
    robots: Mapping[str, ClaimedRobot]

    def robot_of(self, subject: str) -> ClaimedRobot | None:
        """The robot of a subject's name in the hello, None where it was refused."""
        return self.robots.get(subject)


def claim(machine: VerifiedMachine, hello: Hello, gateway: str) -> Claimed:
    """Claim what the hello names. Raises what `claim_bridge` and `describe` raise."""
    made = claim_bridge(machine=machine, hello=hello, gateway=gateway)
    described = [_described(robot) for robot in made.robots]
    layouts = describe(site_id=made.site_id, described=described) if described else {}
    ids = {key: layout.id for key, layout in layouts.items()}
    return Claimed(made, ids, {subject_name(one.id): one for one in made.robots})


def about(robot: ClaimedRobot, bridge: str, gateway: str) -> About:
    """What pages are told of a robot."""
    return About(
        name=robot.name,
        kind=robot.kind,
        channels=tuple(robot.channels),
        cameras=tuple(robot.cameras),
        is_simulated=robot.is_simulated,
        bridge=bridge,
        gateway=gateway,
    )


def _described(robot: ClaimedRobot) -> Described:
    channels = [
        Channel(name=one["name"], unit=one.get("unit", ""), low=one.get("low"), high=one.get("high")) for one in robot.channels
    ]
    return Described(subject=subject_name(robot.id), kind=robot.kind, channels=channels, cameras=list(robot.cameras))
